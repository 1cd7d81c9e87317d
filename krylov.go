package golops

import "github.com/golops/golops/solve"

// BiCGStab solves A·x = b for a square A, which need not be Hermitian, without Aᴴ. It
// keeps few vectors; its residuals go up and down.
func BiCGStab[T Scalar](a Op[T, T], b Vec[T], c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.BiCGStab[T]{}, a, b, c, start...)
}

// GMRES solves what BiCGStab does. Each step makes the residual as small as it can be,
// with one vector more; restart of them, 20 for example, are kept at most.
func GMRES[T Scalar](a Op[T, T], b Vec[T], restart int, c Config, start ...Vec[T]) Solution[T] {
	return Iterate(&solve.GMRES[T]{Restart: restart}, a, b, c, start...)
}

// Landweber makes ‖A·x - b‖² + damp²·‖x‖² smaller by steps of a fixed length along
// the gradient, which must be less than 2/‖A‖². CGLS is far faster.
func Landweber[D, R Scalar](a Op[D, R], b Vec[R], length float64, c Config, start ...Vec[D]) Solution[D] {
	return Iterate(&solve.Landweber[D, R]{Length: length}, a, b, c, start...)
}

// SpectrumConfig says which values of a spectrum to find, and how well.
type SpectrumConfig = solve.SpectrumConfig

// Spectrum is a few values from the ends of a spectrum.
type Spectrum = solve.Spectrum

// SpectrumDefaults asks for the n largest values to a millionth.
func SpectrumDefaults(n int) SpectrumConfig { return solve.SpectrumDefaults(n) }

// SingularValues returns a few singular values of A, from the largest, the smallest
// or both.
func SingularValues[D, R Scalar](a Op[D, R], c SpectrumConfig) Spectrum {
	return Must(solve.SingularValues(a.World().ctx, a.m, c))
}

// Eigenvalues returns a few eigenvalues of a Hermitian A from the ends of its
// spectrum.
func Eigenvalues[T Scalar](a Op[T, T], c SpectrumConfig) Spectrum {
	return Must(solve.Eigenvalues(a.World().ctx, a.m, c))
}
