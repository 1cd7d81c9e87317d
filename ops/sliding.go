package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// SlidingOptions are the options of Sliding. All have one number for each of the first
// axes, along which windows slide.
type SlidingOptions struct {
	Window  []int // samples of a window
	Overlap []int // samples that a window shares with the next one
	Taper   TaperKind
}

// Windows returns how many windows there are along each axis of data of these extents:
// as many as fit. Samples behind the last window are zero in the data.
func (o SlidingOptions) Windows(extents ...int) ([]int, error) {
	if len(o.Window) == 0 || len(o.Window) != len(o.Overlap) || len(o.Window) > len(extents) {
		return nil, fmt.Errorf("windows %v and overlaps %v for data of %d axes: give one number each for the first axes", o.Window, o.Overlap, len(extents))
	}
	errs := []error{o.Taper.validate()}
	var n []int
	for a, w := range o.Window {
		v := o.Overlap[a]
		switch {
		case w < 1 || w > extents[a]:
			errs = append(errs, fmt.Errorf("window %d has %d samples: must have 1 to %d, as axis %d of the data has %d", a, w, extents[a], a, extents[a]))
		case v < 0 || v >= w:
			errs = append(errs, fmt.Errorf("overlap %d is %d: must be 0 to %d", a, v, w-1))
		case o.Taper != TaperNone && v > w/2:
			errs = append(errs, fmt.Errorf("overlap %d is %d: with a taper at most half the window, %d", a, v, w/2))
		default:
			n = append(n, (extents[a]-w)/(w-v)+1)
		}
	}
	return n, errors.Join(errs...)
}

// Sliding applies an operator in overlapping windows that slide along the first axes
// of the data y, and adds up the results, faded in and out. The model has the axes of
// windows, then those of the domain of inner. The range of inner is a window: Window along
// the first axes, and what y has along others. The outer ends of the first and the last window are not
// faded. It is Sliding1D, 2D and 3D, Patch2D and 3D of PyLops.
//
// Every rank gives inner over spaces of its own, made with dist.Proc.Alone. Windows are
// split along the first axis. Ranks exchange the rows of windows that reach into others' data.
func Sliding[T scalar.Scalar](ctx context.Context, y *dist.Space, inner linop.Operator[T], o SlidingOptions) (linop.Operator[T], error) {
	const name = "ops: sliding windows"
	n, err := checkWindows(y, inner, o)
	if err := agree(ctx, name, y, err, o); err != nil {
		return nil, err
	}
	each, err := inWindows(ctx, y.Proc(), inner, n)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// From windows (n0, n1, w0, w1, ...) to rows of windows (n0·w0, n1·w1, ...).
	rows, err := pairAxes[T](ctx, each.Range(), o.Window)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	steps := []linop.Operator[T]{each, rows}
	for a := range n {
		m := matrix[T]{axis: a, rows: y.Shape().Dim(a), cols: n[a] * o.Window[a]}
		m.overlapAdd(n[a], o.Window[a], o.Overlap[a], o.Taper)
		sum, err := newAxisOperator(ctx, name, steps[len(steps)-1].Range(), m, nil, nil)
		if err != nil {
			return nil, err
		}
		steps = append(steps, sum)
	}
	if !steps[len(steps)-1].Range().Equal(y) {
		to, err := Identity[T](y)
		if err != nil {
			return nil, err
		}
		steps = append(steps, to)
	}
	return chain(steps...)
}

// checkWindows returns the numbers of windows.
func checkWindows[T scalar.Scalar](y *dist.Space, inner linop.Operator[T], o SlidingOptions) ([]int, error) {
	if _, _, err := axisOf(y, 0); err != nil {
		return nil, err
	}
	if inner == nil {
		return nil, errors.New("no operator given")
	}
	dims := y.Shape().Dims()
	n, err := o.Windows(dims...)
	if err != nil {
		return nil, err
	}
	copy(dims, o.Window)
	if got := inner.Range().Shape().Dims(); !slices.Equal(got, dims) {
		return nil, fmt.Errorf("the operator makes %v, a window is %v", got, dims)
	}
	size := 1
	for a, k := range n {
		if err := device.CheckHostMemory(k, o.Window[a], 64); err != nil {
			return nil, fmt.Errorf("%d windows along axis %d: %w", k, a, err)
		}
		size *= k
	}
	return n, device.CheckHostMemory(size, 64)
}

// inWindows applies inner to each window. The windows along the first axis are split.
func inWindows[T scalar.Scalar](ctx context.Context, r dist.Proc, inner linop.Operator[T], n []int) (linop.Operator[T], error) {
	counts := dist.Balanced(n[0], r.Size())
	each := counts[r.Rank()]
	for _, k := range n[1:] {
		each *= k
	}
	stack, err := linop.BlockDiagRanks(ctx, r, slices.Repeat([]linop.Operator[T]{inner}, each)...)
	if err != nil {
		return nil, err
	}
	l := dist.Layout{Counts: [][]int{counts}}
	x, err := stack.Domain().Like(l, slices.Concat(n, inner.Domain().Shape().Dims())...)
	if err != nil {
		return nil, err
	}
	y, err := stack.Range().Like(l, slices.Concat(n, inner.Range().Shape().Dims())...)
	if err != nil {
		return nil, err
	}
	return linop.Reshape(stack, x, y)
}

// pairAxes brings the axes of windows to the samples of the windows and makes one axis
// of each pair.
func pairAxes[T scalar.Scalar](ctx context.Context, from *dist.Space, window []int) (linop.Operator[T], error) {
	var order, dims []int
	for a, w := range window {
		order = append(order, a, len(window)+a)
		dims = append(dims, from.Shape().Dim(a)*w)
	}
	for a := 2 * len(window); a < from.Shape().NDim(); a++ {
		order, dims = append(order, a), append(dims, from.Shape().Dim(a))
	}
	turn, err := Transpose[T](ctx, from, order...)
	if err != nil {
		return nil, err
	}
	_, counts := from.SplitBy(0)
	for p := range counts {
		counts[p] *= window[0]
	}
	to, err := from.Like(dist.Layout{Counts: [][]int{counts}}, dims...)
	if err != nil {
		return nil, err
	}
	return linop.Reshape(turn, from, to)
}

// overlapAdd adds the taps of a sum of n windows of w samples, laid one after the other.
func (m *matrix[T]) overlapAdd(n, w, overlap int, taper TaperKind) {
	for k := range n {
		weights := taper.weights(w, overlap)
		for i := range overlap {
			if k == 0 {
				weights[i] = 1
			}
			if k == n-1 {
				weights[w-1-i] = 1
			}
		}
		for lo := 0; lo < w; {
			hi := lo + 1
			for hi < w && weights[hi] == weights[lo] {
				hi++
			}
			if first := k * (w - overlap); weights[lo] != 0 {
				m.add(first+lo, first+hi, k*w+lo, 1, scalar.From[T](complex(weights[lo], 0)))
			}
			lo = hi
		}
	}
}
