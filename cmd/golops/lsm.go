package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/golops/golops/app/lsm"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// stopped is the exit code of a run that was asked to stop, as a shell has it.
const stopped = 130

// lsmFlags are the flags of golops lsm. Those that are also in a
// configuration file win over it.
type lsmFlags struct {
	config, velocity, data, geometry string
	out, checkpoint, method, dtype   string
	ranks, threads, iterations       int
	tol, damp                        float64
	resume, quiet, json, print       bool
	restart, force                   bool
	device, comm                     string
	shareGPU                         bool
}

func (f *lsmFlags) register(s *pflag.FlagSet) {
	s.SortFlags = false
	s.StringVar(&f.config, "config", "", "read parameters from `file.yaml`")
	s.BoolVar(&f.print, "print-config", false, "print the default parameters, with comments, and end")
	s.StringVar(&f.velocity, "velocity", "", "velocity model, `v.npy` of shape nx × nz or ny × nx × nz")
	s.StringVar(&f.data, "data", "", "recorded data, `shots.npy` or .segy")
	s.StringVar(&f.geometry, "geometry", "", "sources and receivers, `geom.csv`")
	s.IntVar(&f.ranks, "ranks", 0, "goroutine `ranks` (default GOMAXPROCS, or one per GPU)")
	s.IntVar(&f.threads, "threads", 0, "`threads` of each rank (default its share of the cores)")
	s.StringVar(&f.device, "device", "", "where arrays live, a `device`: "+launch.DeviceNames()+" (default cpu)")
	s.StringVar(&f.comm, "comm", "", "how ranks on GPUs talk: `nccl or staged` (default nccl where that works)")
	s.BoolVar(&f.shareGPU, "share-gpu", false, "let ranks share GPUs, which is slow")
	s.IntVar(&f.iterations, "iterations", 0, "`iterations` of the solver")
	s.Float64Var(&f.tol, "tol", 0, "`tolerance` of the residual relative to the data, below 1; negative means never")
	s.Float64Var(&f.damp, "damp", 0, "`damping`")
	s.StringVar(&f.method, "method", "", "`solver`: cgls, cgls1, lsqr")
	s.StringVar(&f.dtype, "type", "", "element `type`: float32, float64")
	s.StringVar(&f.checkpoint, "checkpoint", "", "keep the state of the solver in `folder`")
	s.BoolVar(&f.resume, "resume", false, "go on from the newest checkpoint")
	s.BoolVar(&f.restart, "restart", false, "begin anew and replace the checkpoints of an earlier run")
	s.StringVar(&f.out, "out", "", "`folder` for results; older ones are kept beside it under a number")
	s.BoolVar(&f.force, "force", false, "remove older results instead of keeping them")
	s.BoolVar(&f.quiet, "quiet", false, "print the result only")
	s.BoolVar(&f.json, "json", false, "print the result as JSON")
}

// job is the checked run that flags and files describe.
func (f *lsmFlags) job(s *pflag.FlagSet) (*lsm.Job, error) {
	c := lsm.Default()
	if f.config != "" {
		if err := c.ReadFile(f.config); err != nil {
			return nil, err
		}
	}
	for _, t := range []struct {
		flag     string
		from, to *string
	}{
		{"velocity", &f.velocity, &c.Velocity.File}, {"data", &f.data, &c.Data.File}, {"geometry", &f.geometry, &c.Acquisition.Geometry},
		{"out", &f.out, &c.Out}, {"checkpoint", &f.checkpoint, &c.Checkpoint.Dir}, {"method", &f.method, &c.Solver.Method},
		{"type", &f.dtype, &c.Operator.Type},
	} {
		if s.Changed(t.flag) {
			*t.to = *t.from
		}
	}
	if s.Changed("velocity") {
		c.Velocity.Constant = 0
	}
	if s.Changed("iterations") {
		c.Solver.Iterations = f.iterations
	}
	if s.Changed("tol") {
		c.Solver.Tolerance = f.tol
	}
	if s.Changed("damp") {
		c.Solver.Damp = f.damp
	}
	c.Checkpoint.Resume = c.Checkpoint.Resume || f.resume
	if err := f.check(s); err != nil {
		return nil, err
	}
	return lsm.Prepare(c)
}

// mostRanks and mostThreads are more than any machine has a use for. Ranks talk
// pairwise, so that their memory grows as the square.
const mostRanks, mostThreads = 4096, 4096

// check looks at the flags that say how ranks are started.
func (f *lsmFlags) check(s *pflag.FlagSet) error {
	var errs []error
	l := f.launch(nil)
	count := func(flag string, n *int, most int) {
		if s.Changed(flag) && (*n < 1 || *n > most) {
			errs = append(errs, fmt.Errorf("--%s is %d, must be 1 to %d", flag, *n, most))
			*n = 0 // said, so that Validate does not say it again
		}
	}
	count("ranks", &l.Ranks, mostRanks)
	count("threads", &l.Threads, mostThreads)
	if s.Changed("ranks") && launch.Launched() {
		errs = append(errs, errors.New("--ranks is for goroutine ranks: leave it out under a launcher, which has started the ranks"))
	}
	return errors.Join(append(errs, l.Validate())...)
}

// launch is how the ranks are started.
func (f *lsmFlags) launch(log *slog.Logger) launch.Config {
	return launch.Config{Ranks: f.ranks, Threads: f.threads, Device: f.device, Comm: f.comm, ShareGPU: f.shareGPU, Log: log}
}

func (a app) lsm() *cobra.Command {
	var f lsmFlags
	cmd := &cobra.Command{
		Use:   "lsm",
		Short: "least-squares migration: from seismic data to an image of the Earth",
		Long: `lsm inverts seismic data for an image of reflectivity. Without flags it models
data of a built-in example, layers cut by faults, and inverts them. With a
velocity model, data and a geometry it inverts yours:
  golops lsm
  golops lsm --velocity v.npy --data shots.segy --geometry geom.csv
  mpirun -n 4 golops lsm --config survey.yaml --checkpoint state
  golops lsm --device cuda --ranks 4

Results are in the folder golops-lsm, or that of --out: arrays as .npy, pictures
and a page, report.html. Ctrl-C stops after the iteration under way and keeps
what there is; with --checkpoint the run goes on with --resume, on any number
of ranks.

The exit code is 1 if a run fails, 2 if what was asked for is impossible, 130
if it was stopped.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.print {
				_, err := io.WriteString(a.stdout, lsm.DefaultText)
				return err
			}
			job, err := f.job(cmd.Flags())
			if err != nil {
				return err
			}
			job.Version, job.Force, job.Restart = fullVersion(), f.force, f.restart
			return a.runLSM(cmd.Context(), job, f)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

// runLSM runs the job as the ranks that a launcher started, or as goroutines.
// The end of ctx stops it gracefully.
func (a app) runLSM(ctx context.Context, job *lsm.Job, f lsmFlags) error {
	var res *lsm.Result
	me, watch := 0, a.progress(f.quiet || f.json)
	program := func(hard context.Context, r dist.Rank) error {
		c := lsm.Control{Stop: func() (s lsm.Stop) {
			if ctx.Err() != nil {
				s.Signal = int(syscall.SIGINT)
			}
			return s
		}}
		if r.Rank() == 0 {
			c.Observer = watch
		}
		out, err := job.Run(hard, r, c)
		if launch.Launched() || r.Rank() == 0 {
			me, res = r.Rank(), out
		}
		return err
	}
	cfg := f.launch(a.log(f.device != "" && !f.quiet && !f.json))
	start := cfg.Local
	if launch.Launched() {
		start = cfg.World
	}
	err := start(context.WithoutCancel(ctx), program)
	watch.close()
	if err != nil {
		var dev *launch.DeviceError
		if errors.As(err, &dev) {
			if otherRank() {
				return nil // rank 0 says it, and its code counts
			}
			return dev.Err
		}
		var bad *lsm.ConfigError
		if errors.As(err, &bad) {
			if me != 0 {
				return failure{err: err, quiet: true}
			}
			return bad
		}
		var abort *comm.AbortError
		return failure{err: err, quiet: me != 0 && errors.As(err, &abort) && abort.Rank != me}
	}
	if me != 0 {
		return nil
	}
	if err := a.printResult(job, res, f); err != nil {
		return failure{err: err}
	}
	if ctx.Err() != nil {
		return failure{err: errStopped, quiet: true}
	}
	return nil
}

// errStopped ends the command with the code of a stop.
var errStopped = errors.New("stopped")

func (a app) printResult(job *lsm.Job, res *lsm.Result, f lsmFlags) error {
	if f.json {
		v := struct {
			*lsm.Result
			Correlation *float64 `json:"correlation"` // JSON has no NaN
			Seconds     float64  `json:"seconds"`
			Out         string   `json:"out"`
		}{Result: res, Seconds: res.Elapsed.Seconds(), Out: job.Config.Out}
		if !math.IsNaN(res.Correlation) {
			v.Correlation = &res.Correlation
		}
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	var b strings.Builder
	for _, n := range res.Notes {
		fmt.Fprintf(&b, "note: %s\n", report.Printable(n))
	}
	if !f.quiet {
		fmt.Fprintf(&b, "written to %s: %s\n", report.Printable(job.Config.Out), strings.Join(res.Files, ", "))
		fmt.Fprintf(&b, "open %s\n", report.Printable(filepath.Join(job.Config.Out, "report.html")))
	}
	fmt.Fprintln(&b, res.Line())
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// watcher shows how a run goes.
type watcher struct {
	out   io.Writer
	quiet bool
	stage string
	bar   *report.Progress // of the inversion
}

func (a app) progress(quiet bool) *watcher {
	return &watcher{out: a.stderr, quiet: quiet || otherRank()}
}

// Stage implements lsm.Observer.
func (w *watcher) Stage(name string) {
	w.close()
	w.stage = name
	if !w.quiet && name != "inversion" {
		fmt.Fprintf(w.out, "%s ...\n", name)
	}
}

// Iteration implements lsm.Observer.
func (w *watcher) Iteration(k, of int, relative float64) {
	if w.bar == nil {
		w.bar = report.NewProgress(report.ProgressConfig{Out: w.out, Name: w.stage, Total: of, Quiet: w.quiet})
	}
	w.bar.Update(k, relative)
}

// Note implements lsm.Observer.
func (w *watcher) Note(text string) {
	switch {
	case w.quiet:
	case w.bar != nil:
		w.bar.Note(text)
	default:
		fmt.Fprintln(w.out, report.Printable(text))
	}
}

// Warn implements lsm.Observer.
func (w *watcher) Warn(text string) { fmt.Fprintf(w.out, "warning: %s\n", text) }

// Saved implements lsm.Observer.
func (w *watcher) Saved(string) {}

func (w *watcher) close() {
	if w.bar != nil {
		w.bar.Done()
		w.bar = nil
	}
}
