package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// InterpKind is a way to interpolate between samples.
type InterpKind uint8

// The kinds of interpolation.
const (
	InterpLinear      InterpKind = iota // on the line between the two samples around the place
	InterpNearest                       // the nearest sample; halves go to the even one
	InterpSinc                          // all samples, weighted by sin(πd)/(πd) of their distance d
	InterpCubicSpline                   // the natural cubic spline through all samples
)

// InterpOptions are the options of Interp. The zero value interpolates linearly.
type InterpOptions struct {
	Kind      InterpKind
	Tolerance float64 // InterpSinc only: weights of a smaller size are left out
}

// Validate reports everything that is wrong with o.
func (o InterpOptions) Validate() error {
	var errs []error
	if o.Kind > InterpCubicSpline {
		errs = append(errs, fmt.Errorf("kind is %d: have InterpLinear, InterpNearest, InterpSinc, InterpCubicSpline", o.Kind))
	}
	if !(o.Tolerance >= 0) {
		errs = append(errs, fmt.Errorf("tolerance is %g, must not be negative", o.Tolerance))
	} else if o.Tolerance > 0 && o.Kind != InterpSinc {
		errs = append(errs, fmt.Errorf("tolerance is %g: only InterpSinc has one", o.Tolerance))
	}
	return errors.Join(errs...)
}

// Interp returns values between the samples of an axis: y[k] is x at the place at[k],
// counted in samples, from 0 to the last one. Places may be in any order. Where they
// are sorted, each value lies on the rank of the sample before it, and ranks exchange
// only rows next to each other's blocks, up to 33 for splines. Sinc interpolation
// without a tolerance is a product with a dense matrix: see MatrixMult.
func Interp[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, at []float64, o InterpOptions) (linop.Operator[T], error) {
	const name = "ops: interpolation"
	m, err := along[T](x, axis)
	err = errors.Join(err, o.Validate())
	if err == nil {
		err = checkPlaces(at, m.cols)
	}
	if err == nil && o.Kind == InterpSinc && o.Tolerance == 0 {
		if err := agree(ctx, name, x, nil, "axis ", m.axis, " places ", at, o); err != nil {
			return nil, err
		}
		return matrixAlong[T](ctx, x, m.axis, len(at), func(i, j int) float64 { return sinc(at[i] - float64(j)) })
	}
	if err == nil {
		const perTap = 128 // bytes that the matrix takes, about
		if err = device.CheckHostMemory(len(at), o.taps(m.cols), perTap); err != nil {
			err = fmt.Errorf("%d places: %w", len(at), err)
		}
	}
	var counts []int
	if m.rows = len(at); err == nil {
		m.interpolate(at, o)
		if slices.IsSorted(at) {
			counts = countsOf(x, m.axis, m.rows, func(k int) int { return int(at[k]) })
		}
	}
	return newAxisOperator(ctx, name, x, m, counts, err, "places ", at, o)
}

// taps returns how many of n samples a value takes at most.
func (o InterpOptions) taps(n int) int {
	switch o.Kind {
	case InterpSinc: // |sin(πd)/(πd)| is at most 1/(πd)
		return int(min(float64(n), 2/(math.Pi*o.Tolerance)+1))
	case InterpCubicSpline:
		return min(n, 2*splineReach)
	}
	return 2
}

// checkPlaces refuses places that do not lie between the first and the last of n samples.
func checkPlaces(at []float64, n int) error {
	for k, v := range at {
		if !(v >= 0 && v <= float64(n-1)) {
			return fmt.Errorf("place %d is %g: samples are 0 to %d", k, v, n-1)
		}
	}
	return nil
}

// countsOf returns how many rows each rank of an axis has if row k lies with row
// of(k) of x. It is nil if the axis is whole.
func countsOf(x *dist.Space, axis, rows int, of func(k int) int) []int {
	_, ends := x.Place(axis)
	if len(ends) <= 2 {
		return nil
	}
	counts := make([]int, len(ends)-1)
	for k := range rows {
		counts[owner(ends, of(k))]++
	}
	return counts
}

// interpolate adds the taps of an interpolation.
func (m *matrix[T]) interpolate(at []float64, o InterpOptions) {
	for k, v := range at {
		left := min(int(v), max(m.cols-2, 0)) // the last place has a sample on its left too
		w := v - float64(left)
		switch o.Kind {
		case InterpLinear:
			m.stencil(k, k+1, left-k, 1-w, w)
		case InterpNearest:
			m.stencil(k, k+1, int(math.RoundToEven(v))-k, 1)
		case InterpSinc:
			for j := range m.cols {
				if c := sinc(v - float64(j)); math.Abs(c) >= o.Tolerance {
					m.stencil(k, k+1, j-k, c)
				}
			}
		case InterpCubicSpline:
			first, c := splineWeights(m.cols, left, w)
			m.stencil(k, k+1, first-k, c...)
		}
	}
}

// sinc is sin(πd)/(πd).
func sinc(d float64) float64 {
	if d == 0 {
		return 1
	}
	return math.Sin(math.Pi*d) / (math.Pi * d)
}

// splineReach is how many samples to each side a spline takes into account.
const splineReach = 32

// splineWeights returns the weights of the samples from first on in the value of the
// natural cubic spline through n samples, at w behind sample left. The spline is
//
//	(1-w)·x[left] + w·x[left+1] + ((1-w)³-(1-w))/6·d[left] + (w³-w)/6·d[left+1]
//
// with second derivatives d that solve d[i-1] + 4d[i] + d[i+1] = 6·(x[i-1] - 2x[i] + x[i+1])
// and vanish at both ends. The inverse of that matrix is known. Its elements shrink by
// r = 2-√3 for each step away from the diagonal, below the last digit after splineReach
// steps.
func splineWeights(n, left int, w float64) (first int, c []float64) {
	r := 2 - math.Sqrt(3)
	first = max(left-splineReach-1, 0)
	c = make([]float64, min(left+splineReach+3, n)-first)
	add := func(i int, v float64) {
		if v != 0 {
			c[i-first] += v
		}
	}
	add(left, 1-w)
	add(left+1, w)
	rest := func(k int) float64 { return 1 - math.Pow(r, float64(2*k)) }
	for k, v := range [2]float64{(1-w)*(1-w)*(1-w) - (1 - w), w*w*w - w} {
		i := left + k
		for j := max(left-splineReach, 1); j <= min(left+splineReach+1, n-2) && i > 0 && i < n-1; j++ {
			inverse := math.Pow(-r, float64(max(i-j, j-i))) * r * rest(min(i, j)) * rest(n-1-max(i, j)) / (rest(1) * rest(n-1))
			add(j-1, v*inverse)
			add(j, -2*v*inverse)
			add(j+1, v*inverse)
		}
	}
	return first, c
}
