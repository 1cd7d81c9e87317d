package golops_test

import "github.com/golops/golops"

// A convolution of three terms that are not symmetric.
func Example_nonsymmetric() {
	run(2, func(w *golops.World) error {
		X := w.Real(60)
		A := golops.Convolve1D(X, 0, []float64{0.2, 1, 0.5}, 1)
		x := X.Random(1)
		b, c := A.Apply(x), golops.Config{MaxIter: 100, RelTol: 1e-10}
		for _, s := range []golops.Solution[float64]{
			golops.BiCGStab(A, b, c), golops.GMRES(A, b, 20, c), golops.Landweber(A, b, 0.6, golops.Config{MaxIter: 300, RelTol: 1e-6}),
		} {
			w.Printf("%s: %v, error below 1e-4: %v\n", s.Method, s.Status, s.X.Minus(x).Norm() < 1e-4)
		}
		return nil
	})
	// Output:
	// BiCGStab: converged, error below 1e-4: true
	// GMRES(20): converged, error below 1e-4: true
	// Landweber: converged, error below 1e-4: true
}

// The ends of two spectra, and a condition.
func Example_spectrum() {
	run(2, func(w *golops.World) error {
		X := w.Real(5)
		D := golops.DiagonalAlong(X, 0, []float64{1, 2, -3, 4, 5})
		c := golops.SpectrumDefaults(2)
		c.Smallest = 1
		w.Printf("eigenvalues: %.3f and %.3f\n", golops.Eigenvalues(D, c).Largest, golops.Eigenvalues(D, c).Smallest)
		s := golops.SingularValues(D, c)
		w.Printf("singular values: %.3f and %.3f, condition %.3f\n", s.Largest, s.Smallest, s.Condition())
		return nil
	})
	// Output:
	// eigenvalues: [5.000 4.000] and [-3.000]
	// singular values: [5.000 4.000] and [1.000], condition 5.000
}
