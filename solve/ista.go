package solve

import (
	"context"

	"github.com/golops/golops/scalar"
)

// ISTA is iterative shrinkage-thresholding: it minimises what Shrinkage says, such as
// ½‖A·x - b‖² + ε·‖x‖₁, by a step along the gradient and a threshold.
//
//	x = T(x - α·Aᴴ(A·x - b))
//
// I. Daubechies, M. Defrise and C. De Mol, An Iterative Thresholding Algorithm for
// Linear Inverse Problems with a Sparsity Constraint, 2004.
type ISTA[D, R scalar.Scalar] struct {
	Shrinkage[D]
	m shrink[D, R]
}

// Name implements Method.
func (m *ISTA[D, R]) Name() string { return "ISTA" }

// Minimises implements Minimiser.
func (m *ISTA[D, R]) Minimises() string { return m.formula() }

// Init implements Method.
func (m *ISTA[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	return m.m.init(ctx, w, &m.Shrinkage, false, false, false)
}

// Step implements Method.
func (m *ISTA[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	return m.m.advance(ctx, w)
}

// FISTA is ISTA with momentum, which takes far fewer steps: the gradient is taken at
//
//	z = x + (t_old - 1)/t·(x - x_old),  t = (1 + √(1 + 4·t_old²))/2
//
// A·z follows from A·x, so that a step applies A and Aᴴ once.
//
// A. Beck and M. Teboulle, A Fast Iterative Shrinkage-Thresholding Algorithm for Linear
// Inverse Problems, 2009.
type FISTA[D, R scalar.Scalar] struct {
	Shrinkage[D]
	// Monotone keeps x where a step would raise the cost. A. Beck and M. Teboulle, Fast
	// Gradient-Based Algorithms for Constrained Total Variation Image Denoising and
	// Deblurring Problems, 2009.
	Monotone bool
	// Restart forgets the momentum where a step raises the cost. B. O'Donoghue and
	// E. Candès, Adaptive Restart for Accelerated Gradient Schemes, 2015.
	Restart bool
	m       shrink[D, R]
}

// Name implements Method.
func (m *FISTA[D, R]) Name() string {
	switch {
	case m.Monotone && m.Restart:
		return "monotone FISTA with restarts"
	case m.Monotone:
		return "monotone FISTA"
	case m.Restart:
		return "FISTA with restarts"
	}
	return "FISTA"
}

// Minimises implements Minimiser.
func (m *FISTA[D, R]) Minimises() string { return m.formula() }

// Init implements Method.
func (m *FISTA[D, R]) Init(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	return m.m.init(ctx, w, &m.Shrinkage, true, m.Monotone, m.Restart)
}

// Step implements Method.
func (m *FISTA[D, R]) Step(ctx context.Context, w *Workspace[D, R]) (Norms, error) {
	return m.m.advance(ctx, w)
}
