package ct

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
)

// reconstruct is the work of one rank. Views are spread over ranks, and every rank has
// the whole image.
func reconstruct[T scalar.Scalar](ctx context.Context, r *app.Rank, s *scan) (*app.Results, error) {
	image, err := dist.NewSpace(ctx, r.Proc(), dist.Replicated, s.Image.Size, s.Image.Size)
	if err != nil {
		return nil, err
	}
	views, err := image.Like(dist.Split(0), s.views, s.detectors)
	if err != nil {
		return nil, err
	}
	a, err := ops.Projector[T](ctx, image, views, s.geometry)
	if err != nil {
		return nil, err
	}
	r.Work(views.LocalShape().Dim(0), "views")
	var y, truth, fbp, x dist.Array[T]
	r.Stage("data", func() {
		y, truth, err = measured(ctx, r, s, a)
		golops.Check(err)
	})
	r.Stage("filtered back-projection", func() { fbp = backProject(r, s, a, y) })
	r.Live = func(v []float64) report.Picture { return s.picture("So far", v) }
	if x, err = dist.New[T](image); err != nil {
		return nil, err
	}
	if err := invert(ctx, r, s, a, y, fbp, x); err != nil {
		return nil, err
	}
	res := &app.Results{
		Arrays:   []app.Array{app.Save("image.npy", vec(r, x)), app.Save("image.tif", vec(r, x)), app.Save("fbp.npy", vec(r, fbp)), app.Save("sinogram.npy", vec(r, y))},
		Pictures: func() []app.Picture { return pictures(r, s, y, fbp, x) },
	}
	if truth.Space() != nil {
		res.Arrays = append(res.Arrays, app.Save("truth.npy", vec(r, truth)))
		for _, of := range []struct {
			name, key string
			x         dist.Array[T]
		}{{"", "", x}, {" of FBP", "fbp_", fbp}} {
			e, psnr, err := compare(ctx, of.x, truth)
			if err != nil {
				return nil, err
			}
			res.Numbers = append(res.Numbers, app.Number{Name: "relative error" + of.name, Key: of.key + "error", Value: e, Format: "%.3f"},
				app.Number{Name: "PSNR" + of.name, Key: of.key + "psnr", Value: psnr, Format: "%.1f dB"})
		}
	}
	return res, nil
}

// vec returns an array for the front door.
func vec[T scalar.Scalar](r *app.Rank, a dist.Array[T]) golops.Vec[T] {
	return golops.FromArray(r.World, a)
}

// measured returns the sinogram: that of the file, or that of the head with noise, and
// the head.
func measured[T scalar.Scalar](ctx context.Context, r *app.Rank, s *scan, a linop.Operator[T]) (y, truth dist.Array[T], err error) {
	if path := s.Data.File; path != "" {
		load := data.Load[T]
		if ext := strings.ToLower(filepath.Ext(path)); ext != ".npy" {
			load = data.LoadTIFF[T]
		}
		if y, err = load(ctx, path, a.Range()); err == nil {
			var size float64
			if size, err = dist.Norm(ctx, y, 2); err == nil && (math.IsNaN(size) || math.IsInf(size, 0) || size == 0) {
				err = fmt.Errorf("the sinogram has a norm of %g: it must have finite numbers that are not all zero", size)
			}
		}
		r.Unusable(path, err)
		return y, truth, nil
	}
	n := s.Image.Size
	if truth, err = dist.FromFunc(ctx, a.Domain(), func(i []int) T { return scalar.From[T](complex(ops.SheppLogan(n, i[0], i[1]), 0)) }); err != nil {
		return y, truth, err
	}
	if y, err = linop.Apply(ctx, a, truth); err != nil {
		return y, truth, err
	}
	largest, err := dist.Norm(ctx, y, math.Inf(1))
	if err != nil {
		return y, truth, err
	}
	host, err := y.Host()
	if err == nil {
		b := a.Range().Box(r.Rank())
		for view := b.Lo[0]; view < b.Hi[0]; view++ {
			for d, v := range noise(view, s.detectors) {
				host[(view-b.Lo[0])*s.detectors+d] += scalar.From[T](complex(s.Data.Noise*largest*v, 0))
			}
		}
		err = y.Local().CopyIn(host)
	}
	return y, truth, dist.Agree(ctx, r.Proc().Comm, "noise", err)
}

// compare returns the relative error of an image and its peak signal-to-noise ratio.
func compare[T scalar.Scalar](ctx context.Context, x, truth dist.Array[T]) (e, psnr float64, err error) {
	d, err := dist.New[T](truth.Space())
	if err != nil {
		return 0, 0, err
	}
	dist.Sub(d, x, truth)
	var size [3]float64
	for i, of := range []struct {
		a dist.Array[T]
		p float64
	}{{d, 2}, {truth, 2}, {truth, math.Inf(1)}} {
		if size[i], err = dist.Norm(ctx, of.a, of.p); err != nil {
			return 0, 0, err
		}
	}
	mean := size[0] / math.Sqrt(float64(truth.Space().Size()))
	return size[0] / size[1], 20 * math.Log10(size[2]/mean), nil
}

// backProject returns the filtered back-projection of a sinogram.
func backProject[T scalar.Scalar](r *app.Rank, s *scan, a linop.Operator[T], y dist.Array[T]) dist.Array[T] {
	p := golops.FromMap(r.World, a)
	window := map[string]ops.RampWindow{"ramp": ops.RampPlain, "hann": ops.RampHann}[s.Image.Filter]
	return golops.FilteredBackProjection(p.Domain(), p.Range(), s.geometry, window).Apply(vec(r, y)).Array()
}
