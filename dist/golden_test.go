package dist_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"strconv"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// TestGolden compares with what PyLops-MPI computes on as many ranks.
func TestGolden(t *testing.T) {
	for _, op := range []string{"add", "subtract", "multiply", "scale", "neg", "conj", "dot", "norm", "norm_axis",
		"redistribute", "add_ghost_cells", "local_split", "stacked", "masked",
		"vectors", "numbers", "to_dist", "setitem", "ravel", "reshape", "subcomm_split", "stack"} {
		for _, c := range golden.Cases(t, "array."+op) {
			t.Run(c.Name, func(t *testing.T) {
				switch c.DType {
				case scalar.Float32:
					goldenCase[float32](t, c)
				case scalar.Float64:
					goldenCase[float64](t, c)
				case scalar.Complex64:
					goldenCase[complex64](t, c)
				case scalar.Complex128:
					goldenCase[complex128](t, c)
				}
			})
		}
	}
}

func goldenCase[T scalar.Scalar](t *testing.T, c golden.Case) {
	p := map[string]func(*testing.T, golden.Case) launch.Program{
		"array.dot":             goldenDot[T],
		"array.norm":            goldenDot[T],
		"array.masked":          goldenDot[T],
		"array.stacked":         goldenStack[T],
		"array.norm_axis":       goldenAlong[T],
		"array.redistribute":    goldenBlocks[T],
		"array.add_ghost_cells": goldenBlocks[T],
		"array.local_split":     goldenSplit,
		"array.vectors":         goldenArithmetic[T],
		"array.numbers":         goldenDot[T],
		"array.to_dist":         goldenToDist[T],
		"array.setitem":         goldenAssign[T],
		"array.ravel":           goldenViews[T],
		"array.reshape":         goldenViews[T],
		"array.subcomm_split":   goldenGroups,
		"array.stack":           goldenStacks[T],
	}[c.Op]
	if p == nil {
		p = goldenVectors[T]
	}
	onRanks(t, c.Ranks, p(t, c))
}

// layoutOf is how the case's arrays lie.
func layoutOf(c golden.Case) dist.Layout {
	switch c.Params["partition"] {
	case "Broadcast":
		return dist.Layout{Replicate: dist.Checked}
	case "UnsafeBroadcast":
		return dist.Replicated
	}
	l := dist.Split(c.Int("axis"))
	if c.Params["counts"] != nil {
		l.Counts = [][]int{c.Ints("counts")}
	}
	if c.Params["mask"] != nil {
		l.Mask = c.Ints("mask")
	}
	return l
}

// scattered returns the array with these elements on all ranks.
func scattered[T scalar.Scalar](ctx context.Context, r dist.Proc, l dist.Layout, dims []int, v []T) (dist.Array[T], error) {
	s, err := dist.NewSpace(ctx, r, l, dims...)
	if err != nil {
		return dist.Array[T]{}, err
	}
	if r.Rank() != 0 {
		v = nil
	}
	return dist.Scatter(ctx, s, v)
}

// scatteredTwo scatters both arrays of a case.
func scatteredTwo[T scalar.Scalar](ctx context.Context, r dist.Proc, c golden.Case, x, w []T) (a, b dist.Array[T], err error) {
	if a, err = scattered(ctx, r, layoutOf(c), c.Dims, x); err == nil {
		b, err = scattered(ctx, r, layoutOf(c), c.Dims, w)
	}
	return a, b, err
}

// closeTo compares numbers within the rounding of a few sums in T.
func closeTo[T scalar.Scalar](got, want complex128) bool {
	tol := 1e-12
	if dt := scalar.Of[T](); dt == scalar.Float32 || dt == scalar.Complex64 {
		tol = 1e-5
	}
	return got == want || cmplx.Abs(got-want) <= tol*max(1, cmplx.Abs(want))
}

func goldenVectors[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	_, y := golden.Array[T](t, c, "y")
	w := x
	if c.Has("w") {
		_, w = golden.Array[T](t, c, "w")
	}
	return func(ctx context.Context, r dist.Proc) error {
		a, b, err := scatteredTwo(ctx, r, c, x, w)
		if err != nil {
			return err
		}
		switch c.Op {
		case "array.add":
			dist.Add(a, a, b)
		case "array.subtract":
			dist.Sub(a, a, b)
		case "array.multiply":
			dist.Mul(a, a, b)
		case "array.scale":
			alpha := c.Complex("alpha")
			dist.Scale(a, number[T](real(alpha), imag(alpha)), a)
		case "array.neg":
			dist.Neg(a, a)
		case "array.conj":
			dist.Conj(a, a)
		default:
			return fmt.Errorf("nothing compares %s", c.Op)
		}
		got, err := dist.AllGather(ctx, a)
		if err != nil {
			return err
		}
		return sameNumbers(got, y)
	}
}

// numbers are dots and norms of a case; with a mask they are one row per rank.
type numbers struct {
	dot, vdot []complex128
	norms     []float64
	orders    []float64
}

func numbersOf(t *testing.T, c golden.Case) (n numbers) {
	if c.Has("dot") {
		_, n.dot = golden.Rounded[complex128](t, c, "dot")
		_, n.vdot = golden.Rounded[complex128](t, c, "vdot")
	}
	if c.Has("norms") {
		_, n.norms = golden.Rounded[float64](t, c, "norms")
		for _, o := range c.Params["ord"].([]any) {
			p, err := strconv.ParseFloat(o.(string), 64) // NumPy's inf and -inf are Go's too
			if err != nil {
				t.Fatal(err)
			}
			n.orders = append(n.orders, p)
		}
	}
	return n
}

// compare compares the numbers of x and w with row of n.
func compare[T scalar.Scalar](ctx context.Context, x, w dist.Array[T], n numbers, row int) error {
	if n.dot != nil {
		if got, err := dist.DotT(ctx, x, w); err != nil || !closeTo[T](wide(got), n.dot[row]) {
			return fmt.Errorf("dot: got %v, want %v: %w", got, n.dot[row], err)
		}
		if got, err := dist.Dot(ctx, x, w); err != nil || !closeTo[T](wide(got), n.vdot[row]) {
			return fmt.Errorf("vdot: got %v, want %v: %w", got, n.vdot[row], err)
		}
	}
	for i, o := range n.orders {
		want := n.norms[row*len(n.orders)+i]
		if got, err := dist.Norm(ctx, x, o); err != nil || !closeTo[T](complex(got, 0), complex(want, 0)) {
			return fmt.Errorf("norm %v: got %v, want %v: %w", o, got, want, err)
		}
	}
	return nil
}

func goldenDot[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	w := x
	if c.Has("w") {
		_, w = golden.Array[T](t, c, "w")
	}
	n := numbersOf(t, c)
	return func(ctx context.Context, r dist.Proc) error {
		a, b, err := scatteredTwo(ctx, r, c, x, w)
		if err != nil {
			return err
		}
		row := 0
		if c.Params["mask"] != nil {
			row = r.Rank()
		}
		return compare(ctx, a, b, n, row)
	}
}

func goldenStack[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	var dims [2][]int
	var x, w [2][]T
	for i := range x {
		dims[i], x[i] = golden.Array[T](t, c, fmt.Sprintf("x%d", i))
		_, w[i] = golden.Array[T](t, c, fmt.Sprintf("w%d", i))
	}
	n := numbersOf(t, c)
	return func(ctx context.Context, r dist.Proc) error {
		var a, b [2]dist.Array[T]
		var err error
		for i := range a {
			if a[i], err = scattered(ctx, r, dist.Layout{}, dims[i], x[i]); err != nil {
				return err
			}
			if b[i], err = scattered(ctx, r, dist.Layout{}, dims[i], w[i]); err != nil {
				return err
			}
		}
		p, err := dist.StackOf(a[:]...)
		if err != nil {
			return err
		}
		q, err := dist.StackOf(b[:]...)
		if err != nil {
			return err
		}
		return compare(ctx, p, q, n, 0)
	}
}

func goldenAlong[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	n := numbersOf(t, c)
	return func(ctx context.Context, r dist.Proc) error {
		a, err := scattered(ctx, r, layoutOf(c), c.Dims, x)
		if err != nil {
			return err
		}
		for i, o := range n.orders {
			b, err := dist.NormAlong(ctx, a, o, c.Int("norm_axis"))
			if err != nil {
				return err
			}
			got, err := dist.AllGather(ctx, b)
			if err != nil {
				return err
			}
			want := n.norms[i*len(got) : (i+1)*len(got)]
			for k := range got {
				if !closeTo[T](complex(got[k], 0), complex(want[k], 0)) {
					return fmt.Errorf("norm %v: got %v, want %v", o, got, want)
				}
			}
		}
		return nil
	}
}

func goldenSplit(t *testing.T, c golden.Case) launch.Program {
	shape, want := golden.Ints(t, c, "local_shapes")
	n := shape[1]
	return func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, layoutOf(c), c.Ints("global_shape")...)
		if err != nil {
			return err
		}
		for a, d := range s.LocalShape().Dims() {
			if w := want[r.Rank()*n+a]; int64(d) != w {
				return fmt.Errorf("axis %d of the block has %d rows, want %d", a, d, w)
			}
		}
		return nil
	}
}
