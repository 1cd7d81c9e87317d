package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/trace"
)

// endWithoutGain ends a run whose recurrence has left the truth and comes no nearer.
func (r *session[D, R]) endWithoutGain(t truth) {
	w, eps := &r.w, epsilon[D, R]()
	left, first := r.scale.user(t.Norms).Resid, r.scale.user(w.first).Resid
	switch {
	case w.cond*eps >= 0.01 && !r.atRoundingOf(t):
		r.end(IllConditioned, "iteration %d: the condition is %.2g or more, which is beyond the rounding of %s: ‖b - A·x‖ stays at %.3g of %.3g: damp or regularise, or use elements of 64 bits",
			r.res.Iters, w.cond, typeName[D, R](), left, first)
	case r.nearRoundingOf(t, 2):
		r.end(AtRounding, "%s", r.atRounding(t))
	default:
		r.end(Stagnated, "iteration %d: ‖b - A·x‖ stays at %.3g of %.3g, though the recurrence goes on to fall: the condition is %.2g or more: damp, regularise or precondition, or try LSQR",
			r.res.Iters, left, first, w.cond)
	}
}

// atRounding says what has been reached.
func (r *session[D, R]) atRounding(t truth) string {
	if t.Resid <= residEpsStalled*r.w.floor {
		return fmt.Sprintf("‖b - A·x‖ is %.2g, which is the rounding of A·x and b: nothing is left to gain", r.scale.user(t.Norms).Resid)
	}
	if r.ws.hermitian {
		return "‖A·(b - A·x)‖ is at rounding, though b - A·x is not: the operator is singular or nearly so, and x makes ‖b - A·x‖ smallest"
	}
	return "the gradient is at rounding: x makes the sum of squares smallest, and nothing is left to gain"
}

// endRefused gives the error of a step that cannot be made its status. The numbers
// are the same on all ranks. An error of another kind comes back.
func (r *session[D, R]) endRefused(ctx context.Context, err error) error {
	at, known := r.res.Iters+1, (*refusal)(nil)
	switch {
	case errors.As(err, &known) && known.status == NotSymmetric && !math.IsInf(r.w.again.Resid, 1):
		// Earlier steps had no fault: the residual that is left is rounding.
		t, err := r.truth(ctx, r.ws.X)
		r.measure(t)
		r.endWithoutGain(t)
		return err
	case errors.As(err, &known):
		r.end(known.status, "iteration %d: %s", at, known.why)
	case errors.Is(err, ErrBreakdown):
		r.end(Breakdown, "iteration %d: %v", at, err)
	case errors.Is(err, ErrNotFinite) && r.ws.minimises != "":
		r.end(Diverged, "iteration %d: %v; else the steps are too long, or Aᴴ is not the adjoint of A: optest.Dot tells", at, err)
	case errors.Is(err, ErrNotFinite):
		r.end(Diverged, "iteration %d: %v", at, err)
	default:
		return err
	}
	return nil
}

// finish works out the norms of the last x, or returns to the best one if that
// is clearly better. It is collective.
func (r *session[D, R]) finish(ctx context.Context) error {
	if r.ws.minimises != "" {
		r.finishCost()
		return r.ws.Err()
	}
	defer trace.BeginPart(ctx, r.m.Name(), "last check").End()
	t := r.last
	if !r.fresh {
		var err error
		if t, err = r.truth(ctx, r.ws.X); err != nil {
			return err
		}
	}
	r.measure(t)
	done := r.res.Status == Converged || r.res.Status == AtRounding
	if !r.c.PastRounding && (r.worse(t) || !done && t.Resid > r.w.first.Resid) { // a run never ends worse than it started
		var err error
		if t, err = r.recall(ctx, t); err != nil {
			return err
		}
	}
	if s := r.res.Status; r.ws.hermitian && (s == Diverged && t.finite() || s == Stagnated || s == IllConditioned || s == Indefinite || s == Breakdown) {
		if err := r.symmetry(ctx); err != nil {
			return err
		}
	}
	if failed := r.res.Status; r.ws.checkDomain != nil && !r.ws.hermitian && (failed == Diverged && t.finite() || failed == Stagnated || failed == IllConditioned || failed == Breakdown ||
		failed == MaxIter && r.res.Iters > 0 && !(t.Resid < r.w.first.Resid)) {
		if err := r.adjoint(ctx); err != nil {
			return err
		}
	}
	if r.res.Status == NotSymmetric {
		t.Grad = math.NaN() // it was computed with A, not with Aᴴ
	}
	u := r.scale.user(t.Norms)
	r.res.Resid, r.res.Grad, r.res.Cost = u.Resid, u.Grad, math.NaN()
	return r.copyToUser(ctx)
}

// adjoint finds out whether a run has failed because Aᴴ is not the adjoint of A: ‖Aᴴb‖²
// is bᴴA·Aᴴb if it is. It applies both once.
func (r *session[D, R]) adjoint(ctx context.Context) error {
	w, y, z := r.ws, r.ws.checkDomain, r.ws.checkRange
	var s, re, im float64
	w.Adjoint(ctx, y, w.B)
	w.Forward(ctx, z, y)
	y.QueueNorm2(&s)
	w.B.QueueComplexDot(z, &re, &im)
	w.Reduce(ctx)
	if err := w.Err(); err != nil {
		return err
	}
	if off := math.Abs(re - s); off > math.Cbrt(epsilon[D, R]())*math.Max(s, math.Abs(re)) {
		why := fmt.Sprintf("‖Aᴴb‖² is %.3g, but bᴴA·Aᴴb is %.3g: Aᴴ is not the adjoint of A: optest.Dot tells", s, re)
		if r.res.Why == "" {
			r.res.Why = fmt.Sprintf("iteration %d: %s", r.res.Iters, why)
		} else {
			r.res.Why += "; " + why
		}
	}
	return nil
}

// symmetry finds out whether a run has failed because the operator is not
// Hermitian: bᴴA·A·b is ‖A·b‖² if it is. It applies A twice.
func (r *session[D, R]) symmetry(ctx context.Context) error {
	w, y := r.ws, r.ws.checkRange
	z := w.extra()
	defer z.Free()
	var s, re, im float64
	w.Forward(ctx, y, any(w.B).(*Vector[D])) // y = A·b
	w.Forward(ctx, any(z).(*Vector[R]), any(y).(*Vector[D]))
	y.QueueNorm2(&s)
	w.B.QueueComplexDot(any(z).(*Vector[R]), &re, &im)
	w.Reduce(ctx)
	if err := w.Err(); err != nil {
		return err
	}
	if off := math.Hypot(re-s, im); off > math.Cbrt(epsilon[D, R]())*s {
		r.end(NotSymmetric, "iteration %d: bᴴA·A·b and ‖A·b‖² differ by %.2g: the operator is not Hermitian: use CGLS or LSQR", r.res.Iters, off/s)
	}
	return nil
}
