package solve

import (
	"context"
	"errors"
	"math"

	"github.com/golops/golops/scalar"
)

// inner is a problem of least squares inside a method: a few steps of CGLS, in vectors
// that Init makes.
type inner[D, R scalar.Scalar] struct {
	w        *Workspace[D, R]
	m        CGLS[D, R]
	steps    int
	fromZero bool    // x is zero at the start of each solution
	norm     float64 // of the operator, from below
	first    float64 // the largest ‖A·x - b‖ that a solution began with
}

// start makes the problem, with x for its solution, and all vectors. It must be called
// in Init. It is collective.
func (in *inner[D, R]) start(ctx context.Context, s *shared, p Problem[D, R], x *Vector[D], damp float64, steps int) {
	s.Number("‖A‖ inside", &in.norm)
	s.Number("largest ‖r‖ inside", &in.first)
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
	began := n.Resid
	in.first = max(in.first, began)
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
	if in.fromZero || in.w.Damp == 0 { // damping may trade ‖r‖ for ‖x‖
		if over := n.Resid - began; over > 0.1*began && over > math.Sqrt(epsilon[D, R]())*in.first {
			s.End(Breakdown, "‖A·x - b‖ rises from %g to %g in a problem of least squares: Aᴴ is not the adjoint of A: optest.Dot tells", began, n.Resid)
		}
	}
}

// or returns v, or d for 0.
func or[T int | float64](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}
