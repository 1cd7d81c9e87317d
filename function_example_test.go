package golops_test

import (
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/dist"
)

// ramp returns the vector 1, -2, 3, -4, ...
func ramp(X golops.Space[float64]) golops.Vec[float64] {
	return X.Func(func(i []int) float64 { return float64(i[0]+1) * math.Pow(-1, float64(i[0])) })
}

// rounded returns the elements of a vector with a few digits.
func rounded(x golops.Vec[float64]) []float64 {
	all := x.Gather()
	for i, v := range all {
		all[i] = math.Round(v*1000)/1000 + 0
	}
	return all
}

func Example_functionsThatShrink() {
	run(2, func(w *golops.World) error {
		X := w.Real(4)
		x := ramp(X)
		for _, f := range []struct {
			name string
			f    golops.Function[float64]
		}{
			{"L0", golops.L0(X, 2)}, {"L1", golops.L1(X, 2)}, {"LHalf", golops.LHalf(X, 2)}, {"Log", golops.Log(X, 2, 1.3)},
			{"Huber", golops.Huber(X, 1)}, {"Euclidean", golops.Euclidean(X, 2)}, {"L2", golops.L2(X, 2)},
		} {
			w.Printf("%s: f(x) = %.3f, prox(x) = %v\n", f.name, golops.Value(f.f, x), rounded(golops.Prox(f.f, 1, x)))
		}
		return nil
	})
	// Output:
	// L0: f(x) = 8.000, prox(x) = [0 0 3 -4]
	// L1: f(x) = 20.000, prox(x) = [0 0 1 -2]
	// LHalf: f(x) = 12.293, prox(x) = [0 0 2.347 -3.463]
	// Log: f(x) = 13.273, prox(x) = [0 0 2.188 -3.428]
	// Huber: f(x) = 8.000, prox(x) = [0.5 -1 2 -3]
	// Euclidean: f(x) = 10.954, prox(x) = [0.635 -1.27 1.905 -2.539]
	// L2: f(x) = 30.000, prox(x) = [0.333 -0.667 1 -1.333]
}

func Example_sets() {
	run(2, func(w *golops.World) error {
		X := w.Real(4)
		x := ramp(X)
		one := X.Func(func([]int) float64 { return 1 })
		for _, f := range []struct {
			name string
			f    golops.Function[float64]
		}{
			{"Box", golops.Box(X, -1, 2)}, {"L0Ball", golops.L0Ball(X, 1)}, {"L1Ball", golops.L1Ball(X, 3)},
			{"EuclideanBall", golops.EuclideanBall(X, 1)}, {"HalfSpace", golops.HalfSpace(one, -4)}, {"Simplex", golops.Simplex(X, 1)},
			{"AffineSet", golops.AffineSet(golops.Diagonal(x), one)},
		} {
			y := golops.Prox(f.f, 1, x)
			w.Printf("%s: f(x) = %v, nearest point %v, f there %v\n", f.name, golops.Value(f.f, x), rounded(y), golops.Value(f.f, y))
		}
		return nil
	})
	// Output:
	// Box: f(x) = +Inf, nearest point [1 -1 2 -1], f there 0
	// L0Ball: f(x) = +Inf, nearest point [0 0 0 -4], f there 0
	// L1Ball: f(x) = +Inf, nearest point [0 0 1 -2], f there 0
	// EuclideanBall: f(x) = +Inf, nearest point [0.183 -0.365 0.548 -0.73], f there 0
	// HalfSpace: f(x) = +Inf, nearest point [0.5 -2.5 2.5 -4.5], f there 0
	// Simplex: f(x) = +Inf, nearest point [0 0 1 0], f there 0
	// AffineSet: f(x) = +Inf, nearest point [1 -0.5 0.333 -0.25], f there 0
}

func Example_sumsOfSquares() {
	run(2, func(w *golops.World) error {
		X := w.Real(4)
		x := ramp(X)
		one := X.Func(func([]int) float64 { return 1 })
		for _, f := range []struct {
			name string
			f    golops.SmoothFunction[float64]
		}{
			{"L2", golops.L2(X, 2, one)}, {"L2Diagonal", golops.L2Diagonal(x, one, 2)},
			{"L2Operator", golops.L2Operator(golops.Diagonal(x), one, 2)}, {"Quadratic", golops.Quadratic(golops.Identity(X), one, 5)},
		} {
			w.Printf("%s: f(x) = %.3f, ∇f(x) = %v, prox(x) = %v\n",
				f.name, golops.Value(f.f, x), rounded(golops.GradientOf(f.f, x)), rounded(golops.Prox(f.f, 1, x)))
		}
		return nil
	})
	// Output:
	// L2: f(x) = 38.000, ∇f(x) = [0 -6 4 -10], prox(x) = [1 0 1.667 -0.667]
	// L2Diagonal: f(x) = 298.000, ∇f(x) = [0 -12 48 -120], prox(x) = [1 -0.667 0.474 -0.364]
	// L2Operator: f(x) = 298.000, ∇f(x) = [0 -12 48 -120], prox(x) = [1 -0.667 0.474 -0.364]
	// Quadratic: f(x) = 18.000, ∇f(x) = [2 -1 4 -3], prox(x) = [0 -1.5 1 -2.5]
}

func Example_variationAndRank() {
	run(2, func(w *golops.World) error {
		X := w.Real(6)
		step := X.Func(func(i []int) float64 { return float64(i[0] / 3 * 4) })
		tv := golops.TV(X, 1)
		w.Printf("TV: f(x) = %v, prox(x) = %v\n", golops.Value(tv, step), rounded(golops.Prox(tv, 1.5, step)))

		G := golops.Gradient(w.Real(2, 2)).Range() // a stack of two parts
		l21 := golops.L21(G, 1)
		g := golops.Stack(w.Real(2, 2).Func(func(i []int) float64 { return 3 }), w.Real(2, 2).Func(func(i []int) float64 { return 4 }))
		w.Printf("L21: f(x) = %v, prox(x) = %v\n", golops.Value(l21, g), rounded(golops.Prox(l21, 1, g)))

		M := golops.NewSpace[float64](w, dist.Replicated, 2, 2)
		a := M.Func(func(i []int) float64 { return []float64{3, 0, 0, 1}[2*i[0]+i[1]] })
		nuclear, ball := golops.Nuclear(M, 1), golops.NuclearBall(M, 2)
		w.Printf("Nuclear: f(x) = %.3g, prox(x) = %v\n", golops.Value(nuclear, a), rounded(golops.Prox(nuclear, 1, a)))
		w.Printf("NuclearBall: nearest point %v\n", rounded(golops.Prox(ball, 1, a)))
		return nil
	})
	// Output:
	// TV: f(x) = 4, prox(x) = [0.5 0.5 0.5 3.5 3.5 3.5]
	// L21: f(x) = 20, prox(x) = [2.4 2.4 2.4 2.4 3.2 3.2 3.2 3.2]
	// Nuclear: f(x) = 4, prox(x) = [2 0 0 0]
	// NuclearBall: nearest point [2 0 0 0]
}

// half is ‖x‖²/2, as an author of a function writes it.
type half struct{}

func (half) Value(x golops.Vec[float64]) float64 { n := x.Norm(); return n * n / 2 }

func (half) Prox(y golops.Vec[float64], tau float64, x golops.Vec[float64]) {
	y.Copy(x.Scaled(1 / (1 + tau)))
}

func Example_functionsOfFunctions() {
	run(2, func(w *golops.World) error {
		X := w.Real(4)
		x := ramp(X)
		one := X.Func(func([]int) float64 { return 1 })
		l1 := golops.L1(X, 1)
		for _, f := range []struct {
			name string
			f    golops.Function[float64]
		}{
			{"ScaleFunction", golops.ScaleFunction(2, l1)}, {"Precompose", golops.Precompose(l1, 2, one)},
			{"Translate", golops.Translate(l1, one)}, {"AddLinear", golops.AddLinear(l1, one)},
			{"SumFunctions", golops.SumFunctions(l1, golops.Box(X, -1, 2))}, {"Orthogonal", golops.Orthogonal(l1, golops.Flip(X, 0), 1)},
			{"NewFunction", golops.NewFunction(X, half{})},
		} {
			w.Printf("%s: f(x) = %v, prox(x) = %v\n", f.name, golops.Value(f.f, x), rounded(golops.Prox(f.f, 1, x)))
		}
		both := golops.StackFunctions(l1, golops.Box(X, 0, math.Inf(1)))
		w.Printf("StackFunctions: prox(x) = %v\n", rounded(golops.Prox(both, 1, golops.Stack(x, x))))
		w.Printf("the dual prox of L1 clips: %v\n", rounded(golops.DualProx(l1, 1, x)))
		return nil
	})
	// Output:
	// ScaleFunction: f(x) = 20, prox(x) = [0 0 1 -2]
	// Precompose: f(x) = 20, prox(x) = [-0.5 -0.5 1 -2]
	// Translate: f(x) = 10, prox(x) = [1 -1 2 -3]
	// AddLinear: f(x) = 8, prox(x) = [0 -2 1 -4]
	// SumFunctions: f(x) = +Inf, prox(x) = [0 -1 2 -1]
	// Orthogonal: f(x) = 10, prox(x) = [0 -1 2 -3]
	// NewFunction: f(x) = 15, prox(x) = [0.5 -1 1.5 -2]
	// StackFunctions: prox(x) = [0 -1 2 -3 1 0 3 0]
	// the dual prox of L1 clips: [1 -1 1 -1]
}
