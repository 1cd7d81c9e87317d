package ops_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// Real and imaginary parts change the element type.
func TestGoldenParts(t *testing.T) {
	for _, name := range []string{"Real", "Imag"} {
		for _, c := range golden.Cases(t, name) {
			for _, ranks := range []int{1, 2, 3} {
				err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
					x, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Dims...)
					if err != nil {
						return err
					}
					switch c.DType {
					case scalar.Complex64:
						return checkPart[complex64, float32](t, ctx, x, c, 1e-6)
					case scalar.Complex128:
						return checkPart[complex128, float64](t, ctx, x, c, 1e-14)
					}
					return nil // of real numbers PyLops has an identity here
				})
				if err != nil {
					t.Errorf("%s on %d ranks: %v", c.Name, ranks, err)
				}
			}
		}
	}
}

func checkPart[C, R scalar.Scalar](t *testing.T, ctx context.Context, x *dist.Space, c golden.Case, tol float64) error {
	newPart := ops.Real[C, R]
	if c.Op == "Imag" {
		newPart = ops.Imag[C, R]
	}
	op, err := newPart(x)
	if err != nil {
		return err
	}
	if err := imageOf(t, ctx, c, "x", "y", op, tol); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	// PyLops takes the real part of the data first; ours are real.
	_, u := golden.Array[C](t, c, "u")
	re := make([]R, len(u))
	for i, v := range u {
		re[i] = scalar.From[R](scalar.Complex(v))
	}
	src, err := scatter(ctx, x, re)
	if err != nil {
		return err
	}
	got, err := linop.Apply(ctx, linop.H(op), src)
	if err != nil {
		return err
	}
	all, err := dist.AllGather(ctx, got)
	if err != nil {
		return err
	}
	_, want := golden.Rounded[C](t, c, "v")
	return near(all, want, tol)
}

func imageOf[D, R scalar.Scalar](t *testing.T, ctx context.Context, c golden.Case, in, out string, op linop.Map[D, R], tol float64) error {
	src, err := load[D](t, ctx, c, in, op.Domain())
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, op, src)
	if err != nil {
		return err
	}
	got, err := dist.AllGather(ctx, y)
	if err != nil {
		return err
	}
	_, want := golden.Rounded[R](t, c, out)
	return near(got, want, tol)
}

// Blocks with halos are those of MPIHalo, on the blocks that it chooses.
func TestGoldenHalo(t *testing.T) {
	for _, c := range golden.Cases(t, "MPIHalo") {
		err := testdevices.Local(t.Context(), c.Ranks, func(ctx context.Context, r dist.Proc) error {
			switch c.DType {
			case scalar.Float32:
				return checkHalo[float32](t, ctx, r, c)
			case scalar.Float64:
				return checkHalo[float64](t, ctx, r, c)
			case scalar.Complex64:
				return checkHalo[complex64](t, ctx, r, c)
			}
			return checkHalo[complex128](t, ctx, r, c)
		})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func checkHalo[T scalar.Scalar](t *testing.T, ctx context.Context, r dist.Proc, c golden.Case) error {
	grid, dims := c.Ints("proc_grid_shape"), c.IntRows("local_dims")
	l := dist.Layout{Grid: grid, Counts: make([][]int, len(grid))}
	inner := c.Ranks
	for g, e := range grid {
		inner /= e
		for i := range e { // rows at coordinate i of grid axis g, the others being 0
			l.Counts[g] = append(l.Counts[g], dims[i*inner][g])
		}
	}
	x, err := dist.NewSpace(ctx, r, l, c.Dims...)
	if err != nil {
		return err
	}
	// PyLops-MPI lists the width in front and behind along each axis, of each
	// rank; inside it is that of the user, at the ends of the array it may be 0.
	n := len(c.Dims)
	h := ops.HaloOptions{Front: make([]int, n), Back: make([]int, n)}
	for rank, w := range c.IntRows("local_halo") {
		b := x.Box(rank)
		for a := range n {
			h.Front[a], h.Back[a] = max(h.Front[a], w[2*a]), max(h.Back[a], w[2*a+1])
			h.Edges = h.Edges || b.Lo[a] == 0 && w[2*a] > 0 || b.Hi[a] == c.Dims[a] && w[2*a+1] > 0
		}
	}
	op, err := ops.Halo[T](ctx, x, h)
	if err != nil {
		return err
	}
	src, err := load[T](t, ctx, c, "x", x)
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, op, src)
	if err != nil {
		return err
	}
	got, err := y.Host()
	if err != nil {
		return err
	}
	_, want := golden.Array[T](t, c, fmt.Sprintf("y_rank%d", r.Rank()))
	return near(got, want, 0)
}
