// Package shape provides the extents of N-d arrays as plain values.
package shape

import (
	"fmt"
	"math"
)

// MaxNDim is how many axes an array can have.
const MaxNDim = 8

// Shape is the extent of up to MaxNDim axes, the last one running fastest in
// memory. It is a value: == compares shapes and nobody can change another's.
type Shape struct {
	ndim int8
	dim  [MaxNDim]int
}

// New returns the shape with these extents. It refuses negative extents, too
// many axes and more elements than an int can count.
func New(dims ...int) (Shape, error) {
	if len(dims) > MaxNDim {
		return Shape{}, fmt.Errorf("shape: %v has %d axes, at most %d are possible", dims, len(dims), MaxNDim)
	}
	n := 1
	for i, d := range dims {
		if d < 0 {
			return Shape{}, fmt.Errorf("shape: axis %d of %v is negative", i, dims)
		}
		if d > 0 && n > math.MaxInt/d {
			return Shape{}, fmt.Errorf("shape: %v has more elements than an int can count", dims)
		}
		n *= max(d, 1)
	}
	return Of(dims...), nil
}

// Of is New for extents that are known to be right. It panics if they are not.
func Of(dims ...int) (s Shape) {
	if len(dims) > MaxNDim {
		panic(fmt.Sprintf("shape: %d axes, at most %d are possible", len(dims), MaxNDim))
	}
	for i, d := range dims {
		if d < 0 {
			panic(fmt.Sprintf("shape: axis %d is negative: %d", i, d))
		}
		s.dim[i] = d
	}
	s.ndim = int8(len(dims))
	return s
}

// NDim returns the number of axes.
func (s Shape) NDim() int { return int(s.ndim) }

// Dim returns the extent of axis i.
func (s Shape) Dim(i int) int { return s.dim[:s.ndim][i] }

// Size returns the number of elements, 1 for a shape without axes.
func (s Shape) Size() int {
	n := 1
	for _, d := range s.dim[:s.ndim] {
		n *= d
	}
	return n
}

// Dims returns the extents in a new slice.
func (s Shape) Dims() []int { return append([]int(nil), s.dim[:s.ndim]...) }

// With returns s with another extent of one axis.
func (s Shape) With(axis, n int) Shape {
	if n < 0 {
		panic(fmt.Sprintf("shape: axis %d is negative: %d", axis, n))
	}
	s.dim[:s.ndim][axis] = n
	return s
}

// Without returns s less one axis.
func (s Shape) Without(axis int) Shape {
	t := Shape{ndim: s.ndim - 1}
	copy(t.dim[:], s.dim[:axis])
	copy(t.dim[axis:], s.dim[axis+1:s.ndim])
	return t
}

// Around splits the elements of s around an axis: outer counts those of the
// axes before it, inner those of the axes behind it. Element (o, i, j) of the
// three lies at (o*n+i)*inner+j.
func (s Shape) Around(axis int) (outer, n, inner int) {
	outer, n, inner = 1, s.Dim(axis), 1
	for _, d := range s.dim[:axis] {
		outer *= d
	}
	for _, d := range s.dim[axis+1 : s.ndim] {
		inner *= d
	}
	return outer, n, inner
}

// Strides returns the distance in elements between neighbours along each axis.
func (s Shape) Strides() (st [MaxNDim]int) {
	n := 1
	for i := int(s.ndim) - 1; i >= 0; i-- {
		st[i] = n
		n *= s.dim[i]
	}
	return st
}

// Axis returns axis with negative numbers counted from the end, as users of
// NumPy know them, or an error that names the possible ones.
func (s Shape) Axis(axis int) (int, error) {
	a := axis
	if a < 0 {
		a += int(s.ndim)
	}
	if s.ndim == 0 {
		return 0, fmt.Errorf("axis %d of shape %v, which has no axes", axis, s)
	}
	if a < 0 || a >= int(s.ndim) {
		return 0, fmt.Errorf("axis %d of shape %v: must be from %d to %d", axis, s, -int(s.ndim), s.ndim-1)
	}
	return a, nil
}

func (s Shape) String() string { return fmt.Sprint(s.dim[:s.ndim]) }
