package mpi

import "math"

// countArrays are C arrays of counts and displacements: int, or 64-bit if the library
// has calls with 64-bit counts.
type countArrays struct {
	small, smallAt []int32
	at             []int
}

// set fills the arrays for consecutive blocks of counts elements and returns their
// addresses, 0 if this rank knows no counts. 64-bit counts are passed without a copy.
func (a *countArrays) set(l *lib, counts []int) (c, at uintptr) {
	if len(counts) == 0 {
		return 0, 0
	}
	if l.maxCount > math.MaxInt32 {
		a.at = a.at[:0]
		sum := 0
		for _, n := range counts {
			a.at = append(a.at, sum)
			sum += n
		}
		return addr(&counts[0]), addr(&a.at[0])
	}
	a.small, a.smallAt = a.small[:0], a.smallAt[:0]
	sum := 0
	for _, n := range counts {
		a.small, a.smallAt = append(a.small, int32(n)), append(a.smallAt, int32(sum))
		sum += n
	}
	return addr(&a.small[0]), addr(&a.smallAt[0])
}
