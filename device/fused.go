package device

import "github.com/golops/golops/scalar"

// AxpyNormer is for devices that update a vector and measure it in one pass
// over memory. Kernels may implement it; where they do not, Axpby and Norm do
// the same in two.
type AxpyNormer[T scalar.Scalar] interface {
	// AxpyNorm sets y = y + a·x and returns Σ|y|².
	AxpyNorm(a T, x, y Mem[T]) (float64, error)
}
