package cpu_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// TestNoAllocation runs every kernel on blocks that threads share, and wants none
// to allocate.
func TestNoAllocation(t *testing.T) {
	for _, threads := range []int{1, 2} {
		t.Run(fmt.Sprintf("threads=%d/float32", threads), func(t *testing.T) { noAllocation[float32](t, threads) })
		t.Run(fmt.Sprintf("threads=%d/float64", threads), func(t *testing.T) { noAllocation[float64](t, threads) })
		t.Run(fmt.Sprintf("threads=%d/complex64", threads), func(t *testing.T) { noAllocation[complex64](t, threads) })
		t.Run(fmt.Sprintf("threads=%d/complex128", threads), func(t *testing.T) { noAllocation[complex128](t, threads) })
	}
}

func noAllocation[T scalar.Scalar](t *testing.T, threads int) {
	d := open(t, cpu.Config{Threads: threads, BLAS: "off"})
	k := kernelsOf[T](t, d)
	const n = 240 * 200
	x, y, z := random[T](t, k, n), random[T](t, k, n), random[T](t, k, n)
	host := make([]T, n)
	norms := make([]float64, n)
	two := T(2)
	box := &device.Strided{Shape: shape.Of(240, 200)}
	box.Dst, box.Src = [shape.MaxNDim]int{200, 1}, [shape.MaxNDim]int{1, 240}
	bands := &device.Banded[T]{
		Outer: 1, Inner: 200, DstRows: 240, SrcRows: 240, Ghosts: []device.Ghost{{Rows: 1}},
		Taps: []device.Tap[T]{{At: 0, Step: 1, Coef: two}, {At: 2, Step: 1, Coef: two}, {At: 238, Step: -1, Coef: two}, {Coef: 1, Ghost: 1}},
		Groups: [2][]device.Band{
			{{Lo: 0, Hi: 1, First: 3, Last: 4}, {Lo: 1, Hi: 239, First: 0, Last: 2}, {Lo: 239, Hi: 240}},
			{{Lo: 1, Hi: 239, First: 0, Last: 3}},
		},
	}
	column := *bands
	column.Outer, column.Inner = 200, 1
	filter := &device.Banded[T]{Outer: 1, Inner: 2000, DstRows: 24, SrcRows: 24}
	for i := range 12 {
		filter.Taps = append(filter.Taps, device.Tap[T]{At: i, Step: 1, Coef: two})
	}
	filter.Groups[0] = []device.Band{{Lo: 0, Hi: 10, Last: 12}, {Lo: 10, Hi: 24}}
	along := &device.Banded[T]{Outer: 24, Inner: 1, DstRows: 2000, SrcRows: 2000, Taps: filter.Taps, Groups: filter.Groups}
	sum := &device.BandedSum[T]{Parts: []device.BandedPart[T]{{Banded: along}, {Banded: filter}}}
	sparse := &device.Sparse[T]{First: make([]int, n+1), At: make([]int, n), W: host}
	for i := range n {
		sparse.First[i+1] = i + 1
	}
	for name, f := range map[string]func() error{
		"kernels":     func() error { _, err := device.KernelsFor[T](d); return err },
		"slice":       func() error { k.Copy(k.Slice(x, 0, 10), k.Slice(y, 5, 15)); return nil },
		"copy in":     func() error { return k.CopyIn(x, host) },
		"copy out":    func() error { return k.CopyOut(host, x) },
		"copy":        func() error { k.Copy(x, y); return nil },
		"fill":        func() error { k.Fill(x, two); return nil },
		"axpby":       func() error { k.Axpby(two, x, two, y); return nil },
		"combine":     func() error { k.Combine(z, two, x, 1, y); return nil },
		"mul":         func() error { k.Mul(z, x, y, true); return nil },
		"mulaxis":     func() error { k.MulAxis(z, k.Slice(x, 0, 240), y, 10, 20, true); return nil },
		"conj":        func() error { k.Conj(z, x); return nil },
		"soft":        func() error { k.Threshold(z, x, device.SoftThreshold, 0.2); return nil },
		"half":        func() error { k.Threshold(z, x, device.HalfThreshold, 0.2); return nil },
		"dot":         func() error { _, err := k.Dot(x, y, true); return err },
		"sum":         func() error { _, err := k.Sum(x); return err },
		"norm":        func() error { _, err := k.Norm(x, 2, 1); return err },
		"norm 1":      func() error { _, err := k.Norm(x, 1, 0.5); return err },
		"norm inf":    func() error { _, err := k.Norm(x, math.Inf(1), 1); return err },
		"sumaxis":     func() error { k.SumAxis(k.Slice(z, 0, 200), x, 10, 240, 20); return nil },
		"normaxis":    func() error { return k.NormAxis(norms[:200], x, 10, 240, 20, 1) },
		"scanaxis":    func() error { k.ScanAxis(z, x, k.Slice(y, 0, 200), 10, 240, 20, true); return nil },
		"copynd":      func() error { k.CopyND(z, x, box, false); return nil },
		"bands":       func() error { k.Bands(z, x, y, bands, 0, false); return nil },
		"bands, add":  func() error { k.Bands(z, x, y, bands, 1, true); return nil },
		"bands, thin": func() error { k.Bands(z, x, y, &column, 0, false); return nil },
		"bands, long": func() error { k.Bands(z, x, y, filter, 0, false); return nil },
		"bandssum":    func() error { device.BandsSum(k, z, x, sum, 0); return nil },
		"gather":      func() error { k.Gather(z, x, sparse); return nil },
		"gemv":        func() error { return k.Gemv(device.NoTrans, 240, 200, two, x, y, two, z) },
		"gemv, wide":  func() error { return k.Gemv(device.ConjTrans, 24, 2000, two, x, y, two, z) },
		"gemv, tall":  func() error { return k.Gemv(device.Transpose, 4800, 10, two, x, y, two, z) },
		"gemm":        func() error { return k.Gemm(device.ConjTrans, device.NoTrans, 50, 60, 70, two, x, y, two, z) },
	} {
		var err error
		allocs := testing.AllocsPerRun(3, func() { err = f() })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if allocs != 0 {
			t.Errorf("%s: %g allocations", name, allocs)
		}
	}
	if dt := scalar.Of[T](); !dt.IsComplex() {
		if a := testing.AllocsPerRun(3, func() { k.MinMax(x) }); a != 0 {
			t.Errorf("minmax: %g allocations", a)
		}
	}
}
