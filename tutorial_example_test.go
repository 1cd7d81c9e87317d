package golops_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/golops/golops"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
	"github.com/golops/golops/solve"
)

// These are the programs of docs/tutorials/interpolation.md and docs/tutorials/tv.md. The
// pages have their text, and the pictures that they draw into the folder that
// GOLOPS_PICTURES names.

// events returns an element of a seismic section: three plane waves.
func events(i []int) (v float64) {
	for _, e := range []struct{ t0, slope, size float64 }{{20, 0.5, 1}, {60, -0.3, -0.7}, {80, 0.1, 0.8}} {
		s := float64(i[1]) - e.t0 - e.slope*float64(i[0])
		v += e.size * (1 - s*s/8) * math.Exp(-s*s/16) // a Ricker wavelet
	}
	return v
}

func interpolate(w *golops.World) error {
	X := w.Real(64, 128) // traces × samples, traces split over the ranks
	x := X.Func(events)

	var kept []int // 60 % of the traces, at random
	for i, r := 0, rand.New(rand.NewPCG(3, 4)); i < 64; i++ {
		if r.Float64() < 0.6 {
			kept = append(kept, i)
		}
	}
	R := golops.Restriction(X, 0, kept)
	F := golops.RealFFT2D[complex128](X, [2]int{0, 1})
	A := golops.Compose(R, F.H()) // coefficients → traces that were recorded
	d := R.Apply(x)

	fista := &solve.FISTA[complex128, float64]{Shrinkage: solve.Shrinkage[complex128]{Eps: 0.02, Alpha: 1}}
	s := golops.Iterate(fista, A, d, golops.Config{MaxIter: 200, PastRounding: true})
	y := F.H().Apply(s.X)

	zeros := R.H().Apply(d)
	w.Printf("%d of 64 traces: signal to noise %.1f dB with zeros, %.1f dB interpolated\n", len(kept), decibels(zeros, x), decibels(y, x))
	T := golops.Transpose(X, 1, 0) // pictures have time downwards
	return draw(w, "interpolation.png", report.Auto, named("all traces", T.Apply(x)), named("recorded", T.Apply(zeros)), named("interpolated", T.Apply(y)))
}

// decibels returns the signal to noise ratio of y, where x is the signal.
func decibels(y, x golops.Vec[float64]) float64 { return 20 * math.Log10(x.Norm()/y.Minus(x).Norm()) }

// titled is a vector of two axes with a title.
type titled struct {
	title string
	x     golops.Vec[float64]
}

func named(title string, x golops.Vec[float64]) titled { return titled{title, x} }

// draw writes pictures side by side if GOLOPS_PICTURES names a folder.
func draw(w *golops.World, file string, colors report.ColorMap, all ...titled) error {
	folder := os.Getenv("GOLOPS_PICTURES")
	if folder == "" {
		return nil
	}
	p := report.Panels{Columns: len(all)}
	for _, v := range all {
		n, m := v.x.Space().Shape()[0], v.x.Space().Shape()[1]
		g, err := report.GridOf(n, m, v.x.Gather())
		if err != nil {
			return err
		}
		p.Pictures = append(p.Pictures, report.Picture{Title: v.title, Data: g, Map: colors, Aspect: 1})
	}
	if w.Rank() != 0 {
		return nil
	}
	f, err := os.Create(filepath.Join(folder, file))
	if err != nil {
		return err
	}
	return errors.Join(p.PNG(f), f.Close())
}

func Example_interpolation() {
	runEach(interpolate)
	// Output:
	// 39 of 64 traces: signal to noise 4.1 dB with zeros, 14.0 dB interpolated
	// 39 of 64 traces: signal to noise 4.1 dB with zeros, 14.0 dB interpolated
	// 39 of 64 traces: signal to noise 4.1 dB with zeros, 14.0 dB interpolated
}

// photograph returns an element of an image: a disc and a bar on two greys.
func photograph(i []int) float64 {
	y, x := float64(i[0]), float64(i[1])
	switch {
	case math.Hypot(y-34, x-36) < 20:
		return 0.9
	case x > 56 && x < 64 && y > 12 && y < 84:
		return 0.1
	case y > 60:
		return 0.7
	}
	return 0.3
}

func denoise(w *golops.World) error {
	X := w.Real(96, 96)
	x := X.Func(photograph)
	noisy := x.Plus(X.Random(1).Scaled(0.3))

	smooth := golops.Smoothing2D(X, [2]int{0, 1}, [2]int{5, 5}).Apply(noisy)
	tv := golops.Prox(golops.TV(X, 0.25), 1, noisy) // least TV(z)/4 + ‖z - noisy‖²/2

	w.Printf("signal to noise: noisy %.1f dB, smoothed %.1f dB, total variation %.1f dB\n", decibels(noisy, x), decibels(smooth, x), decibels(tv, x))
	return draw(w, "tv-denoise.png", report.Gray, named("noisy", noisy), named("smoothed", smooth), named("total variation", tv))
}

func deblur(w *golops.World) error {
	X := w.Real(96, 96)
	x := X.Func(photograph)
	h := make([]float64, 81) // a Gaussian of 9 × 9 samples
	sum := 0.0
	for k := range h {
		a, b := float64(k/9-4), float64(k%9-4)
		h[k] = math.Exp(-(a*a + b*b) / 8)
		sum += h[k]
	}
	B := golops.Convolve2D(X, [2]int{0, 1}, h, [2]int{9, 9}, [2]int{4, 4}).Scaled(1 / sum)
	y := B.Apply(x).Plus(X.Random(1).Scaled(0.02))

	least := golops.CGLS(B, y, golops.Config{MaxIter: 30, Damp: 0.1, PastRounding: true})

	// ½‖B·x - y‖² + 0.002·TV(x) over 0 ≤ x ≤ 1 is f(x) + g(K·x) with K = [B; ∇].
	grad := golops.Gradient(X, ops.GradientOptions{Kind: ops.DerivativeForward})
	K := golops.VStack(B, grad)
	f := golops.Box(X, 0, 1)
	g := golops.StackFunctions(golops.L2(X, 1, y), golops.L21(grad.Range(), 0.002))
	step := 0.99 / 3 // ‖K‖² ≤ ‖B‖² + ‖∇‖² ≤ 1 + 8
	s := golops.PrimalDual(f, g, K, step, step, golops.Config{MaxIter: 200, PastRounding: true})

	w.Printf("signal to noise: blurred %.1f dB, least squares %.1f dB, total variation %.1f dB\n", decibels(y, x), decibels(least.X, x), decibels(s.X, x))
	return draw(w, "tv-deblur.png", report.Gray, named("blurred", y), named("least squares", least.X), named("total variation", s.X))
}

func Example_denoising() {
	runEach(denoise)
	// Output:
	// signal to noise: noisy 10.3 dB, smoothed 16.7 dB, total variation 24.4 dB
	// signal to noise: noisy 10.3 dB, smoothed 16.7 dB, total variation 24.4 dB
	// signal to noise: noisy 10.3 dB, smoothed 16.7 dB, total variation 24.4 dB
}

func Example_deblurring() {
	runEach(deblur)
	// Output:
	// signal to noise: blurred 17.0 dB, least squares 20.4 dB, total variation 22.6 dB
	// signal to noise: blurred 17.0 dB, least squares 20.4 dB, total variation 22.6 dB
	// signal to noise: blurred 17.0 dB, least squares 20.4 dB, total variation 22.6 dB
}
