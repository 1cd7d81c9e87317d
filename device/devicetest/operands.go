package devicetest

import (
	"errors"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// operands are memory and descriptions for one call of each kernel. x, y and z have
// 36 elements, six has 6.
type operands[T scalar.Scalar] struct {
	k            device.Kernels[T]
	x, y, z, six device.Mem[T]
	norms        []float64
	box          device.Strided
	bands        device.Banded[T]
	sum          device.BandedSum[T]
	sparse       device.Sparse[T]
	transform    device.DFT
	rays         device.Rays
}

func newOperands[T scalar.Scalar](k device.Kernels[T]) (*operands[T], error) {
	const n = 36
	o := &operands[T]{k: k, norms: make([]float64, n)}
	var errs [4]error
	o.x, errs[0] = k.Alloc(n)
	o.y, errs[1] = k.Alloc(n)
	o.z, errs[2] = k.Alloc(n)
	o.six, errs[3] = k.Alloc(6)
	o.box = device.Strided{Shape: shape.Of(n)}
	o.box.Dst[0], o.box.Src[0] = 1, 1
	o.bands = device.Banded[T]{Outer: 1, Inner: 1, DstRows: n, SrcRows: n, Taps: []device.Tap[T]{{Step: 1, Coef: 1}}}
	o.bands.Groups[0] = []device.Band{{Hi: n, Last: 1}}
	o.sum.Parts = []device.BandedPart[T]{{Banded: &o.bands}}
	o.sparse = device.Sparse[T]{First: make([]int, n+1), At: []int{0}}
	o.sparse.First[n] = 1
	o.transform = device.DFT{Dims: []int{n}, Axes: []int{0}}
	o.rays = device.Rays{Rows: 6, Cols: 6, Views: 6, Detectors: 6}
	for v := range o.rays.Views {
		o.rays.Bundles = append(o.rays.Bundles, device.Bundle{View: v, Hi: 6, Columns: v%2 == 1, Step: 1, Den: [2]float64{1}, Length: 1})
	}
	return o, errors.Join(errs[:]...)
}

func (o *operands[T]) free() {
	o.bands.Cache.Clear()
	o.sum.Cache.Clear()
	o.sparse.Cache.Clear()
	o.transform.Cache.Clear()
	o.rays.Cache.Clear()
	for _, m := range []device.Mem[T]{o.x, o.y, o.z, o.six} {
		o.k.Free(m)
	}
}

// testAllocations wants no kernel to allocate host memory after its first call.
func testAllocations[T scalar.Scalar](s *suite[T]) {
	o, err := newOperands(s.k)
	s.must("alloc", err)
	defer o.free()
	for _, c := range cases[T]() {
		if c.call == nil {
			continue
		}
		err := c.call(o)
		if errors.Is(err, device.ErrUnsupported) {
			continue
		}
		s.must(c.name, err)
		if n := testing.AllocsPerRun(5, func() { err = c.call(o) }); n > 0 && thin == 1 { // the race detector allocates
			s.errorf("%s: %v allocations", c.name, n)
		}
		s.must(c.name, err)
	}
}
