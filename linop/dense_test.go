package linop_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

func dense[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	f, err := newFactors[T](ctx, r)
	if err != nil {
		return err
	}
	v, err := linop.VStack(f.a.op, f.b.op)
	if err != nil {
		return err
	}
	hv, err := linop.HStack(f.s.op, f.s.op)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range []struct {
		name string
		op   linop.Operator[T]
		m    matrix
	}{
		{"A", f.a.op, f.a.m}, {"B", f.b.op, f.b.m}, {"S", f.s.op, f.s.m},
		{"stacked range", v, f.a.m.above(f.b.m)}, {"stacked domain", hv, f.s.m.beside(f.s.m)},
	} {
		m, rows, cols, err := linop.Dense(ctx, c.op)
		if err != nil {
			return err
		}
		if rows != c.m.rows || cols != c.m.cols || !slices.Equal(m, elements[T](c.m)) {
			errs = append(errs, fmt.Errorf("%s on rank %d: %d by %d, %v, want %v", c.name, r.Rank(), rows, cols, m, elements[T](c.m)))
		}
	}
	got, err := linop.Trace(ctx, f.s.op)
	if err != nil {
		return err
	}
	var want complex128
	for i := range f.s.m.rows {
		want += f.s.m.at(i, i)
	}
	if cmplx.Abs(scalar.Complex(got)-want) > 1e-5 {
		errs = append(errs, fmt.Errorf("trace is %v, want %v", got, want))
	}
	return errors.Join(errs...)
}

func TestDenseAndTrace(t *testing.T) {
	forTypes(t, dense[float32], dense[float64], dense[complex64], dense[complex128])
}

// Condition numbers that are known: of diagonal matrices, turned by a rotation
// or by phases.
func cond[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	s := spaces{ctx: ctx, r: r}
	x, y := s.rows(2), s.rows(3)
	if s.err != nil {
		return s.err
	}
	turn := matrix{2, 2, []complex128{0.6, -0.8, 0.8, 0.6}}
	phase := matrix{2, 2, []complex128{scalar.Complex(scalar.From[T](1i)), 0, 0, 1}}
	if !scalar.Of[T]().IsComplex() {
		phase.v[0] = 1
	}
	var errs []error
	for _, c := range []struct {
		name string
		rng  *dist.Space
		m    matrix
		want float64
	}{
		{"identity", x, identity(2), 1},
		{"4:1", x, turn.times(phase).times(matrix{2, 2, []complex128{4, 0, 0, 1}}).times(turn), 4},
		{"oblong", y, turn.times(matrix{2, 2, []complex128{1, 0, 0, 5}}).above(newMatrix(1, 2)), 5},
		{"singular", x, newMatrix(2, 2), math.Inf(1)},
	} {
		op, err := newMultiply[T, T](x, c.rng, c.m)
		if err != nil {
			return err
		}
		got, err := linop.Cond(ctx, linop.Operator[T](op))
		if err != nil {
			return err
		}
		if !(got == c.want || math.Abs(got-c.want) < 1e-5*c.want) {
			errs = append(errs, fmt.Errorf("%s: condition number %v, want %v", c.name, got, c.want))
		}
	}
	nan, err := newMultiply[T, T](x, x, identity(2).scale(cmplx.NaN()))
	if err != nil {
		return err
	}
	if c, err := linop.Cond(ctx, linop.Operator[T](nan)); err == nil {
		errs = append(errs, fmt.Errorf("condition number of NaN: %v, no error", c))
	}
	return errors.Join(errs...)
}

func TestCond(t *testing.T) {
	forTypes(t, cond[float32], cond[float64], cond[complex64], cond[complex128])
}
