package mpi

import "math"

// ints is a pair of C arrays, counts and displacements: int, or 64-bit where
// the library's calls with wide counts are used.
type ints struct {
	small, smallAt []int32
	at             []int
}

// set fills the arrays from blocks of counts elements that follow each other,
// and returns their addresses. Wide counts are Go's own.
func (a *ints) set(l *lib, counts []int) (c, at uintptr) {
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
