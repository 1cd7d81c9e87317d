package device

import "math"

// NormKind is the case of Kernels.Norm that an exponent p selects. GPU kernels use
// the same numbers.
type NormKind uint8

// The kinds of norms.
const (
	NormPowers   NormKind = iota // Σ |x|^p
	NormSquares                  // p = 2
	NormSizes                    // p = 1
	NormRoots                    // p = 1/2
	NormCount                    // p = 0: the number of nonzeros
	NormLargest                  // p = +Inf
	NormSmallest                 // p = -Inf
)

// NormOf returns the kind of a p-norm.
func NormOf(p float64) NormKind {
	switch {
	case p == 2:
		return NormSquares
	case p == 1:
		return NormSizes
	case p == 0.5:
		return NormRoots
	case p == 0:
		return NormCount
	case math.IsInf(p, 1):
		return NormLargest
	case math.IsInf(p, -1):
		return NormSmallest
	}
	return NormPowers
}

// Empty is the norm of no elements.
func (k NormKind) Empty() float64 {
	if k == NormSmallest {
		return math.Inf(1)
	}
	return 0
}
