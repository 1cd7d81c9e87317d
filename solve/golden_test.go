package solve_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// iters are the iterations after which the cases have the model.
var iters = []int{1, 2, 5, 10}

// goldenCases runs f for the cases of a solver, those of serial PyLops on
// several numbers of ranks.
func goldenCases(t *testing.T, op string, f32 goldenRun[float32], f64 goldenRun[float64], c64 goldenRun[complex64], c128 goldenRun[complex128]) {
	for _, c := range golden.CasesIn(t, "solve", op) {
		on := []int{1, 2, 3}
		if c.Ranks > 0 {
			on = []int{c.Ranks}
		}
		for _, n := range on {
			t.Run(fmt.Sprintf("%s/ranks=%d", c.Name, n), func(t *testing.T) {
				switch c.DType {
				case scalar.Float32:
					f32.run(t, c, n, 2e-5)
				case scalar.Float64:
					f64.run(t, c, n, 1e-12)
				case scalar.Complex64:
					c64.run(t, c, n, 2e-5)
				case scalar.Complex128:
					c128.run(t, c, n, 1e-12)
				}
			})
		}
	}
}

// goldenRun checks a case on one rank.
type goldenRun[T scalar.Scalar] func(ctx context.Context, r dist.Proc, g *goldenData[T]) error

func (f goldenRun[T]) run(t *testing.T, c golden.Case, ranks int, tol float64) {
	t.Helper()
	g := &goldenData[T]{Case: c, tol: tol, v: map[string][]T{}, shape: map[string][]int{}}
	for _, k := range c.Keys() {
		g.shape[k], g.v[k] = golden.Rounded[T](t, c, k)
	}
	err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		own := *g // a check may change the tolerance
		return f(ctx, r, &own)
	})
	if err != nil {
		t.Error(err)
	}
}

// goldenData is a case with its arrays, which ranks share and only read.
type goldenData[T scalar.Scalar] struct {
	golden.Case
	tol   float64
	v     map[string][]T
	shape map[string][]int
}

// matrix is the operator of an array of the case.
func (g *goldenData[T]) matrix(ctx context.Context, r dist.Proc, key string) (linop.Operator[T], error) {
	return matrix(ctx, r, g.shape[key][0], g.shape[key][1], g.v[key])
}

// operator is that of the case: one matrix over all ranks, or one of each rank.
func (g *goldenData[T]) operator(ctx context.Context, r dist.Proc) (linop.Operator[T], error) {
	if g.Source == "pylops" {
		return g.matrix(ctx, r, "A")
	}
	key := fmt.Sprintf("A_rank%d_0", r.Rank())
	own, err := g.matrix(ctx, r.Alone(), key)
	if err != nil {
		return nil, err
	}
	if g.String("op") == "VStack" {
		return linop.VStackRanks(ctx, r, own)
	}
	return linop.BlockDiagRanks(ctx, r, own)
}

// models compares the models after some iterations with those of the case, as
// finish makes them of x, and returns the last result.
func (g *goldenData[T]) models(ctx context.Context, m solve.Method[T, T], p problem[T], x0 []T, finish func(x dist.Array[T]) (dist.Array[T], error)) (res solve.Result, err error) {
	for _, k := range iters {
		x, err := dist.New[T](p.A.Domain())
		if err == nil && x0 != nil {
			x, err = vector(ctx, p.A.Domain(), x0)
		}
		if err != nil {
			return res, err
		}
		if res, err = p.run(ctx, m, x, solve.Config{MaxIter: k, PastRounding: true}); err != nil {
			return res, err
		}
		if finish != nil {
			if x, err = finish(x); err != nil {
				return res, err
			}
		}
		if err := compare(ctx, x, g.v[fmt.Sprint("x", k)], g.tol); err != nil {
			return res, fmt.Errorf("%s after %d iterations: %w", m.Name(), k, err)
		}
	}
	return res, nil
}

// costs compares the history of residuals. Numbers below the rounding of the
// first are noise in both.
func (g *goldenData[T]) costs(res solve.Result) error {
	cost := g.v["cost"]
	if len(res.History) > len(cost) {
		return fmt.Errorf("%d norms, PyLops has %d", len(res.History), len(cost))
	}
	for k, n := range res.History {
		if want := real(scalar.Complex(cost[k])); math.Abs(n.Resid-want) > 2*g.tol*res.History[0].Resid {
			return fmt.Errorf("iteration %d: residual %g, PyLops has %g", k, n.Resid, want)
		}
	}
	return nil
}

func (g *goldenData[T]) problem(ctx context.Context, r dist.Proc) (p problem[T], err error) {
	if p.A, err = g.operator(ctx, r); err == nil {
		p.B, err = vector(ctx, p.A.Range(), g.v["y"])
	}
	return p, err
}

// damped returns A + damp·I, which is what CG of PyLops means by damping.
func damped[T scalar.Scalar](a linop.Operator[T], damp float64) (linop.Operator[T], error) {
	id, err := ops.Identity[T](a.Domain())
	if err != nil {
		return nil, err
	}
	if id, err = linop.Scale(scalar.From[T](complex(damp, 0)), id); err != nil {
		return nil, err
	}
	return linop.Add(a, id)
}

func goldenCG[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	if g.Source == "pylops" {
		if p.A, err = damped(p.A, g.Float("damp")); err != nil {
			return err
		}
	}
	for _, m := range []solve.Method[T, T]{&solve.CG[T]{}, &solve.CG[T]{OneMessage: true}} {
		res, err := g.models(ctx, m, p, g.v["x0"], nil)
		if err == nil {
			err = g.costs(res)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestGoldenCG(t *testing.T) {
	goldenCases(t, "cg", goldenCG[float32], goldenCG[float64], goldenCG[complex64], goldenCG[complex128])
}

func goldenCGLS[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	damp := g.Float("damp")
	p.damp = damp
	for _, m := range []solve.Method[T, T]{&solve.CGLS[T, T]{}, &solve.CGLS[T, T]{OneMessage: true}, &solve.LSQR[T, T]{}} {
		if g.String("x0") == "random" && damp != 0 && damp != 1 {
			if err := g.better(ctx, m, p); err != nil {
				return err
			}
			continue
		}
		res, err := g.models(ctx, m, p, g.v["x0"], nil)
		if err == nil {
			err = g.costs(res)
		}
		if err != nil {
			return err
		}
		// What PyLops calls r1norm is the square of the gradient.
		last := res.History[res.Iters]
		if want := g.v["r1norm"]; want != nil && m.Name() == "CGLS" && math.Abs(last.Grad*last.Grad-real(scalar.Complex(want[0]))) > 2*g.tol*res.History[0].Grad*res.History[0].Grad {
			return fmt.Errorf("gradient %g, r1norm is %v", last.Grad, want[0])
		}
	}
	return nil
}

// better checks that after ten iterations we are closer to the minimum than
// PyLops, whose first direction of a damped problem is wrong if the start is not
// zero.
func (g *goldenData[T]) better(ctx context.Context, m solve.Method[T, T], p problem[T]) error {
	x, err := vector(ctx, p.A.Domain(), g.v["x0"])
	if err != nil {
		return err
	}
	if _, err := p.run(ctx, m, x, solve.Config{MaxIter: 10, PastRounding: true}); err != nil {
		return err
	}
	theirs, err := vector(ctx, p.A.Domain(), g.v["x10"])
	if err != nil {
		return err
	}
	a, err := objective(ctx, p, x)
	if err != nil {
		return err
	}
	b, err := objective(ctx, p, theirs)
	if err == nil && a > b*(1+g.tol) {
		err = fmt.Errorf("%s: objective %g, PyLops has %g", m.Name(), a, b)
	}
	return err
}

// objective returns ‖A·x - b‖² + damp²·‖x‖².
func objective[T scalar.Scalar](ctx context.Context, p problem[T], x dist.Array[T]) (float64, error) {
	y, err := linop.Apply(ctx, p.A, x)
	if err != nil {
		return 0, err
	}
	dist.Sub(y, p.B, y)
	r, err := dist.Norm(ctx, y, 2)
	if err != nil {
		return 0, err
	}
	n, err := dist.Norm(ctx, x, 2)
	return r*r + p.damp*p.damp*n*n, err
}

func TestGoldenCGLS(t *testing.T) {
	goldenCases(t, "cgls", goldenCGLS[float32], goldenCGLS[float64], goldenCGLS[complex64], goldenCGLS[complex128])
}

func goldenLSQR[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	p.damp = g.Float("damp")
	if p.damp == 0 || g.String("x0") == "zero" {
		res, err := g.models(ctx, &solve.LSQR[T, T]{}, p, g.v["x0"], nil)
		if err == nil && p.damp == 0 { // with damping, those of PyLops are a guess at ‖b - A·x‖
			err = g.costs(res)
		}
		return err
	}
	// PyLops damps x - x0 and not x: the same in terms of that difference.
	x0, err := vector(ctx, p.A.Domain(), g.v["x0"])
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, p.A, x0)
	if err != nil {
		return err
	}
	dist.Sub(p.B, p.B, y)
	_, err = g.models(ctx, &solve.LSQR[T, T]{}, p, nil, func(x dist.Array[T]) (dist.Array[T], error) {
		dist.Add(x, x, x0)
		return x, nil
	})
	return err
}

func TestGoldenLSQR(t *testing.T) {
	goldenCases(t, "lsqr", goldenLSQR[float32], goldenLSQR[float64], goldenLSQR[complex64], goldenLSQR[complex128])
}
