package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

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

// planKey identifies a plan of batch transforms along rank axes. With a stride of 1,
// one lies behind the other. With a larger one, their first elements are neighbours.
type planKey struct {
	extents             [3]int32
	rank, stride, batch int32
	kind                fftKind
}

type plan struct {
	handle uintptr
	used   int // fft.uses at its last use
}

// planning is held while a plan is made or destroyed. cuFFT 12.0 has failed with an internal
// error and an illegal address while eight ranks of one process made plans at the same time.
var planning sync.Mutex

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
	planning.Lock()
	defer planning.Unlock()
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
	full := len(l.plans) >= plansMost
	if full {
		if err := d.waitAll(); err != nil { // the plan may be in use
			return 0, err
		}
	}
	planning.Lock()
	defer planning.Unlock()
	if full {
		var oldest planKey
		for k, p := range l.plans {
			if o := l.plans[oldest]; o == nil || p.used < o.used {
				oldest = k
			}
		}
		l.Destroy.Call(l.plans[oldest].handle)
		delete(l.plans, oldest)
	}
	h := new(uintptr) // a handle is a C int (CUDA) or a pointer (HIP)
	n, in, out := new([3]int32), new([3]int32), new([3]int32)
	*n = key.extents
	*in, *out = key.sides()
	distIn, distOut := 1, 1
	if key.stride == 1 {
		for i := range key.rank {
			distIn, distOut = distIn*int(in[i]), distOut*int(out[i])
		}
	}
	r := l.PlanMany.Call(dl.Pointer(h), uintptr(key.rank), dl.Pointer(n), dl.Pointer(in), uintptr(key.stride), uintptr(distIn),
		dl.Pointer(out), uintptr(key.stride), uintptr(distOut), uintptr(key.kind), uintptr(key.batch))
	if r == ok {
		r = l.SetStream.Call(*h, d.stream)
	}
	if r != ok {
		return 0, fmt.Errorf("%s: plan %d Fourier transforms of %v: %w", d.p.Name, key.batch, key.extents[:key.rank], l.fault(r))
	}
	l.plans[key] = &plan{handle: *h, used: l.uses}
	return *h, nil
}

// sides returns the extents of both sides of a transform.
func (k *planKey) sides() (in, out [3]int32) {
	in, out = k.extents, k.extents
	switch last := k.rank - 1; k.kind {
	case kindR2C, kindD2Z:
		out[last] = out[last]/2 + 1
	case kindC2R, kindZ2D:
		in[last] = in[last]/2 + 1
	}
	return in, out
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

// fftSteps are the steps of a transform, that of real samples first.
type fftSteps []fftStep

// fftStep transforms along up to three neighbouring axes of a block.
type fftStep struct {
	extents      []int
	outer, inner int
	real         bool
}

// stepsOf returns the steps of a description. It keeps them in its cache.
func (k *kernels[T, F]) stepsOf(kernel string, t *device.DFT) (fftSteps, error) {
	if k.components == 1 {
		return nil, fmt.Errorf("%s: kernel %s of %v: %w", k.d.p.Name, kernel, k.dtype, device.ErrUnsupported)
	}
	if s, ok := t.Cache.Get(k.d).(fftSteps); ok {
		return s, nil
	}
	s := fftSteps{}
	if samples, _ := t.Sizes(); samples > 0 {
		s = newSteps(t)
	}
	t.Cache.Set(k.d, s, nil)
	return s, nil
}

func newSteps(t *device.DFT) (steps fftSteps) {
	todo := slices.Clone(t.Axes)
	dims := t.Dims
	for real := t.Real; len(todo) > 0; real = false {
		last := slices.Max(todo)
		if real {
			last = todo[len(todo)-1]
		}
		first := last
		for todo = slices.DeleteFunc(todo, func(a int) bool { return a == last }); first > 0 && last-first < 2; first-- {
			i := slices.Index(todo, first-1)
			if i < 0 {
				break
			}
			todo = slices.Delete(todo, i, i+1)
		}
		steps = append(steps, fftStep{dims[first : last+1], device.Size(dims[:first]...), device.Size(dims[last+1:]...), real})
		dims = t.Coefficients()
	}
	return steps
}

// PlanFFT implements device.Fourier, for a complex T. The library's plans are made by
// the first transform.
func (k *kernels[T, F]) PlanFFT(t *device.DFT) error {
	_, err := k.stepsOf("PlanFFT", t)
	return errors.Join(k.d.takeErr(), err)
}

// Directions of complex transforms, as C ints.
const (
	fftForward = 1<<32 - 1
	fftInverse = 1
)

// FFT implements device.Fourier, for a complex T.
func (k *kernels[T, F]) FFT(dst, src device.Mem[T], t *device.DFT, inverse bool) error {
	steps, err := k.stepsOf("FFT", t)
	direction := uintptr(fftForward)
	if inverse {
		direction = fftInverse
	}
	from := src.Addr
	for i := range steps {
		if err == nil {
			err = k.transform("FFT", kindC2C, dst.Addr, from, &steps[i], direction)
		}
		from = dst.Addr
	}
	return cmp.Or(err, k.d.takeErr())
}

// RFFT implements device.RealFourier, for a complex T.
func (k *kernels[T, F]) RFFT(dst device.Mem[T], src device.Mem[F], t *device.DFT) error {
	steps, err := k.stepsOf("RFFT", t)
	for i := range steps {
		switch {
		case err != nil:
		case i == 0:
			err = k.transform("RFFT", kindR2C, dst.Addr, src.Addr, &steps[i], 0)
		default:
			err = k.transform("RFFT", kindC2C, dst.Addr, dst.Addr, &steps[i], fftForward)
		}
	}
	return cmp.Or(err, k.d.takeErr())
}

// IRFFT implements device.RealFourier, for a complex T.
func (k *kernels[T, F]) IRFFT(dst device.Mem[F], src device.Mem[T], t *device.DFT) error {
	steps, err := k.stepsOf("IRFFT", t)
	for i := len(steps) - 1; i >= 0; i-- {
		switch {
		case err != nil:
		case i == 0:
			err = k.transform("IRFFT", kindC2R, dst.Addr, src.Addr, &steps[i], 0)
		default:
			err = k.transform("IRFFT", kindC2C, src.Addr, src.Addr, &steps[i], fftInverse)
		}
	}
	return cmp.Or(err, k.d.takeErr())
}

// double has the kinds of 64 bits of those of 32.
var double = map[fftKind]fftKind{kindC2C: kindZ2Z, kindR2C: kindD2Z, kindC2R: kindZ2D}

// transform executes plans until all lines of a step are done. The library counts in 32
// bits, so that many lines take several plans.
func (k *kernels[T, F]) transform(kernel string, kind fftKind, dst, src uintptr, s *fftStep, direction uintptr) error {
	d := k.d
	if err := d.takeErr(); err != nil {
		return err
	}
	key := planKey{rank: int32(len(s.extents)), stride: 1, kind: kind}
	points := 1
	for i, n := range s.extents {
		if n > math.MaxInt32 || s.inner > math.MaxInt32 || points > math.MaxInt32/n {
			return fmt.Errorf("%s: Fourier transform of %v: more than %d elements: split it", d.p.Name, s.extents, math.MaxInt32)
		}
		key.extents[i] = int32(n)
		points *= n
	}
	d.enter()
	defer d.leave()
	l, err := d.openFFT(kernel)
	if err != nil {
		return err
	}
	if k.size == 16 {
		key.kind = double[kind]
	}
	// Bytes of one transform in src and dst.
	in, out := key.sides()
	from, to := uintptr(k.size), uintptr(k.size)
	for i := range key.rank {
		from, to = from*uintptr(in[i]), to*uintptr(out[i])
	}
	next := [2]uintptr{uintptr(k.size), uintptr(k.size)} // to a neighbour
	switch kind {
	case kindR2C:
		from, next[0] = from/2, next[0]/2
	case kindC2R:
		to, next[1] = to/2, next[1]/2
	}
	blocks, batch := s.outer, s.inner
	if s.inner > 1 {
		key.stride, from, to = int32(s.inner), from*uintptr(s.inner), to*uintptr(s.inner)
	} else {
		blocks, batch, next = 1, s.outer, [2]uintptr{from, to}
	}
	most := max(1, math.MaxInt32/points)
	if most < batch && s.inner > 1 && kind != kindC2C {
		return fmt.Errorf("%s: Fourier transforms of %d × %v real samples: more than %d elements: split them", d.p.Name, s.inner, s.extents, math.MaxInt32)
	}
	for b := range uintptr(blocks) {
		for done := 0; done < batch; done += int(key.batch) {
			key.batch = int32(min(batch-done, most))
			handle, err := d.plan(l, key)
			if err != nil {
				return err
			}
			d.busy = true
			if r := k.execute(l, key, handle, dst+b*to+uintptr(done)*next[1], src+b*from+uintptr(done)*next[0], points, direction); r != ok {
				return fmt.Errorf("%s: %d Fourier transforms of %v: %w", d.p.Name, key.batch, s.extents, l.fault(r))
			}
		}
	}
	return nil
}

// execute executes a plan. The library wants real samples where a complex number could
// begin, so that others go through scratch memory.
func (k *kernels[T, F]) execute(l *fft, key planKey, handle, dst, src uintptr, points int, direction uintptr) int32 {
	d, call, size := k.d, l.exec(key.kind), uintptr(k.size)
	n := points * int(key.batch) * k.size / 2 // bytes of real samples
	switch key.kind {
	case kindR2C, kindD2Z:
		if src%size != 0 {
			room := d.scratch(n)
			if room == 0 {
				return ok // the device keeps the error
			}
			d.move(room, src, n)
			src = room
		}
	case kindC2R, kindZ2D:
		if dst%size != 0 {
			room := d.scratch(n)
			if room == 0 {
				return ok
			}
			r := call.Call(handle, src, room, direction)
			d.move(dst, room, n)
			return r
		}
	}
	return call.Call(handle, src, dst, direction)
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
