package dist_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// vectorCase compares element-wise operations with the same on each element.
// One operand is of an equal space that was made apart.
func vectorCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	dims := g.dims()
	l := g.layout(dims, r.Size())
	var a [3]dist.Array[T]
	for i := range a {
		s, err := dist.NewSpace(ctx, r, l, dims...)
		if err != nil {
			return err
		}
		if a[i], err = filled[T](ctx, s, i+1); err != nil {
			return err
		}
	}
	x, y, z := a[0], a[1], a[2]
	conj := func(v T) T { c := cmplx.Conj(wide(v)); return number[T](real(c), imag(c)) }
	alpha := number[T](2, 1)
	for _, k := range []struct {
		name string
		call func()
		want func(x, y, z T) T
	}{
		{"Copy", func() { dist.Copy(z, x) }, func(x, y, z T) T { return x }},
		{"Fill", func() { dist.Fill(z, alpha) }, func(x, y, z T) T { return alpha }},
		{"Zero", func() { dist.Zero(z) }, func(x, y, z T) T { return 0 }},
		{"Axpby", func() { dist.Axpby(alpha, x, 3, z) }, func(x, y, z T) T { return alpha*x + 3*z }},
		{"Combine", func() { dist.Combine(z, alpha, x, 3, y) }, func(x, y, z T) T { return alpha*x + 3*y }},
		{"Combine in place", func() { dist.Combine(z, alpha, z, 3, y) }, func(x, y, z T) T { return alpha*z + 3*y }},
		{"Add", func() { dist.Add(z, x, y) }, func(x, y, z T) T { return x + y }},
		{"Add in place", func() { dist.Add(z, z, y) }, func(x, y, z T) T { return z + y }},
		{"Sub", func() { dist.Sub(z, x, y) }, func(x, y, z T) T { return x - y }},
		{"Sub in place", func() { dist.Sub(z, x, z) }, func(x, y, z T) T { return x - z }},
		{"Scale", func() { dist.Scale(z, alpha, x) }, func(x, y, z T) T { return alpha * x }},
		{"Scale in place", func() { dist.Scale(z, alpha, z) }, func(x, y, z T) T { return alpha * z }},
		{"Neg", func() { dist.Neg(z, x) }, func(x, y, z T) T { return -x }},
		{"Mul", func() { dist.Mul(z, x, y) }, func(x, y, z T) T { return x * y }},
		{"MulConj", func() { dist.MulConj(z, x, y) }, func(x, y, z T) T { return conj(x) * y }},
		{"Conj", func() { dist.Conj(z, x) }, func(x, y, z T) T { return conj(x) }},
		{"Threshold", func() { dist.Threshold(z, x, device.HardThreshold, 2) }, func(x, y, z T) T {
			if cmplx.Abs(wide(x)) > 2 {
				return x
			}
			return 0
		}},
		{"Shrink", func() { dist.Shrink(z, x, device.Shrinkage{Kind: device.ShrinkKeep, T: 2}) }, func(x, y, z T) T {
			if cmplx.Abs(wide(x)) > 2 {
				return x
			}
			return 0
		}},
	} {
		// z starts from its own values each time.
		fresh, err := filled[T](ctx, z.Space(), 3)
		if err != nil {
			return err
		}
		dist.Copy(z, fresh)
		k.call()
		err = holds(z, func(i []int) T {
			n := flat(dims, i)
			// Adding 0 turns -0 into 0, which is == but prints differently.
			return k.want(value[T](1, n), value[T](2, n), value[T](3, n)) + 0
		})
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// TestUnlikePanics mixes arrays that lie differently.
func TestUnlikePanics(t *testing.T) {
	onRanks(t, 2, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 4, 4)
		if err != nil {
			return err
		}
		other, err := s.Like(dist.Split(1), 4, 4)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		y, err := dist.New[float64](other)
		if err != nil {
			return err
		}
		stack, err := dist.StackOf(x, y)
		if err != nil {
			return err
		}
		for name, f := range map[string]func(){
			"Copy":        func() { dist.Copy(x, y) },
			"Add":         func() { dist.Add(x, x, y) },
			"Axpby":       func() { dist.Axpby(1, x, 1, y) },
			"Mul":         func() { dist.Mul(y, x, y) },
			"Conj":        func() { dist.Conj(x, y) },
			"Dot":         func() { dist.Dot(ctx, x, y) },
			"AddDot":      func() { dist.AddDot(dist.NewReduction(x.Space(), 1), x, y) },
			"Shrink":      func() { dist.Shrink(x, y, device.Shrinkage{}) },
			"ShrinkParts": func() { dist.ShrinkParts(stack, stack, device.Shrinkage{}) },
			"AddShrinkSumParts": func() {
				dist.AddShrinkSumParts(dist.NewReduction(x.Space(), 1), stack, device.Shrinkage{})
			},
			"Copy to stack": func() { dist.Copy(stack, x) },
			"Local":         func() { stack.Local() },
		} {
			err := recovered(f)
			if _, ok := err.(dist.LayoutError); !ok || !strings.HasPrefix(err.Error(), "dist: ") {
				return fmt.Errorf("%s: panic %v, want a LayoutError", name, err)
			}
		}
		return nil
	})
}

// recovered returns the error that f panics with.
func recovered(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
