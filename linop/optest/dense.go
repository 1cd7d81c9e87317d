package optest

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// MatchesDense checks that a does what a matrix does, given row by row as Dense
// of package linop returns it: forward against m·u and adjoint against mᴴ·v for
// random vectors, element by element.
func MatchesDense[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], m []R) error {
	return MatchesDenseWith(ctx, DotConfig{}, a, m)
}

// MatchesDenseWith is MatchesDense with the choices of c. The error of an element
// is measured against the sum of the absolute values of its terms.
func MatchesDenseWith[D, R scalar.Scalar](ctx context.Context, c DotConfig, a linop.Map[D, R], m []R) error {
	if err := valid(a); err != nil {
		return err
	}
	rows, cols := a.Range().Size(), a.Domain().Size()
	var err error
	switch {
	case isComplex[D]() && !isComplex[R]():
		err = fmt.Errorf("%v elements cannot hold the matrix of a map from %v vectors", scalar.Of[R](), scalar.Of[D]())
	case len(m) != rows*cols:
		err = fmt.Errorf("%d elements given for a matrix of %d rows and %d columns", len(m), rows, cols)
	}
	if err := agree(ctx, a, "comparison with a matrix", err); err != nil {
		return err
	}
	err = matches(ctx, c, a, func(i, j int) complex128 { return scalar.Complex(m[i*cols+j]) })
	if err := agree(ctx, a, "comparison of forward with a matrix", err); err != nil {
		return err
	}
	err = matches(ctx, c, linop.H(a), func(i, j int) complex128 { return cmplx.Conj(scalar.Complex(m[j*cols+i])) })
	return agree(ctx, a, "comparison of adjoint with a matrix", err)
}

func matches[D, R scalar.Scalar](ctx context.Context, c DotConfig, a linop.Map[D, R], m func(i, j int) complex128) error {
	tol := c.tol(is32[D]() || is32[R]())
	x, y, err := image(ctx, a, c.Seed)
	if err != nil {
		return err
	}
	in, err := dist.AllGather(ctx, x)
	if err != nil {
		return err
	}
	out, err := dist.AllGather(ctx, y)
	if err != nil {
		return err
	}
	for i, v := range out {
		var want complex128
		var scale float64
		for j, u := range in {
			t := m(i, j) * scalar.Complex(u)
			want += t
			scale += cmplx.Abs(t)
		}
		if !isComplex[R]() {
			want = complex(real(want), 0)
		}
		if got := scalar.Complex(v); !(cmplx.Abs(got-want) <= tol*scale) {
			return fmt.Errorf("element %d of the result is %v, the matrix gives %v: the difference is more than %.3g times %.3g", i, got, want, tol, scale)
		}
	}
	return nil
}

// distance returns ‖x - y‖ and ‖y‖ in 64 bits.
func distance[X, Y scalar.Scalar](x []X, y []Y) (diff, norm float64) {
	for i, v := range y {
		w := scalar.Complex(v)
		diff = math.Hypot(diff, cmplx.Abs(scalar.Complex(x[i])-w))
		norm = math.Hypot(norm, cmplx.Abs(w))
	}
	return diff, norm
}
