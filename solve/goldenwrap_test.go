package solve_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// regularized returns the problem of a case with its two terms.
func (g *goldenData[T]) regularized(ctx context.Context, r dist.Proc, damp float64) (p problem[T], err error) {
	if p, err = g.problem(ctx, r); err != nil {
		return p, err
	}
	var terms []solve.Term[T, T]
	for i, w := range g.Floats("weights") {
		op, err := g.matrix(ctx, r, fmt.Sprint("R", i))
		if err != nil {
			return p, err
		}
		target, err := vector(ctx, op.Range(), g.v[fmt.Sprint("d", i)])
		if err != nil {
			return p, err
		}
		terms = append(terms, solve.Term[T, T]{R: op, Weight: w, Target: target})
	}
	p.damp = damp
	p.Problem, err = solve.Regularize(p.Problem, terms...)
	return p, err
}

func goldenRegularized[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.regularized(ctx, r, 0)
	if err != nil {
		return err
	}
	for _, m := range []solve.Method[T, T]{&solve.CGLS[T, T]{}, &solve.CGLS[T, T]{OneMessage: true}, &solve.LSQR[T, T]{}} {
		if _, err := g.models(ctx, m, p, g.v["x0"], nil); err != nil {
			return err
		}
	}
	return nil
}

func TestGoldenRegularized(t *testing.T) {
	goldenCases(t, "regularized_inversion", goldenRegularized[float32], goldenRegularized[float64], goldenRegularized[complex64], goldenRegularized[complex128])
}

func goldenNormal[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.regularized(ctx, r, g.Float("damp"))
	if err != nil {
		return err
	}
	if p.Problem, err = solve.Normal(ctx, p.Problem, p.damp); err != nil {
		return err
	}
	p.damp = 0 // it is in the operator
	for _, m := range []solve.Method[T, T]{&solve.CG[T]{}, &solve.CG[T]{OneMessage: true}} {
		if _, err := g.models(ctx, m, p, g.v["x0"], nil); err != nil {
			return err
		}
	}
	return nil
}

func TestGoldenNormal(t *testing.T) {
	goldenCases(t, "normal_equations_inversion", goldenNormal[float32], goldenNormal[float64], goldenNormal[complex64], goldenNormal[complex128])
}

func goldenPreconditioned[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	pre, err := g.matrix(ctx, r, "P")
	if err != nil {
		return err
	}
	if p.Problem, err = solve.Precondition(p.Problem, pre); err != nil {
		return err
	}
	_, err = g.models(ctx, &solve.CGLS[T, T]{}, p, nil, func(z dist.Array[T]) (dist.Array[T], error) {
		return linop.Apply(ctx, pre, z)
	})
	return err
}

func TestGoldenPreconditioned(t *testing.T) {
	goldenCases(t, "preconditioned_inversion", goldenPreconditioned[float32], goldenPreconditioned[float64], goldenPreconditioned[complex64], goldenPreconditioned[complex128])
}

func goldenPower[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	a, err := g.matrix(ctx, r, "A")
	if err != nil {
		return err
	}
	x, err := vector(ctx, a.Domain(), g.v["x0"])
	if err != nil {
		return err
	}
	eig, n, err := solve.PowerIteration(ctx, a, x, g.Int("niter"), 1e-300)
	if err != nil {
		return err
	}
	want := g.v["eig"][0]
	if n != g.Int("niter") || cmplx.Abs(scalar.Complex(eig)-scalar.Complex(want)) > g.tol*cmplx.Abs(scalar.Complex(want)) {
		return fmt.Errorf("eigenvalue %v after %d, PyLops has %v", eig, n, want)
	}
	return compare(ctx, x, g.v["x"], g.tol)
}

func TestGoldenPower(t *testing.T) {
	goldenCases(t, "power_iteration", goldenPower[float32], goldenPower[float64], goldenPower[complex64], goldenPower[complex128])
}
