package linop

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"

	"github.com/golops/golops/scalar"
)

// Cond returns the condition number of a small operator in the 2-norm, σ₁/σₙ of
// its singular values, the same on every rank; +Inf if the smallest is zero. It
// is collective and makes the matrix first, so the limit of Dense holds.
func Cond[E scalar.Scalar](ctx context.Context, a Operator[E]) (float64, error) {
	m, rows, cols, err := Dense(ctx, a)
	if err != nil {
		return 0, fmt.Errorf("linop: condition number: %w", err)
	}
	if rows == 0 || cols == 0 {
		return 0, fmt.Errorf("linop: condition number: the operator has %d rows and %d columns", rows, cols)
	}
	for i, v := range m {
		if c := scalar.Complex(v); cmplx.IsNaN(c) || cmplx.IsInf(c) {
			return 0, fmt.Errorf("linop: condition number: element (%d, %d) of the matrix is %v", i/cols, i%cols, v)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(realMatrix(m, rows, cols), mat.SVDNone) {
		return 0, fmt.Errorf("linop: condition number: the singular values of the %d by %d matrix were not found", rows, cols)
	}
	s := svd.Values(nil)
	if s[len(s)-1] == 0 {
		return math.Inf(1), nil
	}
	return s[0] / s[len(s)-1], nil
}

// realMatrix returns m, or for complex m the real matrix
//
//	⎡ Re m  -Im m ⎤
//	⎣ Im m   Re m ⎦
//
// which has the singular values of m, each of them twice.
func realMatrix[E scalar.Scalar](m []E, rows, cols int) *mat.Dense {
	k := 1
	if scalar.Of[E]().IsComplex() {
		k = 2
	}
	d := mat.NewDense(k*rows, k*cols, nil)
	for i := range rows {
		for j := range cols {
			v := scalar.Complex(m[i*cols+j])
			d.Set(i, j, real(v))
			if k == 2 {
				d.Set(i, cols+j, -imag(v))
				d.Set(rows+i, j, imag(v))
				d.Set(rows+i, cols+j, real(v))
			}
		}
	}
	return d
}
