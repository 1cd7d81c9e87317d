package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// Random products and sums of random operators pass the dot test.
func TestRandomCompositions(t *testing.T) {
	for range 3 {
		seed := rand.Uint64()
		eachHome(t, func(ctx context.Context, x *dist.Space) error {
			for k := range uint64(12) {
				if err := random(ctx, x, forms[complex128](), rand.New(rand.NewPCG(seed, k))); err != nil {
					return fmt.Errorf("seed %d: %w", seed, err)
				}
			}
			if err := random(ctx, x, forms[float32](), rand.New(rand.NewPCG(seed, 99))); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			return nil
		})
	}
}

// Products a·(bᴴb) that are zero but for rounding pass the dot test too. Random
// products have found these two.
func TestZeroCompositions(t *testing.T) {
	eachHome(t, func(ctx context.Context, x *dist.Space) error {
		if x.Shape().NDim() != 2 || x.Shape().Dim(0) < 4 {
			return nil
		}
		return errors.Join(
			zeroComposition(ctx, x, "sum", "first derivative backward axis 0", "smoothing 2d"),
			zeroComposition(ctx, x, "second derivative centered axis 0", "matrix product"))
	})
}

// zeroComposition checks the product of the operator called last and the normal
// operator of the others, the first of which is applied first.
func zeroComposition(ctx context.Context, x *dist.Space, last string, others ...string) error {
	b, norm := op[float32](nil), 1.0
	for _, name := range others {
		next, gain, err := named(ctx, x, name)
		if err == nil && b != nil {
			next, err = linop.Compose(next, b)
		}
		if err != nil {
			return err
		}
		b, norm = next, norm*gain
	}
	normal, err := linop.Compose(linop.H(b), b)
	if err != nil {
		return err
	}
	a, gain, err := named(ctx, x, last)
	if err != nil {
		return err
	}
	all, err := linop.Compose(a, normal)
	if err != nil {
		return err
	}
	return optest.DotWith(ctx, optest.DotConfig{Seed: 1, Norm: gain * norm * norm}, all)
}

// named returns an operator of the suite and its gain.
func named(ctx context.Context, x *dist.Space, name string) (op[float32], float64, error) {
	for _, m := range forms[float32]() {
		if m.name == name {
			a, err := m.make(ctx, x)
			if err != nil {
				return nil, 0, err
			}
			g, err := gain(ctx, a)
			return a, g, err
		}
	}
	return nil, 0, fmt.Errorf("no operator is called %q", name)
}

// random checks a product of some of the operators given.
func random[T scalar.Scalar](ctx context.Context, x *dist.Space, all []form[T], rnd *rand.Rand) error {
	names, norm := "", 1.0
	op, err := ops.Identity[T](x)
	for range 1 + rnd.IntN(4) {
		if err != nil {
			break
		}
		m := all[rnd.IntN(len(all))]
		y := op.Range()
		if y.Parts() != nil || y.Shape().NDim() == 0 || y.Shape().Dim(0) < 4 || y.Shape().Dim(y.Shape().NDim()-1) < 4 {
			break
		}
		var next linop.Operator[T]
		if next, err = m.make(ctx, y); err != nil || next.Domain().Shape() != y.Shape() {
			continue
		}
		names = m.name + " · " + names
		var g float64
		if g, err = gain(ctx, next); err != nil {
			break
		}
		norm *= g
		if op, err = linop.Compose(next, op); err != nil {
			break
		}
		switch rnd.IntN(4) {
		case 0: // the normal operator
			op, err = linop.Compose(linop.H(op), op)
			norm *= norm
		case 1:
			var more linop.Operator[T]
			c := number[T](3)
			if more, err = linop.Scale(c, op); err == nil {
				op, err = linop.Add(more, op)
				norm *= cmplx.Abs(scalar.Complex(c)) + 1
			}
		}
	}
	if err == nil {
		err = optest.DotWith(ctx, optest.DotConfig{Seed: rnd.Uint64(), Norm: norm}, op)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", names, err)
	}
	return nil
}

// gain returns how much longer an operator makes a random vector, which is not
// more than its norm: the scale of its rounding, whatever others make of that.
func gain[T scalar.Scalar](ctx context.Context, a linop.Operator[T]) (float64, error) {
	x, err := dist.Random[T](ctx, a.Domain(), 7)
	if err != nil {
		return 0, err
	}
	y, err := linop.Apply(ctx, a, x)
	if err != nil {
		return 0, err
	}
	nx, err := dist.Norm(ctx, x, 2)
	if err != nil {
		return 0, err
	}
	ny, err := dist.Norm(ctx, y, 2)
	return ny / nx, err
}

// An adjoint that is wrong by a thousandth, of any one operator, is found in
// products with others.
func TestCompositionsFindFaults(t *testing.T) {
	t.Run("complex128", findFaults[complex128])
	t.Run("float32", findFaults[float32])
}

func findFaults[T scalar.Scalar](t *testing.T) {
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
		if err != nil {
			return err
		}
		good := forms[T]()
		for i, m := range good {
			if m.name == "zero" {
				continue // nothing is wrong with a thousandth more of nothing
			}
			if probe, err := m.make(ctx, x); err != nil || probe.Domain().Shape() != x.Shape() {
				continue // it cannot follow another
			}
			const tries = 40
			found, bad := 0, false
			for seed := range uint64(tries) {
				bad = false
				all := []form[T]{good[(i+int(seed))%len(good)], good[(i+3*int(seed))%len(good)], wrong(m, &bad)}
				if err := random(ctx, x, all, rand.New(rand.NewPCG(seed, uint64(i)))); err != nil {
					if !bad {
						return fmt.Errorf("%s: nothing was wrong: %w", m.name, err)
					}
					found++
				}
			}
			if found < tries/8 {
				return fmt.Errorf("%s with a wrong adjoint was found %d times in %d", m.name, found, tries)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// wrong makes an operator whose adjoint is a thousandth too long, and says so.
func wrong[T scalar.Scalar](m form[T], made *bool) form[T] {
	return form[T]{name: "wrong " + m.name, make: func(ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
		op, err := m.make(ctx, x)
		if err != nil {
			return nil, err
		}
		*made = true
		return linop.Func("test: functions", op.Domain(), op.Range(), op.Forward, func(ctx context.Context, dst, src dist.Array[T]) error {
			if err := op.Adjoint(ctx, dst, src); err != nil {
				return err
			}
			dist.Scale(dst, scalar.From[T](1.001), dst)
			return nil
		})
	}}
}
