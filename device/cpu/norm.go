package cpu

import (
	"math"

	"github.com/golops/golops/device"
)

// joinNorms is the norm of two sets of elements from the norms of each. NaN wins.
func joinNorms(kind device.NormKind, a, b float64) float64 {
	switch kind {
	case device.NormLargest:
		return max(a, b)
	case device.NormSmallest:
		return min(a, b)
	}
	return a + b
}

// normTerm is what an element of size r adds to a sum.
func normTerm(kind device.NormKind, r, p float64) float64 {
	switch kind {
	case device.NormSquares:
		return r * r
	case device.NormSizes:
		return r
	case device.NormRoots:
		return math.Sqrt(r)
	case device.NormCount:
		if r == 0 || r != r {
			return r
		}
		return 1
	}
	return math.Pow(r, p)
}

// normReal is the norm of one chunk of real numbers.
func normReal[F float](x []F, kind device.NormKind, p, c float64) float64 {
	switch kind {
	case device.NormSquares:
		return sumSquared(x, c)
	case device.NormSizes:
		return sumAbs(x, c)
	case device.NormLargest, device.NormSmallest:
		return extreme(x, kind)
	case device.NormCount:
		c = 1
	}
	s := 0.0
	for _, v := range x {
		s += normTerm(kind, c*math.Abs(float64(v)), p)
	}
	return s
}

// extreme is the largest or the smallest |x|, NaN if any x is.
func extreme[F float](x []F, kind device.NormKind) float64 {
	m := kind.Empty()
	if kind == device.NormLargest {
		for _, v := range x {
			if r := math.Abs(float64(v)); !(r <= m) {
				if m = r; r != r {
					break
				}
			}
		}
		return m
	}
	for _, v := range x {
		if r := math.Abs(float64(v)); !(r >= m) {
			if m = r; r != r {
				break
			}
		}
	}
	return m
}

// normPairs is the norm of one chunk of complex numbers.
func normPairs[F float](x []pair[F], kind device.NormKind, p, c float64) float64 {
	s := kind.Empty()
	switch kind {
	case device.NormLargest, device.NormSmallest:
		for _, v := range x {
			s = joinNorms(kind, s, modulus(v))
		}
		return s
	case device.NormSizes:
		for _, v := range x {
			s += c * modulus(v)
		}
		return s
	case device.NormCount:
		c = 1
	}
	for _, v := range x {
		s += normTerm(kind, c*modulus(v), p)
	}
	return s
}
