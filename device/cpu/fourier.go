package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/fft"
	"github.com/golops/golops/scalar"
)

// fourierPlan is what the device keeps for one device.DFT: a step for each axis, that of
// real samples first.
type fourierPlan[F float] struct {
	steps   []fourierStep[F]
	phases  []fourierPhase
	scratch [][]F     // of each thread
	fftw    *fftwPlan // for memory that fits it, or nil
}

// fourierStep transforms all lines along one axis of a block.
type fourierStep[F float] struct {
	plan               *fft.Plan[F]
	axis, lines, inner int
}

// fourierPhase is steps lo to hi-1. Each slab of the block takes all of them while it is
// in the cache.
type fourierPhase struct{ lo, hi, slabs int }

// maxSlab is how many bytes of a slab a cache holds beside the memory of tiles.
const maxSlab = 1 << 20

// fourierArgs are the parameters of one phase.
type fourierArgs[F float] struct {
	dst, src []F
	plan     *fourierPlan[F]
	phase    fourierPhase
	way      fourierWay
	next     atomic.Int64 // piece of work
}

type fourierWay uint8

// What a step does with a line.
const (
	complexForward fourierWay = iota
	complexInverse
	realForward
	realInverse
)

// PlanFFT implements device.Fourier.
func (k *kernels[T, F]) PlanFFT(t *device.DFT) error {
	_, err := k.fourierPlan("PlanFFT", t)
	return err
}

// FFT implements device.Fourier.
func (k *kernels[T, F]) FFT(dst, src device.Mem[T], t *device.DFT, inverse bool) error {
	p, err := k.fourierPlan("FFT", t)
	if err != nil {
		return err
	}
	way := complexForward
	if inverse {
		way = complexInverse
	}
	k.fourier(p, k.flat(dst), k.flat(src), way)
	return nil
}

// RFFT implements device.RealFourier.
func (k *kernels[T, F]) RFFT(dst device.Mem[T], src device.Mem[F], t *device.DFT) error {
	p, err := k.fourierPlan("RFFT", t)
	if err != nil {
		return err
	}
	k.fourier(p, k.flat(dst), elements(src), realForward)
	return nil
}

// IRFFT implements device.RealFourier.
func (k *kernels[T, F]) IRFFT(dst device.Mem[F], src device.Mem[T], t *device.DFT) error {
	p, err := k.fourierPlan("IRFFT", t)
	if err != nil {
		return err
	}
	k.fourier(p, elements(dst), k.flat(src), realInverse)
	return nil
}

// fourierPlan returns the plan of a description. It makes one if there is none.
func (k *kernels[T, F]) fourierPlan(kernel string, t *device.DFT) (*fourierPlan[F], error) {
	if k.workers == closed {
		return nil, errClosed
	}
	if k.components == 1 {
		return nil, fmt.Errorf("cpu: kernel %s of %v: %w", kernel, scalar.Of[T](), device.ErrUnsupported)
	}
	if p, ok := t.Cache.Get(k.device).(*fourierPlan[F]); ok {
		return p, nil
	}
	p, err := newFourierPlan[F](t, k.workers+1)
	if err != nil {
		return nil, fmt.Errorf("cpu: plan Fourier transforms of %v along axes %v: %w", t.Dims, t.Axes, err)
	}
	p.fftw = k.fftwPlan(t, p)
	t.Cache.Set(k.device, p, nil)
	return p, nil
}

func newFourierPlan[F float](t *device.DFT, threads int) (*fourierPlan[F], error) {
	p := new(fourierPlan[F])
	if samples, _ := t.Sizes(); samples == 0 {
		return p, nil
	}
	axes := slices.Clone(t.Axes)
	last := axes[len(axes)-1]
	if t.Real {
		axes = axes[:len(axes)-1]
	}
	slices.Sort(axes)
	slices.Reverse(axes) // while lines lie together
	if t.Real {
		axes = slices.Insert(axes, 0, last)
	}
	room, plans := 0, map[int]*fft.Plan[F]{}
	dims := t.Coefficients()
	for i, a := range axes {
		s := fourierStep[F]{axis: a, lines: 1, inner: device.Size(dims[a+1:]...), plan: plans[dims[a]]}
		for b, n := range dims {
			if b != a {
				s.lines *= n
			}
		}
		switch {
		case t.Real && i == 0:
			s.plan = fft.NewReal[F](t.Dims[a])
		case s.plan == nil:
			s.plan = fft.New[F](dims[a])
			plans[dims[a]] = s.plan
		}
		room = max(room, s.plan.Scratch())
		p.steps = append(p.steps, s)
	}
	p.makePhases(dims, threads)
	for range threads {
		scratch, err := device.Make[F](room)
		if err != nil {
			return nil, err
		}
		p.scratch = append(p.scratch, scratch)
	}
	return p, nil
}

// makePhases puts steps together whose slabs fit into the cache, if threads have enough
// of them.
func (p *fourierPlan[F]) makePhases(dims []int, threads int) {
	var f F
	for i := range p.steps {
		first := p.steps[i].axis
		ph := fourierPhase{i, i + 1, 1}
		if n := len(p.phases); n > 0 {
			last := p.phases[n-1]
			for _, s := range p.steps[last.lo:last.hi] {
				first = min(first, s.axis)
			}
			slabs, bytes := device.Size(dims[:first]...), device.Size(dims[first:]...)*2*int(unsafe.Sizeof(f))
			if bytes <= maxSlab && slabs >= 4*threads {
				p.phases[n-1] = fourierPhase{last.lo, i + 1, slabs}
				continue
			}
		}
		p.phases = append(p.phases, ph)
	}
}

// fourier transforms along all axes, with the engine of the plan.
func (k *kernels[T, F]) fourier(p *fourierPlan[F], dst, src []F, way fourierWay) {
	if to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)); p.fftw.fits(to, from) {
		p.fftw.run(to, from, way)
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		return
	}
	k.fourierPhases(p, dst, src, way)
}

// fourierPhases transforms along all axes.
func (k *kernels[T, F]) fourierPhases(p *fourierPlan[F], dst, src []F, way fourierWay) {
	a := &k.ft
	a.dst, a.src, a.plan, a.way = dst, src, p, way
	if len(p.steps) == 1 && (len(p.scratch) == 1 || p.steps[0].lines == 1) { // one thread takes it all
		a.lines(0, 0, p.steps[0].lines, p.scratch[0])
		a.dst, a.src, a.plan = nil, nil, nil
		return
	}
	for i := range p.phases {
		if a.phase = p.phases[i]; way == realInverse {
			a.phase = p.phases[len(p.phases)-1-i]
		}
		a.next.Store(0)
		k.run(len(p.scratch), 1, k.loops.fourier)
	}
	a.dst, a.src, a.plan = nil, nil, nil
}

// fourierPart takes slabs, or tiles of lines, until none is left.
func (k *kernels[T, F]) fourierPart(lo, hi int) {
	a := &k.ft
	for thread := lo; thread < hi; thread++ {
		scratch, ph := a.plan.scratch[thread], a.phase
		for {
			at := int(a.next.Add(1) - 1)
			if ph.hi == ph.lo+1 {
				s := &a.plan.steps[ph.lo]
				from := at * s.plan.Width()
				if from >= s.lines {
					break
				}
				a.lines(ph.lo, from, min(from+s.plan.Width(), s.lines), scratch)
				continue
			}
			if at >= ph.slabs {
				break
			}
			for i := range ph.hi - ph.lo {
				if i += ph.lo; a.way == realInverse {
					i = ph.hi - 1 - (i - ph.lo)
				}
				n := a.plan.steps[i].lines / ph.slabs
				a.lines(i, at*n, (at+1)*n, scratch)
			}
		}
	}
}

// lines transforms some lines of a step. The first step of a transform reads src, or the
// last one of a real inverse writes dst. All others work in place.
func (a *fourierArgs[F]) lines(step, from, to int, scratch []F) {
	s := &a.plan.steps[step]
	switch {
	case a.way == realForward && step == 0:
		s.plan.Forward(a.dst, a.src, s.inner, from, to, scratch)
	case a.way == realInverse && step == 0:
		s.plan.Backward(a.dst, a.src, s.inner, from, to, scratch)
	case a.way == realInverse:
		s.plan.Transform(a.src, a.src, s.inner, from, to, true, scratch)
	case step == 0:
		s.plan.Transform(a.dst, a.src, s.inner, from, to, a.way == complexInverse, scratch)
	default:
		s.plan.Transform(a.dst, a.dst, s.inner, from, to, a.way == complexInverse, scratch)
	}
}

var (
	_ device.Fourier[complex64]               = (*kernels[complex64, float32])(nil)
	_ device.RealFourier[complex64, float32]  = (*kernels[complex64, float32])(nil)
	_ device.Fourier[complex128]              = (*kernels[complex128, float64])(nil)
	_ device.RealFourier[complex128, float64] = (*kernels[complex128, float64])(nil)
)
