package ct

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
)

// reconstruct is the work of one rank. Views are spread over ranks, and every rank has
// the whole image.
func reconstruct[T golops.Scalar](r *app.Rank, s *scan) *app.Results {
	X := golops.NewSpace[T](r.World, dist.Replicated, s.Image.Size, s.Image.Size)
	Y := golops.NewSpace[T](r.World, dist.Split(0), s.views, s.detectors)
	P := golops.Projector(X, Y, s.geometry)
	r.Work(Y.Dist().LocalShape().Dim(0), "views")
	var y, truth, fbp golops.Vec[T]
	r.Stage("data", func() {
		if s.Data.File != "" {
			y = load(r, s, Y)
			return
		}
		truth = X.FuncReal(func(i []int) float64 { return ops.SheppLogan(s.Image.Size, i[0], i[1]) })
		y = P.Apply(truth)
		y.AddScaled(1, noise(Y, s.Data.Noise*y.NormP(math.Inf(1))))
	})
	r.Stage("filtered back-projection", func() {
		fbp = golops.FilteredBackProjection(X, Y, s.geometry, windows[s.Image.Filter]).Apply(y)
	})
	r.Live = func(v []float64) report.Picture { return s.picture("So far", v) }
	x := X.Zero()
	invert(r, s, P, y, fbp, x)
	res := &app.Results{
		Arrays:   []app.Array{app.Save("image.npy", x), app.Save("image.tif", x), app.Save("fbp.npy", fbp), app.Save("sinogram.npy", y)},
		Pictures: func() []app.Picture { return pictures(r, s, y, fbp, x) },
	}
	if s.Data.File == "" {
		res.Arrays = append(res.Arrays, app.Save("truth.npy", truth))
		res.Numbers = append(compare("", "", x, truth), compare(" of FBP", "fbp_", fbp, truth)...)
	}
	return res
}

// windows are the filters of the configuration.
var windows = map[string]ops.RampWindow{"ramp": ops.RampPlain, "hann": ops.RampHann}

// load returns the sinogram of the file.
func load[T golops.Scalar](r *app.Rank, s *scan, Y golops.Space[T]) (y golops.Vec[T]) {
	a, err := data.LoadImage[T](r.Context(), s.Data.File, Y.Dist())
	if err == nil {
		y = golops.FromArray(r.World, a)
		if size := y.Norm(); math.IsNaN(size) || math.IsInf(size, 0) || size == 0 {
			err = fmt.Errorf("the sinogram has a norm of %g: it must have finite numbers that are not all zero", size)
		}
	}
	r.Unusable(s.Data.File, err)
	return y
}

// noise returns normal numbers with this standard deviation. Each view has its own,
// whatever the ranks.
func noise[T golops.Scalar](Y golops.Space[T], size float64) golops.Vec[T] {
	var rng *rand.Rand
	return Y.FuncReal(func(i []int) float64 {
		if i[1] == 0 {
			rng = rand.New(rand.NewPCG(uint64(i[0]), 26))
		}
		return size * rng.NormFloat64()
	})
}

// compare returns the relative error of an image and its peak signal-to-noise ratio.
func compare[T golops.Scalar](name, key string, x, truth golops.Vec[T]) []app.Number {
	off := x.Minus(truth).Norm()
	mean := off / math.Sqrt(float64(truth.Space().Size()))
	return []app.Number{
		{Name: "relative error" + name, Key: key + "error", Value: off / truth.Norm(), Format: "%.3f"},
		{Name: "PSNR" + name, Key: key + "psnr", Value: 20 * math.Log10(truth.NormP(math.Inf(1))/mean), Format: "%.1f dB"},
	}
}
