package data

import (
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// block is a part of the array in a file, with axes in the order of the file,
// the last one running fastest.
type block struct{ dims, lo, hi []int }

// blockOf returns the block of a rank in a file of this space.
func blockOf(s *dist.Space, rank int, fortran bool) block {
	dims, box := s.Shape().Dims(), s.Box(rank)
	b := block{dims, slices.Clone(box.Lo[:len(dims)]), slices.Clone(box.Hi[:len(dims)])}
	if fortran {
		b = b.reversed()
	}
	return b
}

// reversed returns b with its axes in the opposite order, in the same memory.
func (b block) reversed() block {
	slices.Reverse(b.dims)
	slices.Reverse(b.lo)
	slices.Reverse(b.hi)
	return b
}

// runs returns the length and number of contiguous runs of the block in the file, and
// the axis that the runs are ranges of.
func (b block) runs() (n, times, axis int) {
	n, times = 1, 1
	axis = len(b.dims) - 1
	for ; axis > 0 && b.lo[axis] == 0 && b.hi[axis] == b.dims[axis]; axis-- {
		n *= b.dims[axis]
	}
	for a := range axis {
		times *= max(b.hi[a]-b.lo[a], 0)
	}
	if axis >= 0 {
		n *= max(b.hi[axis]-b.lo[axis], 0)
	}
	if n == 0 || times == 0 {
		return 0, 0, axis
	}
	return n, times, axis
}

// each calls f with the offset of each run of n elements, in the order of the file.
func (b block) each(f func(at, n int) error) error {
	n, times, axis := b.runs()
	i := slices.Clone(b.lo)
	for range times {
		at := 0
		for a, d := range b.dims {
			at = at*d + i[a]
		}
		if err := f(at, n); err != nil {
			return err
		}
		for a := axis - 1; a >= 0; a-- {
			if i[a]++; i[a] < b.hi[a] {
				break
			}
			i[a] = b.lo[a]
		}
	}
	return nil
}

// A call of the operating system costs as much as copying some kilobytes, and
// more on the disks of a cluster. Blocks of many short runs are not worth it.
const (
	shortRun = 1 << 10 // bytes
	manyRuns = 1 << 8
)

// staging returns the space in which ranks read and write a file: s itself or,
// if a rank would have many short runs, one in which each has a single run.
// All ranks get the same answer, without a message.
func staging(s *dist.Space, fortran bool, elemSize int) (*dist.Space, error) {
	outer := 0
	if fortran {
		outer = -1
	}
	for r := range s.Comm().Size() {
		if n, times, _ := blockOf(s, r, fortran).runs(); times > manyRuns && n*elemSize < shortRun {
			return s.Like(dist.Split(outer), s.Shape().Dims()...)
		}
	}
	return s, nil
}

// reverseAxes sets dst, of shape dims, to the elements of src, which has the
// same axes in the opposite order. It goes by tiles of the first and the last
// axis, since one of the two sides strides through memory in any other way.
func reverseAxes[T scalar.Scalar](dst, src []T, dims []int) {
	if len(dst) == 0 || len(dims) < 2 {
		copy(dst, src)
		return
	}
	const tile = 32
	last := len(dims) - 1
	rows, cols := dims[0], dims[last]
	middle := dims[1:last]
	inner := 1 // elements of the middle axes
	for _, d := range middle {
		inner *= d
	}
	i := make([]int, len(middle))
	for m := range inner { // the place of the middle index in dst
		rev, stride := 0, 1 // and in src
		for a, d := range middle {
			rev += i[a] * stride
			stride *= d
		}
		for r0 := 0; r0 < rows; r0 += tile {
			for c0 := 0; c0 < cols; c0 += tile {
				for r := r0; r < min(r0+tile, rows); r++ {
					for c := c0; c < min(c0+tile, cols); c++ {
						dst[(r*inner+m)*cols+c] = src[(c*inner+rev)*rows+r]
					}
				}
			}
		}
		for a := len(middle) - 1; a >= 0; a-- {
			if i[a]++; i[a] < middle[a] {
				break
			}
			i[a] = 0
		}
	}
}
