package solve

import (
	"context"
	"math"
)

// truth holds the norms that are computed from an x, without the recurrence.
type truth struct {
	Norms
	x float64 // ‖x‖
}

// finite reports whether all of t are numbers.
func (t truth) finite() bool { return finite(t.Resid+t.x) && !math.IsInf(t.Grad, 0) }

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// target is the root of what is minimised: ‖b - A·x‖² + damp²·‖x‖².
func (t truth) target(damp float64) float64 { return math.Hypot(t.Resid, damp*t.x) }

// truth works out the norms of x, in one message. It applies A once, and once more
// or Aᴴ where the method knows a gradient.
func (r *session[D, R]) truth(ctx context.Context, x *Vector[D]) (truth, error) {
	w, t := r.ws, &r.scratch
	*t = truth{Norms: Norms{Grad: math.NaN()}}
	r.residual(ctx, x)
	w.checkRange.queueNorm(2, &t.Resid)
	x.queueNorm(2, &t.x)
	if !math.IsNaN(r.w.first.Grad) {
		r.gradient(ctx, w.checkDomain)
		if w.Damp != 0 {
			w.checkDomain.Add(-w.Damp*w.Damp, x)
		}
		w.checkDomain.queueNorm(2, &t.Grad)
	}
	w.Reduce(ctx)
	return *t, w.Err()
}

// residual leaves b - A·x in the vector of checks.
func (r *session[D, R]) residual(ctx context.Context, x *Vector[D]) {
	r.ws.Forward(ctx, r.ws.checkRange, x)
	r.ws.checkRange.Combine(-1, 1, r.ws.B)
}

// gradient sets g = Aᴴr with the r that residual has left. A Hermitian operator is
// its own adjoint.
func (r *session[D, R]) gradient(ctx context.Context, g *Vector[D]) {
	if r.ws.hermitian {
		r.ws.Forward(ctx, any(g).(*Vector[R]), any(r.ws.checkRange).(*Vector[D]))
	} else {
		r.ws.Adjoint(ctx, g, r.ws.checkRange)
	}
}

// checkState is what a run remembers of its checks. A checkpoint has it.
type checkState struct {
	first        Norms   // of the start
	norm, cond   float64 // of the operator, from below
	at           float64 // the iteration of the last check
	resid        float64 // the recurrence's residual at the last check
	off          float64 // the true residual over that of the recurrence, at least 1
	floor        float64 // the smallest residual that rounding allows, by the x of the last check
	near         float64 // 0 until the gradient comes near rounding; then the iterations to wait for a gain
	low, lowAt   float64 // the smallest relative gradient since then, and its iteration
	again        Norms   // true norms at the last restart that gained something
	vain         float64 // restarts since then
	valley       float64 // the relative gradient at which the last check of a small gradient was made
	best, marked float64 // target or cost of the best x; the residual at which x was last kept
	peak         float64 // the largest residual, or the largest step of a Minimiser
}

// numbers are what a checkpoint keeps.
func (w *checkState) numbers() []NamedNumber {
	return []NamedNumber{{"run: first ‖r‖", &w.first.Resid}, {"run: first ‖g‖", &w.first.Grad}, {"run: first cost", &w.first.Cost}, {"run: ‖A‖", &w.norm}, {"run: condition", &w.cond},
		{"run: last check", &w.at}, {"run: ‖r‖ at the last check", &w.resid}, {"run: true ‖r‖ over ‖r‖", &w.off}, {"run: rounding of ‖r‖", &w.floor},
		{"run: near rounding", &w.near}, {"run: lowest", &w.low}, {"run: iteration of the lowest", &w.lowAt},
		{"run: ‖r‖ at the last restart", &w.again.Resid}, {"run: ‖g‖ at the last restart", &w.again.Grad}, {"run: restarts in vain", &w.vain},
		{"run: best", &w.best}, {"run: ‖r‖ of the kept x", &w.marked}, {"run: largest ‖r‖ or step", &w.peak}, {"run: gradient at the last valley", &w.valley}}
}

// begin starts with the norms of the first x, which are true.
func (w *checkState) begin(n Norms, eps float64) {
	inf := math.Inf(1)
	*w = checkState{valley: 100 * math.Sqrt(eps), first: n, resid: n.Resid, off: 1, low: inf, again: Norms{Resid: inf, Grad: inf}, best: inf, marked: n.Resid}
}

// Numbers of the checks. eps is the rounding of the element type.
const (
	residEps        = 4   // a residual of this times eps is at rounding
	gradEps         = 16  // a gradient of this times eps is
	residEpsStalled = 10  // the same for a run that gains nothing any more
	gradEpsStalled  = 100 // and its gradient
	maxRestarts     = 3   // restarts in a row that gain nothing end a run
	waitForGain     = 10  // iterations without gain, near rounding
	checkEvery      = 100 // iterations between two checks, whatever the recurrence says
)

// reason says why a check is due.
type reason uint8

const (
	none      reason = iota
	tolerance        // the recurrence says that a tolerance is met
	rounding         // it says that rounding is reached
	nearing          // it comes near rounding for the first time
	stalled          // it is near rounding and gains nothing
	singular         // the condition is beyond what the element type holds
	regular          // the residual has fallen far since the last one, or that was long ago
)

// checkDue says whether the numbers of a step call for a check.
func (r *session[D, R]) checkDue(n Norms) reason {
	w, eps, k := &r.w, epsilon[D, R](), float64(r.res.Iters)
	switch {
	case r.met(Norms{Resid: n.Resid * w.off, Grad: n.Grad}), n.Resid <= minFall*w.first.Resid, n.Grad <= minFall*w.first.Grad:
		return tolerance
	case r.c.PastRounding:
		return none
	case n.Resid <= w.floor, n.Resid <= eps*r.norm, n.Grad <= residEps*eps*w.norm*n.Resid:
		return rounding
	case !math.IsNaN(n.Grad) && w.cond*eps >= 0.1:
		return singular
	}
	rel := n.Resid / r.norm
	if !math.IsNaN(n.Grad) {
		rel = min(rel, n.Grad/(w.norm*n.Resid))
	}
	switch {
	case rel < w.low/2:
		w.low, w.lowAt = rel, k
	case w.near != 0 && k-w.lowAt >= waitForGain*w.near:
		w.lowAt, w.near = k, 2*w.near
		return stalled
	}
	switch {
	case w.near == 0 && rel <= gradEpsStalled*eps:
		w.near = 1
		return nearing
	case rel <= w.valley/100:
		w.valley = rel
		return nearing
	case n.Resid <= math.Sqrt(eps)*w.resid || k-w.at >= checkEvery:
		return regular
	}
	return none
}

// met reports whether norms meet a tolerance of the Config.
func (r *session[D, R]) met(n Norms) bool {
	f := r.w.first
	return n.Resid <= r.c.RelTol*f.Resid || r.c.AbsTol > 0 && n.Resid <= r.scale.resid(r.c.AbsTol) ||
		!r.ws.hermitian && r.c.GradTol > 0 && n.Grad <= r.c.GradTol*f.Grad
}

// check compares the recurrence, which has the norms n, with the truth: it ends
// the run, lets it go on, or starts the recurrence anew from the true residual.
func (r *session[D, R]) check(ctx context.Context, n Norms, why reason) error {
	t, err := r.truth(ctx, r.ws.X)
	switch {
	case err != nil:
		return err
	case !t.finite():
		r.end(Diverged, "iteration %d: ‖b - A·x‖ is %g: %v", r.res.Iters, t.Resid, ErrNotFinite)
		return nil
	}
	w := &r.w
	w.at, w.resid = float64(r.res.Iters), n.Resid
	w.off = max(1, t.Resid/n.Resid)
	r.last, r.fresh = t, true
	r.measure(t)
	away := math.Abs(t.Resid-n.Resid) > 0.1*t.Resid && t.Resid > residEps*w.floor || w.floor > 0.1*r.norm
	if why == tolerance && t.Grad > 2*n.Grad && !r.met(Norms{Resid: n.Resid * w.off, Grad: math.Inf(1)}) {
		away = true // it was the gradient that met its tolerance
	}
	done := r.atRoundingOf(t) || !away && (why == rounding && r.nearRoundingOf(t, 2) || why == stalled && r.nearRoundingOf(t, 0))
	worse := r.worse(t)
	switch {
	case r.met(t.Norms), t.Resid == 0, t.Grad == 0 && r.res.Iters == 0 && !r.ws.hermitian:
		r.res.Status = Converged
	case r.c.PastRounding:
		if n.Resid <= minFall*w.first.Resid || n.Grad <= minFall*w.first.Grad {
			r.endWithoutGain(t)
		}
	case done && !worse:
		r.end(AtRounding, "%s", r.atRounding(t))
	case done, away:
		return r.restart(ctx, t)
	case why == singular:
		r.endWithoutGain(t)
	default:
		r.keep(t.target(r.ws.Damp))
	}
	return nil
}

// worse reports whether the best x so far is clearly better than that of t. Where
// the rounding of A·x is as large as b, an x is worth nothing.
func (r *session[D, R]) worse(t truth) bool {
	clearly := 2.0
	if r.w.floor > 0.1*r.norm {
		clearly = 0.5
	}
	return !(t.target(r.ws.Damp) <= clearly*r.w.best)
}

// measure sets the smallest residual that rounding allows for an x like that of t.
func (r *session[D, R]) measure(t truth) { r.w.floor = epsilon[D, R]() * (r.w.norm*t.x + r.norm) }

// atRoundingOf reports whether the norms t are as small as rounding lets them.
func (r *session[D, R]) atRoundingOf(t truth) bool {
	return t.Resid <= residEps*r.w.floor || t.Grad <= gradEps*epsilon[D, R]()*r.w.norm*t.target(r.ws.Damp)
}

// nearRoundingOf reports whether the norms t are near rounding, which is enough for
// a run that gains nothing any more.
func (r *session[D, R]) nearRoundingOf(t truth, floors float64) bool {
	return t.Resid <= residEpsStalled*r.w.floor || t.Grad <= r.w.norm*max(gradEpsStalled*epsilon[D, R]()*t.target(r.ws.Damp), floors*r.w.floor)
}

// keep makes x the best one, if its target is the smallest so far.
func (r *session[D, R]) keep(target float64) {
	if target < r.w.best {
		r.w.best = target
		r.best.Copy(r.ws.X)
	}
}

// recall returns to the best x and its norms, if they are better than those of the
// present x, which are t. It is collective.
func (r *session[D, R]) recall(ctx context.Context, t truth) (truth, error) {
	b, err := r.truth(ctx, r.best)
	if err != nil {
		return t, err
	}
	// Where the operator gives NaN, the last x may still be a good one.
	if b.finite() && !(t.target(r.ws.Damp) <= b.target(r.ws.Damp)) || !finite(t.x) {
		r.ws.X.Copy(r.best)
		t = b
		r.measure(t)
	}
	return t, nil
}

// restart starts the recurrence anew from x, whose norms are t, or from the best
// x if that is clearly better. It ends the run if the last restart was of no use.
func (r *session[D, R]) restart(ctx context.Context, t truth) error {
	w := &r.w
	if r.worse(t) {
		var err error
		if t, err = r.recall(ctx, t); err != nil {
			return err
		}
		r.last = t
	}
	if t.Resid < 0.9*w.again.Resid || t.Grad < 0.5*w.again.Grad {
		w.again, w.vain = t.Norms, 0
	} else if w.vain++; w.vain >= maxRestarts {
		r.endWithoutGain(t)
		return nil
	}
	r.keep(t.target(r.ws.Damp))
	n, err := r.ws.Start(ctx, r.m)
	r.norms = n
	w.resid, w.off, w.low, w.near, w.valley = n.Resid, 1, math.Inf(1), 0, 100*math.Sqrt(epsilon[D, R]())
	return err
}

// checkStop decides from the numbers, which all ranks share, whether this was the
// last iteration. Where they call for it, it checks x. It is collective then.
func (r *session[D, R]) checkStop(ctx context.Context, n Norms) error {
	w := &r.w
	switch {
	case r.ws.minimises != "":
		r.checkCost(n)
	case !finite(n.Resid):
		r.end(Diverged, "iteration %d: ‖b - A·x‖ is %g: %v", r.res.Iters, n.Resid, ErrNotFinite)
	case math.IsInf(n.Grad, 0): // a NaN may be a method that does not know it
		r.end(Diverged, "iteration %d: the gradient is %g: %v", r.res.Iters, n.Grad, ErrNotFinite)
	case r.c.Diverge > 0 && n.Resid > r.c.Diverge*w.first.Resid:
		u, f := r.scale.user(n), r.scale.user(w.first)
		r.end(Diverged, "iteration %d: ‖b - A·x‖ is %g, it was %g at the start", r.res.Iters, u.Resid, f.Resid)
	}
	if r.res.Status != unfinished || r.ws.minimises != "" {
		return nil
	}
	w.norm, w.cond = max(w.norm, r.ws.norm, r.ws.Damp), max(w.cond, r.ws.cond)
	w.peak = max(w.peak, n.Resid)
	if !r.c.PastRounding && math.IsNaN(n.Grad) && n.Resid <= w.marked/10 && n.Resid > gradEpsStalled*epsilon[D, R]()*w.peak {
		w.marked = n.Resid
		r.keep(n.Resid)
	}
	var err error
	if r.res.Iters > 0 || n.Resid == 0 || n.Grad == 0 || r.met(n) {
		if why := r.checkDue(n); why != none {
			err = r.check(ctx, n, why)
		}
	}
	if err == nil && r.res.Status == unfinished && r.res.Iters >= r.c.MaxIter {
		r.res.Status = MaxIter
	}
	return err
}
