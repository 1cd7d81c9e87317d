package ops

import (
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// transposedSparse returns the transpose of s, a matrix of cols columns.
func transposedSparse[T scalar.Scalar](s device.Sparse[T], cols int) device.Sparse[T] {
	t := device.Sparse[T]{First: make([]int, cols+1), At: make([]int, len(s.At)), W: make([]T, len(s.W))}
	for _, c := range s.At {
		t.First[c+1]++
	}
	for c := range cols {
		t.First[c+1] += t.First[c]
	}
	next := append([]int(nil), t.First...)
	for r := 0; r+1 < len(s.First); r++ {
		for k := s.First[r]; k < s.First[r+1]; k++ {
			at := next[s.At[k]]
			next[s.At[k]]++
			t.At[at], t.W[at] = r, s.W[k]
		}
	}
	return t
}
