package perf

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// work is one kernel, ready to be launched again and again.
type work struct {
	kernel, size string
	bytes        float64 // that must be read and written
	flops        float64 // that must be done; 0 where memory is what counts
	run          func() error
}

// workshop makes works on one device and holds their memory.
type workshop[T scalar.Scalar] struct {
	k    device.Kernels[T]
	held []device.Mem[T]
	kept []*device.DeviceCache // tables that the device made of descriptions
	elem float64               // bytes
	mul  float64               // real multiplications and additions of one multiply-add
}

// kernels measures every kernel. F is the real type of T and C its complex one.
func kernels[T scalar.Scalar, F float32 | float64, C complex64 | complex128](ctx context.Context, cfg KernelConfig, d device.Device, t *KernelTable) error {
	k, err := device.KernelsFor[T](d)
	if err != nil {
		return err
	}
	dt := scalar.Of[T]()
	w := &workshop[T]{k: k, elem: float64(dt.Size()), mul: 2}
	if dt.IsComplex() {
		w.mul = 8
	}
	s := cfg.Shrink
	block := [3]int{512 / s, 512 / s, 256 / s}
	makers := []func() (work, error){
		func() (work, error) { return w.copies(block) },
		func() (work, error) { return w.axpy(block) },
		func() (work, error) { return w.dot(block) },
		func() (work, error) { return w.axpyNorm(block) },
		func() (work, error) { return w.derivative(block) },
		func() (work, error) { return w.laplacian(block) },
		func() (work, error) { return w.gemv(4096 / s) },
		func() (work, error) { return w.gemm(2048 / s) },
		func() (work, error) { return w.gemm(4096 / s) },
	}
	if err := measureAll(ctx, cfg, d, t, w, makers); err != nil {
		return err
	}
	kc, err := device.KernelsFor[C](d)
	if err != nil {
		return err
	}
	f := &workshop[C]{k: kc, elem: float64(scalar.Of[C]().Size())}
	if err := measureAll(ctx, cfg, d, t, f, []func() (work, error){
		func() (work, error) { return fft(f, []int{4096 / s}, 8192/s) },
		func() (work, error) { return fft(f, []int{256 / s, 256 / s, 256 / s}, 1) },
	}); err != nil {
		return err
	}
	v := newSurvey(s)
	return measureAll(ctx, cfg, d, t, w, []func() (work, error){
		func() (work, error) { return kirchhoff[T, F](w, v, "kirchhoff spread") },
		func() (work, error) { return kirchhoff[T, F](w, v, "kirchhoff stack") },
	})
}

func measureAll[T scalar.Scalar](ctx context.Context, cfg KernelConfig, d device.Device, t *KernelTable, w *workshop[T], makers []func() (work, error)) error {
	for _, m := range makers {
		job, err := m()
		if err == nil {
			err = t.add(ctx, cfg, d, job)
		}
		w.clear()
		if err != nil {
			return err
		}
	}
	return nil
}

// clear gives back what the last work held.
func (w *workshop[T]) clear() {
	for _, k := range w.kept {
		k.Clear()
	}
	for _, m := range w.held {
		w.k.Free(m)
	}
	w.kept, w.held = w.kept[:0], w.held[:0]
}

// filled returns n random elements: processors draw less power, and run faster,
// on zeros.
func (w *workshop[T]) filled(n int) (device.Mem[T], error) {
	m, err := w.k.Alloc(n)
	if err != nil {
		return m, err
	}
	w.held = append(w.held, m)
	rnd := rand.New(rand.NewPCG(uint64(n), uint64(len(w.held))))
	chunk := make([]T, min(n, 1<<20))
	for i := range chunk {
		chunk[i] = scalar.From[T](complex(rnd.Float64()-0.5, rnd.Float64()-0.5))
	}
	for lo := 0; lo < n; lo += len(chunk) {
		hi := min(n, lo+len(chunk))
		if err := w.k.CopyIn(w.k.Slice(m, lo, hi), chunk[:hi-lo]); err != nil {
			return m, err
		}
	}
	return m, nil
}

// two returns two arrays of n elements.
func (w *workshop[T]) two(n int) (x, y device.Mem[T], err error) {
	if x, err = w.filled(n); err != nil {
		return x, y, err
	}
	y, err = w.filled(n)
	return x, y, err
}

func size(block [3]int) int { return block[0] * block[1] * block[2] }

func sizeText(block [3]int) string { return fmt.Sprintf("%d x %d x %d", block[0], block[1], block[2]) }

// always makes a kernel that returns no error one that does.
func always(f func()) func() error { return func() error { f(); return nil } }

func (w *workshop[T]) copies(block [3]int) (work, error) {
	n := size(block)
	x, y, err := w.two(n)
	return work{"copy", fmt.Sprint(n), 2 * w.elem * float64(n), 0, always(func() { w.k.Copy(y, x) })}, err
}

func (w *workshop[T]) axpy(block [3]int) (work, error) {
	n := size(block)
	x, y, err := w.two(n)
	a, one := scalar.From[T](1e-3), scalar.From[T](1)
	return work{"axpy", fmt.Sprint(n), 3 * w.elem * float64(n), 0, always(func() { w.k.Axpby(a, x, one, y) })}, err
}

func (w *workshop[T]) dot(block [3]int) (work, error) {
	n := size(block)
	x, y, err := w.two(n)
	return work{"dot", fmt.Sprint(n), 2 * w.elem * float64(n), 0, func() error { _, err := w.k.Dot(x, y, true); return err }}, err
}

func (w *workshop[T]) axpyNorm(block [3]int) (work, error) {
	n := size(block)
	j := work{kernel: "axpynorm", size: fmt.Sprint(n), bytes: 3 * w.elem * float64(n)}
	x, y, err := w.two(n)
	a := scalar.From[T](1e-3)
	j.run = func() error { _, err := w.k.AxpyNorm(a, x, y); return err }
	return j, err
}

// along is a stencil of three points along an axis of a block, zero at the ends.
func along[T scalar.Scalar](block [3]int, axis int, left, mid, right float64) *device.Banded[T] {
	n := block[axis]
	b := &device.Banded[T]{Outer: 1, Inner: 1, DstRows: n, SrcRows: n}
	for i, e := range block {
		switch {
		case i < axis:
			b.Outer *= e
		case i > axis:
			b.Inner *= e
		}
	}
	for at, c := range []float64{left, mid, right} {
		if c != 0 {
			b.Taps = append(b.Taps, device.Tap[T]{At: at, Step: 1, Coef: scalar.From[T](complex(c, 0))})
		}
	}
	b.Groups[0] = []device.Band{{Lo: 0, Hi: 1}, {Lo: 1, Hi: n - 1, Last: len(b.Taps)}, {Lo: n - 1, Hi: n}}
	return b
}

func (w *workshop[T]) derivative(block [3]int) (work, error) {
	n := size(block)
	x, y, err := w.two(n)
	b := along[T](block, 0, -0.5, 0, 0.5)
	w.kept = append(w.kept, &b.Cache)
	return work{"derivative, axis 0", sizeText(block), 2 * w.elem * float64(n), 0,
		always(func() { w.k.Bands(y, x, device.Mem[T]{}, b, 0, false) })}, err
}

// laplacian is one pass where the device has it, and one for each axis elsewhere.
func (w *workshop[T]) laplacian(block [3]int) (work, error) {
	n := size(block)
	x, y, err := w.two(n)
	sum := &device.BandedSum[T]{}
	w.kept = append(w.kept, &sum.Cache)
	for axis := range block {
		b := along[T](block, axis, 1, -2, 1)
		sum.Parts = append(sum.Parts, device.BandedPart[T]{Banded: b})
		w.kept = append(w.kept, &b.Cache)
	}
	return work{"laplacian, 3 axes", sizeText(block), 2 * w.elem * float64(n), 0, always(func() {
		device.BandsSum(w.k, y, x, sum, 0)
		device.BandsSum(w.k, y, x, sum, 1)
	})}, err
}

func (w *workshop[T]) gemv(n int) (work, error) {
	a, err := w.filled(n * n)
	if err != nil {
		return work{}, err
	}
	x, y, err := w.two(n)
	one := scalar.From[T](1)
	return work{"gemv", fmt.Sprintf("%d x %d", n, n), w.elem * float64(n) * float64(n), 0,
		func() error { return w.k.Gemv(device.NoTrans, n, n, one, a, x, 0, y) }}, err
}

func (w *workshop[T]) gemm(n int) (work, error) {
	a, b, err := w.two(n * n)
	if err != nil {
		return work{}, err
	}
	c, err := w.filled(n * n)
	one := scalar.From[T](1)
	return work{"gemm", fmt.Sprintf("%d x %d x %d", n, n, n), 0, w.mul * math.Pow(float64(n), 3),
		func() error { return w.k.Gemm(device.NoTrans, device.NoTrans, n, n, n, one, a, b, 0, c) }}, err
}

// fft counts 5·n·log2(n) operations, as is the custom.
func fft[C complex64 | complex128](w *workshop[C], extents []int, batch int) (work, error) {
	n := batch
	text := ""
	for i, e := range extents {
		n *= e
		if i > 0 {
			text += " x "
		}
		text += fmt.Sprint(e)
	}
	if batch > 1 {
		text += fmt.Sprintf(", %d times", batch)
	}
	j := work{kernel: "fft, " + scalar.Of[C]().String(), size: text, bytes: 2 * w.elem * float64(n)}
	j.flops = 5 * float64(n) * float64(bits.Len(uint(n/batch))-1)
	t := &device.DFT{Dims: append([]int{batch}, extents...)}
	for i := range extents {
		t.Axes = append(t.Axes, i+1)
	}
	if err := device.PlanFFT(w.k, t); errors.Is(err, device.ErrUnsupported) {
		j.run = func() error { return err } // before memory is filled
		return j, nil
	}
	x, y, err := w.two(n)
	j.run = func() error { return device.FFT(w.k, y, x, t, false) }
	return j, err
}
