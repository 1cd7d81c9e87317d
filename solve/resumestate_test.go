package solve_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// warmly makes a few steps from the last result, so that this one depends on that.
var warmly = prox.Inner{MaxIter: 2, Warm: true}

// warm are functions with a state, over one space, and the operators of methods.
type warm[T scalar.Scalar] struct {
	ctx      context.Context
	x        *dist.Space
	slope, a linop.Operator[T]
	b, c     dist.Array[T]
	e        built
	cold     bool // hides the states, so that runs do not keep them
}

func newWarm[T scalar.Scalar](ctx context.Context, r dist.Proc, cold bool) (*warm[T], error) {
	w := &warm[T]{ctx: ctx, cold: cold}
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 4)
	if w.x = x; err != nil {
		return w, err
	}
	slope, err := ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeDefaults())
	w.slope = build(&w.e, slope, err)
	d, err := dist.FromFunc(ctx, x, func(i []int) T { return scalar.From[T](complex(0.3+0.1*float64(i[0]), 0.1)) })
	if build(&w.e, d, err); w.e.err == nil {
		a, err := ops.Diagonal(d)
		w.a = build(&w.e, a, err)
	}
	b, err := dist.Random[T](ctx, x, 1)
	w.b = build(&w.e, b, err)
	c, err := dist.Random[T](ctx, x, 2)
	w.c = build(&w.e, c, err)
	return w, w.e.err
}

type warmFunction[T scalar.Scalar] = prox.Function[T]

func (w *warm[T]) of(f warmFunction[T], err error) warmFunction[T] { return build(&w.e, f, err) }

func (w *warm[T]) tv() warmFunction[T] { return w.of(prox.TV[T](w.ctx, w.x, 0.2, warmly)) }

func (w *warm[T]) squares() warmFunction[T] {
	return w.of(prox.L2Operator(w.ctx, w.slope, w.b, 3, warmly))
}

func (w *warm[T]) quadratic() warmFunction[T] {
	a, err := linop.Compose(linop.H(w.slope), w.slope)
	if build(&w.e, a, err); w.e.err != nil {
		return nil
	}
	return w.of(prox.Quadratic(w.ctx, w.x, a, w.c, 1, warmly))
}

// functions has those with a state of their own, and all that are made of others.
func (w *warm[T]) functions() map[string]warmFunction[T] {
	twice, err := ops.Identity[T](w.x)
	if err == nil {
		twice, err = linop.Scale(2, twice)
	}
	if build(&w.e, twice, err); w.e.err != nil {
		return nil
	}
	return map[string]warmFunction[T]{
		"L2Operator": w.squares(),
		"Quadratic":  w.quadratic(),
		"AffineSet":  w.of(prox.AffineSet(w.ctx, w.a, w.b, warmly)),
		"TV":         w.tv(),
		"Scale":      w.of(prox.Scale(w.ctx, 2, w.tv())),
		"Precompose": w.of(prox.Precompose(w.ctx, w.squares(), 0.5, w.c)),
		"Translate":  w.of(prox.Translate(w.ctx, w.tv(), w.c)),
		"AddLinear":  w.of(prox.AddLinear(w.ctx, w.quadratic(), w.c)),
		"Orthogonal": w.of(prox.Orthogonal(w.ctx, w.tv(), twice, w.c, 4)),
		"Sum":        w.of(prox.Sum(w.ctx, prox.Inner{MaxIter: 3}, w.tv(), w.squares())),
		"Stack":      w.of(prox.Stack(w.ctx, w.tv(), w.squares())),
	}
}

// hidden is a function whose state nobody sees.
type hidden[T scalar.Scalar] struct{ solve.Function[T] }

// hiddenSmooth has a gradient, too.
type hiddenSmooth[T scalar.Scalar] struct {
	solve.Function[T]
	solve.Smooth[T]
}

func (f hiddenSmooth[T]) Value(ctx context.Context, x dist.Array[T]) (float64, error) {
	return f.Function.Value(ctx, x)
}

// method returns the method with a name, or HQS with the function that has it.
func (w *warm[T]) method(name string) (solve.Method[T, T], solve.Problem[T, T], *dist.Space) {
	type function = solve.Function[T]
	type problem = solve.Problem[T, T]
	shown := func(f warmFunction[T]) function {
		if w.cold {
			return hidden[T]{f}
		}
		return f
	}
	f, g := shown(w.squares()), shown(w.tv())
	smooth := hiddenSmooth[T]{g, w.squares().(solve.Smooth[T])} // with the prox of another
	withA, withB := problem{A: w.a}, problem{A: w.a, B: w.b}
	var m solve.Method[T, T]
	p := problem{}
	switch name {
	case "ProximalGradient":
		m = &solve.ProximalGradient[T]{F: smooth, G: g, Weight: 1, Tau: 0.1, Momentum: solve.FISTAMomentum}
	case "GeneralizedProximalGradient":
		m = &solve.GeneralizedProximalGradient[T]{F: []solve.Smooth[T]{smooth}, G: []function{f, g}, Tau: 0.1, Eta: 1}
	case "ProximalPoint":
		m = &solve.ProximalPoint[T]{F: g, Tau: 0.7}
	case "HQS":
		m = &solve.HQS[T]{F: f, G: g, Tau: []float64{0.7}}
	case "ADMM":
		m = &solve.ADMM[T]{F: f, G: g, Tau: 0.7}
	case "ADMML2":
		m, p = &solve.ADMML2[T, T, T]{G: g, K: w.slope, Tau: 0.7, Inner: 2}, withB
	case "LinearizedADMM":
		m, p = &solve.LinearizedADMM[T, T]{F: f, G: g, Tau: 0.7, Mu: 0.5}, withA
	case "PrimalDual":
		m, p = &solve.PrimalDual[T, T]{F: f, G: g, Tau: 0.7, Mu: 0.7, Theta: 1, CostEvery: 2}, withA
	case "AdaptivePrimalDual":
		m, p = &solve.AdaptivePrimalDual[T, T]{F: f, G: g, Tau: 0.7, Mu: 0.7, Alpha: 0.5, Eta: 0.95, S: 1, Delta: 1.5}, withA
	case "TwIST":
		m, p = &solve.TwIST[T, T]{G: g, Alpha: 1.2, Beta: 1.1}, withB
	default:
		f := w.functions()[name]
		if f == nil {
			return nil, p, nil
		}
		return &solve.HQS[T]{F: shown(f), G: w.of(prox.L1[T](w.ctx, f.Space(), 0.1)), Tau: []float64{0.7}}, p, f.Space()
	}
	return m, p, w.x
}

// warmRun makes functions anew and runs a method to so many steps.
func warmRun[T scalar.Scalar](ctx context.Context, r dist.Proc, name string, cold bool, iters int, cp solve.Checkpoint) ([]T, solve.Result, error) {
	w, err := newWarm[T](ctx, r, cold)
	if err != nil {
		return nil, solve.Result{}, err
	}
	m, p, s := w.method(name)
	if w.e.err != nil || m == nil {
		return nil, solve.Result{}, fmt.Errorf("no method or function %s: %w", name, w.e.err)
	}
	x, err := dist.Random[T](ctx, s, 5)
	if err != nil {
		return nil, solve.Result{}, err
	}
	res, err := solve.Run(ctx, m, p, x, solve.Config{MaxIter: iters, Checkpoint: cp})
	if err == nil && (res.Iters != iters || res.Status != solve.MaxIter) {
		err = fmt.Errorf("%v after %d: %s", res.Status, res.Iters, res.Why)
	}
	if err != nil {
		return nil, res, err
	}
	var all []T
	for i := range x.NumLeaves() {
		part, err := dist.AllGather(ctx, x.Leaf(i))
		if err != nil {
			return nil, res, err
		}
		all = append(all, part...)
	}
	return all, res, nil
}

// apartBy returns how far two models and histories are apart.
func apartBy[T scalar.Scalar](x, y []T, a, b solve.Result) (off float64) {
	for i := range x {
		d := scalar.Complex(x[i] - y[i])
		off = max(off, math.Hypot(real(d), imag(d)))
	}
	for k, n := range a.History {
		if m := b.History[k]; !math.IsInf(n.Cost, 1) || !math.IsInf(m.Cost, 1) {
			off = max(off, math.Abs(n.Cost-m.Cost))
		}
		off = max(off, math.Abs(n.Step-b.History[k].Step))
	}
	return off
}

// A run that is resumed gives the same numbers where functions begin from their last
// result: to the last bit on as many ranks, to rounding on others. Without their states it
// would not.
func TestResumesWithStates(t *testing.T) {
	for _, name := range []string{"L2Operator", "Quadratic", "AffineSet", "TV", "Scale", "Precompose", "Translate", "AddLinear", "Orthogonal", "Sum", "Stack",
		"ProximalPoint", "ProximalGradient", "GeneralizedProximalGradient", "HQS", "ADMM", "ADMML2", "LinearizedADMM", "PrimalDual", "AdaptivePrimalDual", "TwIST"} {
		resumesWithState[float64](t, name, 1e-12)
		if name == "TV" || name == "L2Operator" || name == "AdaptivePrimalDual" {
			resumesWithState[complex64](t, name, 1e-4)
		}
	}
}

func resumesWithState[T scalar.Scalar](t *testing.T, name string, tol float64) {
	const iters, stop = 7, 3
	var want []T
	var whole solve.Result
	dirs := map[bool][2]string{false: {t.TempDir(), t.TempDir()}, true: {t.TempDir()}}
	at := func(dir string) solve.Checkpoint {
		return solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Keep: 1, Resume: true}}
	}
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		x, unbroken, err := warmRun[T](ctx, r, name, false, iters, solve.Checkpoint{})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if r.Rank() == 0 {
			want, whole = x, unbroken
		}
		for _, cold := range []bool{false, true} {
			for _, dir := range dirs[cold] {
				if dir == "" {
					continue
				}
				if _, _, err := warmRun[T](ctx, r, name, cold, stop, at(dir)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			y, res, err := warmRun[T](ctx, r, name, cold, iters, at(dirs[cold][0]))
			if err != nil || res.Resumed != stop {
				return fmt.Errorf("%s: resumed at %d: %w", name, res.Resumed, err)
			}
			if off := apartBy(x, y, unbroken, res); (off == 0) == cold {
				return fmt.Errorf("%s, states hidden %t: the resumed run is off by %g", name, cold, off)
			}
		}
		return nil
	})
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		y, res, err := warmRun[T](ctx, r, name, false, iters, at(dirs[false][1]))
		if err != nil || res.Resumed != stop {
			return fmt.Errorf("%s: resumed at %d: %w", name, res.Resumed, err)
		}
		if off := apartBy(want, y, whole, res); off > tol {
			return fmt.Errorf("%s: the run that is resumed on 3 ranks is off by %g", name, off)
		}
		return nil
	})
}
