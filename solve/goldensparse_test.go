package solve_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// sparseCases runs f for the cases of a sparse solver.
func sparseCases(t *testing.T, op string, f64 goldenRun[float64], c128 goldenRun[complex128]) {
	for _, c := range golden.CasesIn(t, "sparse", op) {
		on := []int{1, 3}
		if c.Ranks > 0 {
			on = []int{c.Ranks}
		}
		for _, n := range on {
			t.Run(fmt.Sprintf("%s/ranks=%d", c.Name, n), func(t *testing.T) {
				if c.DType == scalar.Float64 {
					f64.run(t, c, n, 1e-9)
				} else {
					c128.run(t, c, n, 1e-9)
				}
			})
		}
	}
}

func TestGoldenISTA(t *testing.T) {
	sparseCases(t, "ISTA", goldenShrinkage[float64], goldenShrinkage[complex128])
}

func TestGoldenFISTA(t *testing.T) {
	sparseCases(t, "FISTA", goldenShrinkage[float64], goldenShrinkage[complex128])
}

// PyLops thresholds by eps·alpha/2, so its eps is twice ours. Its half threshold is the
// prox of half the penalty, so there it is four times ours.
func goldenShrinkage[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	eps := g.Float("eps")
	o := solve.Shrinkage[T]{Eps: eps / 2, Alpha: g.Float("alpha")}
	switch g.String("threshkind") {
	case "hard":
		o.Threshold = solve.Hard
	case "half":
		o.Threshold, o.Eps = solve.Half, eps/4
	}
	if _, ok := g.Params["decay"]; ok {
		o.Decay = g.Floats("decay")
	}
	if _, ok := g.Params["perc"]; ok {
		o.Eps, o.Keep = 0, g.Float("perc")
	}
	if g.Has("S") {
		s, err := g.matrix(ctx, r, "S")
		if err != nil {
			return err
		}
		o.Transform = solve.NewTransform(s)
	}
	var m solve.Method[T, T] = &solve.ISTA[T, T]{Shrinkage: o}
	if g.Op == "FISTA" {
		m = &solve.FISTA[T, T]{Shrinkage: o}
	}
	res, err := g.models(ctx, m, p, g.v["x0"], nil)
	if err != nil || o.Threshold != solve.Soft || o.Transform != nil || o.Keep != 0 {
		return err // the penalty in the cost of PyLops is ‖x‖₁ whatever is thresholded
	}
	for k, c := range g.v["cost"] {
		n, old := res.History[k+1], res.History[k]
		data := n.Resid
		if g.Op == "ISTA" {
			data = old.Resid // PyLops has the residual of the x before
		}
		got := data*data/2 + 2*(n.Cost-n.Resid*n.Resid/2)
		if want := real(scalar.Complex(c)); math.Abs(got-want) > g.tol*want {
			return fmt.Errorf("iteration %d: cost %g, PyLops has %g", k+1, got, want)
		}
	}
	return nil
}

func TestGoldenSplitBregman(t *testing.T) {
	sparseCases(t, "SplitBregman", goldenBregman[float64], goldenBregman[complex128])
}

// PyLops' epsRL1s are the square roots of our weights, and its epsRL2s the squares.
func goldenBregman[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	eps, mu := g.Floats("epsL1")[0], g.Float("mu")
	op, err := g.matrix(ctx, r, "R0")
	if err != nil {
		return err
	}
	m := &solve.SplitBregman[T, T]{Mu: mu, Tau: g.Float("tau"), Shrinks: g.Int("inner"), Steps: g.Int("steps"),
		L1: []solve.L1Term[T, T]{{R: op, Weight: eps * eps}}}
	for _, e := range g.Floats("epsL2") {
		t := solve.Term[T, T]{Weight: math.Sqrt(e)}
		if t.R, err = g.matrix(ctx, r, "R1"); err != nil {
			return err
		}
		if t.Target, err = vector(ctx, t.R.Range(), g.v["d1"]); err != nil {
			return err
		}
		m.L2 = append(m.L2, t)
	}
	res, err := g.models(ctx, m, p, g.v["x0"], nil)
	if err != nil || len(m.L2) > 0 {
		return err
	}
	for k, c := range g.v["cost"] {
		n := res.History[k+1]
		data := mu / 2 * n.Resid * n.Resid
		got := data + (n.Cost-data)/(eps*eps) // PyLops leaves the weight out
		if want := real(scalar.Complex(c)); math.Abs(got-want) > g.tol*want {
			return fmt.Errorf("iteration %d: cost %g, PyLops has %g", k+1, got, want)
		}
	}
	return nil
}

func TestGoldenIRLS(t *testing.T) {
	sparseCases(t, "IRLS", goldenIRLS[float64], goldenIRLS[complex128])
}

// What PyLops calls datamodel is IRLS of data for a regularised problem.
func goldenIRLS[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	m := &solve.IRLS[T, T]{Model: g.String("kind") == "model", Eps: g.Float("epsR"), Least: g.Bool("threshR"), Damp: g.Float("epsI"), Steps: 60}
	if g.String("kind") == "datamodel" {
		id, err := ops.Identity[T](p.A.Domain())
		if err != nil {
			return err
		}
		if p.Problem, err = solve.Regularize(p.Problem, solve.Term[T, T]{R: id, Weight: m.Damp}); err != nil {
			return err
		}
		m.Damp = 0
	}
	g.tol = 1e-6
	res, err := g.models(ctx, m, p, nil, nil)
	if err != nil {
		return err
	}
	return g.costs(res)
}

func TestGoldenOMP(t *testing.T) {
	sparseCases(t, "OMP", goldenOMP[float64], goldenOMP[complex128])
}

// PyLops solves for the elements that were taken up to 1e-6 of LSQR only.
func goldenOMP[T scalar.Scalar](ctx context.Context, r dist.Proc, g *goldenData[T]) error {
	p, err := g.problem(ctx, r)
	if err != nil {
		return err
	}
	m := &solve.OMP[T, T]{Matching: g.Int("inner") == 0}
	if g.Bool("normalise") {
		rows, cols := g.shape["A"][0], g.shape["A"][1]
		m.Columns, err = dist.FromFunc(ctx, p.A.Domain(), func(i []int) T {
			s := 0.0
			for k := range rows {
				a := cmplx.Abs(scalar.Complex(g.v["A"][k*cols+i[0]]))
				s += a * a
			}
			return scalar.From[T](complex(math.Sqrt(s), 0))
		})
		if err != nil {
			return err
		}
	}
	if g.tol = 1e-6; !m.Matching {
		g.tol = 2e-5
	}
	res, err := g.models(ctx, m, p, nil, nil)
	if err != nil {
		return err
	}
	return g.costs(res)
}
