package cpu

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/fft"
	"github.com/golops/golops/scalar"
)

// fourierPlan is what the device keeps for one device.DFT: a step for each axis, that of
// real samples first.
type fourierPlan[F float] struct {
	steps   []fourierStep[F]
	scratch [][]F // of each thread
}

// fourierStep transforms all lines along one axis of a block.
type fourierStep[F float] struct {
	plan         *fft.Plan[F]
	lines, inner int
}

// fourierArgs are the parameters of one step.
type fourierArgs[F float] struct {
	dst, src []F
	plan     *fourierPlan[F]
	step     *fourierStep[F]
	way      fourierWay
	grain    int          // lines that a thread takes at a time
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
	y, x := k.flat(dst), k.flat(src)
	for i := range p.steps {
		k.fourierStep(p, i, y, x, way)
		x = y
	}
	return nil
}

// RFFT implements device.RealFourier.
func (k *kernels[T, F]) RFFT(dst device.Mem[T], src device.Mem[F], t *device.DFT) error {
	p, err := k.fourierPlan("RFFT", t)
	if err != nil {
		return err
	}
	y := k.flat(dst)
	for i := range p.steps {
		if i == 0 {
			k.fourierStep(p, i, y, elements(src), realForward)
		} else {
			k.fourierStep(p, i, y, y, complexForward)
		}
	}
	return nil
}

// IRFFT implements device.RealFourier.
func (k *kernels[T, F]) IRFFT(dst device.Mem[F], src device.Mem[T], t *device.DFT) error {
	p, err := k.fourierPlan("IRFFT", t)
	if err != nil {
		return err
	}
	x := k.flat(src)
	for i := len(p.steps) - 1; i >= 0; i-- {
		if i == 0 {
			k.fourierStep(p, i, elements(dst), x, realInverse)
		} else {
			k.fourierStep(p, i, x, x, complexInverse)
		}
	}
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
		s := fourierStep[F]{lines: 1, inner: device.Size(dims[a+1:]...), plan: plans[dims[a]]}
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
	for range threads {
		scratch, err := device.Make[F](room)
		if err != nil {
			return nil, err
		}
		p.scratch = append(p.scratch, scratch)
	}
	return p, nil
}

// fourierStep transforms along one axis. Threads take tiles of lines.
func (k *kernels[T, F]) fourierStep(p *fourierPlan[F], step int, dst, src []F, way fourierWay) {
	a := &k.ft
	a.dst, a.src, a.plan, a.step, a.way = dst, src, p, &p.steps[step], way
	a.grain = a.step.plan.Width()
	a.next.Store(0)
	k.run(len(p.scratch), 1, k.loops.fourier)
	a.dst, a.src, a.plan, a.step = nil, nil, nil, nil
}

func (k *kernels[T, F]) fourierPart(lo, hi int) {
	a := &k.ft
	for thread := lo; thread < hi; thread++ {
		scratch, p, inner := a.plan.scratch[thread], a.step.plan, a.step.inner
		for {
			from := int(a.next.Add(1)-1) * a.grain
			if from >= a.step.lines {
				break
			}
			to := min(from+a.grain, a.step.lines)
			switch a.way {
			case realForward:
				p.Forward(a.dst, a.src, inner, from, to, scratch)
			case realInverse:
				p.Backward(a.dst, a.src, inner, from, to, scratch)
			default:
				p.Transform(a.dst, a.src, inner, from, to, a.way == complexInverse, scratch)
			}
		}
	}
}

var (
	_ device.Fourier[complex64]               = (*kernels[complex64, float32])(nil)
	_ device.RealFourier[complex64, float32]  = (*kernels[complex64, float32])(nil)
	_ device.Fourier[complex128]              = (*kernels[complex128, float64])(nil)
	_ device.RealFourier[complex128, float64] = (*kernels[complex128, float64])(nil)
)
