package solve_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// lasso is ½‖A·x - b‖² + λ‖x‖₁ with a random A, b and λ. It follows from its seed.
type lasso[T scalar.Scalar] struct {
	seed    uint64
	a, i    linop.Operator[T]
	b       dist.Array[T]
	f       solve.Smooth[T]
	l1, sum solve.Function[T] // λ‖x‖₁ and ½‖y - b‖²
	full    solve.Function[T] // f with its prox
}

func newLasso[T scalar.Scalar](ctx context.Context, x *dist.Space, seed uint64) (l lasso[T], err error) {
	var e built
	l.seed = seed
	rnd := splitMix{splitmix.Source(seed)}
	base, lambda := 1.5+rnd.unit(), 0.3*rnd.unit()
	h := []T{scalar.From[T](0.2 * rnd.number(true)), scalar.From[T](0.2 * rnd.number(true)), scalar.From[T](0.2 * rnd.number(true))}
	d, err := dist.FromFunc(ctx, x, func(i []int) T { return scalar.From[T](complex(base+0.4*math.Sin(float64(3*i[0]+5*i[1])), 0.1)) })
	if build(&e, d, err); e.err != nil {
		return l, e.err
	}
	op := func(a linop.Operator[T], err error) linop.Operator[T] { return build(&e, a, err) }
	diag, conv := op(ops.Diagonal(d)), op(ops.Convolve1D(ctx, x, 0, h, 1))
	l.i = op(ops.Identity[T](x))
	if e.err != nil {
		return l, e.err
	}
	if sum := op(linop.Add(diag, conv)); e.err == nil {
		l.a = op(linop.Scale(scalar.From[T](complex(0.9/(base+1.4), 0)), sum)) // its norm is below 1
	}
	b, err := dist.Random[T](ctx, x, seed)
	l.b = build(&e, b, err)
	if e.err != nil {
		return l, e.err
	}
	fn := func(f prox.Function[T], err error) prox.Function[T] { return build(&e, f, err) }
	inner := prox.InnerDefaults()
	inner.RelTol = 1e-12
	full := fn(prox.L2Operator(ctx, l.a, l.b, 1, inner))
	l.l1, l.sum, l.full = fn(prox.L1[T](ctx, x, lambda)), fn(prox.L2(ctx, x, l.b, 1)), full
	l.f, _ = full.(solve.Smooth[T])
	return l, e.err
}

// method is one that minimises it, by the seed.
func (l *lasso[T]) method() (solve.Method[T, T], solve.Problem[T, T]) {
	type problem = solve.Problem[T, T]
	none, withA, withB := problem{}, problem{A: l.a}, problem{A: l.a, B: l.b}
	first := l.seed/64%2 == 0
	switch l.seed / 4 % 10 {
	case 0:
		return &solve.ProximalGradient[T]{F: l.f, G: l.l1, Weight: 1, Tau: 1}, none
	case 1:
		return &solve.ProximalGradient[T]{F: l.f, G: l.l1, Weight: 1, Tau: 1, Relax: 1.2}, none
	case 2:
		return &solve.ProximalGradient[T]{F: l.f, G: l.l1, Weight: 1, Tau: 8, Backtrack: true, Shorten: 0.5, MaxBack: 20}, none
	case 3:
		return &solve.GeneralizedProximalGradient[T]{F: []solve.Smooth[T]{l.f}, G: []solve.Function[T]{l.l1, l.l1}, Weights: []float64{0.4, 0.6}, Tau: 1, Eta: 1}, none
	case 4:
		return &solve.ADMM[T]{F: l.full, G: l.l1, Tau: 2, GFirst: first}, none
	case 5:
		return &solve.ADMML2[T, T, T]{G: l.l1, K: l.i, Tau: 2, GFirst: first, Inner: 12}, withB
	case 6:
		return &solve.LinearizedADMM[T, T]{F: l.l1, G: l.sum, Tau: 1, Mu: 1}, withA
	case 7:
		return &solve.PrimalDual[T, T]{F: l.l1, G: l.sum, Tau: 1, Mu: 1, Theta: 1, XFirst: first}, withA
	case 8:
		return &solve.AdaptivePrimalDual[T, T]{F: l.l1, G: l.sum, Tau: 0.7, Mu: 0.7, Alpha: 0.5, Eta: 0.9, S: 1, Delta: 1.5}, withA
	}
	m := &solve.TwIST[T, T]{G: l.l1}
	m.Alpha, m.Beta = solve.TwISTWeights(0.05, 1)
	return m, withB
}

// optimal returns ‖x - prox(x - ∇f(x))‖, which is zero at the minimum.
func (l *lasso[T]) optimal(ctx context.Context, x dist.Array[T]) (float64, error) {
	g, err := dist.New[T](x.Space())
	if err == nil {
		err = l.f.Gradient(ctx, g, x)
	}
	if err != nil {
		return 0, err
	}
	dist.Sub(g, x, g)
	if err := l.l1.Prox(ctx, g, 1, g); err != nil {
		return 0, err
	}
	dist.Sub(g, g, x)
	return dist.Norm(ctx, g, 2)
}

// minimiseLasso solves the problem of a seed, and returns x.
func minimiseLasso[T scalar.Scalar](ctx context.Context, r dist.Proc, seed uint64) ([]complex128, error) {
	tol := math.Sqrt(scalarEps[T]()) / 50
	s, err := dist.NewSpace(ctx, r, homes[seed/11%5].layout(r.Size()), 4+int(seed%3), 3)
	if err != nil {
		return nil, err
	}
	l, err := newLasso[T](ctx, s, seed)
	if err != nil {
		return nil, err
	}
	x, err := dist.New[T](s)
	if err != nil {
		return nil, err
	}
	m, p := l.method()
	res, err := solve.Run(ctx, m, p, x, solve.Config{MaxIter: 2000, StepTol: tol / 20, Diverge: 1e6})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	off, err := l.optimal(ctx, x)
	if err != nil {
		return nil, err
	}
	if res.Status != solve.Converged && res.Status != solve.MaxIter || off > 10*tol {
		return nil, fmt.Errorf("%s of %v on %v: %v after %d: off the optimum by %g", m.Name(), scalar.Of[T](), s, res.Status, res.Iters, off)
	}
	got, err := dist.AllGather(ctx, x)
	return wider(got), err
}

// Random problems, methods, layouts and ranks: the optimality conditions hold, and x
// is that of one rank.
func TestRandomSplitting(t *testing.T) {
	seeds := uint64(soak.Or(160, 6000))
	if testdevices.OnGPU() {
		seeds = 40
	}
	one := make([][]complex128, seeds)
	for _, ranks := range []int{1, 2, 3, 7} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			for seed := range seeds {
				if ranks > 1 && seed%7 != []uint64{0, 0, 1, 2, 0, 0, 0, 4}[uint64(ranks)] && seed%3 != 0 {
					continue
				}
				var x []complex128
				var err error
				tol := 1e-7
				switch seed % 4 {
				case 0:
					x, err = minimiseLasso[float64](ctx, r, seed)
				case 1:
					x, err = minimiseLasso[complex128](ctx, r, seed)
				case 2:
					x, err = minimiseLasso[float32](ctx, r, seed)
					tol = 1e-3
				case 3:
					x, err = minimiseLasso[complex64](ctx, r, seed)
					tol = 1e-3
				}
				if err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
				if ranks == 1 {
					one[seed] = x
				}
				for i, v := range one[seed] {
					if d := v - x[i]; math.Hypot(real(d), imag(d)) > tol {
						return fmt.Errorf("seed %d: element %d is %v, on one rank %v", seed, i, x[i], v)
					}
				}
			}
			return nil
		})
	}
}
