package cpu

import "math"

// normKind is how a norm treats elements, from the exponent p.
type normKind uint8

const (
	sumPowers normKind = iota
	sumSquares
	sumSizes // p = 1
	sumRoots // p = 1/2
	count    // p = 0
	largest
	smallest
)

func kindOf(p float64) normKind {
	switch {
	case p == 2:
		return sumSquares
	case p == 1:
		return sumSizes
	case p == 0.5:
		return sumRoots
	case p == 0:
		return count
	case math.IsInf(p, 1):
		return largest
	case math.IsInf(p, -1):
		return smallest
	}
	return sumPowers
}

// empty is the norm of no elements.
func (kind normKind) empty() float64 {
	if kind == smallest {
		return math.Inf(1)
	}
	return 0
}

// join is the norm of two sets of elements from the norms of each. NaN wins.
func (kind normKind) join(a, b float64) float64 {
	switch kind {
	case largest:
		return max(a, b)
	case smallest:
		return min(a, b)
	}
	return a + b
}

// of is what an element of size r adds to a sum.
func (kind normKind) of(r, p float64) float64 {
	switch kind {
	case sumSquares:
		return r * r
	case sumSizes:
		return r
	case sumRoots:
		return math.Sqrt(r)
	case count:
		if r == 0 || r != r {
			return r
		}
		return 1
	}
	return math.Pow(r, p)
}

// normReal is the norm of one chunk of real numbers.
func normReal[F float](x []F, kind normKind, p, c float64) float64 {
	switch kind {
	case sumSquares:
		return sumSquared(x, c)
	case sumSizes:
		return sumAbs(x, c)
	case largest, smallest:
		return extreme(x, kind)
	case count:
		c = 1
	}
	s := 0.0
	for _, v := range x {
		s += kind.of(c*math.Abs(float64(v)), p)
	}
	return s
}

// extreme is the largest or the smallest |x|, NaN if any x is.
func extreme[F float](x []F, kind normKind) float64 {
	m := kind.empty()
	if kind == largest {
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
func normPairs[F float](x []pair[F], kind normKind, p, c float64) float64 {
	s := kind.empty()
	switch kind {
	case largest, smallest:
		for _, v := range x {
			s = kind.join(s, modulus(v))
		}
		return s
	case sumSizes:
		for _, v := range x {
			s += c * modulus(v)
		}
		return s
	case count:
		c = 1
	}
	for _, v := range x {
		s += kind.of(c*modulus(v), p)
	}
	return s
}
