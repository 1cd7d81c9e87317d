package perf

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
)

// MostChecked is the largest number of ranks that Check starts.
const MostChecked = 8

// PlanCheck is a prediction beside a measurement on goroutine ranks of this machine.
type PlanCheck struct {
	Ranks     int     `json:"ranks"`
	Name      string  `json:"name"`
	Problem   string  `json:"problem"` // as large as this machine computes in a moment
	Layout    string  `json:"layout"`
	Forward   float64 `json:"forward_seconds"` // measured
	Adjoint   float64 `json:"adjoint_seconds"`
	Predicted cost.Prediction
	Error     float64 `json:"error"` // of the time of forward and adjoint: predicted / measured - 1
}

// Checker is a Planner whose operators can be run.
type Checker interface {
	Planner
	// smaller returns a smaller problem of the same kind.
	smaller() Checker
	// run returns the operator of an option on this rank.
	run(ctx context.Context, r dist.Proc, m cost.Machine, option string) (forward, adjoint func(context.Context) error, err error)
}

const (
	checkSeconds = 0.3       // that an application may take, as predicted
	checkBytes   = 256 << 20 // of all ranks
)

// Check measures all options of an operator on goroutine ranks of this machine, which m
// must describe. Problems that would take long are made smaller.
func Check(ctx context.Context, m cost.Machine, p Checker, ranks int, log *slog.Logger) (checks []PlanCheck, err error) {
	var options []PlanOption
	for range 100 { // then it is as small as it can be
		if options, err = p.Options(m, ranks, 0); err != nil {
			return nil, err
		}
		large := slices.ContainsFunc(options, func(o PlanOption) bool {
			return o.Seconds() > 2*checkSeconds || float64(o.Memory)*float64(ranks) > checkBytes
		})
		if !large {
			break
		}
		p = p.smaller()
	}
	_, problem := p.Describe()
	err = launch.Config{Ranks: ranks, Threads: 1, Log: log}.Local(ctx, func(ctx context.Context, r dist.Proc) error {
		var calls []func(context.Context) error
		for _, o := range options {
			forward, adjoint, err := p.run(ctx, r, m, o.Name)
			if err != nil {
				return err
			}
			calls = append(calls, forward, adjoint)
		}
		times, err := rounds{n: 5, loop: 5 * time.Millisecond}.best(ctx, r.Comm, calls...)
		if err != nil || r.Rank() != 0 {
			return err
		}
		for i, o := range options {
			f, a := times[2*i], times[2*i+1]
			checks = append(checks, PlanCheck{Ranks: ranks, Name: o.Name, Problem: problem, Layout: o.Layout,
				Forward: f, Adjoint: a, Predicted: o.Prediction, Error: o.Seconds()/(f+a) - 1})
		}
		return nil
	})
	return checks, err
}

func (p ProductPlan) smaller() Checker {
	most := max(p.Rows, p.Depth, p.Columns, p.Batch)
	for _, n := range []*int{&p.Rows, &p.Depth, &p.Columns, &p.Batch} {
		if *n == most {
			*n = (*n + 1) / 2
		}
	}
	return p
}

func (p ProductPlan) run(ctx context.Context, r dist.Proc, m cost.Machine, option string) (forward, adjoint func(context.Context) error, err error) {
	kind, err := cost.ParseKind(option)
	if err != nil {
		return nil, nil, err
	}
	best, _, err := cost.Best(m, p.Problem, kind, r.Size(), 0)
	if err != nil {
		return nil, nil, err
	}
	switch p.DType {
	case scalar.Float32:
		return productCalls[float32](ctx, r, best)
	case scalar.Float64:
		return productCalls[float64](ctx, r, best)
	case scalar.Complex64:
		return productCalls[complex64](ctx, r, best)
	}
	return productCalls[complex128](ctx, r, best)
}

func productCalls[T scalar.Scalar](ctx context.Context, r dist.Proc, p cost.Product) (forward, adjoint func(context.Context) error, err error) {
	s, err := productSubject[T](ctx, r, p)
	if err != nil {
		return nil, nil, err
	}
	return applications(ctx, s.op)
}

func (h HaloPlan) smaller() Checker {
	h.Extents = slices.Clone(h.Extents)
	most := slices.Max(h.Extents)
	for i, n := range h.Extents {
		if n == most {
			h.Extents[i] = (n + 1) / 2
		}
	}
	return h
}

func (h HaloPlan) run(ctx context.Context, r dist.Proc, m cost.Machine, option string) (forward, adjoint func(context.Context) error, err error) {
	if option == Messages {
		m.OneSided = cost.Link{}
	}
	best, _, err := cost.BestHalo(m, h.Halo, r.Size(), 0)
	if err != nil {
		return nil, nil, err
	}
	best.OneSided = option == OneSided
	switch h.DType {
	case scalar.Float32:
		return haloCalls[float32](ctx, r, best)
	case scalar.Float64:
		return haloCalls[float64](ctx, r, best)
	case scalar.Complex64:
		return haloCalls[complex64](ctx, r, best)
	}
	return haloCalls[complex128](ctx, r, best)
}

func haloCalls[T scalar.Scalar](ctx context.Context, r dist.Proc, h cost.Halo) (forward, adjoint func(context.Context) error, err error) {
	l := dist.Layout{Grid: h.Grid}
	if h.OneSided {
		l.Way = dist.OneSided
	}
	x, err := dist.NewSpace(ctx, r, l, h.Extents...)
	if err != nil {
		return nil, nil, err
	}
	depth := make([]int, len(h.Extents))
	for i, n := range h.Grid {
		if n > 1 {
			depth[i] = h.Depth
		}
	}
	op, err := ops.Halo[T](ctx, x, ops.HaloOptions{Front: depth, Back: depth})
	if err != nil {
		return nil, nil, err
	}
	return applications(ctx, op)
}

func (s SurveyPlan) smaller() Checker {
	s.Image = slices.Clone(s.Image)
	if most := slices.Max(s.Image); most > 16 {
		for i, n := range s.Image {
			if n == most {
				s.Image[i] = (n + 1) / 2
			}
		}
		return s
	}
	s.Sources, s.Receivers, s.Samples = (s.Sources+1)/2, (s.Receivers+1)/2, max(64, s.Samples/2)
	return s
}

func (s SurveyPlan) run(ctx context.Context, r dist.Proc, _ cost.Machine, option string) (forward, adjoint func(context.Context) error, err error) {
	s.ByModel = option == "model"
	if s.DType == scalar.Float32 {
		return surveyCalls[float32](ctx, r, s)
	}
	return surveyCalls[float64](ctx, r, s)
}

// surveyCalls makes modelling and migration with straight rays.
func surveyCalls[T scalar.Scalar](ctx context.Context, r dist.Proc, s SurveyPlan) (forward, adjoint func(context.Context) error, err error) {
	const step, velocity, interval = 4, 1000, 0.004
	axes := make([]wave.Axis, 3) // y, x, z; in two dimensions there is no y
	for i, n := range s.Image {
		axes[3-len(s.Image)+i] = wave.Axis{N: n, Step: step}
	}
	grid := wave.Grid{Y: axes[0], X: axes[1], Z: axes[2]}
	line := func(n int) (p []wave.Point) {
		for i := range n {
			p = append(p, wave.Point{X: step * float64(grid.X.N) * (float64(i) + 0.5) / float64(n), Y: step * float64(grid.Y.N) / 2})
		}
		return p
	}
	times, err := wave.NewConstant(grid, velocity)
	if err != nil {
		return nil, nil, err
	}
	k := wave.KirchhoffOptions{Times: times, Sources: line(s.Sources), Receivers: line(s.Receivers), Samples: s.Samples, Interval: interval}
	make := wave.KirchhoffBySource[T]
	if s.ByModel {
		make = wave.KirchhoffByModel[T]
	}
	op, err := make(ctx, r, k)
	if err != nil {
		return nil, nil, err
	}
	return applications(ctx, op)
}
