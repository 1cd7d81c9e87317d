package golops_test

import "github.com/golops/golops"

// Spikes after a wavelet, by methods that look for few of them.
func Example_sparse() {
	run(2, func(w *golops.World) error {
		X := w.Real(60)
		x := X.Func(func(i []int) float64 { return map[int]float64{10: 1, 25: -2, 44: 1.5}[i[0]] })
		A := golops.Convolve1D(X, 0, []float64{-0.4, 1, -0.4}, 1)
		b := A.Apply(x)
		c := golops.Config{MaxIter: 500, StepTol: 1e-9}
		o := golops.Shrinkage[float64]{Eps: 1e-3}
		for _, s := range []golops.Solution[float64]{
			golops.ISTA(A, b, o, c), golops.FISTA(A, b, o, c), golops.OMP(A, b, 1e-9, c), golops.BasisPursuit(A, b, 1e-3, c),
			golops.SplitBregman(A, b, []golops.Op[float64, float64]{golops.Identity(X)}, []float64{1e-3}, c),
		} {
			w.Printf("%s: error below 0.01: %v\n", s.Method, s.X.Minus(x).Norm() < 0.01)
		}
		return nil
	})
	// Output:
	// ISTA: error below 0.01: true
	// FISTA: error below 0.01: true
	// OMP: error below 0.01: true
	// basis pursuit: error below 0.01: true
	// SplitBregman: error below 0.01: true
}

// A sum of two waves from half of its samples: its Fourier transform is sparse.
func ExampleSparseIn() {
	run(2, func(w *golops.World) error {
		X := w.Complex(64)
		F := golops.FFT(X, 0)
		x := F.H().Apply(F.Range().Func(func(i []int) complex128 { return map[int]complex128{5: 4, 12: 3i}[i[0]] }))
		R := golops.Restriction(X, 0, []int{0, 1, 3, 6, 7, 10, 12, 13, 17, 20, 22, 23, 27, 30, 31, 34, 35, 36, 40, 43, 45, 46, 49, 50, 52, 55, 58, 59, 60, 63})
		s := golops.FISTA(R, R.Apply(x), golops.Shrinkage[complex128]{Eps: 1e-3, Alpha: 1, Transform: golops.SparseIn(F.H())}, golops.Config{MaxIter: 400})
		w.Printf("error below 0.01: %v\n", s.X.Minus(x).Norm() < 0.01*x.Norm())
		return nil
	})
	// Output: error below 0.01: true
}

// A line through points of which two are far off.
func ExampleIRLS() {
	run(1, func(w *golops.World) error {
		Y := w.Real(6)
		A := golops.LinearRegression(Y, []float64{0, 1, 2, 3, 4, 5})
		b := Y.Func(func(i []int) float64 { return []float64{1, 3, 50, 7, -30, 11}[i[0]] })
		s := golops.IRLS(A, b, 1e-6, golops.Config{MaxIter: 50})
		w.Printf("%.3f\n", s.X.Gather())
		return nil
	})
	// Output: [1.000 2.000]
}
