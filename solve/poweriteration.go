package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// PowerIteration returns the eigenvalue of A that is largest in magnitude, and
// leaves its eigenvector, of length 1, in x, whose first value is the start: a
// vector that is not zero. It stops when the eigenvalue λ = xᴴAx changes by at
// most tol·|λ|, or after maxIter steps, and says how many it took; 1e-6 and 100 suit
// most operators. It is collective: one message per step.
func PowerIteration[T scalar.Scalar](ctx context.Context, a linop.Operator[T], x dist.Array[T], maxIter int, tol float64) (eig T, iters int, err error) {
	w, y, err := startPower(ctx, Problem[T, T]{a, x}, maxIter, tol)
	if err != nil {
		return 0, 0, fmt.Errorf("solve: power iteration: %w", err)
	}
	defer w.free()
	var re, im, yy float64
	for old, now := cmplx.Inf(), complex128(0); iters < maxIter; old = now {
		w.Forward(ctx, y, w.X)
		w.X.QueueComplexDot(y, &re, &im)
		y.QueueNorm2(&yy)
		w.Reduce(ctx)
		n := w.Finite("‖A·x‖", math.Sqrt(yy))
		if n > 0 { // otherwise x is in the null space: the eigenvalue is zero
			w.X.SetScaled(1/n, y)
		}
		if err := w.Err(); err != nil {
			return 0, iters, fmt.Errorf("solve: power iteration: step %d: %w", iters+1, err)
		}
		iters++
		now = complex(re, im)
		eig = scalar.From[T](now)
		if cmplx.Abs(now-old) <= tol*cmplx.Abs(now) {
			break
		}
	}
	return eig, iters, nil
}

// startPower checks the arguments and scales the start, which is B of the problem.
// It returns a workspace with x and a vector for A·x. It is collective.
func startPower[T scalar.Scalar](ctx context.Context, p Problem[T, T], maxIter int, tol float64) (w *Workspace[T, T], y *Vector[T], err error) {
	if maxIter < 1 || !(tol >= 0) {
		err = fmt.Errorf("%d steps to a tolerance of %g: give at least 1 step, and a tolerance that is not negative or NaN", maxIter, tol)
	} else if linop.H(p.A) != nil && !p.A.Domain().Equal(p.A.Range()) {
		err = fmt.Errorf("the operator goes from %v to %v: give one that maps a space to itself", p.A.Domain(), p.A.Range())
	} else {
		err = p.check(p.B.Space(), 0, false)
	}
	g := p.group(p.B.Space())
	if g == nil {
		return nil, nil, errors.New("no operator and no start given")
	}
	if err := dist.Agree(ctx, g, "arguments", err, maxIter, tol); err != nil {
		return nil, nil, err
	}
	w = newWorkspace(p, p.B, 0)
	w.begin()
	y = w.DomainScratch("A·x")
	n := w.X.norm(ctx)
	if w.err == nil && (n == 0 || !finite(n)) {
		w.Fail(fmt.Errorf("the start has norm %g: give a vector that is not zero", n))
	}
	w.X.Scale(1 / n)
	return w, y, w.Err()
}
