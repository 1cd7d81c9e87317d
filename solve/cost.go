package solve

import (
	"context"
	"math"
)

// known marks what a method does not know: a Minimiser has Cost and Step, the others
// have not.
func (w *Workspace[D, R]) known(n Norms) Norms {
	if w.minimises == "" {
		n.Cost, n.Step = math.NaN(), math.NaN()
	}
	return n
}

// beginCost keeps the first x of a Minimiser, whose norms are n. It is collective.
func (r *session[D, R]) beginCost(ctx context.Context, n Norms) error {
	r.w.begin(n, epsilon[D, R]())
	r.w.best = n.Cost
	if !r.c.PastRounding {
		if r.best = r.ws.extra(); r.ws.ready(ctx) {
			r.best.Copy(r.ws.X)
		}
	}
	return r.ws.Err()
}

// checkCost decides from the numbers of a Minimiser, which all ranks share, whether
// this was the last iteration. It keeps x if it is clearly better than the one that
// is kept, or a little better after a while.
func (r *session[D, R]) checkCost(n Norms) {
	w, k := &r.w, float64(r.res.Iters)
	w.peak = max(w.peak, n.Step)
	switch {
	case math.IsNaN(n.Cost), !finite(n.Step):
		r.end(Diverged, "iteration %d: the cost %s is %g after a step of length %g: %v", r.res.Iters, r.ws.minimises, n.Cost, n.Step, ErrNotFinite)
	case r.c.Diverge > 0 && w.first.Cost > 0 && n.Cost > r.c.Diverge*w.first.Cost && !math.IsInf(n.Cost, 1):
		r.end(Diverged, "iteration %d: the cost %s is %g, it was %g at the start: the steps are too long, or Aᴴ is not the adjoint of A: optest.Dot tells",
			r.res.Iters, r.ws.minimises, n.Cost, w.first.Cost)
	case r.costMet(n):
		r.res.Status = Converged
	case r.res.Iters >= r.c.MaxIter:
		if r.res.Status = MaxIter; n.Cost > w.first.Cost {
			r.end(MaxIter, "iteration %d: the cost %s is %g, it was %g at the start: make more steps, or they are too long, or Aᴴ is not the adjoint of A", r.res.Iters, r.ws.minimises, n.Cost, w.first.Cost)
		}
	case r.best != nil && n.Cost < w.best && (n.Cost < w.best/2 || k-w.at >= checkEvery):
		w.at = k
		r.keep(n.Cost)
	}
}

// costMet reports whether the numbers of a Minimiser meet a tolerance of the Config.
func (r *session[D, R]) costMet(n Norms) bool {
	c, k := r.c, r.res.Iters
	if c.CostTol > 0 && n.Cost <= c.CostTol {
		return true
	}
	if k == 0 {
		return false
	}
	fall := math.Abs(r.res.History[k-1].Cost - n.Cost)
	return c.FallTol > 0 && r.ws.stale == 0 && fall <= c.FallTol*math.Abs(n.Cost) || c.StepTol > 0 && n.Step <= c.StepTol*r.w.peak
}

// finishCost returns to the x that was kept if the last one is worth less, because
// the run has failed.
func (r *session[D, R]) finishCost() {
	n, s := r.norms, r.res.Status
	if (s == Diverged || s == Breakdown) && r.best != nil && !(n.Cost <= r.w.best) {
		r.ws.X.Copy(r.best)
		n = Norms{Resid: math.NaN(), Grad: math.NaN(), Cost: r.w.best}
	}
	r.res.Resid, r.res.Grad, r.res.Cost = n.Resid, n.Grad, n.Cost
}
