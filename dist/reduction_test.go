package dist_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// dotsOf returns dot products, in one message.
func dotsOf[T scalar.Scalar](ctx context.Context, x, y []dist.Array[T]) ([]complex128, error) {
	red := dist.NewReduction(x[0].Space(), len(x))
	slots := make([]dist.Slot, len(x))
	for i := range x {
		slots[i] = dist.AddDot(red, x[i], y[i])
	}
	err := red.Do(ctx)
	dots := make([]complex128, len(x))
	for i, s := range slots {
		dots[i] = s.Complex()
	}
	return dots, err
}

// reductionCase collects slots of all kinds over arrays of several random spaces,
// split, replicated and stacked, and compares each with the serial computation.
func reductionCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	var red *dist.Reduction
	for round := range 2 { // the room is used again
		var all []wanted
		for range 1 + g.IntN(3) {
			s, err := g.tree(ctx, r, 2)
			if err != nil {
				return err
			}
			if red == nil {
				red = dist.NewReduction(s, 2)
			}
			w, err := addSlots[T](red, s)
			if err != nil {
				return err
			}
			all = append(all, w...)
		}
		n := r.Size()
		all = append(all, wanted{"number", red.AddNumber(float64(r.Rank())), complex(float64(n*(n-1)/2), 0)})
		if err := red.Do(ctx); err != nil {
			return err
		}
		for i, w := range all {
			if got := w.slot.Complex(); got != w.want && !near[T](real(got), real(w.want)) {
				return fmt.Errorf("round %d: slot %d of %d, %s: got %v, want %v", round, i, len(all), w.name, got, w.want)
			}
			if w.slot.Float() != real(w.slot.Complex()) {
				return fmt.Errorf("round %d: %s: real part %v of %v", round, w.name, w.slot.Float(), w.slot.Complex())
			}
		}
	}
	return nil
}

// wanted is a slot and what it must come to.
type wanted struct {
	name string
	slot dist.Slot
	want complex128
}

// addSlots adds slots over vectors of s.
func addSlots[T scalar.Scalar](red *dist.Reduction, s *dist.Space) (all []wanted, err error) {
	var a [2]dist.Array[T]
	var v [2][]T
	for i := range a {
		if a[i], err = dist.New[T](s); err != nil {
			return nil, err
		}
		salt := i + 1
		if v[i], err = fill(a[i], &salt); err != nil {
			return nil, err
		}
	}
	var dot, sum, norm2, updated complex128
	var over, count float64
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, x := range v[0] {
		y := v[1][i]
		dot += cmplx.Conj(wide(x)) * wide(y)
		sum += wide(x)
		norm2 += cmplx.Conj(wide(x)) * wide(x)
		z := wide(y + 2*x)
		updated += cmplx.Conj(z) * z
		if r := cmplx.Abs(wide(x)); r > 1 {
			over, count = over+r-1, count+1
		}
		lo, hi = min(lo, real(wide(x))), max(hi, real(wide(x)))
	}
	all = []wanted{
		{"dot", dist.AddDot(red, a[0], a[1]), dot},
		{"norm²", dist.AddNorm2(red, a[0]), norm2},
		{"norm² of y + 2x", dist.AddAxpyNorm2(red, 2, a[0], a[1]), updated},
		{"sum", dist.AddSum(red, a[0]), sum},
	}
	more, many := dist.AddShrinkSum(red, a[0], device.Shrinkage{Kind: device.ShrinkSoft, T: 1})
	all = append(all, wanted{"soft sum", more, complex(over, 0)}, wanted{"soft count", many, complex(count, 0)})
	for _, p := range orders {
		all = append(all, wanted{fmt.Sprint("norm ", p), dist.AddNorm(red, a[0], p), complex(serialNorm(v[0], p), 0)})
	}
	if !scalar.Of[T]().IsComplex() {
		l, h := dist.AddMinMax(red, a[0])
		all = append(all, wanted{"min", l, complex(lo, 0)}, wanted{"max", h, complex(hi, 0)})
	}
	return all, nil
}

// A slot that cannot be computed makes Do fail, and the reduction can be used again.
func TestReductionFails(t *testing.T) {
	onRanks(t, 2, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 4)
		if err != nil {
			return err
		}
		x, err := dist.FromFunc(ctx, s, func([]int) complex64 { return 2i })
		if err != nil {
			return err
		}
		red := dist.NewReduction(s, 3)
		for what, add := range map[string]func(){"NaN": func() { dist.AddNorm(red, x, math.NaN()) }, "no order": func() { dist.AddMinMax(red, x) }} {
			dist.AddDot(red, x, x)
			add()
			if err := red.Do(ctx); err == nil || !strings.Contains(err.Error(), what) {
				return fmt.Errorf("got error %v, want one with %q", err, what)
			}
		}
		dist.AddDot(red, x, x)
		red.Reset()
		n := dist.AddNorm2(red, x)
		if err := red.Do(ctx); err != nil || n.Float() != 16 {
			return fmt.Errorf("afterwards: %v, want 16: %w", n.Float(), err)
		}
		return nil
	})
}

// All ranks get the same bits, also of replicated arrays whose copies differ;
// a mask keeps colors apart, and another group is a bug.
func TestReductionsAreShared(t *testing.T) {
	onRanks(t, 4, func(ctx context.Context, r dist.Proc) error {
		color := r.Rank() % 2
		masked, err := dist.NewSpace(ctx, r, dist.Layout{Replicate: dist.Unchecked, Mask: []int{0, 1, 0, 1}}, 5)
		if err != nil {
			return err
		}
		whole, err := dist.NewSpace(ctx, r, dist.Replicated, 5)
		if err != nil {
			return err
		}
		for _, k := range []struct {
			s     *dist.Space
			first int // whose copy counts
		}{{whole, 0}, {masked, color}} {
			x, err := dist.FromFunc(ctx, k.s, func([]int) complex64 { return complex(1, float32(r.Rank())) })
			if err != nil {
				return err
			}
			red := dist.NewReduction(k.s, 1)
			s := dist.AddDot(red, x, x)
			if err := red.Do(ctx); err != nil {
				return err
			}
			v := cmplx.Abs(complex(1, float64(k.first)))
			if math.Abs(s.Float()-5*v*v) > 1e-12 {
				return fmt.Errorf("%v: rank %d has %g, want %g", k.s, r.Rank(), s.Float(), 5*v*v)
			}
		}
		if masked.Group() == whole.Group() || whole.Group() != r.Comm || masked.Group().Size() != 2 {
			return fmt.Errorf("groups of %d and %d ranks", masked.Group().Size(), whole.Group().Size())
		}
		x, err := dist.New[float64](masked)
		if err != nil {
			return err
		}
		defer func() {
			if _, ok := recover().(dist.LayoutError); !ok {
				panic("a slot over other ranks: no panic")
			}
		}()
		dist.AddDot(dist.NewReduction(whole, 1), x, x)
		return nil
	})
}
