package ops

import (
	"context"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// fourier is a Fourier transform: steps over samples, the first transform, which may
// change the element type, and steps over coefficients.
type fourier[C, D scalar.Scalar] struct {
	y       *dist.Space
	before  fourierSteps[D]
	core    *fourierCore[C, D]
	samples *dist.Space // of the core
	room    array.Array[C]
	after   fourierSteps[C]
}

// fourierCore is the first transform. The adjoint may overwrite room, which is as large
// as src and may be src.
type fourierCore[C, D scalar.Scalar] struct {
	forward func(dst array.Array[C], src array.Array[D]) error
	adjoint func(dst array.Array[D], src, room array.Array[C]) error
}

// fourierStep takes arrays of one space to another and back.
type fourierStep[T scalar.Scalar] struct {
	to               *dist.Space
	forward, adjoint func(ctx context.Context, dst, src dist.Array[T]) error
}

// fourierSteps are steps one after another. What is between them lies in two buffers in
// turn.
type fourierSteps[T scalar.Scalar] struct {
	from   *dist.Space
	steps  []fourierStep[T]
	moves  []*dist.Move[T] // among them
	arrays []dist.Array[T] // before each step and after the last
}

// newFourier makes the steps of all stages and their buffers.
func newFourier[C, D scalar.Scalar](x *dist.Space, stages []fourierStage, o FFTOptions, core func(*fourierStage, float64) (*fourierCore[C, D], error)) (*fourier[C, D], error) {
	first, last := &stages[0], &stages[len(stages)-1]
	c := 1.0
	for _, s := range stages {
		for _, a := range s.axes {
			c *= o.Norm.factor(s.wide.Shape().Dim(a))
		}
	}
	f := &fourier[C, D]{y: last.out, samples: first.wide}
	f.before.from, f.after.from = x, first.out
	var err error
	if f.core, err = core(first, c); err != nil {
		return nil, err
	}
	if err = f.before.arrive(first, o); err != nil {
		return nil, err
	}
	f.after.leave(first, o)
	for i := range stages[1:] {
		s := &stages[i+1]
		if err = f.after.arrive(s, o); err != nil {
			return nil, err
		}
		t := s.transform()
		if err = planFFT[C](x, t); err != nil {
			return nil, err
		}
		f.after.add(s.out,
			func(_ context.Context, dst, src dist.Array[C]) error {
				return array.FFT(dst.Local(), src.Local(), t, false)
			},
			func(_ context.Context, dst, src dist.Array[C]) error {
				return array.FFT(dst.Local(), src.Local(), t, true)
			})
		f.after.leave(s, o)
	}
	if (len(stages) > 1 || first.in != x) && !o.Transposed {
		f.y = x
		for _, a := range slices.Concat(axesOf(stages)...) {
			if f.y, err = extended(f.y, a, last.out.Shape().Dim(a)); err != nil {
				return nil, err
			}
		}
		if err = f.after.move(f.y); err != nil {
			return nil, err
		}
	}
	return f, f.makeBuffers(x)
}

func axesOf(stages []fourierStage) (axes [][]int) {
	for _, s := range stages {
		axes = append(axes, s.axes)
	}
	return axes
}

func (s *fourierSteps[T]) add(to *dist.Space, forward, adjoint func(ctx context.Context, dst, src dist.Array[T]) error) {
	s.steps = append(s.steps, fourierStep[T]{to, forward, adjoint})
}

// end returns the space after the last step.
func (s *fourierSteps[T]) end() *dist.Space {
	if n := len(s.steps); n > 0 {
		return s.steps[n-1].to
	}
	return s.from
}

// move adds the way to another layout, unless the array is there.
func (s *fourierSteps[T]) move(to *dist.Space) error {
	if s.end() == to {
		return nil
	}
	m, err := dist.NewRedistribution[T](s.end(), to)
	if err == nil {
		s.add(to, m.Forward, m.Adjoint)
		s.moves = append(s.moves, m)
	}
	return err
}

// arrive adds what comes before the transform of a stage: the way to its layout, the
// shift of samples, and zeros.
func (s *fourierSteps[T]) arrive(stage *fourierStage, o FFTOptions) error {
	if err := s.move(stage.in); err != nil {
		return err
	}
	shifts := make([]int, stage.in.Shape().NDim())
	for _, a := range stage.axes {
		if slices.Contains(o.ShiftBefore, a) {
			n := stage.in.Shape().Dim(a)
			shifts[a] = n - n/2
		}
	}
	if stage.wide != stage.in || !zeros(shifts) {
		s.shift(stage.wide, shifts)
	}
	return nil
}

// leave adds the shift of coefficients.
func (s *fourierSteps[T]) leave(stage *fourierStage, o FFTOptions) {
	shifts := make([]int, stage.out.Shape().NDim())
	for _, a := range stage.axes {
		if slices.Contains(o.ShiftAfter, a) {
			shifts[a] = stage.out.Shape().Dim(a) / 2
		}
	}
	if !zeros(shifts) {
		s.shift(stage.out, shifts)
	}
}

func zeros(v []int) bool { return !slices.ContainsFunc(v, func(n int) bool { return n != 0 }) }

// shift adds a step that rolls rows of some axes and puts zeros behind them.
func (s *fourierSteps[T]) shift(to *dist.Space, shifts []int) {
	pieces := rolled(s.end().LocalShape(), to.LocalShape(), shifts)
	back := slices.Clone(pieces)
	for i, c := range back {
		back[i] = c.Flipped()
	}
	pad := s.end() != to
	s.add(to, copyPieces[T](pieces, pad), copyPieces[T](back, false))
}

// rolled returns the copies of a block to one that has at least as many rows, with
// row i of each axis at (i+shift) mod n.
func rolled(from, to shape.Shape, shifts []int) []device.Strided {
	pieces := []device.Strided{{Shape: from, Dst: to.Strides(), Src: from.Strides()}}
	for a, by := range shifts {
		n := from.Dim(a)
		if n == 0 || by%n == 0 {
			continue
		}
		by %= n
		var both []device.Strided
		for _, c := range pieces {
			head, tail := c, c
			head.Shape = c.Shape.With(a, n-by)
			head.DstAt += by * c.Dst[a]
			tail.Shape = c.Shape.With(a, by)
			tail.SrcAt += (n - by) * c.Src[a]
			both = append(both, head, tail)
		}
		pieces = both
	}
	return pieces
}

// copyPieces returns one direction of a step that copies inside each block.
func copyPieces[T scalar.Scalar](pieces []device.Strided, zero bool) func(context.Context, dist.Array[T], dist.Array[T]) error {
	return func(_ context.Context, dst, src dist.Array[T]) error {
		if zero {
			array.Fill(dst.Local(), 0)
		}
		for i := range pieces {
			array.CopyND(dst.Local(), src.Local(), &pieces[i], false)
		}
		return nil
	}
}

// makeBuffers makes what lies between steps.
func (f *fourier[C, D]) makeBuffers(x *dist.Space) error {
	if err := f.before.makeBuffers(x.Device(), 1, len(f.before.steps)+1); err != nil {
		return err
	}
	if err := f.after.makeBuffers(x.Device(), 0, len(f.after.steps)); err != nil {
		return err
	}
	if len(f.after.steps) > 0 {
		f.room = f.after.arrays[0].Local()
		return nil
	}
	var err error
	if !scalar.Of[D]().IsComplex() {
		f.room, err = array.New[C](x.Device(), f.after.from.LocalShape())
	}
	return err
}

// makeBuffers makes the arrays first to last. The others are those of callers.
func (s *fourierSteps[T]) makeBuffers(d device.Device, first, last int) error {
	s.arrays = make([]dist.Array[T], len(s.steps)+1)
	space := func(i int) *dist.Space {
		if i == 0 {
			return s.from
		}
		return s.steps[i-1].to
	}
	var room [2]int
	for i := first; i < last; i++ {
		room[i%2] = max(room[i%2], space(i).LocalShape().Size())
	}
	var memory [2]array.Array[T]
	for i, n := range room {
		var err error
		if memory[i], err = array.New[T](d, shape.Of(n)); err != nil {
			return err
		}
	}
	for i := first; i < last; i++ {
		s.arrays[i] = dist.Wrap(space(i), memory[i%2].Slice(0, space(i).LocalShape().Size()))
	}
	return nil
}

// forward takes the first array to the last.
func (s *fourierSteps[T]) forward(ctx context.Context) error {
	for i := range s.steps {
		if err := s.steps[i].forward(ctx, s.arrays[i+1], s.arrays[i]); err != nil {
			return err
		}
	}
	return nil
}

// adjoint takes the last array to the first.
func (s *fourierSteps[T]) adjoint(ctx context.Context) error {
	for i := len(s.steps) - 1; i >= 0; i-- {
		if err := s.steps[i].adjoint(ctx, s.arrays[i], s.arrays[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Forward transforms src.
func (f *fourier[C, D]) Forward(ctx context.Context, dst dist.Array[C], src dist.Array[D]) error {
	p, q := len(f.before.steps), len(f.after.steps)
	f.before.arrays[0], f.after.arrays[q] = src, dst
	err := f.before.forward(ctx)
	if err == nil {
		err = f.core.forward(f.after.arrays[0].Local(), f.before.arrays[p].Local())
	}
	if err == nil {
		err = f.after.forward(ctx)
	}
	f.before.arrays[0], f.after.arrays[q] = dist.Array[D]{}, dist.Array[C]{}
	return err
}

// Adjoint is the way back.
func (f *fourier[C, D]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[C]) error {
	p, q := len(f.before.steps), len(f.after.steps)
	f.before.arrays[0], f.after.arrays[q] = dst, src
	err := f.after.adjoint(ctx)
	if err == nil {
		err = f.core.adjoint(f.before.arrays[p].Local(), f.after.arrays[0].Local(), f.room)
	}
	if err == nil {
		err = f.before.adjoint(ctx)
	}
	f.before.arrays[0], f.after.arrays[q] = dist.Array[D]{}, dist.Array[C]{}
	return err
}
