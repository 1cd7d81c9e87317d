package solve

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Function is a function of arrays, known by its value and its prox. Both are
// collective among the ranks of x and allocate nothing once they have run. What a
// rank finds wrong is an error on all ranks. Package prox has functions; its
// proxtest checks those of your own.
type Function[T scalar.Scalar] interface {
	// Value returns f(x), the same number on all ranks. It is +Inf where x is
	// outside of the set of an indicator.
	Value(ctx context.Context, x dist.Array[T]) (float64, error)
	// Prox sets y to the z that makes f(z) + ‖z - x‖²/(2τ) smallest. y may be x.
	Prox(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error
}

// Smooth is a function with a gradient.
type Smooth[T scalar.Scalar] interface {
	// Value returns f(x), the same number on all ranks.
	Value(ctx context.Context, x dist.Array[T]) (float64, error)
	// Gradient sets g = ∇f(x), so that f(x + d) is about f(x) + Re gᴴd. g may be x.
	Gradient(ctx context.Context, g, x dist.Array[T]) error
}

// Dual is a Function that works out the prox of its convex conjugate by itself,
// in fewer passes over memory than the Moreau identity takes.
type Dual[T scalar.Scalar] interface {
	// DualProx sets y to the z that makes f*(z) + ‖z - x‖²/(2σ) smallest. y may be x.
	DualProx(ctx context.Context, y dist.Array[T], sigma float64, x dist.Array[T]) error
}

// Stateful is a function whose calls depend on earlier ones, such as one whose prox is
// solved from its last result. A checkpoint keeps its state, so that a resumed run gives
// the same numbers.
type Stateful interface {
	// State returns the vectors and numbers that the next call reads. They have the same
	// names in the same order on all ranks and at any time. Each checkpoint asks anew.
	State() ([]NamedArray, []NamedNumber)
}

// stateful is a function of a method and its name there.
type stateful struct {
	name string
	Stateful
}

// Function makes f a function of the method: a Function or a Smooth. It refuses nil, and
// has checkpoints keep the state of a Stateful one. It must be called in Init.
func (s *shared) Function(name string, f any) {
	if f == nil {
		s.Fail(fmt.Errorf("%s is nil: give a function, such as those of package prox", name))
	}
	if f, ok := f.(Stateful); ok {
		s.stateful = append(s.stateful, stateful{name, f})
	}
}

// DualProx sets y to the prox of σ·f*, where f* is the convex conjugate of f. If f
// is no Dual, it follows from the Moreau identity:
//
//	y = x - σ·prox(x/σ) with τ = 1/σ
//
// y may be x. scratch is an array of the same space that is neither; a Dual leaves
// it alone. DualProx is collective and sends what the prox of f sends.
func DualProx[T scalar.Scalar](ctx context.Context, f Function[T], y dist.Array[T], sigma float64, x, scratch dist.Array[T]) error {
	if !(sigma > 0) || !finite(1/sigma) || !finite(sigma) {
		return fmt.Errorf("solve: dual prox: sigma is %g, must be positive and finite, and so must be 1/sigma", sigma)
	}
	if d, ok := f.(Dual[T]); ok {
		return d.DualProx(ctx, y, sigma, x)
	}
	dist.Scale(scratch, fromFloat[T](1/sigma), x)
	if err := f.Prox(ctx, scratch, 1/sigma, scratch); err != nil {
		return fmt.Errorf("solve: dual prox: %w", err)
	}
	dist.Combine(y, 1, x, fromFloat[T](-sigma), scratch)
	return nil
}
