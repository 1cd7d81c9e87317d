//go:build !race

package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// TestAllocs asserts that what an iteration calls allocates nothing, on no rank.
// The race detector allocates on its own.
func TestAllocs(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		onRanks(t, ranks, allocs[float32])
		onRanks(t, ranks, allocs[float64])
		onRanks(t, ranks, allocs[complex64])
		onRanks(t, ranks, allocs[complex128])
	}
}

func allocs[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, 11, 6, 2)
	if err != nil {
		return err
	}
	twin, err := dist.NewSpace(ctx, r, dist.Layout{}, 11, 6, 2)
	if err != nil {
		return err
	}
	cols, err := s.Like(dist.Split(1), 11, 6, 2)
	if err != nil {
		return err
	}
	whole, err := s.Like(dist.Replicated, 11, 6, 2)
	if err != nil {
		return err
	}
	stack, err := dist.Stack(s, whole)
	if err != nil {
		return err
	}
	stack2, err := dist.Stack(cols, s)
	if err != nil {
		return err
	}
	h, err := dist.NewHalo[T](s, []int{1, 2, 0}, []int{5, 1, 0}, true)
	if err != nil {
		return err
	}
	oneSided, err := dist.NewSpace(ctx, r, dist.Layout{Way: dist.OneSided}, 11, 6, 2)
	if errors.Is(err, errors.ErrUnsupported) { // over NCCL
		oneSided, err = s, nil
	}
	if err != nil {
		return err
	}
	hp, err := dist.NewHalo[T](oneSided, []int{1, 2, 0}, []int{5, 1, 0}, true)
	if err != nil {
		return err
	}
	m, err := dist.NewRedistribution[T](s, cols)
	if err != nil {
		return err
	}
	ms, err := dist.NewRedistribution[T](stack, stack2)
	if err != nil {
		return err
	}
	var a [8]dist.Array[T]
	for i, sp := range []*dist.Space{s, twin, s, cols, h.Range(), stack, stack, stack2} {
		if a[i], err = dist.New[T](sp); err != nil {
			return err
		}
		dist.Fill(a[i], 1)
	}
	x, y, z, c, g := a[0], a[1], a[2], a[3], a[4]
	p, q, q2 := a[5], a[6], a[7]
	pair, err := dist.StackOf(x, z)
	if err != nil {
		return err
	}
	red, one := dist.NewReduction(s, 2), dist.NewReduction(s, 1)
	local := func(f func()) func() error { return func() error { f(); return nil } }
	for _, k := range []struct {
		name string
		call func() error
	}{
		{"Copy", local(func() { dist.Copy(z, x) })},
		{"Fill", local(func() { dist.Fill(z, 2) })},
		{"Axpby", local(func() { dist.Axpby(2, x, 3, y) })},
		{"Combine", local(func() { dist.Combine(z, 2, x, 3, y) })},
		{"Add", local(func() { dist.Add(z, x, y) })},
		{"Sub", local(func() { dist.Sub(z, x, y) })},
		{"Scale", local(func() { dist.Scale(z, 2, x) })},
		{"Mul", local(func() { dist.Mul(z, x, y) })},
		{"MulConj", local(func() { dist.MulConj(z, x, y) })},
		{"Conj", local(func() { dist.Conj(z, x) })},
		{"Threshold", local(func() { dist.Threshold(z, x, device.SoftThreshold, 0.1) })},
		{"Shrink", local(func() { dist.Shrink(z, x, device.Shrinkage{Kind: device.ShrinkClip, T: 0.1}) })},
		{"ShrinkParts", local(func() { dist.ShrinkParts(pair, pair, device.Shrinkage{Kind: device.ShrinkClip, T: 0.1}) })},
		{"AddShrinkSum", func() error {
			dist.AddShrinkSum(red, x, device.Shrinkage{T: 0.1})
			dist.AddShrinkSumParts(red, pair, device.Shrinkage{T: 0.1})
			return red.Do(ctx)
		}},
		{"stack Combine", local(func() { dist.Combine(p, 2, p, 3, q) })},
		{"stack Mul", local(func() { dist.Mul(p, p, q) })},
		{"Dot", func() error { return second(dist.Dot(ctx, x, y)) }},
		{"DotT", func() error { return second(dist.DotT(ctx, x, y)) }},
		{"stack Dot", func() error { return second(dist.Dot(ctx, p, q)) }},
		{"Reduction", func() error {
			red.AddNumber(1)
			dist.AddDot(red, x, y)
			dist.AddDot(red, p, q)
			dist.AddAxpyNorm2(red, 0.5, x, z)
			dist.AddNorm2(red, x)
			dist.AddNorm(red, x, 2)
			dist.AddNorm(red, x, math.Inf(1))
			dist.AddSum(red, x)
			return red.Do(ctx)
		}},
		{"Reduction of one", func() error { dist.AddNorm2(one, x); return one.Do(ctx) }},
		{"Sum", func() error { return second(dist.Sum(ctx, x)) }},
		{"Norm 2", func() error { return second(dist.Norm(ctx, x, 2)) }},
		{"Norm 1", func() error { return second(dist.Norm(ctx, p, 1)) }},
		{"Norm Inf", func() error { return second(dist.Norm(ctx, x, math.Inf(1))) }},
		{"MinMax", func() error {
			if scalar.Of[T]().IsComplex() {
				return nil
			}
			_, _, err := dist.MinMax(ctx, x)
			return err
		}},
		{"Move", func() error { return m.Forward(ctx, c, x) }},
		{"Move back", func() error { return m.Adjoint(ctx, z, c) }},
		{"Move of a stack", func() error { return ms.Forward(ctx, q2, p) }},
		{"Halo", func() error { return h.Forward(ctx, g, x) }},
		{"Halo adjoint", func() error { return h.Adjoint(ctx, z, g) }},
		{"Halo put", func() error { return hp.Forward(ctx, g, x) }},
		{"Halo put adjoint", func() error { return hp.Adjoint(ctx, z, g) }},
	} {
		if err := mallocs(ctx, r, k.call); err != nil {
			return fmt.Errorf("%v: %s: %w", scalar.Of[T](), k.name, err)
		}
	}
	return nil
}

// mallocs counts the allocations of the whole process, all ranks included. The
// runtime allocates now and then for ranks that go to sleep, so the best of a
// few rounds counts.
func mallocs(ctx context.Context, r dist.Proc, call func() error) error {
	const rounds, runs = 4, 100
	least := uint64(math.MaxUint64)
	for range rounds {
		var before, after runtime.MemStats
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		runtime.ReadMemStats(&before)
		for range runs {
			if err := call(); err != nil {
				return err
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	if least > runs/4 {
		return fmt.Errorf("%d allocations in %d calls", least, runs)
	}
	return nil
}
