package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Outlook is what the recurrence of a method has seen of its operator. Both
// numbers grow with each step and cost nothing.
type Outlook struct {
	Norm float64 // ‖A‖, or that of A with damp·I below it; 0 before anything is seen
	Cond float64 // ‖A‖ times the norm of Frobenius of its inverse, in the space searched so far; 0 before anything is seen
}

// pivots are what conjugate gradients see of a Hermitian operator. 1/α are the
// pivots of the tridiagonal matrix of Lanczos; 1/α + β/α_old are its diagonal,
// which is vᴴAv of a vector of length 1. The inverse of the operator, in the
// space searched so far, is the sum of d·dᴴ/dᴴAd, whose trace is that of α·‖d‖²/‖r‖².
type pivots struct {
	alpha, beta float64 // of the last step; beta is set by the method
	largest     float64 // of the diagonal
	dd          float64 // ‖d‖²/‖r‖²
	inverse     float64 // trace of the inverse
}

func newPivots() pivots { return pivots{alpha: math.Inf(1)} }

func (p *pivots) step(alpha float64) {
	p.largest = max(p.largest, 1/alpha+p.beta/p.alpha)
	p.dd = 1 + p.beta*p.dd
	p.inverse += alpha * p.dd
	p.alpha = alpha
}

func (p *pivots) numbers() []*float64 {
	return []*float64{&p.alpha, &p.beta, &p.largest, &p.dd, &p.inverse}
}

// outlook is that of the operator.
func (p *pivots) outlook() Outlook { return Outlook{p.largest, p.largest * p.inverse} }

// root is the outlook of A where the pivots are those of AᴴA.
func (p *pivots) root() Outlook {
	return Outlook{math.Sqrt(p.largest), math.Sqrt(p.largest * p.inverse)}
}

// definite says why conjugate gradients cannot divide by vᴴAv: name stands for
// it. Where it is not positive, one more message tells whether rounding can be
// the cause.
func definite[T scalar.Scalar](ctx context.Context, p *pivots, name string, vav float64, v *dist.Array[T]) error {
	if vav > 0 || math.IsNaN(vav) || math.IsInf(vav, 0) {
		return positive(name, vav, "")
	}
	n, err := dist.Norm(ctx, *v, 2)
	switch {
	case err != nil:
		return err
	case vav < -10*epsilon[T, T]()*p.largest*n*n:
		return &unfit{Indefinite, fmt.Sprintf("%s is %g: the operator is not positive definite: use MINRES, CGLS or LSQR", name, vav)}
	}
	return &unfit{IllConditioned, fmt.Sprintf("%s is %g: the operator is singular to rounding: use MINRES, CGLS or LSQR", name, vav)}
}

// epsilon is the distance from 1 to the next number of the coarser type.
func epsilon[D, R scalar.Scalar]() float64 {
	if short[D]() || short[R]() {
		return 0x1p-23
	}
	return 0x1p-52
}

// short reports whether the parts of T are of 32 bits.
func short[T scalar.Scalar]() bool {
	d := scalar.Of[T]()
	return d == scalar.Float32 || d == scalar.Complex64
}
