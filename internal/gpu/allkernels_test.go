package gpu

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// operands are memory and descriptions for calls of all kernels.
type operands struct {
	x, y, m device.Mem[complex64]
	r       device.Mem[float32]
	bands   *device.Banded[complex64]
	filter  *device.Banded[complex64]
	sum     *device.BandedSum[complex64]
	sparse  *device.Sparse[complex64]
	travel  *device.TravelTables[float32]
	rays    *device.Rays
	box     *device.Strided
}

func newOperands(t *testing.T, d *Device) *operands {
	o := &operands{
		bands:  &device.Banded[complex64]{Outer: 2, Inner: 64, DstRows: 8, SrcRows: 8},
		sparse: &device.Sparse[complex64]{First: []int{0, 1, 3}, At: []int{5, 2, 3}},
		travel: &device.TravelTables[float32]{
			Sources: 2, Receivers: 2, Points: 16, Samples: 8, Depths: 4, Src: make([]float32, 32), Rec: make([]float32, 32),
		},
		rays: &device.Rays{Rows: 4, Cols: 4, Views: 1, Detectors: 4, Bundles: []device.Bundle{{Hi: 4, Step: 1, Den: [2]float64{1}, Length: 1}}},
		box:  &device.Strided{Shape: shape.Of(16, 64), Dst: [shape.MaxNDim]int{1, 16}, Src: [shape.MaxNDim]int{64, 1}},
	}
	o.bands.Taps = []device.Tap[complex64]{{At: 0, Step: 1, Coef: 2}}
	o.bands.Groups[0] = []device.Band{{Lo: 0, Hi: 8, First: 0, Last: 1}}
	o.filter = &device.Banded[complex64]{Outer: 64, Inner: 1, DstRows: 16, SrcRows: 16}
	for i := range 9 {
		o.filter.Taps = append(o.filter.Taps, device.Tap[complex64]{At: i, Step: 1, Coef: complex(float32(i+1), 0)})
	}
	o.filter.Groups[0] = []device.Band{{Lo: 0, Hi: 8, First: 0, Last: 9}, {Lo: 8, Hi: 16}}
	o.sum = &device.BandedSum[complex64]{Parts: []device.BandedPart[complex64]{
		{Banded: &device.Banded[complex64]{Outer: 1, Inner: 64, DstRows: 16, SrcRows: 16, Taps: o.bands.Taps,
			Groups: [2][]device.Band{{{Lo: 0, Hi: 16, First: 0, Last: 1}}}}},
		{Banded: &device.Banded[complex64]{Outer: 16, Inner: 1, DstRows: 64, SrcRows: 64, Taps: o.bands.Taps,
			Groups: [2][]device.Band{{{Lo: 0, Hi: 64, First: 0, Last: 1}}}}},
	}}
	var err [4]error
	o.x, err[0] = d.c64.Alloc(1024)
	o.y, err[1] = d.c64.Alloc(1024)
	o.m, err[2] = d.c64.Alloc(1024)
	o.r, err[3] = d.f32.Alloc(1024)
	if err := errors.Join(err[:]...); err != nil {
		t.Fatal(err)
	}
	return o
}

type call struct {
	name string
	run  func() error
}

// calls returns a call of every kernel.
func (o *operands) calls(k *kernels[complex64, float32]) []call {
	none, two := device.Mem[complex64]{}, k.Slice(o.y, 0, 2)
	plane, half := &device.DFT{Dims: []int{32, 32}, Axes: []int{0}}, &device.DFT{Dims: []int{32, 32}, Axes: []int{1}, Real: true}
	quiet := func(name string, f func()) call {
		return call{name, func() error { f(); return k.d.takeErr() }}
	}
	return []call{
		quiet("SumAxis", func() { k.SumAxis(o.y, o.x, 2, 64, 8) }),
		quiet("ScanAxis", func() { k.ScanAxis(o.y, o.x, none, 1, 1024, 1, true) }),
		quiet("CopyND", func() { k.CopyND(o.y, o.x, o.box, false) }),
		quiet("Bands", func() { k.Bands(o.y, o.x, none, o.bands, 0, false) }),
		quiet("Bands of a filter", func() { k.Bands(o.y, o.x, none, o.filter, 0, false) }),
		quiet("BandsSum", func() { k.BandsSum(o.y, o.x, o.sum, 1) }),
		quiet("Gather", func() { k.Gather(two, o.x, o.sparse) }),
		quiet("Spread", func() { k.Spread(k.Slice(o.y, 0, 32), k.Slice(o.x, 0, 16), o.travel) }),
		quiet("Stack", func() { k.Stack(k.Slice(o.x, 0, 16), k.Slice(o.y, 0, 32), o.travel) }),
		quiet("Project", func() { k.Project(k.Slice(o.y, 0, 4), k.Slice(o.x, 0, 16), o.rays) }),
		quiet("BackProject", func() { k.BackProject(k.Slice(o.x, 0, 16), k.Slice(o.y, 0, 4), o.rays) }),
		{"Gemv", func() error {
			return k.Gemv(device.NoTrans, 32, 32, 1, o.m, k.Slice(o.x, 0, 32), 0, k.Slice(o.y, 0, 32))
		}},
		{"Gemv, transposed", func() error {
			return k.Gemv(device.ConjTrans, 32, 32, 1, o.m, k.Slice(o.x, 0, 32), 1, k.Slice(o.y, 0, 32))
		}},
		{"Gemm", func() error { return k.Gemm(device.ConjNoTrans, device.Transpose, 32, 32, 32, 1, o.m, o.x, 0, o.y) }},
		{"FFT", func() error { return k.FFT(o.y, o.x, plane, false) }},
		{"RFFT", func() error { return k.RFFT(o.y, o.r, half) }},
		{"IRFFT", func() error { return k.IRFFT(o.r, o.y, half) }},
	}
}

// TestKernelsDoNotAllocate wants kernels to allocate no host memory after their first
// run.
func TestKernelsDoNotAllocate(t *testing.T) {
	d := simulated(t, CUDA)
	for _, c := range newOperands(t, d).calls(d.c64) {
		if err := c.run(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if n := testing.AllocsPerRun(20, func() { c.run() }); n > 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	if err := d.waitAll(); err != nil {
		t.Fatal(err)
	}
}

// TestCachesFreeTables wants tables to be freed when their description is cleared or
// unreachable.
func TestCachesFreeTables(t *testing.T) {
	d := simulated(t, CUDA)
	o := newOperands(t, d)
	used := len(d.pool.sizes)
	for range 100 {
		s := &device.Sparse[complex64]{First: []int{0, 1}, At: []int{0}}
		d.c64.Gather(d.c64.Slice(o.y, 0, 1), o.x, s)
		s.Cache.Clear()
	}
	if n := len(d.pool.sizes); n != used {
		t.Errorf("%d pieces of memory in use after 100 matrices were cleared, %d before", n, used)
	}
	for range 100 {
		d.c64.Gather(d.c64.Slice(o.y, 0, 1), o.x, &device.Sparse[complex64]{First: []int{0, 1}, At: []int{0}})
	}
	d.collectGarbage()
	if n := len(d.pool.sizes); n > used+1 {
		t.Errorf("%d pieces of memory in use after 100 matrices were lost, %d before", n, used)
	}
	runtime.KeepAlive(o)
}

// TestNoLibraries wants errors of products and transforms to name what is missing.
func TestNoLibraries(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"libcuda.so.1", "libnvrtc.so.12"} {
		if err := os.Symlink(filepath.Join(simulator(t), name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := New(CUDA, Config{Folder: dir, Cache: filepath.Join(simulator(t), "kernels")})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if lib, err := d.p.open(d.p.blas, 0, dir); err == nil {
		t.Skipf("this machine has %s", lib.Path)
	}
	x, err := d.c64.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Gemm": d.c64.Gemm(device.NoTrans, device.NoTrans, 2, 2, 2, 1, x, x, 0, x),
		"FFT":  d.c64.FFT(x, x, &device.DFT{Dims: []int{16}, Axes: []int{0}}, false),
	} {
		if !errors.Is(err, device.ErrUnsupported) {
			t.Errorf("%s without its library: %v", name, err)
			continue
		}
		for _, want := range []string{name, "GOLOPS_CUDA", "libcu"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error of %s does not name %s: %v", name, want, err)
			}
		}
	}
	if err := d.f32.FFT(device.Mem[float32]{}, device.Mem[float32]{}, &device.DFT{Dims: []int{4}, Axes: []int{0}}, false); !errors.Is(err, device.ErrUnsupported) {
		t.Errorf("FFT of a real type: %v", err)
	}
}
