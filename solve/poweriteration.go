package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/golops/golops/comm"
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
	p := &power[T]{a: a, x: x, maxIter: maxIter, tol: tol}
	if err := p.init(ctx); err != nil {
		return 0, 0, fmt.Errorf("solve: power iteration: %w", err)
	}
	defer p.y.Free()
	defer p.red.Free()
	for old := cmplx.Inf(); p.iters < p.maxIter; old = p.eig {
		if err := p.step(ctx); err != nil {
			return 0, p.iters, fmt.Errorf("solve: power iteration: step %d: %w", p.iters+1, err)
		}
		p.iters++
		if cmplx.Abs(p.eig-old) <= p.tol*cmplx.Abs(p.eig) {
			break
		}
	}
	return scalar.From[T](p.eig), p.iters, nil
}

type power[T scalar.Scalar] struct {
	a              linop.Operator[T]
	x, y           dist.Array[T]
	maxIter, iters int
	tol            float64
	eig            complex128
	red            *dist.Reduction
}

// init checks the arguments and scales the start. It is collective.
func (p *power[T]) init(ctx context.Context) error {
	var err error
	if p.maxIter < 1 || math.IsNaN(p.tol) || p.tol < 0 {
		err = fmt.Errorf("%d steps to a tolerance of %g: give at least 1 step, and a tolerance that is not negative or NaN", p.maxIter, p.tol)
	}
	q := Problem[T, T]{A: p.a, B: p.x}
	g := q.group(p.x.Space())
	if g == nil {
		return errors.New("no operator and no start given")
	}
	if err := dist.Agree(ctx, g, "arguments", err, p.maxIter, p.tol); err != nil {
		return err
	}
	if linop.H(p.a) != nil && !p.a.Domain().Equal(p.a.Range()) {
		err = fmt.Errorf("the operator goes from %v to %v: give one that maps a space to itself", p.a.Domain(), p.a.Range())
	} else if err = q.check(p.x.Space(), 0); err == nil {
		p.red = dist.NewReduction(p.x.Space(), 2)
		p.y, err = dist.New[T](p.x.Space())
	}
	if err := comm.Agree(ctx, g, err); err != nil {
		return err
	}
	n, err := dist.Norm(ctx, p.x, 2)
	if err != nil {
		return err
	}
	if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("the start has norm %g: give a vector that is not zero", n)
	}
	dist.Scale(p.x, fromFloat[T](1/n), p.x)
	return nil
}

// step sets x = A·x, scaled to length 1, and λ.
func (p *power[T]) step(ctx context.Context) error {
	if err := p.a.Forward(ctx, p.y, p.x); err != nil {
		return err
	}
	eig, yy := dist.AddDot(p.red, p.x, p.y), dist.AddNorm2(p.red, p.y)
	if err := p.red.Do(ctx); err != nil {
		return err
	}
	n := math.Sqrt(yy.Float())
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("‖A·x‖ is %g: %w", n, ErrNotFinite)
	}
	p.eig = eig.Complex()
	if n > 0 { // otherwise x is in the null space: the eigenvalue is zero
		dist.Scale(p.x, fromFloat[T](1/n), p.y)
	}
	return nil
}
