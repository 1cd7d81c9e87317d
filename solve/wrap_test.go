package solve_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// solved returns the solution of a square system by elimination.
func solved(a []complex128, b []complex128) []complex128 {
	n := len(b)
	for k := range n {
		p := k
		for i := k; i < n; i++ {
			if cmplx.Abs(a[i*n+k]) > cmplx.Abs(a[p*n+k]) {
				p = i
			}
		}
		b[k], b[p] = b[p], b[k]
		for j := range n {
			a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / a[k*n+k]
			b[i] -= f * b[k]
			for j := k; j < n; j++ {
				a[i*n+j] -= f * a[k*n+j]
			}
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			b[k] -= a[k*n+j] * b[j]
		}
		b[k] /= a[k*n+k]
	}
	return b
}

// minimum returns the solution of a least-squares problem from its matrix.
func minimum[T scalar.Scalar](ctx context.Context, p problem[T]) ([]T, error) {
	a, rows, cols, err := linop.Dense(ctx, p.A)
	if err != nil {
		return nil, err
	}
	b, err := dist.AllGather(ctx, p.B)
	if err != nil {
		return nil, err
	}
	n, g := make([]complex128, cols*cols), make([]complex128, cols)
	at := func(i, j int) complex128 { return scalar.Complex(a[i*cols+j]) }
	for i := range cols {
		n[i*cols+i] = complex(p.damp*p.damp, 0)
		for k := range rows {
			g[i] += cmplx.Conj(at(k, i)) * scalar.Complex(b[k])
			for j := range cols {
				n[i*cols+j] += cmplx.Conj(at(k, i)) * at(k, j)
			}
		}
	}
	x := make([]T, cols)
	for i, v := range solved(n, g) {
		x[i] = scalar.From[T](v)
	}
	return x, nil
}

// converges checks that all methods of least squares, from a start that is not
// zero, come to the solution that elimination finds.
func converges[T scalar.Scalar](ctx context.Context, r dist.Proc, damp, tol float64, change func(p *solve.Problem[T, T]) error) error {
	return each(ctx, r, 4, func(m maker[T], p problem[T], _ dist.Array[T]) error {
		if !m.ls {
			return nil
		}
		noise, err := dist.Random[T](ctx, p.B.Space(), 9)
		if err != nil {
			return err
		}
		dist.Add(p.B, p.B, noise)
		p.damp = damp
		if change != nil {
			if err := change(&p.Problem); err != nil {
				return err
			}
		}
		want, err := minimum(ctx, p)
		if err != nil {
			return err
		}
		x, err := dist.Random[T](ctx, p.A.Domain(), 5)
		if err != nil {
			return err
		}
		if _, err := ends(ctx, m, p, x, solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: 300, GradTol: tol / 10}, solve.Converged); err != nil {
			return err
		}
		return compare(ctx, x, want, tol)
	})
}

func TestLeastSquares(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		for _, damp := range []float64{0, 0.3, 7} {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				return all(
					func() error { return converges[float32](ctx, r, damp, 1e-4, nil) },
					func() error { return converges[float64](ctx, r, damp, 1e-10, nil) },
					func() error { return converges[complex64](ctx, r, damp, 1e-4, nil) },
					func() error { return converges[complex128](ctx, r, damp, 1e-10, nil) })
			})
		}
	}
}

// terms are a derivative that is to vanish and an identity with a target.
func terms[T scalar.Scalar](ctx context.Context, x *dist.Space) ([]solve.Term[T, T], error) {
	d, err := ops.SecondDerivative[T](ctx, x, 0, ops.DerivativeDefaults())
	if err != nil {
		return nil, err
	}
	id, err := ops.Identity[T](x)
	if err != nil {
		return nil, err
	}
	t, err := dist.Random[T](ctx, x, 11)
	return []solve.Term[T, T]{{R: d, Weight: 1.5}, {R: id, Weight: -0.5, Target: t}}, err
}

func TestRegularizeAndPrecondition(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		err := converges(ctx, r, 0.4, 1e-10, func(p *solve.Problem[complex128, complex128]) error {
			ts, err := terms[complex128](ctx, p.A.Domain())
			if err == nil {
				*p, err = solve.Regularize(*p, ts...)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("regularised: %w", err)
		}
		err = converges(ctx, r, 0, 1e-10, func(p *solve.Problem[complex128, complex128]) error {
			s, err := ops.Smoothing1D[complex128](ctx, p.A.Domain(), 0, 3)
			if err == nil {
				*p, err = solve.Precondition(*p, s)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("preconditioned: %w", err)
		}
		p, err := tall[float64](ctx, r, 4)
		if err != nil {
			return err
		}
		if q, err := solve.Regularize(p.Problem); err != nil || q.A != p.A {
			return fmt.Errorf("no terms: %v", err)
		}
		return nil
	})
}

// The operator of the normal equations is Hermitian and allocates nothing.
func TestNormalOperator(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		p, err := square[complex64](ctx, r, 5)
		if err != nil {
			return err
		}
		return optest.All(ctx, p.A)
	})
}

func TestBadWrappers(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		p, err := tall[float64](ctx, r, 5)
		if err != nil {
			return err
		}
		id, err := ops.Identity[float64](p.A.Domain())
		if err != nil {
			return err
		}
		type none = solve.Problem[float64, float64]
		for name, f := range map[string]func() error{
			"solve: regularisation 1: no operator given": func() error {
				_, err := solve.Regularize(p.Problem, solve.Term[float64, float64]{R: id}, solve.Term[float64, float64]{})
				return err
			},
			"solve: regularisation 0: the weight is NaN": func() error {
				_, err := solve.Regularize(p.Problem, solve.Term[float64, float64]{R: id, Weight: math.NaN()})
				return err
			},
			"solve: regularisation 0: the target is of": func() error {
				_, err := solve.Regularize(p.Problem, solve.Term[float64, float64]{R: id, Target: p.B})
				return err
			},
			"solve: regularisation: linop": func() error {
				_, err := solve.Regularize(none{B: p.B}, solve.Term[float64, float64]{R: id})
				return err
			},
			"solve: regularisation: dist": func() error {
				_, err := solve.Regularize(none{A: p.A}, solve.Term[float64, float64]{R: id})
				return err
			},
			"solve: precondition: no operator given": func() error {
				_, err := solve.Precondition(p.Problem, nil)
				return err
			},
			"solve: precondition: linop": func() error {
				_, err := solve.Precondition(p.Problem, p.A)
				return err
			},
		} {
			if err := f(); err == nil || !strings.HasPrefix(err.Error(), name) {
				return fmt.Errorf("got %v, want %s", err, name)
			}
		}
		// Collective: a fault of one rank is one of all.
		b := p.B
		if r.Rank() == 1 {
			p.B = p.truth
		}
		if _, err := solve.Normal(ctx, p.Problem, 0); err == nil || !strings.Contains(err.Error(), "solve: normal equations: ") {
			return fmt.Errorf("normal: got %v", err)
		}
		if _, err := solve.Normal(ctx, none{}, 0); err == nil {
			return fmt.Errorf("normal: got no error")
		}
		p.B = b
		if _, err := solve.Normal(ctx, p.Problem, float64(-r.Rank())); err == nil || !strings.Contains(err.Error(), "damp is -") {
			return fmt.Errorf("normal: got %v of a negative damp", err)
		}
		return nil
	})
}

// A rotation in one plane and a scaling in another: the largest eigenvalue is
// complex, or that of the scaling.
func TestPowerIteration(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			a, err := matrix(ctx, r, 3, 3, []complex128{2 + 1i, 0, 0, 0, 1, 0.5, 0, 0, 0.1i})
			if err != nil {
				return err
			}
			x, err := vector(ctx, a.Domain(), []complex128{1, 1e3, 1})
			if err != nil {
				return err
			}
			eig, n, err := solve.PowerIteration(ctx, a, x, 100, 1e-12)
			if err != nil || cmplx.Abs(eig-(2+1i)) > 1e-10 || n < 5 || n >= 100 {
				return fmt.Errorf("got %v after %d: %v", eig, n, err)
			}
			got, err := dist.AllGather(ctx, x)
			if err != nil || math.Abs(cmplx.Abs(got[0])-1) > 1e-10 {
				return fmt.Errorf("vector %v: %v", got, err)
			}
			zero, err := ops.Zero[complex128, complex128](a.Domain(), a.Domain())
			if err != nil {
				return err
			}
			if eig, n, err := solve.PowerIteration(ctx, zero, x, 100, 1e-6); err != nil || eig != 0 || n > 2 {
				return fmt.Errorf("zero operator: got %v after %d: %v", eig, n, err)
			}
			return nil
		})
	}
}

func TestBadPowerIteration(t *testing.T) {
	type args struct {
		a   linop.Operator[float64]
		x   dist.Array[float64]
		n   int
		tol float64
	}
	for want, spoil := range map[string]func(*args){
		"no operator given":       func(a *args) { a.a = nil },
		"x is of":                 func(a *args) { a.x = dist.Array[float64]{} },
		"0 steps":                 func(a *args) { a.n = 0 },
		"-1 steps":                func(a *args) { a.n = -1 },
		"of NaN":                  func(a *args) { a.tol = math.NaN() },
		"ranks disagree":          func(a *args) { a.n += 7 },
		"the start has norm 0":    func(a *args) { dist.Zero(a.x) },
		"no start given":          func(a *args) { *a = args{} },
		"step 1: ‖A·x‖ is NaN":    func(a *args) { dist.Fill(a.x, 1e-300); a.n = 5 },
		"maps a space to itself":  nil,
		"start has norm NaN: giv": func(a *args) { dist.Fill(a.x, math.NaN()) },
	} {
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			p, err := square[float64](ctx, r, 3)
			if err != nil {
				return err
			}
			a := args{a: p.A, x: p.truth, n: 100, tol: 1e-6}
			switch {
			case want == "step 1: ‖A·x‖ is NaN":
				if a.a, err = broken(p.A, false, 1, math.NaN()); err != nil {
					return err
				}
			case spoil == nil:
				if p, err = tall[float64](ctx, r, 3); err != nil {
					return err
				}
				a = args{a: p.A, x: p.truth, n: 100, tol: 1e-6}
			case r.Rank() == 1 || strings.Contains(want, "start"):
				spoil(&a)
			}
			if _, _, err = solve.PowerIteration(ctx, a.a, a.x, a.n, a.tol); err == nil || !strings.Contains(err.Error(), "solve: power iteration: ") || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("got %v", err)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
}
