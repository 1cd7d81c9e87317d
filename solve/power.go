package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// PowerIteration returns the eigenvalue of A that is largest in magnitude, and
// leaves its eigenvector, of length 1, in x, whose first value is the start: a
// vector that is not zero. It stops when the eigenvalue changes by less than tol
// relative to itself (0 means 1e-6), or after maxIter steps (0 means 100), and
// says how many it took. One message per step.
func PowerIteration[T scalar.Scalar](ctx context.Context, a linop.Operator[T], x dist.Array[T], maxIter int, tol float64) (eig T, iters int, err error) {
	p := Problem[T]{A: a, B: x}
	switch {
	case maxIter < 0 || math.IsNaN(tol) || tol < 0:
		return 0, 0, fmt.Errorf("solve: power iteration: %d steps to %g: must not be negative or NaN", maxIter, tol)
	case maxIter == 0:
		maxIter = 100
	}
	if tol == 0 {
		tol = 1e-6
	}
	if err := p.check(x, true); err != nil {
		return 0, 0, fmt.Errorf("solve: power iteration: %w", err)
	}
	y, err := dist.New[T](x.Space())
	if err != nil {
		return 0, 0, err
	}
	defer y.Free()
	n, err := dist.Norm(ctx, x, 2)
	if err != nil {
		return 0, 0, err
	}
	if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, 0, fmt.Errorf("solve: power iteration: the start has norm %g: give a vector that is not zero", n)
	}
	dist.Scale(x, num[T](1/n), x)
	sums, old := dist.NewSums(x.Space(), 3), math.Inf(1)
	for iters < maxIter {
		if err := a.Forward(ctx, y, x); err != nil {
			return 0, iters, err
		}
		sums.Reset()
		if err := errors.Join(dist.AddDot(sums, x, y), dist.AddImagDot(sums, x, y), dist.AddDot(sums, y, y)); err != nil {
			return 0, iters, err
		}
		if err := sums.Reduce(ctx); err != nil {
			return 0, iters, err
		}
		iters++
		v, n := complex(sums.Value(0), sums.Value(1)), math.Sqrt(sums.Value(2))
		eig = scalar.From[T](v)
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return eig, iters, fmt.Errorf("solve: power iteration: step %d: the norm is %g", iters, n)
		}
		if n == 0 {
			return 0, iters, nil // x is in the null space
		}
		dist.Scale(x, num[T](1/n), y)
		size := math.Hypot(real(v), imag(v))
		if math.Abs(size-old) <= tol*size {
			break
		}
		old = size
	}
	return eig, iters, nil
}
