package solve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// The x of basis pursuit has the residual that was asked for, and is the minimum of
// ½‖A·x - b‖² + eps·‖x‖₁ for the eps that is its largest gradient.
func TestBasisPursuit(t *testing.T) {
	for seed := range uint64(20) {
		p := randomSparseProblem[float64](seed)
		for _, ranks := range []int{1, 3} {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				a, err := matrix(ctx, r, p.rows, p.cols, p.a)
				if err != nil {
					return err
				}
				b, err := vector(ctx, a.Range(), p.b)
				if err != nil {
					return err
				}
				x, err := dist.New[float64](a.Domain())
				if err != nil {
					return err
				}
				size, err := dist.Norm(ctx, b, 2)
				if err != nil {
					return err
				}
				least := solve.LSQR[float64, float64]{}
				best, err := solve.Run(ctx, &least, solve.Problem[float64, float64]{A: a, B: b}, x, solve.Config{MaxIter: 200, PastRounding: true})
				if err != nil {
					return err
				}
				dist.Zero(x)
				m := &solve.BasisPursuit[float64, float64]{Sigma: (best.Resid + size) / 2}
				res, err := solve.Run(ctx, m, solve.Problem[float64, float64]{A: a, B: b}, x, solve.Config{MaxIter: 5000})
				if err != nil {
					return err
				}
				if res.Status != solve.Converged || math.Abs(res.Resid-m.Sigma) > 1e-5*size {
					return fmt.Errorf("seed %d: %v after %d: ‖A·x - b‖ is %g, Sigma %g of ‖b‖ = %g: %s", seed, res.Status, res.Iters, res.Resid, m.Sigma, size, res.Why)
				}
				all, err := dist.AllGather(ctx, x)
				if err != nil {
					return err
				}
				q := p
				q.eps = 0
				for j := range q.cols {
					g := 0.0
					for i := range q.rows {
						v := -q.b[i]
						for k := range all {
							v += q.a[i*q.cols+k] * all[k]
						}
						g += q.a[i*q.cols+j] * v
					}
					q.eps = max(q.eps, math.Abs(g))
				}
				return q.conditions(all, 0.01)
			})
		}
	}
}

// The x of basis pursuit is that of Python's spgl1.
func TestBasisPursuitGolden(t *testing.T) {
	text, err := os.ReadFile("../testdata/sparse/spgl1.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []spgl1Case
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) < 4 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, c := range cases {
		for _, ranks := range []int{1, 2, 7} {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				if c.DType == "float64" {
					return basisPursuitGolden[float64](ctx, r, c)
				}
				return basisPursuitGolden[complex128](ctx, r, c)
			})
		}
	}
}

// spgl1Case is a problem and the x of spgl1. Numbers are pairs of real and imaginary part.
type spgl1Case struct {
	DType      string
	Rows, Cols int
	Sigma      float64
	A, B, X    [][2]float64
}

func basisPursuitGolden[T scalar.Scalar](ctx context.Context, r dist.Proc, c spgl1Case) error {
	of := func(pairs [][2]float64) []T {
		v := make([]T, len(pairs))
		for i, p := range pairs {
			v[i] = scalar.From[T](complex(p[0], p[1]))
		}
		return v
	}
	a, err := matrix(ctx, r, c.Rows, c.Cols, of(c.A))
	if err != nil {
		return err
	}
	b, err := vector(ctx, a.Range(), of(c.B))
	if err != nil {
		return err
	}
	x, err := dist.New[T](a.Domain())
	if err != nil {
		return err
	}
	m, tol := &solve.BasisPursuit[T, T]{Sigma: c.Sigma, Tol: 1e-9}, 1e-5
	if c.Sigma == 0 {
		m.Tol, tol = 1e-5, 1e-3 // the last digits of an exact fit take very many steps
	}
	res, err := solve.Run(ctx, m, solve.Problem[T, T]{A: a, B: b}, x, solve.Config{MaxIter: 5000})
	if err != nil || res.Status != solve.Converged {
		return fmt.Errorf("%s with Sigma %g: %v after %d steps: %s: %v", c.DType, c.Sigma, res.Status, res.Iters, res.Why, err)
	}
	return compare(ctx, x, of(c.X), tol)
}
