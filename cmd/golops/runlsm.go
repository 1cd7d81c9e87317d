package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/golops/golops/app/lsm"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/report"
	"github.com/spf13/pflag"
)

// lsmRun is a run of golops lsm in this process.
type lsmRun struct {
	app
	f        *lsmFlags
	launched bool
	prepare  func() (*lsm.Job, error) // once in a process
	watch    *watcher
	end      failure // how the process ends; of goroutine ranks, rank 0 writes it
}

func (a app) newLSMRun(f *lsmFlags, flags *pflag.FlagSet) *lsmRun {
	r := &lsmRun{app: a, f: f, launched: launch.Launched(), watch: a.progress(f.quiet || f.json)}
	r.prepare = sync.OnceValues(func() (*lsm.Job, error) {
		job, err := f.job(flags)
		if err == nil {
			job.Version, job.Force, job.Restart = fullVersion(), f.force, f.restart
		}
		return job, err
	})
	return r
}

// runLSM runs the inversion on the ranks of a launcher, or on goroutine ranks.
func (a app) runLSM(ctx context.Context, f *lsmFlags, flags *pflag.FlagSet) error {
	a.signals.enter(preparing)
	r := a.newLSMRun(f, flags)
	cfg := f.launch(a.log(f.device != "" && !f.quiet && !f.json))
	start := cfg.World
	if !r.launched {
		if _, err := r.prepare(); err != nil {
			return err
		}
		start = cfg.Local
	}
	err := start(ctx, r.rank)
	r.watch.close()
	if err != nil && r.end.err == nil {
		r.end = r.failed(err)
		r.end.quiet = launch.Reported(err)
	}
	if r.end.err != nil {
		return r.end
	}
	return nil
}

// rank is the program of one rank. It prints errors and results before MPI ends: the end
// of MPI may hang, and a launcher kills the other processes when one fails.
func (l *lsmRun) rank(ctx context.Context, r dist.Proc) error {
	end, err := l.run(ctx, r)
	if err != nil {
		end = l.failed(&comm.RankError{Rank: r.Rank(), Err: err})
		if _, cut := l.signals.cut(); l.launched && r.Rank() == 0 && !cut {
			l.complain(end.err)
			end.quiet = true
		}
	}
	if l.launched {
		code := end.code
		if end.err == nil {
			code = ok
		}
		l.signals.end(code)
	}
	if err == nil && (l.launched || r.Rank() == 0) || end.quiet {
		l.end = end
	}
	return err
}

// run does the job and returns how the process ends, or why this rank failed.
func (l *lsmRun) run(ctx context.Context, r dist.Proc) (end failure, err error) {
	job, err := l.prepare()
	if l.launched {
		fault, err := l.agree(ctx, r.Comm, err)
		if fault != nil || err != nil {
			return failure{err: fault, code: usage, quiet: true}, err
		}
	}
	c := lsm.Control{Stop: l.signals.stop}
	if l.launched || r.Rank() == 0 {
		c.Observer = l.watch
	}
	if r.Rank() == 0 {
		l.signals.keeps(func() string { return kept(job) })
	}
	res, err := job.Run(ctx, r, c)
	var bad *lsm.ConfigError
	switch {
	case errors.As(err, &bad):
		if l.launched {
			fault, err := l.agree(ctx, r.Comm, bad)
			return failure{err: fault, code: usage, quiet: true}, err
		}
		return failure{err: errors.New(oneLine(bad)), code: usage}, nil
	case err != nil:
		return end, err
	}
	if r.Rank() == 0 {
		l.watch.close()
		if err := l.print(job, res); err != nil {
			return end, err
		}
	}
	if s := res.Stopped.Signal; s != 0 {
		stop := stopError{syscall.Signal(s)}
		end = failure{err: stop, code: stop.code(), quiet: true}
	}
	return end, nil
}

// failed is the failure of a run without a result.
func (l *lsmRun) failed(err error) failure {
	var dev *launch.DeviceError
	if errors.As(err, &dev) { // all ranks have it
		return failure{err: dev.Err, code: usage}
	}
	if errors.As(err, new(*launch.UsageError)) { // likewise
		return failure{err: err, code: usage}
	}
	if stop, is := stopOf(err); is {
		return failure{err: err, code: stop.code()}
	}
	return failure{err: err, code: failed}
}

// kept describes the files that remain if the run is killed now.
func kept(job *lsm.Job) string {
	if k, found := job.Checkpointed(); found {
		return fmt.Sprintf("the checkpoint of iteration %d is in %s", k, report.Printable(job.Config.Checkpoint.Dir))
	}
	return "no checkpoint is written yet"
}

// print shows the result.
func (l *lsmRun) print(job *lsm.Job, res *lsm.Result) error {
	if l.f.json {
		v := struct {
			*lsm.Result
			Correlation *float64 `json:"correlation"` // JSON has no NaN
			Seconds     float64  `json:"seconds"`
			Out         string   `json:"out"`
		}{Result: res, Seconds: res.Elapsed.Seconds(), Out: job.Config.Out}
		if !math.IsNaN(res.Correlation) {
			v.Correlation = &res.Correlation
		}
		e := json.NewEncoder(l.stdout)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	var b strings.Builder
	for _, n := range res.Notes {
		fmt.Fprintf(&b, "note: %s\n", report.Printable(n))
	}
	if !l.f.quiet && len(res.Files) > 0 {
		fmt.Fprintf(&b, "written to %s: %s\n", report.Printable(job.Config.Out), strings.Join(res.Files, ", "))
		fmt.Fprintf(&b, "open %s\n", report.Printable(filepath.Join(job.Config.Out, "report.html")))
	}
	fmt.Fprintln(&b, res.Summary())
	if len(res.Files) == 0 {
		fmt.Fprintln(&b, "nothing was written")
	}
	_, err := io.WriteString(l.stdout, b.String())
	return err
}
