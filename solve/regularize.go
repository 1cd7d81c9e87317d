package solve

import (
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Term is a regularisation: ‖Weight·(R·x - Target)‖² is added to what is
// minimised.
type Term[D, R scalar.Scalar] struct {
	R      linop.Map[D, R]
	Weight float64
	Target dist.Array[R] // the zero Array stands for a target of zeros
}

// Regularize returns the problem with terms added:
//
//	min ‖A·x - b‖² + Σ ‖wₖ·(Rₖ·x - tₖ)‖²
//
// as one stacked operator with stacked data, for CGLS and LSQR.
func Regularize[D, R scalar.Scalar](p Problem[D, R], terms ...Term[D, R]) (Problem[D, R], error) {
	if len(terms) == 0 {
		return p, nil
	}
	ops, data := []linop.Map[D, R]{p.A}, []dist.Array[R]{p.B}
	for i, t := range terms {
		switch {
		case t.R == nil:
			return p, fmt.Errorf("solve: regularisation %d: no operator given", i)
		case !finite(t.Weight):
			return p, fmt.Errorf("solve: regularisation %d: the weight is %g", i, t.Weight)
		}
		op, err := linop.Scale(fromFloat[R](t.Weight), t.R)
		if err != nil {
			return p, fmt.Errorf("solve: regularisation %d: %w", i, err)
		}
		b, err := dist.New[R](op.Range())
		if err != nil {
			return p, err
		}
		if t.Target.Space() != nil {
			if !t.Target.Space().Equal(op.Range()) {
				return p, fmt.Errorf("solve: regularisation %d: the target is of %v, the operator gives %v", i, t.Target.Space(), op.Range())
			}
			dist.Scale(b, fromFloat[R](t.Weight), t.Target)
		}
		ops, data = append(ops, op), append(data, b)
	}
	a, err := linop.VStack(ops...)
	b, e := dist.StackOf(data...)
	if err = errors.Join(err, e); err != nil {
		return p, fmt.Errorf("solve: regularisation: %w", err)
	}
	return Problem[D, R]{A: a, B: b}, nil
}

// Precondition returns the problem in z with x = P·z: min ‖A·P·z - b‖², whose
// solution P maps to that of p. Damping then acts on z.
func Precondition[D, R scalar.Scalar](p Problem[D, R], pre linop.Operator[D]) (Problem[D, R], error) {
	if p.A == nil || pre == nil {
		return p, errors.New("solve: precondition: no operator given")
	}
	a, err := linop.Compose(p.A, pre)
	if err != nil {
		return p, fmt.Errorf("solve: precondition: %w", err)
	}
	p.A = a
	return p, nil
}
