package solve

import (
	"math"

	"github.com/golops/golops/scalar"
)

// pivots are what conjugate gradients see of a Hermitian operator. 1/α are the
// pivots of the tridiagonal matrix of Lanczos; 1/α + β/α_old are its diagonal,
// which is vᴴAv of a vector of length 1. The inverse of the operator, in the
// space searched so far, is the sum of d·dᴴ/dᴴAd, whose trace is that of α·‖d‖²/‖r‖².
type pivots struct {
	alpha   float64 // of the last step
	largest float64 // of the diagonal
	dd      float64 // ‖d‖²/‖r‖²
	inverse float64 // trace of the inverse
}

func newPivots() pivots { return pivots{alpha: math.Inf(1)} }

// numbers are what a checkpoint keeps.
func (p *pivots) numbers() []NamedNumber {
	return []NamedNumber{{"pivots: α", &p.alpha}, {"pivots: largest", &p.largest}, {"pivots: ‖d‖²/‖r‖²", &p.dd}, {"pivots: trace of the inverse", &p.inverse}}
}

// Pivot tells what a step of conjugate gradients sees of the operator, or of AᴴA
// in least squares: the step is x += α·d, along a direction d = r + β·d_old with
// the residual or gradient r. Runs use it to notice an operator that is singular
// to rounding. It costs nothing.
func (s *shared) Pivot(alpha, beta float64) {
	if s.err != nil {
		return
	}
	p := &s.pivots
	p.largest = max(p.largest, 1/alpha+beta/p.alpha)
	p.dd = 1 + beta*p.dd
	p.inverse += alpha * p.dd
	p.alpha = alpha
	s.norm, s.cond = p.largest, p.largest*p.inverse
	if !s.hermitian { // the pivots are those of AᴴA
		s.norm, s.cond = math.Sqrt(s.norm), math.Sqrt(s.cond)
	}
}

// ForgetPivots is for a method that starts its recurrence anew by itself.
func (s *shared) ForgetPivots() { s.pivots, s.norm, s.cond = newPivots(), 0, 0 }

// Seen tells what the steps so far have seen of the operator, for a method that
// has no pivots: a lower bound of ‖A‖, and one of ‖A‖ times the Frobenius norm of
// its inverse. With damping, A has damp·I below it.
func (s *shared) Seen(norm, cond float64) { s.norm, s.cond = norm, cond }

// epsilon is the distance from 1 to the next number of the coarser type.
func epsilon[D, R scalar.Scalar]() float64 { return bySize[D, R](0x1p-23, 0x1p-52) }

// bySize returns the first number if an element type has parts of 32 bits.
func bySize[D, R scalar.Scalar](bits32, bits64 float64) float64 {
	if short[D]() || short[R]() {
		return bits32
	}
	return bits64
}

// short reports whether the parts of T are of 32 bits.
func short[T scalar.Scalar]() bool {
	d := scalar.Of[T]()
	return d == scalar.Float32 || d == scalar.Complex64
}
