package linop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// factors are operators to combine: a and b have equal shapes but lie
// differently, c takes what they give, laid out in a third way, and s maps a
// space to itself in another layout.
type factors[T scalar.Scalar] struct{ a, b, c, s known[T] }

func newFactors[T scalar.Scalar](ctx context.Context, r dist.Proc) (f factors[T], err error) {
	s := spaces{ctx: ctx, r: r}
	x, xt := s.rows(3, 4), s.of(dist.Split(1), 3, 4)
	y, yb, yw := s.rows(11), s.of(dist.Layout{}, 11), s.of(dist.Replicated, 11)
	z := s.rows(5)
	if s.err != nil {
		return f, s.err
	}
	var errs [4]error
	f.a, errs[0] = randomOp[T](1, x, y)
	f.b, errs[1] = randomOp[T](2, xt, yw)
	f.c, errs[2] = randomOp[T](3, yb, z)
	f.s, errs[3] = randomOp[T](4, x, xt)
	return f, errors.Join(errs[:]...)
}

// reshaped returns spaces that hold the same elements on the same ranks as those
// of a do.
func (f factors[T]) reshaped(ctx context.Context, r dist.Proc) (x, y *dist.Space) {
	g := faulty{ctx, r}
	rows, out := uneven(3, r.Size()), uneven(11, r.Size())
	twice := slices.Clone(rows)
	for i := range twice {
		twice[i] *= 2
	}
	return g.space(r, dist.Layout{Counts: [][]int{twice}}, 6, 1, 2),
		g.space(r, dist.Layout{Axes: []int{1}, Counts: [][]int{out}}, 1, 11, 1)
}

func algebra[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	f, err := newFactors[T](ctx, r)
	if err != nil {
		return err
	}
	a, b, c, s := f.a, f.b, f.c, f.s
	alpha := scalar.From[T](2 - 0.5i)
	var errs []error
	try := func(name string, m matrix, op linop.Operator[T], err error) {
		errs = append(errs, check(ctx, name, op, err, m))
	}
	with := func(name string, m matrix, make func() (linop.Operator[T], error)) {
		op, err := make()
		try(name, m, op, err)
	}
	try("A", a.m, a.op, nil)
	try("H", a.m.h(), linop.H(a.op), nil)
	if linop.H(linop.H(a.op)) != a.op {
		errs = append(errs, errors.New("H(H(a)) is not a"))
	}
	with("T", a.m.t(), func() (linop.Operator[T], error) { return linop.T(a.op) })
	with("Conj", a.m.conj(), func() (linop.Operator[T], error) { return linop.Conj(a.op) })
	with("Conj of H", a.m.t(), func() (linop.Operator[T], error) { return linop.Conj(linop.H(a.op)) })
	with("Add", a.m.plus(1, a.m), func() (linop.Operator[T], error) { return linop.Add(a.op, a.op) })
	with("Add, mixed", a.m.plus(1, b.m), func() (linop.Operator[T], error) { return linop.Add(a.op, b.op) })
	with("Sub, mixed", b.m.plus(-1, a.m), func() (linop.Operator[T], error) { return linop.Sub(b.op, a.op) })
	with("Scale", a.m.scale(scalar.Complex(alpha)), func() (linop.Operator[T], error) { return linop.Scale(alpha, a.op) })
	with("Neg", a.m.scale(-1), func() (linop.Operator[T], error) { return linop.Neg(a.op) })
	with("Compose, mixed", c.m.times(a.m), func() (linop.Operator[T], error) { return linop.Compose(c.op, a.op) })
	with("normal", a.m.h().times(a.m), func() (linop.Operator[T], error) { return linop.Compose(linop.H(a.op), a.op) })
	with("Compose of three", c.m.times(b.m).times(s.m), func() (linop.Operator[T], error) {
		bs, err := linop.Compose(b.op, s.op)
		if err != nil {
			return nil, err
		}
		return linop.Compose(c.op, bs)
	})
	m := identity(12)
	for n := range 5 {
		with(fmt.Sprint("Power ", n), m, func() (linop.Operator[T], error) { return linop.Power(s.op, n) })
		m = s.m.times(m)
	}
	with("Redistribute", identity(12), func() (linop.Operator[T], error) {
		return linop.Redistribute[T](a.op.Domain(), b.op.Domain())
	})
	with("Reshape", a.m, func() (linop.Operator[T], error) {
		x, y := f.reshaped(ctx, r)
		return linop.Reshape(a.op, x, y)
	})
	with("Reshape of the domain before a stack", a.m.above(b.m), func() (linop.Operator[T], error) {
		v, err := linop.VStack(a.op, b.op)
		if err != nil {
			return nil, err
		}
		x, _ := f.reshaped(ctx, r)
		return linop.Reshape(v, x, v.Range())
	})
	with("(α(A - B))ᵀ", a.m.plus(-1, b.m).scale(scalar.Complex(alpha)).t(), func() (linop.Operator[T], error) {
		d, err := linop.Sub(a.op, b.op)
		if err != nil {
			return nil, err
		}
		if d, err = linop.Scale(alpha, d); err != nil {
			return nil, err
		}
		return linop.T(d)
	})
	return errors.Join(errs...)
}

func TestAlgebra(t *testing.T) {
	forTypes(t, algebra[float32], algebra[float64], algebra[complex64], algebra[complex128])
}

// Maps from real to complex vectors, as a Fourier transform is one.
func mixedTypes[D, R scalar.Scalar](ctx context.Context, r dist.Proc) error {
	s := spaces{ctx: ctx, r: r}
	x, y, z := s.rows(6), s.rows(5), s.of(dist.Split(0), 5)
	if s.err != nil {
		return s.err
	}
	am, bm, cm := random[R](1, 5, 6), random[R](2, 5, 6), random[R](3, 5, 5)
	a, err := newMultiply[D, R](x, y, am)
	if err != nil {
		return err
	}
	b, err := newMultiply[D, R](x, z, bm)
	if err != nil {
		return err
	}
	c, err := newMultiply[R, R](z, z, cm)
	if err != nil {
		return err
	}
	var errs []error
	op, err := linop.Add(a, linop.Map[D, R](b))
	errs = append(errs, check(ctx, "Add", op, err, am.plus(1, bm)))
	op, err = linop.Scale(scalar.From[R](0.5+2i), a)
	errs = append(errs, check(ctx, "Scale", op, err, am.scale(0.5+2i)))
	op, err = linop.Neg(a)
	errs = append(errs, check(ctx, "Neg", op, err, am.scale(-1)))
	op, err = linop.Compose(c, a)
	errs = append(errs, check(ctx, "Compose", op, err, cm.times(am)))
	op, err = linop.VStack(a, linop.Map[D, R](b))
	errs = append(errs, check(ctx, "VStack", op, err, am.above(bm)))
	h := linop.H(a)
	if err := optest.All(ctx, h); err != nil {
		errs = append(errs, fmt.Errorf("H: %w", err))
	}
	back, err := linop.Scale(3, h)
	if err == nil {
		err = optest.All(ctx, back)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("Scale of H: %w", err))
	}
	if _, _, _, err := linop.Dense(ctx, h); err == nil {
		errs = append(errs, errors.New("Dense of a map from complex to real: no error"))
	}
	return errors.Join(errs...)
}

func TestMixedTypes(t *testing.T) {
	forRanks(t, mixedTypes[float32, complex64])
	forRanks(t, mixedTypes[float64, complex128])
}

// The 32-bit and the 64-bit version of a product agree.
func TestKeepsType(t *testing.T) {
	forRanks(t, func(ctx context.Context, r dist.Proc) error {
		f32, err := newFactors[complex64](ctx, r)
		if err != nil {
			return err
		}
		f64, err := newFactors[complex128](ctx, r)
		if err != nil {
			return err
		}
		a32, err := linop.Compose(f32.c.op, f32.a.op)
		if err != nil {
			return err
		}
		a64, err := linop.Compose(f64.c.op, f64.a.op)
		if err != nil {
			return err
		}
		return optest.KeepsType(ctx, a32, a64)
	})
}

// Func works like the functions it is made of.
func TestFunc(t *testing.T) {
	forRanks(t, func(ctx context.Context, r dist.Proc) error {
		s := spaces{ctx: ctx, r: r}
		x := s.rows(6)
		if s.err != nil {
			return s.err
		}
		double := func(_ context.Context, dst, src dist.Array[float64]) error {
			dist.Scale(dst, 2, src)
			return nil
		}
		op, err := linop.Func("test: functions", x, x, double, double)
		return check(ctx, "Func", op, err, identity(6).scale(2))
	})
}
