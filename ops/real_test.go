package ops_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

func TestRealAndImag(t *testing.T) {
	eachHome(t, realAndImag)
	if _, err := ops.Real[complex64, float64](nil); err == nil {
		t.Error("no space: got no error")
	}
	if _, err := ops.Imag[complex64, float32](nil); err == nil {
		t.Error("no space: got no error")
	}
}

// realAndImag checks the operators that change the element type.
func realAndImag(ctx context.Context, x *dist.Space) error {
	re32, err := ops.Real[complex64, float32](x)
	if err != nil {
		return err
	}
	re64, err := ops.Real[complex128, float64](x)
	if err != nil {
		return err
	}
	im32, err := ops.Imag[complex64, float32](x)
	if err != nil {
		return err
	}
	im64, err := ops.Imag[complex128, float64](x)
	if err != nil {
		return err
	}
	return errors.Join(
		optest.All(ctx, re32), optest.All(ctx, re64), optest.KeepsType(ctx, re32, re64),
		optest.All(ctx, im32), optest.All(ctx, im64), optest.KeepsType(ctx, im32, im64))
}

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

func BenchmarkReal(b *testing.B) {
	onTypes(b, plain, benchReal[complex64, float32], benchReal[complex128, float64])
}

func benchReal[C, R scalar.Scalar](_ context.Context, x *dist.Space) (linop.Map[C, R], error) {
	return ops.Real[C, R](x)
}

func BenchmarkImag(b *testing.B) {
	onTypes(b, plain, benchImag[complex64, float32], benchImag[complex128, float64])
}

func benchImag[C, R scalar.Scalar](_ context.Context, x *dist.Space) (linop.Map[C, R], error) {
	return ops.Imag[C, R](x)
}

func ExampleReal() {
	err := launch.Config{Ranks: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 2)
		if err != nil {
			return err
		}
		re, err := ops.Real[complex64, float32](x)
		if err != nil {
			return err
		}
		v, err := dist.Scatter(ctx, x, []complex64{1 + 2i, 3 + 4i})
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, re, v)
		fmt.Println(y.Local().Mem().Host)
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 3]
	// <nil>
}

func ExampleImag() {
	err := launch.Config{Ranks: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 2)
		if err != nil {
			return err
		}
		im, err := ops.Imag[complex64, float32](x)
		if err != nil {
			return err
		}
		v, err := dist.Scatter(ctx, x, []complex64{1 + 2i, 3 + 4i})
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, im, v)
		fmt.Println(y.Local().Mem().Host)
		return err
	})
	fmt.Println(err)
	// Output:
	// [2 4]
	// <nil>
}
