package golops_test

import (
	"github.com/golops/golops"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/solve"
)

// show prints all elements of a vector.
func show[T golops.Scalar](w *golops.World, what string, x golops.Vec[T]) {
	w.Printf("%s: %v\n", what, x.Gather())
}

func Example_stacks() {
	run(2, func(w *golops.World) error {
		X := w.Real(3)
		A, B := golops.Identity(X).Scaled(2), golops.Flip(X, 0)
		x := X.Func(func(i []int) float64 { return float64(i[0] + 1) })
		show(w, "HStack", golops.HStack(A, B).Apply(golops.Stack(x, x)))
		show(w, "BlockDiag", golops.BlockDiag(A, B).Apply(golops.Stack(x, x)))
		return nil
	})
	// Output:
	// HStack: [5 6 7]
	// BlockDiag: [2 4 6 3 2 1]
}

func Example_stacksOverRanks() {
	run(2, func(w *golops.World) error {
		mine := golops.Identity(w.Alone().Real(2)).Scaled(float64(w.Rank() + 1)) // 1·I and 2·I
		V, H := golops.VStackRanks(w, mine), golops.HStackRanks(w, mine)
		show(w, "VStackRanks", V.Apply(V.Domain().Func(func(i []int) float64 { return float64(i[0] + 1) })))
		show(w, "HStackRanks", H.Apply(H.Domain().Func(func(i []int) float64 { return float64(i[0] + 1) })))
		M := golops.BlockRanks(w, []golops.Op[float64, float64]{mine, mine.Scaled(10)})
		show(w, "BlockRanks", M.Apply(M.Domain().Func(func(i []int) float64 { return float64(i[0] + 1) })))
		return nil
	})
	// Output:
	// VStackRanks: [1 2 2 4]
	// HStackRanks: [7 10]
	// BlockRanks: [31 42 62 84]
}

func ExampleRedistribute() {
	run(2, func(w *golops.World) error {
		X := w.Real(2, 2) // rows split
		R := golops.Redistribute(X, X.With(dist.Split(1)))
		y := R.Apply(X.Func(func(i []int) float64 { return float64(10*i[0] + i[1]) }))
		w.Printf("rank 0 has %v\n", y.Host())
		return nil
	})
	// Output: rank 0 has [0 10]
}

func Example_parts32() {
	run(2, func(w *golops.World) error {
		X := golops.NewSpace[complex64](w, dist.Split(0), 2)
		x := X.Func(func(i []int) complex64 { return complex(1, float32(i[0])) })
		show(w, "Real32", golops.Real32(X).Apply(x))
		show(w, "Imag32", golops.Imag32(X).Apply(x))
		return nil
	})
	// Output:
	// Real32: [1 1]
	// Imag32: [0 1]
}

// A point 100 m below the middle of source and receiver is heard after 2·√2·100 m.
func Example_kirchhoff() {
	g := wave.Grid{X: wave.Axis{N: 3, Step: 100}, Z: wave.Axis{N: 3, Step: 100}}
	k := wave.KirchhoffOptions{Times: golops.Must(wave.NewConstant(g, 1000)), Samples: 32, Interval: 0.01, Wavelet: []float64{1},
		Sources: []wave.Point{{X: 0}}, Receivers: []wave.Point{{X: 200}}}
	first := func(w *golops.World, what string, A golops.Op[float64, float64]) {
		x := A.Domain().Func(func(i []int) float64 {
			if i[0] == 1 && i[1] == 1 {
				return 1
			}
			return 0
		})
		for t, v := range A.Apply(x).Gather() {
			if v != 0 {
				w.Printf("%s: sample %d, %.2f\n", what, t, v)
				return
			}
		}
	}
	run(2, func(w *golops.World) error {
		first(w, "Kirchhoff", golops.Kirchhoff[float64](w.Alone(), k))
		first(w, "KirchhoffByModel", golops.KirchhoffByModel[float64](w, k))
		return nil
	})
	// Output:
	// Kirchhoff: sample 28, 0.72
	// KirchhoffByModel: sample 28, 0.72
}

func Example_solvers() {
	run(2, func(w *golops.World) error {
		X := w.Real(4)
		D := golops.DiagonalAlong(X, 0, []float64{1, 2, -3, 4}) // Hermitian, not definite
		x := X.Random(1)
		b, c := D.Apply(x), golops.Config{MaxIter: 20, RelTol: 1e-10}
		for _, s := range []golops.Solution[float64]{
			golops.MINRES(D, b, c), golops.LeastSquares(D, b, c), golops.Solve(D, b, c),
			golops.Precondition(D, golops.DiagonalAlong(X, 0, []float64{1, 0.5, 0.33, 0.25}), b, c),
			golops.Iterate(&solve.CGLS[float64, float64]{OneMessage: true}, D, b, c),
		} {
			w.Printf("%s: %v, right: %v\n", s.Method, s.Status, s.X.Minus(x).Norm() < 1e-8)
		}
		eig, _ := golops.PowerIteration(D, X.Random(2), 200, 1e-12)
		w.Printf("PowerIteration: %.4f\n", eig)
		return nil
	})
	// Output:
	// MINRES: converged, right: true
	// LSQR: converged, right: true
	// MINRES: converged, right: true
	// LSQR: converged, right: true
	// CGLS with one message: converged, right: true
	// PowerIteration: 4.0000
}
