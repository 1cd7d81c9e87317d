package golops_test

import (
	"context"
	"log"
	"math"
	"math/cmplx"

	"github.com/golops/golops"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/trace"
)

// These are the programs of docs/pylops-tutorials.md. The page has the same in
// PyLops-MPI, which prints the same numbers.

// onTwoRanks runs a program on two goroutine ranks.
func onTwoRanks(p golops.Program) {
	if err := golops.Run(context.Background(), launch.Config{Ranks: 2}, p); err != nil {
		log.Fatal(err)
	}
}

// like returns the correlation of two vectors.
func like(a, b golops.Vec[float64]) float64 { return a.Dot(b) / (a.Norm() * b.Norm()) }

// ricker returns a wavelet from its n samples at and after time zero, 4 ms apart.
func ricker(n int, f0 float64) wave.Wavelet {
	t := make([]float64, n)
	for i := range t {
		t[i] = 0.004 * float64(i)
	}
	return golops.Must(wave.Ricker(t, f0))
}

func migrate(w *golops.World) error {
	g := wave.Grid{X: wave.Axis{N: 81, Step: 4}, Z: wave.Axis{N: 60, Step: 4}}
	wav := ricker(41, 20)
	k := wave.KirchhoffOptions{Times: golops.Must(wave.NewConstant(g, 1000)),
		Samples: 651, Interval: 0.004, Wavelet: wav.W, Centre: wav.Centre}
	for i := range 10 {
		k.Sources = append(k.Sources, wave.Point{X: 40 + 244*float64(i)/9, Z: 10})
	}
	for i := range 11 {
		k.Receivers = append(k.Receivers, wave.Point{X: 40 + 24.4*float64(i), Z: 20})
	}
	A := golops.KirchhoffBySource[float64](w, k) // each rank has some of the sources

	m := A.Domain().Func(func(i []int) float64 { return map[int]float64{30: -1, 50: 0.5}[i[1]] })
	d := A.Apply(m)
	madj := A.H().Apply(d)
	s := golops.CGLS(A, d, golops.Config{MaxIter: 30})
	w.Printf("like the truth: migrated %.3f, inverted %.3f\n", like(madj, m), like(s.X, m))
	return nil
}

func Example_pylopsMigration() {
	onTwoRanks(migrate)
	// Output: like the truth: migrated 0.438, inverted 0.771
}

func deconvolve(w *golops.World) error {
	const nt, nf, nx, ny = 64, 24, 15, 21
	fourier := func(n int) golops.Op[float64, complex128] { // along the first axis of nt × n
		rows := w.Complex(nf, nt).Func(func(i []int) complex128 {
			return cmplx.Rect(math.Sqrt(float64(min(1+i[0], 2))/nt), -2*math.Pi*float64(i[0]*i[1])/nt)
		})
		X := w.Complex(nt, n)
		return golops.Compose(golops.MatrixMult(X, nf, rows.Host()), golops.Real(X).H())
	}
	kernel := w.Complex(nf, ny, nx).Func(func(i []int) (g complex128) {
		f, h := float64(i[0])/nt, float64(i[1]-i[2])
		for _, e := range [][3]float64{{1, 4, 1}, {0.6, 9, 1.5}, {0.5, 13, 2}} { // amplitude, time, velocity
			g += cmplx.Rect(e[0], -2*math.Pi*f*math.Hypot(e[1], h/e[2]))
		}
		return g
	}).Host() // the frequencies of this rank
	var blocks []golops.Operator[complex128]
	for ; len(kernel) > 0; kernel = kernel[ny*nx:] {
		blocks = append(blocks, golops.MatrixMult(w.Alone().Complex(nx), ny, kernel[:ny*nx]))
	}
	G := golops.BlockDiagRanks(w, blocks...).Reshape(w.Complex(nf, nx), w.Complex(nf, ny))
	A := golops.Compose(fourier(ny).H(), golops.Compose(G, fourier(nx)))

	m := A.Domain().Func(func(i []int) float64 {
		t := float64(i[0]) - math.Hypot(8, float64(i[1]-7))
		return math.Exp(-0.1 * t * t)
	})
	d := A.Apply(m)
	madj := A.H().Apply(d)
	s := golops.CGLS(A, d, golops.Config{MaxIter: 10})
	w.Printf("like the truth: cross-correlation %.3f, inverted %.3f\n", like(madj, m), like(s.X, m))
	return nil
}

func Example_pylopsDeconvolution() {
	onTwoRanks(deconvolve)
	// Output: like the truth: cross-correlation 0.807, inverted 0.976
}

func poststack(w *golops.World) error {
	const eps = 0.01
	X := w.Real(6, 10, 60) // y, x, z; the planes of y are split over the ranks
	m := X.Func(func(i []int) float64 { return math.Log(float64(2000 + 300*((2*i[2]+i[1]+i[0])/25))) })
	back := X.Func(func(i []int) float64 { return math.Log(float64(1850 + 12*(2*i[2]+i[1]+i[0]))) })
	wav := ricker(21, 15)
	A := golops.Convolve1D(X, 2, wav.W, wav.Centre).Times(golops.FirstDerivative(X, 2))
	L := golops.Laplacian(X, ops.LaplacianOptions{Axes: []int{0, 1, 2}})

	d := A.Apply(m)
	c := golops.Config{MaxIter: 30}
	plain := golops.CGLS(A, d, c, back.Clone())
	normal := golops.CG(A.H().Times(A).Plus(L.H().Times(L).Scaled(eps)), A.H().Apply(d), c, back.Clone())
	both := golops.VStack(A, L.Scaled(math.Sqrt(eps)))
	stacked := golops.CGLS(both, golops.Stack(d, X.Zero()), c, back.Clone())
	e := func(x golops.Vec[float64]) float64 { return x.Minus(m).Norm() / m.Norm() }
	w.Printf("error: background %.4f, iterative %.4f, normal equations %.4f, stacked %.4f\n",
		e(back), e(plain.X), e(normal.X), e(stacked.X))
	return nil
}

func Example_pylopsPoststack() {
	onTwoRanks(poststack)
	// Output: error: background 0.0042, iterative 0.0019, normal equations 0.0022, stacked 0.0022
}

func reflectivity(w *golops.World) error {
	const eps = 2e-3
	X := w.Real(6, 10, 60)
	m := X.Func(func(i []int) float64 { return math.Log(float64(2000 + 300*((2*i[2]+i[1]+i[0])/25))) })
	r := golops.FirstDerivative(X, 2).Apply(m)
	wav := ricker(21, 15)
	C := golops.Convolve1D(X, 2, wav.W, wav.Centre)
	d := C.Apply(r)

	eig, _ := golops.PowerIteration(C.H().Times(C), X.Func(func(i []int) float64 { return 1 + float64(i[2])/10 }), 50, 0)
	x := golops.FISTA(C, d, golops.Shrinkage[float64]{Eps: eps / 2, Alpha: 1 / eig}, golops.Config{MaxIter: 200})
	s := golops.CGLS(C, d, golops.Config{MaxIter: 20})
	w.Printf("like the truth: least squares %.3f, sparse %.3f\n", like(s.X, r), like(x.X, r))
	return nil
}

func Example_pylopsReflectivity() {
	onTwoRanks(reflectivity)
	// Output: like the truth: least squares 0.795, sparse 0.992
}

func timed(w *golops.World) error {
	region := trace.Begin(w.Context(), "dot of zeros")
	defer region.End()
	region.Mark("array")
	x := golops.NewSpace[float64](w, dist.Split(1), 500, 501).Zero()
	region.Mark("dot")
	w.Printf("dot: %g\n", x.Dot(x))
	return nil
}

func Example_pylopsBenchmarking() {
	onTwoRanks(timed)
	// Output: dot: 0
}
