package linop_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// goldenRun runs the cases of an operator in their element types, each on its
// own number of ranks or, if PyLops had none, on those of ranks.
func goldenRun(t *testing.T, op string, ranks []int,
	f32 maker[float32], f64 maker[float64], c64 maker[complex64], c128 maker[complex128]) {
	for _, c := range golden.Cases(t, op) {
		on := ranks
		if c.Ranks > 0 {
			on = []int{c.Ranks}
		}
		for _, n := range on {
			t.Run(fmt.Sprintf("%s/ranks=%d", c.Name, n), func(t *testing.T) {
				switch c.DType {
				case scalar.Float32:
					goldenCase(t, c, n, 1e-5, f32)
				case scalar.Float64:
					goldenCase(t, c, n, 1e-12, f64)
				case scalar.Complex64:
					goldenCase(t, c, n, 1e-5, c64)
				case scalar.Complex128:
					goldenCase(t, c, n, 1e-12, c128)
				}
			})
		}
	}
}

// maker makes the operator of a case. mats has the case's matrices by name.
type maker[T scalar.Scalar] func(ctx context.Context, r dist.Proc, c golden.Case, mats map[string]matrix) (linop.Operator[T], error)

// matrices returns the matrices of a case, which start with a capital letter.
func matrices[T scalar.Scalar](t *testing.T, c golden.Case) map[string]matrix {
	t.Helper()
	mats := map[string]matrix{}
	for _, k := range c.Keys() {
		if k[0] < 'A' || k[0] > 'Z' {
			continue
		}
		sh, v := golden.Array[T](t, c, k)
		m := newMatrix(sh[0], sh[1])
		for i := range v {
			m.v[i] = scalar.Complex(v[i])
		}
		mats[k] = m
	}
	return mats
}

// stackedArray returns a vector of a case: one array, or those of all parts.
func stackedArray[T scalar.Scalar](t *testing.T, c golden.Case, key string) (all []T) {
	t.Helper()
	if c.Has(key) {
		_, all = golden.Rounded[T](t, c, key)
		return all
	}
	for i := 0; c.Has(fmt.Sprint(key, i)); i++ {
		_, v := golden.Rounded[T](t, c, fmt.Sprint(key, i))
		all = append(all, v...)
	}
	return all
}

func goldenCase[T scalar.Scalar](t *testing.T, c golden.Case, ranks int, tol float64, make maker[T]) {
	t.Helper()
	mats := matrices[T](t, c)
	x, y := stackedArray[T](t, c, "x"), stackedArray[T](t, c, "y")
	u, v := stackedArray[T](t, c, "u"), stackedArray[T](t, c, "v")
	err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		op, err := make(ctx, r, c, mats)
		if err != nil {
			return err
		}
		if err := optest.Dot(ctx, op); err != nil {
			return err
		}
		if err := goldenApply(ctx, op, x, y, tol); err != nil {
			return fmt.Errorf("forward: %w", err)
		}
		if err := goldenApply(ctx, linop.H(op), u, v, tol); err != nil {
			return fmt.Errorf("adjoint: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func goldenApply[T scalar.Scalar](ctx context.Context, op linop.Operator[T], x, want []T, tol float64) error {
	in, err := dist.New[T](op.Domain())
	if err != nil {
		return err
	}
	if _, err := fill(ctx, in, x); err != nil {
		return err
	}
	out, err := linop.Apply(ctx, op, in)
	if err != nil {
		return err
	}
	got, err := dist.AllGather(ctx, out)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, PyLops has %d", len(got), len(want))
	}
	for i := range got {
		g, w := scalar.Complex(got[i]), scalar.Complex(want[i])
		if !(cmplx.Abs(g-w) <= tol*math.Max(1, cmplx.Abs(w))) {
			return fmt.Errorf("element %d is %v, of PyLops %v", i, g, w)
		}
	}
	return nil
}

// fill sets x, part by part, to the first elements of all, and returns the rest.
func fill[T scalar.Scalar](ctx context.Context, x dist.Array[T], all []T) ([]T, error) {
	var err error
	for i := range x.NumParts() {
		if all, err = fill(ctx, x.Part(i), all); err != nil {
			return nil, err
		}
	}
	if x.NumParts() > 0 {
		return all, nil
	}
	st := x.Space().Shape().Strides()
	y, err := dist.FromFunc(ctx, x.Space(), func(i []int) T {
		at := 0
		for d, k := range i {
			at += k * st[d]
		}
		return all[at]
	})
	if err == nil {
		dist.Copy(x, y)
	}
	return all[x.Space().Size():], err
}
