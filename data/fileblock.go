package data

import (
	"iter"
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// runsInFile returns the start and the length of each run of elements of a rank's
// block in a file of this space, in the order of the file.
func runsInFile(s *dist.Space, rank int, fortran bool) iter.Seq2[int, int] {
	if !fortran {
		return s.Runs(rank)
	}
	b, n := s.Box(rank), s.Shape().NDim()
	return fortranRuns(s.Shape().Dims(), b.Lo[:n], b.Hi[:n])
}

// fortranRuns is shape.Runs for an array whose first axis runs fastest. It reverses
// its arguments.
func fortranRuns(dims, lo, hi []int) iter.Seq2[int, int] {
	slices.Reverse(dims)
	slices.Reverse(lo)
	slices.Reverse(hi)
	return shape.Runs(dims, lo, hi)
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
		if manyShortRuns(runsInFile(s, r, fortran), elemSize) {
			return s.Like(dist.Split(outer), s.Shape().Dims()...)
		}
	}
	return s, nil
}

func manyShortRuns(runs iter.Seq2[int, int], elemSize int) bool {
	times := 0
	for _, n := range runs {
		if times++; n*elemSize >= shortRun || times > manyRuns {
			return n*elemSize < shortRun
		}
	}
	return false
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
