package solve

import (
	"context"
	"errors"

	"github.com/golops/golops/scalar"
)

// inner is a problem of least squares inside a method: a few steps of CGLS, in vectors
// that Init makes.
type inner[D, R scalar.Scalar] struct {
	w     *Workspace[D, R]
	m     CGLS[D, R]
	steps int
	norm  float64 // of the operator, from below
}

// start makes the problem, with x for its solution, and all vectors. It must be called
// in Init. It is collective.
func (in *inner[D, R]) start(ctx context.Context, s *shared, p Problem[D, R], x *Vector[D], damp float64, steps int) {
	s.Number("‖A‖ inside", &in.norm)
	if in.steps = steps; !s.ready(ctx) {
		return
	}
	in.w = newWorkspace(p, x.Array, damp)
	s.inside = append(s.inside, in.w.free)
	_, err := in.w.Start(ctx, &in.m)
	s.Fail(err)
}

// solve improves x. It ends early where the gradient is at rounding. It is collective.
func (in *inner[D, R]) solve(ctx context.Context, s *shared) {
	if !s.ready(ctx) {
		return
	}
	in.w.begin()
	in.w.unagreed = false // no rank makes anything
	n, err := in.m.Init(ctx, in.w)
	in.w.starting = false
	for range in.steps {
		if err != nil || n.Grad <= gradEps*epsilon[D, R]()*in.norm*n.Resid {
			break
		}
		n, err = in.m.Step(ctx, in.w)
		in.norm = max(in.norm, in.w.norm)
	}
	if errors.Is(err, ErrBreakdown) {
		err = nil // rounding is all that is left
	}
	s.Fail(err)
}

// or returns v, or d for 0.
func or[T int | float64](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}
