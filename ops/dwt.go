package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// WaveletOptions are the options of DWT, DWT2D and DWTND.
type WaveletOptions struct {
	Wavelet string // haar, db1 to db10, sym2 to sym8, coif1 to coif5
	Level   int    // how many times the coarse half is split again; 0 only pads with zeros
}

// WaveletDefaults returns the options of one level of Haar wavelets.
func WaveletDefaults() WaveletOptions { return WaveletOptions{Wavelet: "haar", Level: 1} }

// Wavelets returns the names of all wavelets.
func Wavelets() []string { return slices.Sorted(maps.Keys(scalingFilters)) }

// Validate reports everything that is wrong with o.
func (o WaveletOptions) Validate() error {
	var errs []error
	if scalingFilters[o.Wavelet] == nil {
		errs = append(errs, fmt.Errorf("wavelet %q: have %s", o.Wavelet, strings.Join(Wavelets(), ", ")))
	}
	const most = 40
	if o.Level < 0 || o.Level > most {
		errs = append(errs, fmt.Errorf("level is %d, must be 0 to %d", o.Level, most))
	}
	return errors.Join(errs...)
}

// DWT returns the wavelet transform along an axis of x. The axis is first filled up with
// zeros to a power of two, and to 2 to the power of Level at least. One level with a
// filter h of 2p numbers turns n samples into n/2 coarse ones and n/2 details behind
// them,
//
//	y[k] = Σᵢ h[i]·x[2k+i+1-p],  y[n/2+k] = Σᵢ (-1)ⁱ·h[2p-1-i]·x[2k+i+1-p]
//
// with x repeated beyond its ends. The next level does the same with the coarse half.
// The adjoint is the inverse on the padded axis. Where the axis is split, ranks send
// rows to those that hold half of their index.
func DWT[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o WaveletOptions) (linop.Operator[T], error) {
	return DWTND[T](ctx, x, []int{axis}, o)
}

// DWT2D returns the wavelet transform along two axes of x: see DWTND.
func DWT2D[T scalar.Scalar](ctx context.Context, x *dist.Space, axes [2]int, o WaveletOptions) (linop.Operator[T], error) {
	return DWTND[T](ctx, x, axes[:], o)
}

// DWTND returns the wavelet transform along several axes of x. Each level is that of DWT
// along each of the axes; the next one takes the part that is coarse along all of them.
func DWTND[T scalar.Scalar](ctx context.Context, x *dist.Space, axes []int, o WaveletOptions) (linop.Operator[T], error) {
	const name = "ops: wavelet transform"
	axes, err := distinctAxes(x, axes)
	err = errors.Join(err, o.Validate())
	if err := agree(ctx, name, x, err, "axes ", axes, o); err != nil {
		return nil, err
	}
	var steps []linop.Operator[T]
	for _, a := range axes {
		n := max(powerOfTwo(x.Shape().Dim(a)), 1<<o.Level)
		padded, err := Resize[T](ctx, x, a, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if x = padded.Range(); n != padded.Domain().Shape().Dim(a) || o.Level == 0 {
			steps = append(steps, padded)
		}
	}
	if o.Level > 0 {
		levels, err := newWaveletLevel[T](ctx, name, x, axes, o)
		if err != nil {
			return nil, err
		}
		steps = append(steps, levels)
	}
	return chain(steps...)
}

// powerOfTwo returns the smallest power of two that is not below n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }

// distinctAxes returns the axes of x that a user names.
func distinctAxes(x *dist.Space, named []int) ([]int, error) {
	var axes []int
	for _, axis := range named {
		a, _, err := axisOf(x, axis)
		if err != nil {
			return nil, err
		}
		if slices.Contains(axes, a) {
			return nil, fmt.Errorf("axes %v have axis %d twice", named, axis)
		}
		axes = append(axes, a)
	}
	if len(axes) == 0 {
		return nil, errors.New("no axes given")
	}
	return axes, nil
}

// waveletLevel is one level of a wavelet transform and those after it.
type waveletLevel[T scalar.Scalar] struct {
	split        linop.Operator[T]
	rest         linop.Operator[T] // of the coarse part; nil at the last level
	part, result dist.Array[T]     // argument and result of rest
	all          dist.Array[T]
	crop, place  device.Strided // from all to part, and back
}

func newWaveletLevel[T scalar.Scalar](ctx context.Context, name string, x *dist.Space, axes []int, o WaveletOptions) (linop.Operator[T], error) {
	l := &waveletLevel[T]{}
	var steps []linop.Operator[T]
	for _, a := range axes {
		m := matrix[T]{axis: a, rows: x.Shape().Dim(a), cols: x.Shape().Dim(a)}
		err := m.wavelets(scalingFilters[o.Wavelet])
		next, err := newAxisOperator(ctx, name, x, m, nil, err)
		if err != nil {
			return nil, err
		}
		steps = append(steps, next)
	}
	var err error
	if l.split, err = chain(steps...); o.Level == 1 {
		return l.split, err
	}
	o.Level--
	half := x
	for _, a := range axes {
		n := x.Shape().Dim(a) / 2
		if err == nil {
			half, err = resized(half, a, n, countsOf(x, a, n, func(k int) int { return k }))
		}
	}
	if err == nil {
		l.crop = device.Strided{Shape: half.LocalShape(), Dst: half.LocalShape().Strides(), Src: x.LocalShape().Strides()}
		l.place = l.crop.Flipped()
		l.all, err = dist.New[T](x)
	}
	if err == nil {
		l.part, err = dist.New[T](half)
	}
	if err == nil {
		l.result, err = dist.New[T](half)
	}
	if err := dist.Agree(ctx, x.Comm(), name, err); err != nil {
		return nil, err
	}
	if l.rest, err = newWaveletLevel[T](ctx, name, half, axes, o); err != nil {
		return nil, err
	}
	return linop.Func(name, x, x, l.forward, l.adjoint)
}

// wavelets adds the taps of one level with this filter.
func (m *matrix[T]) wavelets(h []float64) error {
	n, p := m.rows, len(h)/2
	const perTap = 128 // bytes that the matrix takes, about
	if err := device.CheckHostMemory(n, len(h), perTap); err != nil {
		return fmt.Errorf("%d samples: %w", n, err)
	}
	for k := range n / 2 {
		sign := 1.0
		for i, c := range h {
			at := ((2*k+i+1-p)%n + n) % n
			m.stencil(k, k+1, at-k, c)
			m.stencil(n/2+k, n/2+k+1, at-n/2-k, sign*h[2*p-1-i])
			sign = -sign
		}
	}
	return nil
}

func (l *waveletLevel[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := l.split.Forward(ctx, dst, src); err != nil {
		return err
	}
	array.CopyND(l.part.Local(), dst.Local(), &l.crop, false)
	if err := l.rest.Forward(ctx, l.result, l.part); err != nil {
		return err
	}
	array.CopyND(dst.Local(), l.result.Local(), &l.place, false)
	return nil
}

func (l *waveletLevel[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	dist.Copy(l.all, src)
	array.CopyND(l.part.Local(), src.Local(), &l.crop, false)
	if err := l.rest.Adjoint(ctx, l.result, l.part); err != nil {
		return err
	}
	array.CopyND(l.all.Local(), l.result.Local(), &l.place, false)
	return l.split.Adjoint(ctx, dst, l.all)
}
