package lsm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Observer hears how a run goes on one rank. Calls come from one goroutine.
type Observer interface {
	Stage(name string)
	Iteration(k, of int, relative float64) // the residual relative to that of the start
	Warn(text string)                      // of what the user should know but that does not end the run
	Saved(text string)                     // of what is safely on disk
}

// Result is what a run gives, the same on all ranks save where noted.
type Result struct {
	Status      string        `json:"status"`
	Iterations  int           `json:"iterations"`
	Resumed     int           `json:"resumed"`
	Reduction   float64       `json:"residual"`    // the last residual relative to the data
	Correlation float64       `json:"correlation"` // of the inverse with the true model; NaN if that is unknown
	Elapsed     time.Duration `json:"-"`
	Version     string        `json:"version"`      // of golops
	Comm        string        `json:"communicator"` // with its version
	Notes       []string      `json:"notes,omitempty"`
	Timings     []Timing      `json:"timings"` // by rank; on rank 0
	Files       []string      `json:"files"`   // what was written; on rank 0
	Stopped     Stop          `json:"-"`       // why the run was stopped; zero if it was not
	history     []solve.Norms
}

// Timing is where one rank spent its seconds.
type Timing struct {
	Rank      int     `json:"rank"`
	Device    string  `json:"device"`
	Sources   int     `json:"sources"`
	Tables    float64 `json:"tables_s"`
	Data      float64 `json:"data_s"`
	Adjoint   float64 `json:"adjoint_s"`
	Inversion float64 `json:"inversion_s"`
}

// Run does the job on this rank. It is collective. A stop ends the inversion after
// the iteration under way, with results; before the inversion only the end of ctx
// does. A *ConfigError is one that the user can mend, and all ranks return it.
func (j *Job) Run(ctx context.Context, r dist.Rank, c Control) (*Result, error) {
	if c.Observer == nil {
		c.Observer = silent{}
	}
	if j.Config.Operator.Type == "float32" {
		return run[float32](ctx, j, r, c)
	}
	return run[float64](ctx, j, r, c)
}

// rank is one rank's share of a run.
type rank[T scalar.Scalar] struct {
	*Job
	r      dist.Rank
	op     linop.Operator[T]
	timing Timing
}

func run[T scalar.Scalar](ctx context.Context, j *Job, r dist.Rank, ctl Control) (*Result, error) {
	start, o := time.Now(), ctl.Observer
	s := &rank[T]{Job: j, r: r, timing: Timing{Rank: r.Rank(), Device: fmt.Sprint(r.Device)}}
	var d, adj, inv dist.Array[T]
	res := &Result{}
	for _, step := range []struct {
		name string
		took *float64
		f    func() error
	}{
		{"travel times", &s.timing.Tables, func() (err error) { s.op, err = s.operator(ctx); return err }},
		{"data", &s.timing.Data, func() (err error) { d, err = s.data(ctx); return err }},
		{"adjoint", &s.timing.Adjoint, func() (err error) { adj, err = linop.Image(ctx, linop.H(s.op), d); return err }},
		{"inversion", &s.timing.Inversion, func() (err error) { inv, err = s.invert(ctx, d, ctl, res); return err }},
	} {
		o.Stage(step.name)
		t := time.Now()
		err := step.f()
		if err == nil {
			err = r.Device.Sync(ctx) // so that the step's time is its own
		}
		if err != nil {
			return nil, fmt.Errorf("lsm: %s: %w", step.name, err)
		}
		*step.took = time.Since(t).Seconds()
	}
	if err := s.compare(ctx, inv, res); err != nil {
		return nil, err
	}
	timings, err := comm.GatherObjects(ctx, r.Comm, s.timing, 0)
	if err != nil {
		return nil, err
	}
	res.Timings, res.Elapsed = timings, time.Since(start)
	res.Version, res.Comm = s.Version, r.Comm.String()
	if res.Stopped.Signal != 0 && res.Iterations == 0 {
		return res, nil // there is no image yet, and an older one stays
	}
	o.Stage("report")
	return res, s.write(ctx, d, adj, inv, res)
}

// operator builds the modelling operator, spread over the ranks.
func (s *rank[T]) operator(ctx context.Context) (linop.Operator[T], error) {
	c := s.Config
	k := wave.Kirchhoff{
		Times: s.times, Sources: s.Sources, Receivers: s.Receivers, Samples: c.Time.Samples, Interval: c.Time.Interval,
		Wavelet: s.Wavelet, Centre: len(s.Wavelet) / 2, Threads: threads(s.r),
	}
	if c.Operator.Dynamic {
		w, err := s.weights()
		if err := dist.Agree(ctx, s.r.Comm, "weights", err); err != nil {
			return nil, err
		}
		k.Weights = w
	}
	if c.Operator.Split == "model" {
		s.timing.Sources = len(s.Sources)
		return wave.NewModelSplit[T](ctx, s.r, k, s.Grid, func(lo, hi int) (wave.TravelTimes, error) {
			return slab(s.times, lo, hi), nil
		})
	}
	s.timing.Sources = dist.Balanced(len(s.Sources), s.r.Size())[s.r.Rank()]
	return wave.NewSourceSplit[T](ctx, s.r, k)
}

// weights are those of the dynamic mode. Each rank has its own, which keep room
// to compute in.
func (s *rank[T]) weights() (wave.Weights, error) {
	o := s.Config.Operator
	var angle, aperture wave.Taper
	if o.Angle > 0 {
		angle = wave.TaperTo(o.Angle * math.Pi / 180)
	}
	if o.Aperture > 0 {
		aperture = wave.TaperTo(o.Aperture)
	}
	return wave.NewDynamic(s.Grid, s.Velocity, s.Sources, s.Receivers, angle, aperture)
}

// threads returns how many goroutines may fill this rank's tables: those of its
// device or, where that is no part of the host, 0 for one per processor.
func threads(r dist.Rank) int {
	if t, ok := r.Device.(interface{ Threads() int }); ok {
		return max(1, t.Threads())
	}
	return 0
}

// image returns a as an array of the grid's shape, over the same memory.
func (s *rank[T]) image(a dist.Array[T]) (dist.Array[T], error) { return a.Reshape(s.Grid.Shape()...) }

// gathers returns a as sources × receivers × samples, over the same memory.
func (s *rank[T]) gathers(a dist.Array[T]) (dist.Array[T], error) {
	return a.Reshape(len(s.Sources), len(s.Receivers), s.Config.Time.Samples)
}

// data reads or models what was recorded.
func (s *rank[T]) data(ctx context.Context) (dist.Array[T], error) {
	d, err := dist.New[T](s.op.Range())
	if err != nil {
		return d, err
	}
	if s.Config.Data.File == "" {
		return d, s.model(ctx, d)
	}
	d3, err := s.gathers(d)
	if err == nil {
		if s.traces != nil {
			err = s.readTraces(d3)
		} else {
			var in dist.Array[T]
			if in, err = data.Load[T](ctx, s.Config.Data.File, d3.Space()); err == nil {
				dist.Copy(d3, in)
			}
		}
	}
	if err == nil {
		err = s.finite(d3)
	}
	if err := dist.Agree(ctx, s.r.Comm, s.Config.Data.File, err); err != nil {
		return d, &ConfigError{err}
	}
	return d, nil
}

// readTraces fills this rank's gathers from a SEG-Y file.
func (s *rank[T]) readTraces(d dist.Array[T]) error {
	f, err := data.OpenSEGY(s.Config.Data.File)
	if err != nil {
		return err
	}
	defer f.Close()
	b, n := d.Space().Box(s.r.Rank()), s.Config.Time.Samples
	host, trace := make([]T, d.Local().Len()), make([]float32, n)
	at := 0
	for p := b.Lo[0] * len(s.Receivers); p < b.Hi[0]*len(s.Receivers); p++ {
		if err := f.Trace(s.traces.trace[p], trace); err != nil {
			return err
		}
		for _, v := range trace {
			host[at] = scalar.From[T](complex(float64(v), 0))
			at++
		}
	}
	return d.Local().CopyIn(host)
}

// finite says where data are no numbers: one NaN would spoil the whole image.
func (s *rank[T]) finite(d dist.Array[T]) error {
	host, err := d.Host()
	if err != nil {
		return err
	}
	n, lo := s.Config.Time.Samples, d.Space().Box(s.r.Rank()).Lo[0]
	for i, v := range host {
		if x := real(scalar.Complex(v)); math.IsNaN(x) || math.IsInf(x, 0) {
			pair := i / n
			return fmt.Errorf("data are %g at source %d, receiver %d, sample %d: replace what is no number", x, lo+pair/len(s.Receivers)+1, pair%len(s.Receivers)+1, i%n+1)
		}
	}
	return nil
}

// model computes data from the true reflectivity, with noise if asked for.
func (s *rank[T]) model(ctx context.Context, d dist.Array[T]) error {
	m, err := dist.New[T](s.op.Domain())
	if err != nil {
		return err
	}
	if err := s.fillTrue(m); err != nil {
		return err
	}
	if err := s.op.Forward(ctx, d, m); err != nil || s.Config.Data.Noise == 0 {
		return err
	}
	n, err := dist.Norm(ctx, d, 2)
	if err != nil {
		return err
	}
	sigma := s.Config.Data.Noise * n / math.Sqrt(float64(d.Space().Size()))
	noise, err := dist.FromFunc(ctx, d.Space(), func(i []int) T {
		return scalar.From[T](complex(sigma*gauss(i), 0))
	})
	if err != nil {
		return err
	}
	dist.Add(d, d, noise)
	return nil
}

// gauss is a normal number that depends on the place only, so that any number
// of ranks makes the same noise.
func gauss(i []int) float64 {
	h := uint64(0x9e3779b97f4a7c15)
	next := func() float64 {
		h += 0x9e3779b97f4a7c15
		x := (h ^ h>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return (float64((x^x>>31)>>11) + 0.5) / (1 << 53)
	}
	for _, k := range i {
		h = (h + uint64(k)) * 0xd1342543de82ef95
		next()
	}
	return math.Sqrt(-2*math.Log(next())) * math.Cos(2*math.Pi*next())
}

// fillTrue sets m to the true reflectivity.
func (s *rank[T]) fillTrue(m dist.Array[T]) error {
	img, err := s.image(m)
	if err != nil {
		return err
	}
	_, _, inner := img.Space().Shape().Around(0)
	lo := img.Space().Box(s.r.Rank()).Lo[0] * inner
	host := make([]T, img.Local().Len())
	for i := range host {
		host[i] = scalar.From[T](complex(s.Reflectivity[lo+i], 0))
	}
	return img.Local().CopyIn(host)
}

// invert solves for the image.
func (s *rank[T]) invert(ctx context.Context, d dist.Array[T], ctl Control, res *Result) (dist.Array[T], error) {
	x, err := dist.New[T](s.op.Domain())
	if err != nil {
		return x, err
	}
	var m solve.Method[T]
	switch c := s.Config.Solver; c.Method {
	case "lsqr":
		m = &solve.LSQR[T]{}
	case "cgls1":
		m = &solve.CGLS1[T]{}
	default:
		m = &solve.CGLS[T]{}
	}
	c := s.Config
	first, stop := 0.0, newStopper(ctl, s.r.Rank(), c.Checkpoint.Dir)
	out, err := solve.Run(ctx, m, solve.Problem[T]{A: s.op, B: d, Damp: c.Solver.Damp}, x, solve.Config[T]{
		MaxIter: c.Solver.Iterations, RelTol: relTol(c.Solver.Tolerance),
		Checkpoint: solve.Checkpoint{
			Dir: c.Checkpoint.Dir, Every: every(c.Checkpoint), Interval: time.Duration(c.Checkpoint.Time * float64(time.Second)), Resume: c.Checkpoint.Resume,
		},
		OnIter: func(it solve.Iteration[T]) error {
			if first == 0 {
				first = it.Resid
			}
			ctl.Observer.Iteration(it.K, c.Solver.Iterations, it.Resid/first)
			if stop.asked() {
				return solve.ErrStop
			}
			return nil
		},
	})
	stop.clear()
	if err != nil {
		return x, err
	}
	if out.Status == solve.Diverged || out.Status == solve.Breakdown {
		return x, errors.New(out.Why)
	}
	*res = Result{
		Status: out.Status.String(), Iterations: out.Iters, Resumed: out.Resumed, Notes: out.Notes,
		Correlation: math.NaN(), history: out.History,
	}
	if out.Status == solve.Stopped {
		if res.Stopped, err = stop.agree(ctx, s.r.Comm); err != nil {
			return x, err
		}
	}
	if out.History[0].Resid > 0 {
		res.Reduction = out.Resid / out.History[0].Resid
	}
	return x, nil
}

// relTol passes a tolerance on: 0 means the solver's own default there.
func relTol(tol float64) float64 {
	if tol == 0 {
		return -1
	}
	return tol
}

func every(c Checkpoint) int {
	if c.Dir == "" {
		return 0
	}
	return c.Every
}

// compare correlates the inverse with the true model, if that is known.
func (s *rank[T]) compare(ctx context.Context, inv dist.Array[T], res *Result) error {
	if s.Reflectivity == nil {
		return nil
	}
	m, err := dist.New[T](s.op.Domain())
	if err != nil {
		return err
	}
	if err := s.fillTrue(m); err != nil {
		return err
	}
	sums := dist.NewSums(m.Space(), 3)
	if err := errors.Join(dist.AddDot(sums, inv, m), dist.AddDot(sums, inv, inv), dist.AddDot(sums, m, m)); err != nil {
		return err
	}
	if err := sums.Reduce(ctx); err != nil {
		return err
	}
	if n := math.Sqrt(sums.Value(1) * sums.Value(2)); n > 0 {
		res.Correlation = sums.Value(0) / n
	}
	return nil
}

// mkdir makes the folder for results on rank 0.
func (s *rank[T]) mkdir(ctx context.Context) error {
	var err error
	if s.r.Rank() == 0 {
		err = os.MkdirAll(s.Config.Out, 0o777)
	}
	return comm.Agree(ctx, s.r.Comm, err)
}

// Line is the result in one line.
func (r *Result) Line() string {
	s := fmt.Sprintf("%s after %d iterations: residual down to %.3g of the data", r.Status, r.Iterations, r.Reduction)
	if !math.IsNaN(r.Correlation) {
		s += fmt.Sprintf(", model correlation %.3f", r.Correlation)
	}
	return s + fmt.Sprintf(", %.1f s", r.Elapsed.Seconds())
}
