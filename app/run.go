package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/report"
)

// processRun is a run of an application in this process.
type processRun struct {
	*Process
	*spec
	f        *flags
	launched bool
	prepare  func() (*Task, error) // once in a process
	watch    *watcher
	live     *live // on rank 0, with --serve
	summary  string
	end      Failure // how the process ends; of goroutine ranks, rank 0 writes it
}

func (a Application[C]) newRun(p *Process, f *flags) *processRun {
	l := &processRun{
		Process: p, spec: a.spec(), f: f, launched: launch.Launched(), watch: p.progress(f.quiet || f.json),
	}
	l.prepare = sync.OnceValues(func() (*Task, error) {
		t, err := a.task(f)
		if err != nil || f.serve == "" || OtherRank() {
			return t, err
		}
		if l.live, err = serve(f.serve, a.Title, func() { p.signals.hear(syscall.SIGINT, time.Now()) }); err == nil {
			l.watch.live = l.live
			l.watch.say("live page: " + l.live.address)
		}
		return t, err
	})
	return l
}

// runApplication runs an application on the ranks of a launcher, or on goroutine ranks.
func (p *Process) runApplication(ctx context.Context, r *processRun) error {
	p.signals.enter(preparing)
	cfg := r.f.launch(p.Log(r.f.device != "" && !r.f.quiet && !r.f.json))
	start := cfg.World
	if !r.launched {
		if _, err := r.prepare(); err != nil {
			return err
		}
		start = cfg.Local
	}
	err := start(ctx, r.rank)
	r.watch.close()
	if r.live != nil {
		if err != nil {
			r.summary = OneLine(err)
		}
		r.live.end(cmp.Or(r.summary, "it has ended"))
	}
	if err != nil && r.end.Err == nil {
		r.end = r.failed(err)
		r.end.Quiet = launch.Reported(err)
	}
	if r.end.Err != nil {
		return r.end
	}
	return nil
}

// rank is the program of one rank. It prints errors and results before MPI ends: the end
// of MPI may hang, and a launcher kills the other processes when one fails.
func (l *processRun) rank(ctx context.Context, r dist.Proc) error {
	end, err := l.runRank(ctx, r)
	if err != nil {
		end = l.failed(&comm.RankError{Rank: r.Rank(), Err: err})
		if _, cut := l.signals.cut(); l.launched && r.Rank() == 0 && !cut {
			l.complain(end.Err)
			end.Quiet = true
		}
	}
	if l.launched {
		code := end.Code
		if end.Err == nil {
			code = OK
		}
		l.signals.end(code)
	}
	if err == nil && (l.launched || r.Rank() == 0) || end.Quiet {
		l.end = end
	}
	return err
}

// runRank does the task and returns how the process ends, or why this rank failed.
func (l *processRun) runRank(ctx context.Context, r dist.Proc) (end Failure, err error) {
	task, err := l.prepare()
	if l.launched {
		fault, err := l.agree(ctx, r.Comm, err)
		if fault != nil || err != nil {
			return Failure{Err: fault, Code: Usage, Quiet: true}, err
		}
	}
	c := Control{Stop: l.signals.stop, Force: l.f.force, Restart: l.f.restart, Version: l.Version, serve: l.f.serve != ""}
	if l.launched || r.Rank() == 0 {
		c.Observer = l.watch
	}
	if r.Rank() == 0 {
		c.live = l.live
		l.signals.keeps(func() string { return kept(task) })
	}
	res, err := l.spec.run(ctx, r, task, c)
	var bad *ConfigError
	switch {
	case errors.As(err, &bad):
		if l.launched {
			fault, err := l.agree(ctx, r.Comm, bad)
			return Failure{Err: fault, Code: Usage, Quiet: true}, err
		}
		return Failure{Err: errors.New(OneLine(bad)), Code: Usage}, nil
	case err != nil:
		return end, err
	}
	if r.Rank() == 0 {
		l.watch.close()
		l.summary = res.Summary()
		if err := l.print(baseOf(task.Config).Out, res); err != nil {
			return end, err
		}
	}
	if s := res.Stopped.Signal; s != 0 {
		stop := StopError{syscall.Signal(s)}
		end = Failure{Err: stop, Code: stop.Code(), Quiet: true}
	}
	return end, nil
}

// failed is the failure of a run without a result.
func (l *processRun) failed(err error) Failure {
	var dev *launch.DeviceError
	if errors.As(err, &dev) { // all ranks have it
		return Failure{Err: dev.Err, Code: Usage}
	}
	if errors.As(err, new(*launch.UsageError)) { // likewise
		return Failure{Err: err, Code: Usage}
	}
	if stop, is := StopOf(err); is {
		return Failure{Err: err, Code: stop.Code()}
	}
	return Failure{Err: err, Code: Failed}
}

// kept describes the files that remain if the run is killed now.
func kept(t *Task) string {
	if k, found := t.Checkpointed(); found {
		return fmt.Sprintf("the checkpoint of iteration %d is in %s", k, report.Printable(baseOf(t.Config).Checkpoint.Dir))
	}
	return "no checkpoint is written yet"
}

// print shows the result.
func (l *processRun) print(out string, res *Result) error {
	if l.f.json {
		e := json.NewEncoder(l.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(res.json(out))
	}
	var b strings.Builder
	for _, n := range res.Notes {
		fmt.Fprintf(&b, "note: %s\n", report.Printable(n))
	}
	if !l.f.quiet && len(res.Files) > 0 {
		fmt.Fprintf(&b, "written to %s: %s\n", report.Printable(out), strings.Join(res.Files, ", "))
		fmt.Fprintf(&b, "open %s\n", report.Printable(filepath.Join(out, pageFile)))
	}
	fmt.Fprintln(&b, res.Summary())
	if len(res.Files) == 0 {
		fmt.Fprintln(&b, "nothing was written")
	}
	_, err := io.WriteString(l.Stdout, b.String())
	return err
}

// json returns the result for JSON.
func (r *Result) json(out string) map[string]any {
	v := map[string]any{
		"seconds": r.Elapsed.Seconds(), "version": r.Version, "communicator": r.Comm, "out": out, "files": r.Files,
	}
	if r.Notes != nil {
		v["notes"] = r.Notes
	}
	if r.Warnings != nil {
		v["warnings"] = r.Warnings
	}
	numbers := r.Numbers
	if r.Measure != "" {
		v["status"], v["iterations"], v["resumed"] = r.Status, r.Iterations, r.Resumed
		numbers = append(slices.Clone(numbers), Number{Key: r.Measure, Value: r.Reduction})
	}
	for _, n := range numbers {
		v[n.Key] = n.Value
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) { // JSON has none
			v[n.Key] = nil
		}
	}
	var timings []map[string]any
	for _, t := range r.Timings {
		stages := map[string]float64{}
		for i, name := range t.Stages {
			stages[name] = t.Seconds[i]
		}
		row := map[string]any{"rank": t.Rank, "device": t.Device, "seconds": stages}
		if t.Work != "" {
			row[t.Work] = t.Amount
		}
		timings = append(timings, row)
	}
	v["timings"] = timings
	return v
}
