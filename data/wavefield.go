package data

import (
	"context"
	"fmt"
	"math/cmplx"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Wavefield is a file of what receivers heard of sources: an array with the axes time,
// source and receiver. It is a .npy file of these axes, or of two for one receiver, or
// SEG-Y, whose traces come source by source.
type Wavefield struct {
	Path     string
	Shape    [3]int
	Complex  bool    // a .npy file of frequencies instead of times
	Interval float64 // seconds between samples; 0 if the file does not say

	axes int // of a .npy file; 0 of SEG-Y
}

// OpenWavefield reads the header of a wavefield. A file whose name ends in .segy or .sgy
// does not say how many sources it has; others ignore the number.
func OpenWavefield(path string, sources int) (Wavefield, error) {
	w := Wavefield{Path: path}
	open := w.openNPY
	if IsSEGY(path) {
		open = func() error { return w.openSEGY(sources) }
	}
	err := open()
	if err == nil && slices.Contains(w.Shape[:], 0) {
		err = fmt.Errorf("data: open %s: it has shape %v: there is nothing in it", path, w.Shape)
	}
	return w, err
}

func (w *Wavefield) openNPY() error {
	h, err := Info(w.Path)
	if err != nil {
		return err
	}
	w.axes, w.Complex, w.Shape = len(h.Shape), h.Scalar().IsComplex(), [3]int{1, 1, 1}
	if w.axes != 2 && w.axes != 3 {
		return fmt.Errorf("data: open %s: it has shape %v: a wavefield has three axes: time, source and receiver", w.Path, h.Shape)
	}
	copy(w.Shape[:], h.Shape)
	return nil
}

func (w *Wavefield) openSEGY(sources int) error {
	f, err := OpenSEGY(w.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if sources < 1 || f.NumTraces()%sources != 0 {
		return fmt.Errorf("data: open %s: it has %d traces, which are not those of %d sources, as many of each", w.Path, f.NumTraces(), sources)
	}
	w.Shape, w.Interval = [3]int{f.NumSamples(), sources, f.NumTraces() / sources}, 1e-6*float64(f.Interval())
	return nil
}

// LoadWavefield returns the array of a wavefield, whose shape must be that of the space. A
// space with fewer times, or frequencies, gets the first ones. A number that is NaN or
// infinite is an error. It is collective: every rank reads its own part of the file only.
// If a rank fails, all ranks return an error that names it.
func LoadWavefield[T scalar.Scalar](ctx context.Context, w Wavefield, s *dist.Space) (a dist.Array[T], err error) {
	defer trace.Begin(ctx, "read a file").End()
	block, err := wavefieldBlock[T](ctx, w, s)
	if err == nil {
		err = finite(s, block, "element")
	}
	if err := dist.Agree(ctx, s.Comm(), "data: load "+w.Path, err, w.Shape); err != nil {
		return a, err
	}
	return dist.FromBlock(ctx, s, block)
}

// wavefieldBlock reads the block of this rank.
func wavefieldBlock[T scalar.Scalar](ctx context.Context, w Wavefield, s *dist.Space) ([]T, error) {
	if dims := s.Shape().Dims(); s.Parts() != nil || len(dims) != 3 || dims[0] > w.Shape[0] || !slices.Equal(dims[1:], w.Shape[1:]) {
		return nil, fmt.Errorf("the file has shape %v, the space has %v", w.Shape, s.Shape())
	}
	b, n := s.Box(s.Comm().Rank()), s.LocalShape().Size()
	if n == 0 {
		return nil, nil
	}
	if w.axes > 0 {
		return readOneBlock[T](ctx, w.Path, b.Lo[:w.axes], b.Hi[:w.axes])
	}
	block, err := device.Make[T](n)
	if err != nil {
		return nil, err
	}
	f, err := OpenSEGY(w.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	samples, row := w.Shape[0], n/(b.Hi[0]-b.Lo[0])
	receivers := b.Hi[2] - b.Lo[2]
	traces := make([]float32, receivers*samples) // of one source
	for source := range b.Hi[1] - b.Lo[1] {
		first := (b.Lo[1]+source)*w.Shape[2] + b.Lo[2]
		if err := f.Traces(first, first+receivers, traces); err != nil {
			return nil, err
		}
		for r := range receivers {
			for t, x := range traces[r*samples:][b.Lo[0]:b.Hi[0]] {
				block[t*row+source*receivers+r] = scalar.From[T](complex(float64(x), 0))
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return block, nil
}

// finite names an element of this rank's block that is NaN or infinite, as what it is. One
// such number would spoil all that is computed with the array.
func finite[T scalar.Scalar](s *dist.Space, block []T, what string) error {
	for k, x := range block {
		if c := scalar.Complex(x); !cmplx.IsNaN(c) && !cmplx.IsInf(c) {
			continue
		}
		first, strides := s.Box(s.Comm().Rank()).Lo, s.LocalShape().Strides()
		at := slices.Clone(first[:s.Shape().NDim()])
		for a := range at {
			at[a] += k / strides[a]
			k %= strides[a]
		}
		return fmt.Errorf("the %s at %v is %v: replace what is no number", what, at, x)
	}
	return nil
}
