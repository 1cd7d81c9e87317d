package gpu

import (
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// fft is cuFFT or hipFFT. It is opened by the first transform.
type fft struct {
	lib   *dl.Lib
	err   error // why it could not be opened
	plans map[planKey]*plan
	uses  int

	PlanMany  dl.Func `cuda:"cufftPlanMany" hip:"hipfftPlanMany"`
	Destroy   dl.Func `cuda:"cufftDestroy" hip:"hipfftDestroy"`
	SetStream dl.Func `cuda:"cufftSetStream" hip:"hipfftSetStream"`
	C2C       dl.Func `cuda:"cufftExecC2C" hip:"hipfftExecC2C"`
	R2C       dl.Func `cuda:"cufftExecR2C" hip:"hipfftExecR2C"`
	C2R       dl.Func `cuda:"cufftExecC2R" hip:"hipfftExecC2R"`
	Z2Z       dl.Func `cuda:"cufftExecZ2Z" hip:"hipfftExecZ2Z"`
	D2Z       dl.Func `cuda:"cufftExecD2Z" hip:"hipfftExecD2Z"`
	Z2D       dl.Func `cuda:"cufftExecZ2D" hip:"hipfftExecZ2D"`
}

// fftKind is a type of transform. Both libraries use the same numbers.
type fftKind int32

const (
	kindR2C fftKind = 0x2a
	kindC2R fftKind = 0x2c
	kindC2C fftKind = 0x29
	kindD2Z fftKind = 0x6a
	kindZ2D fftKind = 0x6c
	kindZ2Z fftKind = 0x69
)

// planKey identifies a plan.
type planKey struct {
	extents     [3]int32
	rank, batch int32
	kind        fftKind
}

type plan struct {
	handle uintptr
	used   int // fft.uses at its last use
}

// plansMost limits the plans that stay open. Each holds GPU memory.
const plansMost = 32

// openFFT opens the library for a kernel that needs it.
func (d *Device) openFFT(kernel string) (*fft, error) {
	l := &d.fft
	if l.lib == nil && l.err == nil {
		lib, err := d.p.open(d.p.fft, d.drv.major(), d.drv.folder)
		if err == nil {
			err = d.p.bind(lib, l)
		}
		if l.lib, l.plans = lib, map[planKey]*plan{}; err != nil {
			l.err = fmt.Errorf("no library for Fourier transforms: %w; install %s's toolkit and name its folder in %s: %w",
				err, d.p.Title, d.p.Env, device.ErrUnsupported)
		}
	}
	if l.err != nil {
		return nil, fmt.Errorf("%s: kernel %s: %w", d.p.Name, kernel, l.err)
	}
	return l, nil
}

func (l *fft) close() {
	for _, p := range l.plans {
		l.Destroy.Call(p.handle)
	}
	clear(l.plans)
}

// plan returns a plan on the stream of kernels. It makes the plan if there is none.
func (d *Device) plan(l *fft, key planKey) (uintptr, error) {
	l.uses++
	if p := l.plans[key]; p != nil {
		p.used = l.uses
		return p.handle, nil
	}
	return d.newPlan(l, key)
}

// newPlan makes a plan. It closes the least recently used one if there are
// plansMost.
func (d *Device) newPlan(l *fft, key planKey) (uintptr, error) {
	if len(l.plans) >= plansMost {
		if err := d.waitAll(); err != nil { // the plan may be in use
			return 0, err
		}
		var oldest planKey
		for k, p := range l.plans {
			if o := l.plans[oldest]; o == nil || p.used < o.used {
				oldest = k
			}
		}
		l.Destroy.Call(l.plans[oldest].handle)
		delete(l.plans, oldest)
	}
	n, h := new([3]int32), new(uintptr) // a handle is a C int (CUDA) or a pointer (HIP)
	*n = key.extents
	r := l.PlanMany.Call(dl.Pointer(h), uintptr(key.rank), dl.Pointer(n), 0, 1, 0, 0, 1, 0, uintptr(key.kind), uintptr(key.batch))
	if r == ok {
		r = l.SetStream.Call(*h, d.stream)
	}
	if r != ok {
		return 0, fmt.Errorf("%s: plan %d Fourier transforms of %v: %w", d.p.Name, key.batch, key.extents[:key.rank], l.fault(r))
	}
	l.plans[key] = &plan{handle: *h, used: l.uses}
	return *h, nil
}

// exec returns the function that executes plans of a kind.
func (l *fft) exec(kind fftKind) dl.Func {
	switch kind {
	case kindC2C:
		return l.C2C
	case kindR2C:
		return l.R2C
	case kindC2R:
		return l.C2R
	case kindD2Z:
		return l.D2Z
	case kindZ2D:
		return l.Z2D
	}
	return l.Z2Z
}

// fault explains an error code of the library.
func (l *fft) fault(code int32) error {
	text := map[int32]string{
		2: "out of GPU memory: free some or transform less at once", 4: "an invalid value", 6: "execution failed",
		8: "an unsupported size",
	}[code]
	if text == "" {
		return fmt.Errorf("error %d of %s", code, l.lib.Path)
	}
	return fmt.Errorf("error %d of %s: %s", code, l.lib.Path, text)
}

// FFT implements device.Fourier, for a complex T.
func (k *kernels[T, F]) FFT(dst, src device.Mem[T], extents []int, batch int, inverse bool) error {
	direction := uintptr(1<<32 - 1) // -1 as a C int
	if inverse {
		direction = 1
	}
	return k.transform("FFT", kindC2C, kindZ2Z, dst.Addr, src.Addr, extents, batch, direction)
}

// RFFT implements device.RealFourier, for a complex T.
func (k *kernels[T, F]) RFFT(dst device.Mem[T], src device.Mem[F], extents []int, batch int) error {
	from := src.Addr
	if n := src.N * k.size / 2; from%uintptr(k.size) != 0 && src.N > 0 { // the library wants the alignment of a complex number
		if from = k.d.scratch(n); from != 0 {
			k.d.move(from, src.Addr, n)
		}
	}
	return k.transform("RFFT", kindR2C, kindD2Z, dst.Addr, from, extents, batch, 0)
}

// IRFFT implements device.RealFourier, for a complex T.
func (k *kernels[T, F]) IRFFT(dst device.Mem[F], src device.Mem[T], extents []int, batch int) error {
	to, n := dst.Addr, dst.N*k.size/2
	if to%uintptr(k.size) != 0 && n > 0 {
		to = k.d.scratch(n)
	}
	if err := k.transform("IRFFT", kindC2R, kindZ2D, to, src.Addr, extents, batch, 0); err != nil {
		return err
	}
	if to != dst.Addr {
		k.d.move(dst.Addr, to, n)
	}
	return k.d.takeErr()
}

// transform executes plans until the whole batch is done. The library counts in 32
// bits, so a large batch takes several plans.
func (k *kernels[T, F]) transform(kernel string, single, double fftKind, dst, src uintptr, extents []int, batch int, direction uintptr) error {
	d := k.d
	if err := d.takeErr(); err != nil {
		return err
	}
	if k.components == 1 || len(extents) < 1 || len(extents) > 3 {
		return fmt.Errorf("%s: kernel %s of %v along %d axes: %w", d.p.Name, kernel, k.dtype, len(extents), device.ErrUnsupported)
	}
	key := planKey{rank: int32(len(extents)), kind: single}
	points, last := 1, 0
	for i, n := range extents {
		if n > math.MaxInt32 || n > 0 && points > math.MaxInt32/n {
			return fmt.Errorf("%s: Fourier transform of %v: more than %d elements: split it", d.p.Name, extents, math.MaxInt32)
		}
		key.extents[i] = int32(n)
		points, last = points*n, n
	}
	if points*batch == 0 {
		return nil
	}
	d.enter()
	defer d.leave()
	l, err := d.openFFT(kernel)
	if err != nil {
		return err
	}
	if k.size == 16 {
		key.kind = double
	}
	// Bytes of one transform in dst and src.
	half := points / last * (last/2 + 1) * k.size
	to, from := points*k.size, points*k.size
	switch single {
	case kindR2C:
		to, from = half, points*k.size/2
	case kindC2R:
		to, from = points*k.size/2, half
	}
	for most := max(1, math.MaxInt32/points); batch > 0; batch -= int(key.batch) {
		key.batch = int32(min(batch, most))
		handle, err := d.plan(l, key)
		if err != nil {
			return err
		}
		d.busy = true
		if r := l.exec(key.kind).Call(handle, src, dst, direction); r != ok {
			return fmt.Errorf("%s: %d Fourier transforms of %v: %w", d.p.Name, key.batch, extents, l.fault(r))
		}
		src, dst = src+uintptr(from)*uintptr(key.batch), dst+uintptr(to)*uintptr(key.batch)
	}
	return nil
}

// move copies n bytes within GPU memory.
func (d *Device) move(dst, src uintptr, n int) {
	d.enter()
	defer d.leave()
	if r := d.drv.Copy.Call(dst, src, uintptr(n), d.stream); r != ok {
		d.fail(fmt.Errorf("copy %s on %v: %w", device.BytesText(n), d, d.drv.fault(r)))
	}
	d.busy = true
}

var (
	_ device.Fourier[complex64]               = (*kernels[complex64, float32])(nil)
	_ device.RealFourier[complex64, float32]  = (*kernels[complex64, float32])(nil)
	_ device.Fourier[complex128]              = (*kernels[complex128, float64])(nil)
	_ device.RealFourier[complex128, float64] = (*kernels[complex128, float64])(nil)
)
