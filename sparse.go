package golops

import "github.com/golops/golops/solve"

// Shrinkage says what ISTA and FISTA minimise, and how. Shrinkage[float64]{Eps: 0.1} is
// enough: it asks for the least ½‖A·x - b‖² + 0.1·‖x‖₁.
type Shrinkage[T Scalar] = solve.Shrinkage[T]

// The thresholds of a Shrinkage.
const (
	Soft = solve.Soft // for ‖x‖₁
	Hard = solve.Hard // for the number of elements that are not zero
	Half = solve.Half // for Σ√|x|
)

// SparseIn is the Shrinkage.Transform for what is sparse after Sᴴ, such as a Fourier
// transform or wavelets: S makes x of its coefficients.
func SparseIn[S, D Scalar](s Op[S, D]) *solve.Transform[D] { return solve.NewTransform(s.m) }

// ISTA minimises ½‖A·x - b‖² + ε·‖x‖₁, or what the Shrinkage says, by steps along the
// gradient and a threshold.
func ISTA[D, R Scalar](a Op[D, R], b Vec[R], o Shrinkage[D], c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.ISTA[D, R]{Shrinkage: o}, a, b, c, start...)
}

// FISTA minimises what ISTA does, in far fewer steps.
func FISTA[D, R Scalar](a Op[D, R], b Vec[R], o Shrinkage[D], c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.FISTA[D, R]{Shrinkage: o}, a, b, c, start...)
}

// SplitBregman minimises ½‖A·x - b‖² + Σ wᵢ·‖Lᵢ·x‖₁, such as total variation, for one
// weight per operator of l. solve.SplitBregman has more terms and choices.
func SplitBregman[D, R Scalar](a Op[D, R], b Vec[R], l []Op[D, R], weights []float64, c Config, start ...Vec[D]) Solution[D] {
	if len(l) != len(weights) {
		fail("SplitBregman: %d operators and %d weights: give one weight for each", len(l), len(weights))
	}
	m := &solve.SplitBregman[D, R]{}
	for i, op := range l {
		if a.World() != op.World() {
			apart("SplitBregman", a, op)
		}
		m.L1 = append(m.L1, solve.L1Term[D, R]{R: op.m, Weight: weights[i]})
	}
	return Iterate(m, a, b, c, start...)
}

// IRLS minimises ‖A·x - b‖₁, which does not mind outliers in b, by least squares with
// weights. Residuals well below eps count as squares. solve.IRLS has weights of models
// too.
func IRLS[D, R Scalar](a Op[D, R], b Vec[R], eps float64, c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.IRLS[D, R]{Eps: eps}, a, b, c, start...)
}

// OMP takes one column of A after another, that which fits the residual best, until
// ‖b - A·x‖ is at most sigma. Columns should have equal norms; solve.OMP takes others.
func OMP[D, R Scalar](a Op[D, R], b Vec[R], sigma float64, c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.OMP[D, R]{Sigma: sigma}, a, b, c, start...)
}

// BasisPursuit finds the x of least ‖x‖₁ with ‖A·x - b‖ ≤ sigma, the level of noise.
func BasisPursuit[D, R Scalar](a Op[D, R], b Vec[R], sigma float64, c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.BasisPursuit[D, R]{Sigma: sigma}, a, b, c, start...)
}
