package array_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/shape"
)

type block = array.Array[complex128]

// kernelCall is a call of one kernel: the elements of its arrays, those of them that
// may be longer, and the call.
type kernelCall struct {
	name   string
	sizes  []int
	longer []int
	call   func(a []block)
}

// kernelCalls has a row for every kernel.
func kernelCalls() []kernelCall {
	norms := make([]float64, 6)
	box := &device.Strided{Shape: shape.Of(3, 4), Dst: [shape.MaxNDim]int{1, 3}, Src: [shape.MaxNDim]int{-4, 1}, SrcAt: 8}
	bands := &device.Banded[complex128]{
		Outer: 2, DstRows: 3, SrcRows: 4, Inner: 3, Ghosts: []device.Ghost{{Rows: 1}, {At: 6, Rows: 2}},
		Taps:   []device.Tap[complex128]{{At: 1, Step: 1, Coef: 2}, {At: 1, Step: -1, Coef: 3, Ghost: 2}},
		Groups: [2][]device.Band{{{Lo: 0, Hi: 1}}, {{Lo: 1, Hi: 3, First: 0, Last: 2}}},
	}
	sum := &device.BandedSum[complex128]{Parts: []device.BandedPart[complex128]{{Banded: &device.Banded[complex128]{
		Outer: 2, DstRows: 3, SrcRows: 3, Inner: 3, Taps: []device.Tap[complex128]{{Step: 1, Coef: 1}},
		Groups: [2][]device.Band{{{Hi: 3, Last: 1}}},
	}}}}
	sparse := &device.Sparse[complex128]{First: []int{0, 1, 3}, At: []int{4, 0, 2}}
	tables := &device.TravelTables[float64]{
		Sources: 2, Receivers: 1, Points: 6, Samples: 5, Depths: 3, Src: make([]float64, 12), Rec: make([]float64, 6),
	}
	rays := &device.Rays{Rows: 2, Cols: 3, Views: 2, Detectors: 2, Bundles: []device.Bundle{
		{Hi: 2, Step: 1, Den: [2]float64{1}, Length: 1}, {View: 1, Hi: 2, Columns: true, Step: 1, Den: [2]float64{1}, Length: 1},
	}}
	plane, half := &device.DFT{Dims: []int{2, 2, 5}, Axes: []int{1, 2}}, &device.DFT{Dims: []int{2, 2, 5}, Axes: []int{1, 2}, Real: true}
	return []kernelCall{
		{"Copy", []int{5, 5}, nil, func(a []block) { array.Copy(a[0], a[1]) }},
		{"Fill", []int{5}, []int{0}, func(a []block) { array.Fill(a[0], 1) }},
		{"Axpby", []int{5, 5}, nil, func(a []block) { array.Axpby(2, a[0], 3, a[1]) }},
		{"Combine", []int{5, 5, 5}, nil, func(a []block) { array.Combine(a[0], 2, a[1], 3, a[2]) }},
		{"Mul", []int{5, 5, 5}, nil, func(a []block) { array.Mul(a[0], a[1], a[2]) }},
		{"MulConj", []int{5, 5, 5}, nil, func(a []block) { array.MulConj(a[0], a[1], a[2]) }},
		{"MulAxis", []int{24, 4, 24}, nil, func(a []block) { array.MulAxis(a[0], a[1], a[2], 2, 3, false) }},
		{"Conj", []int{5, 5}, nil, func(a []block) { array.Conj(a[0], a[1]) }},
		{"Threshold", []int{5, 5}, nil, func(a []block) { array.Threshold(a[0], a[1], device.HardThreshold, 1) }},
		{"Shrink", []int{5, 5, 5, 5}, nil, func(a []block) {
			array.Shrink(a[:2], a[2:], device.Shrinkage{Kind: device.ShrinkClip, T: 1})
		}},
		{"ShrinkSum", []int{5, 5}, nil, func(a []block) { array.ShrinkSum(a, device.Shrinkage{T: 1}) }},
		{"Dot", []int{5, 5}, nil, func(a []block) { array.Dot(a[0], a[1], true) }},
		{"DotInto", []int{1, 5, 5}, nil, func(a []block) { array.DotInto(a[0], a[1], a[2], true) }},
		{"AxpyNorm", []int{5, 5}, nil, func(a []block) { array.AxpyNorm(2, a[0], a[1]) }},
		{"AxpyNormInto", []int{1, 5, 5}, nil, func(a []block) { array.AxpyNormInto(a[0], 2, a[1], a[2]) }},
		{"Sum", []int{5}, []int{0}, func(a []block) { array.Sum(a[0]) }},
		{"Norm", []int{5}, []int{0}, func(a []block) { array.Norm(a[0], 2, 1) }},
		{"NormInto", []int{1, 5}, []int{1}, func(a []block) { array.NormInto(a[0], a[1], 1) }},
		{"MinMax", []int{5}, []int{0}, func(a []block) { array.MinMax(a[0]) }},
		{"SumAxis", []int{6, 24}, nil, func(a []block) { array.SumAxis(a[0], a[1], 2, 4, 3) }},
		{"NormAxis", []int{24}, nil, func(a []block) { array.NormAxis(norms, a[0], 2, 4, 3, 2) }},
		{"ScanAxis", []int{24, 24, 6}, nil, func(a []block) { array.ScanAxis(a[0], a[1], a[2], 2, 4, 3, true) }},
		{"CopyND", []int{12, 12}, []int{0, 1}, func(a []block) { array.CopyND(a[0], a[1], box, true) }},
		{"Bands", []int{18, 24, 18}, []int{2}, func(a []block) { array.Bands(a[0], a[1], a[2], bands, 1, false) }},
		{"BandsSum", []int{18, 18}, nil, func(a []block) { array.BandsSum(a[0], a[1], sum, 1) }},
		{"Gather", []int{2, 5}, []int{1}, func(a []block) { array.Gather(a[0], a[1], sparse) }},
		{"Gemv", []int{12, 4, 3}, nil, func(a []block) { array.Gemv(device.NoTrans, 3, 4, 1, a[0], a[1], 2, a[2]) }},
		{"Gemv", []int{12, 3, 4}, nil, func(a []block) { array.Gemv(device.ConjTrans, 3, 4, 1, a[0], a[1], 2, a[2]) }},
		{"Gemm", []int{10, 15, 6}, nil, func(a []block) {
			array.Gemm(device.NoTrans, device.Transpose, 2, 3, 5, 1, a[0], a[1], 2, a[2])
		}},
		{"GemmBatch", []int{22, 33, 13}, nil, func(a []block) {
			array.GemmBatch(device.NoTrans, device.Transpose, device.Batch{N: 2, A: 12, B: 18, C: 7}, 2, 3, 5, 1, a[0], a[1], 2, a[2])
		}},
		{"PlanFFT", []int{5}, []int{0}, func(a []block) { array.PlanFFT(a[0], plane) }},
		{"FFT", []int{20, 20}, nil, func(a []block) { array.FFT(a[0], a[1], plane, true) }},
		{"RFFT", []int{12, 10}, nil, func(a []block) { array.RFFT(a[0], array.Parts[float64](a[1]), half) }},
		{"IRFFT", []int{10, 12}, nil, func(a []block) { array.IRFFT(array.Parts[float64](a[0]), a[1], half) }},
		{"Spread", []int{10, 6}, nil, func(a []block) { array.Spread(a[0], a[1], tables) }},
		{"Stack", []int{6, 10}, nil, func(a []block) { array.Stack(a[0], a[1], tables) }},
		{"Project", []int{4, 6}, nil, func(a []block) { array.Project(a[0], a[1], rays) }},
		{"BackProject", []int{6, 4}, nil, func(a []block) { array.BackProject(a[0], a[1], rays) }},
	}
}

// TestEveryKernelIsCalled wants a row above for each kernel of package device.
func TestEveryKernelIsCalled(t *testing.T) {
	have := map[string]bool{"Alloc": true, "Free": true, "Slice": true, "CopyIn": true, "CopyOut": true} // methods of Array
	for _, c := range kernelCalls() {
		have[c.name] = true
	}
	for _, kernels := range []reflect.Type{
		reflect.TypeFor[device.Kernels[complex128]](), reflect.TypeFor[device.AsyncReducer[complex128]](),
		reflect.TypeFor[device.StencilSum[complex128]](), reflect.TypeFor[device.BatchMultiplier[complex128]](), reflect.TypeFor[device.Fourier[complex128]](),
		reflect.TypeFor[device.RealFourier[complex128, float64]](), reflect.TypeFor[device.Kirchhoff[complex128, float64]](),
		reflect.TypeFor[device.Projector[complex128]](),
	} {
		for i := range kernels.NumMethod() {
			if name := kernels.Method(i).Name; !have[name] {
				t.Errorf("kernel %s has no row in kernelCalls", name)
			}
		}
	}
}

// TestWrongLengths gives each kernel arrays of which one is too short, too long or on
// another device. Each must panic with array.Error and leave all memory as it was.
func TestWrongLengths(t *testing.T) {
	d, other := host(t), host(t)
	for _, c := range kernelCalls() {
		if err := c.with(t, d, nil, -1, 0); err != nil {
			t.Errorf("%s of the right lengths: %v", c.name, err)
		}
		for i := range c.sizes {
			for _, more := range []int{-1, 1, 1000} {
				if slices.Contains(c.longer, i) && (more > 0 || len(c.sizes) == 1 || c.name == "NormInto") {
					continue
				}
				c.refuses(t, fmt.Sprintf("argument %d with %+d elements", i, more), c.with(t, d, d, i, more))
			}
			if len(c.sizes) > 1 {
				c.refuses(t, fmt.Sprintf("argument %d on another device", i), c.with(t, d, other, i, 0))
			}
		}
		if c.name != "RFFT" && c.name != "IRFFT" { // Parts panics before them
			c.refuses(t, "no arrays", recovered(func() { c.call(make([]block, len(c.sizes))) }))
		}
	}
	a := of[complex128](t, d, make([]complex128, 24)...)
	for _, n := range []int{5, 7} {
		err := recovered(func() { array.NormAxis(make([]float64, n), a, 2, 4, 3, 2) })
		kernelCall{name: "NormAxis"}.refuses(t, fmt.Sprintf("room for %d norms", n), err)
	}
}

func (c kernelCall) refuses(t *testing.T, what string, err error) {
	t.Helper()
	if e := (array.Error{}); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "array: "+c.name+": ") {
		t.Errorf("%s, %s: %v, want an array.Error", c.name, what, err)
	}
}

// with calls the kernel with more elements in argument i, which is on device on. All
// arguments of d lie in one piece of memory, which a panic must leave alone. It
// returns the panic.
func (c kernelCall) with(t *testing.T, d, on device.Device, i, more int) error {
	t.Helper()
	const gap = 7
	n := gap
	for _, s := range c.sizes {
		n += s + 1000 + gap
	}
	was := make([]complex128, n)
	for k := range was {
		was[k] = complex(float64(k+1), -1)
	}
	memory := of(t, d, was...)
	args := make([]block, len(c.sizes))
	at := gap
	for k, s := range c.sizes {
		if k == i {
			s += more
		}
		if args[k] = memory.Slice(at, at+s); k == i && on != d {
			args[k] = of(t, on, was[:s]...)
		}
		at += s + gap
	}
	err := recovered(func() { c.call(args) })
	if now := values(t, memory); err != nil && !slices.Equal(now, was) {
		t.Errorf("%s, argument %d with %+d elements: memory was written before the panic", c.name, i, more)
	}
	return err
}

// TestBadDescriptions gives kernels descriptions that reach outside of their arrays.
func TestBadDescriptions(t *testing.T) {
	type c = complex128
	banded := func(change func(b *device.Banded[c])) func(a, b block) {
		return func(x, y block) {
			m := &device.Banded[c]{
				Outer: 1, DstRows: 12, SrcRows: 12, Inner: 1, Ghosts: []device.Ghost{{Rows: 2}},
				Taps:   []device.Tap[c]{{Step: 1, Coef: 1}, {At: 11, Step: -1, Coef: 1}, {Coef: 1, Ghost: 1}},
				Groups: [2][]device.Band{{{Hi: 12, Last: 3}}},
			}
			change(m)
			array.Bands(x, y, x.Slice(0, 2), m, 0, false)
		}
	}
	strided := func(s device.Strided) func(a, b block) {
		return func(x, y block) { array.CopyND(x, y, &s, false) }
	}
	sparse := func(first, at []int, w []c) func(a, b block) {
		return func(x, y block) { array.Gather(x.Slice(0, 2), y, &device.Sparse[c]{First: first, At: at, W: w}) }
	}
	travel := func(change func(*device.TravelTables[float64])) func(a, b block) {
		return func(x, y block) {
			m := &device.TravelTables[float64]{
				Sources: 2, Receivers: 3, Points: 4, Samples: 2, Depths: 2, Src: make([]float64, 8), Rec: make([]float64, 12),
			}
			change(m)
			_ = array.Spread(x, y.Slice(0, 4), m)
		}
	}
	transform := func(t device.DFT) func(a, b block) {
		return func(x, y block) { _ = array.FFT(x, y, &t, false) }
	}
	rays := func(change func(r *device.Rays)) func(a, b block) {
		return func(x, y block) {
			r := &device.Rays{Rows: 3, Cols: 4, Views: 2, Detectors: 6, Bundles: []device.Bundle{{Hi: 6, Den: [2]float64{1}}, {View: 1, Hi: 6, Den: [2]float64{1}}}}
			change(r)
			_ = array.Project(x, y, r)
		}
	}
	type axes = [shape.MaxNDim]int
	for name, call := range map[string]func(a, b block){
		"CopyND, dst":           strided(device.Strided{Shape: shape.Of(3, 4), Dst: axes{5, 1}, Src: axes{4, 1}}),
		"CopyND, src":           strided(device.Strided{Shape: shape.Of(3, 4), Dst: axes{4, 1}, Src: axes{4, 1}, SrcAt: 1}),
		"CopyND, before dst":    strided(device.Strided{Shape: shape.Of(12), Dst: axes{-1}, Src: axes{1}, DstAt: 10}),
		"CopyND, overflow":      strided(device.Strided{Shape: shape.Of(5), Dst: axes{1 << 62}, Src: axes{1}}),
		"CopyND, first element": strided(device.Strided{Shape: shape.Of(1), DstAt: 12}),
		"Bands, last row":       banded(func(b *device.Banded[c]) { b.Taps[0].At = 1 }),
		"Bands, first row":      banded(func(b *device.Banded[c]) { b.Taps[1].At = 10 }),
		"Bands, ghost row":      banded(func(b *device.Banded[c]) { b.Taps[2].At = 2 }),
		"Bands, ghost":          banded(func(b *device.Banded[c]) { b.Taps[2].Ghost = 2 }),
		"Bands, ghost memory":   banded(func(b *device.Banded[c]) { b.Ghosts[0].At = 1 }),
		"Bands, step":           banded(func(b *device.Banded[c]) { b.Taps[0].Step = 2 }),
		"Bands, rows":           banded(func(b *device.Banded[c]) { b.Groups[0][0].Hi = 13 }),
		"Bands, taps":           banded(func(b *device.Banded[c]) { b.Groups[0][0].Last = 4 }),
		"Bands, overflow":       banded(func(b *device.Banded[c]) { b.Outer, b.Inner = 1<<40, 1<<40 }),
		"Gather, column":        sparse([]int{0, 1, 2}, []int{0, 12}, nil),
		"Gather, negative":      sparse([]int{0, 1, 2}, []int{0, -1}, nil),
		"Gather, rows":          sparse([]int{0, 1}, []int{0}, nil),
		"Gather, beyond":        sparse([]int{0, 1, 3}, []int{0, 1}, nil),
		"Gather, backwards":     sparse([]int{0, 2, 1}, []int{0, 1}, nil),
		"Gather, weights":       sparse([]int{0, 1, 2}, []int{0, 1}, []c{1}),
		"FFT, no axes":          transform(device.DFT{Dims: []int{12}}),
		"FFT, axis":             transform(device.DFT{Dims: []int{12}, Axes: []int{1}}),
		"FFT, axis twice":       transform(device.DFT{Dims: []int{3, 4}, Axes: []int{1, 1}}),
		"FFT, real":             transform(device.DFT{Dims: []int{12}, Axes: []int{0}, Real: true}),
		"FFT, extents":          transform(device.DFT{Dims: []int{-3, -4}, Axes: []int{1}}),
		"FFT, overflow":         transform(device.DFT{Dims: []int{1 << 40, 1 << 40}, Axes: []int{1}}),
		"Spread, times":         travel(func(t *device.TravelTables[float64]) { t.Src = t.Src[1:] }),
		"Spread, receivers":     travel(func(t *device.TravelTables[float64]) { t.Rec = t.Rec[1:] }),
		"Spread, weights":       travel(func(t *device.TravelTables[float64]) { t.SrcW[0] = t.Src }),
		"Spread, aperture":      travel(func(t *device.TravelTables[float64]) { t.Aperture = t.Src }),
		"Spread, depths": travel(func(t *device.TravelTables[float64]) {
			t.Depths, t.Aperture = 3, make([]float64, 18)
		}),
		"Project, pixels":  rays(func(r *device.Rays) { r.Cols = 5 }),
		"Project, views":   rays(func(r *device.Rays) { r.Views, r.Detectors = -2, -6 }),
		"Project, missing": rays(func(r *device.Rays) { r.Bundles = r.Bundles[:1] }),
		"Project, twice":   rays(func(r *device.Rays) { r.Bundles[1].View = 0 }),
		"Project, before":  rays(func(r *device.Rays) { r.Bundles[0].Hi, r.Bundles[1].Lo = 5, -1 }),
		"Project, beyond":  rays(func(r *device.Rays) { r.Bundles[0].Hi = 7 }),
		"Project, slope":   rays(func(r *device.Rays) { r.Bundles[0].Den[0] = 0 }),
	} {
		k := kernelCall{name: strings.Split(name, ",")[0], sizes: []int{12, 12}, call: func(a []block) { call(a[0], a[1]) }}
		k.refuses(t, name, k.with(t, host(t), nil, -1, 0))
	}
}

// TestNoAllocation wants the checks to allocate nothing.
func TestNoAllocation(t *testing.T) {
	d, err := cpu.New(cpu.Config{Threads: 1, BLAS: "off"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range kernelCalls() {
		if slices.Contains([]string{"MinMax"}, c.name) { // an error
			continue
		}
		args := make([]block, len(c.sizes))
		for i, n := range c.sizes {
			args[i] = of(t, d, make([]complex128, n)...)
		}
		if n := testing.AllocsPerRun(10, func() { c.call(args) }); n > 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

// TestWiden widens numbers, and refuses arrays that do not fit each other.
func TestWiden(t *testing.T) {
	d, other := host(t), host(t)
	narrow, wide := of[complex64](t, d, 1, 2i, 0.1), of[complex128](t, d, 7, 7, 7)
	if err := array.Widen(wide, narrow); err != nil {
		t.Fatal(err)
	}
	got := make([]complex128, 3)
	if err := wide.CopyOut(got); err != nil || !slices.Equal(got, []complex128{1, 2i, complex128(complex64(0.1))}) {
		t.Errorf("got %v, error %v", got, err)
	}
	if n := testing.AllocsPerRun(10, func() { array.Widen(wide, narrow) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	refused := kernelCall{name: "Widen"}
	refused.refuses(t, "two for three", recovered(func() { array.Widen(wide, narrow.Slice(0, 2)) }))
	refused.refuses(t, "another device", recovered(func() { array.Widen(wide, of[complex64](t, other, 1, 2, 3)) }))
	refused.refuses(t, "no array", recovered(func() { array.Widen(array.Array[float64]{}, array.Array[float32]{}) }))
	refused.refuses(t, "the same bits", recovered(func() { array.Widen(wide, wide) }))
	refused.refuses(t, "a real number", recovered(func() { array.Widen(wide, of[float32](t, d, 1, 2, 3)) }))
}
