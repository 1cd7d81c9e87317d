package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/golops/golops"
	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/report"
	"github.com/golops/golops/solve"
	"github.com/golops/golops/trace"
)

// Observer is called as a run proceeds on one rank, from one goroutine.
type Observer interface {
	Stage(name string)
	// Iteration says how much is left after k of so many steps: of what, "residual"
	// relative to the data or "cost" relative to the start.
	Iteration(k, of int, what string, left float64)
	Note(text string)  // about progress
	Warn(text string)  // about a problem that does not end the run
	Saved(text string) // about results that are on disk
}

// Control says how a run is observed and stopped. The zero Control observes nothing
// and runs to the end.
type Control struct {
	// Observer is called as the run proceeds on this rank. It may be nil. One of
	// several goroutine ranks needs one.
	Observer Observer
	// Stop is called on this rank after every iteration. If it stops any rank, all
	// ranks stop after the same iteration. It may be nil.
	Stop    func() Stop
	Force   bool   // older results may be removed
	Restart bool   // checkpoints of an earlier run may be replaced
	Version string // of the program, for the report

	serve bool  // there is a live page; the same on all ranks
	live  *live // on rank 0
}

// Rank is one rank of a run, with which a Task does its work. Its World is that of the
// front door, for spaces. Stopped tells whether the user wants the run to end, Stopping
// does not.
type Rank struct {
	*golops.World
	// Live draws the model while it is inverted, from all its elements. It is called on
	// rank 0. A Task may leave it nil.
	Live func(x []float64) report.Picture

	*spec
	base       *Base
	task       *Task
	ctl        Control
	o          Observer
	start      time.Time
	timing     Timing
	out        *outFolder             // on rank 0
	dir        string                 // where this run writes its results
	checkpoint *data.CheckpointFolder // nil without a folder of checkpoints
	notes      []string               // warnings that came before the inversion
	res        Result
	made       int // iterations of all inversions
}

// Timing is where one rank spent its seconds.
type Timing struct {
	Rank    int
	Device  string
	Work    string // of what Amount is, such as "traces"; may be empty
	Amount  int
	Stages  []string
	Seconds []float64
}

// Result is the result of a run. It is the same on all ranks, except where noted.
type Result struct {
	Status     string
	Iterations int
	Resumed    int
	Measure    string  // what the method makes small: "residual", relative to the data, or "cost", relative to the start
	Reduction  float64 // how much is left of it
	Numbers    []Number
	Elapsed    time.Duration
	Version    string
	Comm       string // with its version
	Notes      []string
	Warnings   []string // of Prepare
	Timings    []Timing // by rank; on rank 0
	Files      []string // what was written; on rank 0
	Stopped    Stop     // why the run was stopped; zero if it was not
	history    []solve.Norms
}

// Number returns the number with that key, NaN if there is none.
func (r *Result) Number(key string) float64 {
	for _, n := range r.Numbers {
		if n.Key == key {
			return n.Value
		}
	}
	return math.NaN()
}

// Summary returns the result in one line.
func (r *Result) Summary() string {
	s := "done"
	if r.Measure != "" {
		s = r.end()
	}
	for _, n := range r.Numbers {
		if !math.IsNaN(n.Value) {
			s += fmt.Sprintf(", %s "+n.Format, n.Name, n.Value)
		}
	}
	return s + fmt.Sprintf(", %.1f s", r.Elapsed.Seconds())
}

// end says how the inversion ended.
func (r *Result) end() string {
	return fmt.Sprintf("%s after %d iterations: %s down to %.3g of the %s", r.Status, r.Iterations, r.Measure, r.Reduction, map[string]string{residual: "data", cost: "start"}[r.Measure])
}

// Run does a task on this rank. It is collective. Results go to a new folder, which
// replaces that of the configuration at the end. Older results stay beside it under a
// numbered name. If there is an error and the Result is not nil, there are results, and
// the error says where. A stop ends the inversion after the current iteration, and
// results are written. Before the inversion only the end of ctx stops a run. A
// *ConfigError is one that the user can correct. All ranks return it.
func (a Application[C]) Run(ctx context.Context, r dist.Proc, t *Task, c Control) (*Result, error) {
	return a.spec().run(ctx, r, t, c)
}

func (s *spec) run(ctx context.Context, p dist.Proc, t *Task, c Control) (*Result, error) {
	defer trace.Begin(ctx, s.name).End()
	if c.Observer == nil {
		c.Observer = silent{}
	}
	r := &Rank{World: golops.WorldOf(ctx, p), spec: s, base: baseOf(t.Config), task: t, ctl: c, o: c.Observer, start: time.Now(),
		timing: Timing{Rank: p.Rank(), Device: fmt.Sprint(p.Device)}, res: Result{Version: c.Version, Comm: p.Comm.String(), Warnings: t.Warnings}}
	for _, w := range t.Warnings {
		r.o.Warn(w)
	}
	defer r.closeFolders()
	reg := trace.Begin(ctx, "folders")
	err := r.openFolders(ctx)
	reg.End()
	if err != nil {
		return nil, err
	}
	var found *Results
	if err := attempt(func() { found = t.Run(r) }); err != nil {
		return nil, err
	}
	timings, err := comm.GatherObjects(ctx, p.Comm, r.timing, 0)
	if err != nil {
		return nil, err
	}
	r.res.Timings, r.res.Numbers, r.res.Elapsed = timings, found.Numbers, time.Since(r.start)
	if r.res.Stopped.Signal != 0 && r.made == 0 {
		return &r.res, nil // there is no image yet, and an older one stays
	}
	r.o.Stage(reportStage)
	defer trace.Begin(ctx, reportStage).End()
	if err := r.write(ctx, found); err != nil {
		return &r.res, fmt.Errorf("%s: results: %w", s.name, err)
	}
	return &r.res, nil
}

// Names of the stages that are the kit's.
const inversionStage, reportStage = "inversion", "report"

// attempt runs f and returns the error that an expression of the front door panics with
// in it. It takes the line of the program away, which tells users of an application
// nothing. Vectors that do not fit are a bug of the application, and keep it.
func attempt(f func()) error {
	err := golops.Try(func() error { f(); return nil })
	at, is := err.(*golops.Error)
	if !is {
		return err
	}
	switch at.Err.(type) {
	case dist.LayoutError, array.Error:
		return err
	}
	return at.Err
}

// Stage runs f as a stage of that name, whose time the page shows. Stages of the same
// name are one there. All ranks have the same stages.
func (r *Rank) Stage(name string, f func()) {
	r.o.Stage(name)
	reg, t := trace.Begin(r.Context(), name), time.Now()
	err := attempt(f)
	if err == nil {
		err = r.Proc().Device.Sync(r.Context()) // so that the stage's time is its own
	}
	reg.End()
	if err != nil {
		golops.Check(fmt.Errorf("%s: %s: %w", r.name, name, err))
	}
	i := slices.Index(r.timing.Stages, name)
	if i < 0 {
		i = len(r.timing.Stages)
		r.timing.Stages, r.timing.Seconds = append(r.timing.Stages, name), append(r.timing.Seconds, 0)
	}
	r.timing.Seconds[i] += time.Since(t).Seconds()
}

// Stopped reports whether the user has stopped the inversion.
func (r *Rank) Stopped() bool { return r.res.Stopped.Signal != 0 }

// Work says how much of the work this rank has, such as 56 traces.
func (r *Rank) Work(amount int, of string) { r.timing.Amount, r.timing.Work = amount, of }

// Iterations returns how many steps the inversion has made.
func (r *Rank) Iterations() int { return r.res.Iterations }

// Reduction returns how much the inversion has left of the data, or of the cost.
func (r *Rank) Reduction() float64 { return r.res.Reduction }

// Unusable panics with a *ConfigError if there is something wrong with a file on any
// rank. It is collective; the error is the same on all ranks.
func (r *Rank) Unusable(file string, err error) {
	if err := dist.Agree(r.Context(), r.Proc().Comm, file, err); err != nil {
		golops.Check(asConfigError(err))
	}
}

// asConfigError makes a *ConfigError of err, unless communication has failed.
func asConfigError(err error) error {
	if errors.Is(err, context.Canceled) || errors.As(err, new(*comm.AbortError)) {
		return err
	}
	if r, ok := err.(*comm.RankError); ok && r.Rank == 0 {
		err = r.Err // rank 0 opens the folder for all ranks
	}
	return &ConfigError{err}
}

type silent struct{}

func (silent) Stage(string)                            {}
func (silent) Iteration(_, _ int, _ string, _ float64) {}
func (silent) Note(string)                             {}
func (silent) Warn(string)                             {}
func (silent) Saved(string)                            {}
