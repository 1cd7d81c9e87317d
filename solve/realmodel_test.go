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
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// realModel is a problem with a real x of type D and complex data of type C, and
// the same problem with the real and imaginary parts of the data stacked.
type realModel[D, C scalar.Scalar] struct {
	direct  solve.Problem[D, C]
	stacked solve.Problem[D, D]
	want    []D // the solution, by elimination
}

func newRealModel[D, C scalar.Scalar](ctx context.Context, r dist.Proc, damp float64) (m realModel[D, C], err error) {
	const rows, cols = 13, 7
	a, b := make([]C, rows*cols), make([]C, rows)
	for i := range a {
		a[i] = scalar.From[C](complex(math.Sin(float64(3*i)), math.Cos(float64(i*i))))
	}
	for i := range b { // no x gives these data
		b[i] = scalar.From[C](complex(float64(i%5)-1, float64(i%3)))
	}
	dense, err := matrix(ctx, r, rows, cols, a)
	if err != nil {
		return m, err
	}
	x, err := ops.Real[C, D](dense.Domain())
	if err != nil {
		return m, err
	}
	if m.direct.A, err = linop.Compose(dense, linop.H(x)); err != nil {
		return m, err
	}
	if m.direct.B, err = vector(ctx, dense.Range(), b); err != nil {
		return m, err
	}
	var maps [2]linop.Map[D, D]
	var data [2]dist.Array[D]
	for i, part := range []func(*dist.Space) (linop.Map[C, D], error){ops.Real[C, D], ops.Imag[C, D]} {
		p, err := part(dense.Range())
		if err != nil {
			return m, err
		}
		if maps[i], err = linop.Compose(p, m.direct.A); err != nil {
			return m, err
		}
		if data[i], err = linop.Apply(ctx, p, m.direct.B); err != nil {
			return m, err
		}
	}
	if m.stacked.A, err = linop.VStack(maps[:]...); err != nil {
		return m, err
	}
	if m.stacked.B, err = dist.StackOf(data[:]...); err != nil {
		return m, err
	}
	m.want, err = minimum(ctx, problem[D]{Problem: m.stacked, damp: damp})
	return m, err
}

// run solves the problem and its stacked twin by one method each, and compares
// the norms of each iteration.
func (m realModel[D, C]) run(ctx context.Context, direct solve.Method[D, C], stacked solve.Method[D, D], c solve.Config, tol float64) (x dist.Array[D], res solve.Result, err error) {
	if x, err = dist.New[D](m.direct.A.Domain()); err != nil {
		return x, res, err
	}
	y, err := dist.New[D](m.direct.A.Domain())
	if err != nil {
		return x, res, err
	}
	twin, err := solve.Run(ctx, stacked, m.stacked, y, solve.Config{Damp: c.Damp, MaxIter: c.MaxIter, RelTol: c.RelTol, GradTol: c.GradTol})
	if err != nil {
		return x, res, err
	}
	if res, err = solve.Run(ctx, direct, m.direct, x, c); err == nil {
		got, want := res.History, twin.History
		if n := min(len(got), len(want)); max(len(got), len(want)) == n+1 { // rounding may decide which step is near enough
			got, want = got[:n], want[:n]
		}
		err = sameHistory(got, want, 10*tol) // rounding grows from step to step
	}
	return x, res, err
}

// A real x is found from complex data as from their real and imaginary parts.
func TestRealModelOfComplexData(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			for _, damp := range []float64{0, 0.5} {
				if err := all(func() error { return realModels[float64, complex128](ctx, r, damp, 1e-10) },
					func() error { return realModels[float32, complex64](ctx, r, damp, 1e-4) }); err != nil {
					return fmt.Errorf("damp %g: %w", damp, err)
				}
			}
			return nil
		})
	}
}

func realModels[D, C scalar.Scalar](ctx context.Context, r dist.Proc, damp, tol float64) error {
	m, err := newRealModel[D, C](ctx, r, damp)
	if err != nil {
		return err
	}
	c := solve.Config{Damp: damp, MaxIter: 30, GradTol: tol / 10}
	for _, k := range []struct {
		direct  solve.Method[D, C]
		stacked solve.Method[D, D]
	}{{&solve.CGLS[D, C]{}, &solve.CGLS[D, D]{}}, {&solve.CGLS[D, C]{OneMessage: true}, &solve.CGLS[D, D]{OneMessage: true}}, {&solve.LSQR[D, C]{}, &solve.LSQR[D, D]{}}} {
		x, res, err := m.run(ctx, k.direct, k.stacked, c, tol)
		if err == nil && res.Status != solve.Converged {
			err = fmt.Errorf("%v after %d: %s", res.Status, res.Iters, res.Why)
		}
		if err == nil {
			err = compare(ctx, x, m.want, tol)
		}
		if err != nil {
			return fmt.Errorf("%s of %v: %w", k.direct.Name(), scalar.Of[C](), err)
		}
	}
	// The normal equations are those of real numbers.
	n, err := solve.Normal(ctx, m.direct, damp)
	if err != nil {
		return err
	}
	x, err := dist.New[D](n.A.Domain())
	if err != nil {
		return err
	}
	if _, err := solve.Run(ctx, &solve.CG[D]{}, n, x, solve.Config{MaxIter: 100, RelTol: tol / 10}); err != nil {
		return err
	}
	return compare(ctx, x, m.want, tol)
}

// A run with a real x and complex data goes on from a checkpoint of other ranks.
func TestResumeRealModel(t *testing.T) {
	for name, method := range map[string]func() solve.Method[float32, complex64]{
		"CGLS":                  func() solve.Method[float32, complex64] { return &solve.CGLS[float32, complex64]{} },
		"CGLS with one message": func() solve.Method[float32, complex64] { return &solve.CGLS[float32, complex64]{OneMessage: true} },
		"LSQR":                  func() solve.Method[float32, complex64] { return &solve.LSQR[float32, complex64]{} },
	} {
		cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: t.TempDir(), Resume: true, Keep: 2}}
		var want []solve.Norms
		run := func(ranks, iters, resumed int, cp solve.Checkpoint) {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				m, err := newRealModel[float32, complex64](ctx, r, 0.5)
				if err != nil {
					return err
				}
				x, err := dist.Random[float32](ctx, m.direct.A.Domain(), 3)
				if err != nil {
					return err
				}
				res, err := solve.Run(ctx, method(), m.direct, x, solve.Config{Damp: 0.5, MaxIter: iters, PastRounding: true, Checkpoint: cp})
				switch {
				case err != nil:
					return fmt.Errorf("%s: %w", name, err)
				case res.Resumed != resumed || res.Iters != iters:
					return fmt.Errorf("%s: iteration %d of a run from %d", name, res.Iters, res.Resumed)
				case cp.Saver == nil:
					if r.Rank() == 0 {
						want = res.History
					}
					return nil
				}
				return sameHistory(res.History, want[:iters+1], 3e-5)
			})
		}
		run(1, 5, 0, solve.Checkpoint{}) // a sixth iteration would multiply rounding by 500
		run(3, 3, 0, cp)
		run(1, 5, 3, cp)
	}
}
