package golops_test

import (
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops"
)

// docs/ct.md shows this program.

func tomography(w *golops.World) error {
	angles := make([]float64, 40) // of the views, in radians
	for i := range angles {
		angles[i] = math.Pi * float64(i) / 40
	}
	X := golops.NewSpace[float64](w, dist.Replicated, 32, 32) // the image, on every rank
	Y := golops.NewSpace[float64](w, dist.Split(0), 40, 48)   // views × detectors, views split over the ranks
	scan := ops.ProjectorDefaults(angles)
	P := golops.Projector(X, Y, scan)

	disc := X.Func(func(i []int) float64 {
		if math.Hypot(float64(i[0])-15, float64(i[1])-18) < 9 {
			return 1
		}
		return 0
	})
	y := P.Apply(disc)
	fbp := golops.FilteredBackProjection(X, Y, scan).Apply(y)
	s := golops.CGLS(P, y, golops.Config{MaxIter: 60})
	off := func(x golops.Vec[float64]) float64 { return x.Minus(disc).Norm() / disc.Norm() }
	w.Printf("relative error %.2f of FBP, %.2f after %d steps\n", off(fbp), off(s.X), s.Iters)
	return nil
}

func Example_tomography() {
	for ranks := 1; ranks <= 3; ranks++ {
		run(ranks, tomography)
	}
	// Output:
	// relative error 0.11 of FBP, 0.03 after 60 steps
	// relative error 0.11 of FBP, 0.03 after 60 steps
	// relative error 0.11 of FBP, 0.03 after 60 steps
}
