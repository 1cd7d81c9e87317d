package device

import "github.com/golops/golops/scalar"

// MaxTuple is the largest number of blocks in a Tuple.
const MaxTuple = 8

// Tuple is up to MaxTuple blocks of one length. Element i of all of them is one
// vector, such as a gradient. Its length is r = √Σₖ|xₖ[i]|².
type Tuple[T scalar.Scalar] struct {
	Count int
	Part  [MaxTuple]Mem[T]
}

// One returns a tuple of one block.
func One[T scalar.Scalar](x Mem[T]) Tuple[T] {
	return Tuple[T]{Count: 1, Part: [MaxTuple]Mem[T]{x}}
}

// Shrinkage is a map of vectors by their length r, and a sum over them. A NaN stays
// NaN.
type Shrinkage struct {
	Kind ShrinkKind
	T, U float64
}

// ShrinkKind is a kind of Shrinkage.
type ShrinkKind uint8

// The kinds: what Shrink makes of a vector x of length r, and what it adds to the first
// sum of ShrinkSum. The second sum counts the vectors with r > T.
const (
	ShrinkSoft    ShrinkKind = iota // x·max(r-T, 0)/r; max(r-T, 0)
	ShrinkKeep                      // x if r > T, otherwise 0; r if r > T
	ShrinkClip                      // x·min(1, T/r); min(r, T)
	ShrinkHuber                     // x·(1 - T/max(r, U)); r²/(2T) if r ≤ T, otherwise r - T/2
	ShrinkLog                       // x·z/r, z ≥ 0 minimises T·log(U·z+1) + (z-r)²/2; log(U·r+1)
	ShrinkBox                       // real and imaginary parts moved into [T, U]; Σ of their distances. The count is of parts outside.
	ShrinkAbove                     // max(Re x - T, 0); the same. The count is of Re x > T.
	ShrinkInverse                   // 1/(1 + T·r²) in each part; the same
	ShrinkPower                     // (r + T)^U in each part; the same
	ShrinkLeast                     // max(r, T)^U in each part; the same
)
