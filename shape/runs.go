package shape

import (
	"iter"
	"slices"
)

// Runs returns the start and the length of each run of elements of a block that lie
// together in an array of shape dims, in order. The block goes from lo up to hi on
// each axis. All runs of a block have the same length.
func Runs(dims, lo, hi []int) iter.Seq2[int, int] {
	axis, n := len(dims), 1 // axes from this one on are in a run
	for whole := true; axis > 0 && whole; {
		axis--
		rows := hi[axis] - lo[axis]
		n, whole = n*rows, rows == dims[axis]
	}
	return func(yield func(start, n int) bool) {
		times := min(n, 1) // an empty block has no runs
		for a := range axis {
			times *= hi[a] - lo[a]
		}
		at := slices.Clone(lo)
		for range times {
			start := 0
			for a, d := range dims {
				start = start*d + at[a]
			}
			if !yield(start, n) {
				return
			}
			for a := axis - 1; a >= 0; a-- {
				if at[a]++; at[a] < hi[a] {
					break
				}
				at[a] = lo[a]
			}
		}
	}
}
