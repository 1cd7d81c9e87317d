package poststack

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/app/seismic"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
)

// session is the state of a run on one rank. Models are logarithms of impedance.
type session[T scalar.Scalar] struct {
	*job
	r                 *app.Rank
	v                 *seismic.Volume[T]
	wavelet           []float64
	op                linop.Operator[T]
	d, back, x, truth dist.Array[T]
}

func run[T scalar.Scalar](ctx context.Context, j *job, r *app.Rank) (*app.Results, error) {
	s := &session[T]{job: j, r: r}
	var err error
	if s.v, err = seismic.NewVolume[T](ctx, r.Proc(), j.in.Dims, j.Spread.Split); err != nil {
		return nil, err
	}
	r.Work(s.v.Space.LocalShape().Size()/j.in.Dims[2], "traces")
	for _, stage := range []struct {
		name string
		f    func(context.Context) error
	}{{"background", s.readBackground}, {"data", s.readData}} {
		r.Stage(stage.name, func() { golops.Check(stage.f(ctx)) })
	}
	if s.x, err = dist.New[T](s.v.Space); err != nil {
		return nil, err
	}
	dist.Copy(s.x, s.back)
	r.Live = func(x []float64) report.Picture {
		ny, nx := j.in.Dims[0], j.in.Dims[1]
		var section []float64
		for t := range j.in.Dims[2] {
			section = append(section, x[(t*ny+ny/2)*nx:][:nx]...)
		}
		return s.section("Impedance so far", section)
	}
	if err := s.invert(ctx); err != nil {
		return nil, err
	}
	return s.results(ctx)
}

// readBackground makes the model to start from, and the true one of the example.
func (s *session[T]) readBackground(ctx context.Context) (err error) {
	dims, b := s.in.Dims, s.Background
	if s.Data.File == "" {
		s.truth, err = s.v.Func(ctx, func(i []int) float64 { return math.Log(seismic.Earth(i[0], i[1], i[2], dims).Impedance()) })
		if err != nil {
			return err
		}
	}
	switch {
	case b.First > 0:
		s.back, err = s.v.Func(ctx, func(i []int) float64 {
			return math.Log(b.First + (b.Last-b.First)*float64(i[2])/float64(dims[2]-1))
		})
		return err
	case b.File == "":
		s.back = s.truth
	default:
		if s.back, err = s.v.Read(ctx, s.r, s.background); err != nil {
			return err
		}
		lo, _, err := dist.MinMax(ctx, s.back)
		if err != nil {
			return err
		}
		if !(lo > 0) {
			return &app.ConfigError{Err: fmt.Errorf("%s has an impedance of %g: all must be positive", app.Shown(b.File), lo)}
		}
		if s.back, err = seismic.EachTrace(ctx, s.back, seismic.Each(math.Log)); err != nil {
			return err
		}
	}
	s.back, err = seismic.EachTrace(ctx, s.back, seismic.Smooth(b.Smooth))
	return err
}

// readData reads or models traces and makes the operator.
func (s *session[T]) readData(ctx context.Context) (err error) {
	s.d, s.wavelet, err = seismic.Record(ctx, s.r, s.v, s.in, s.Data.Interval, s.Example.Noise, s.Wavelet, s.given, func(w []float64) (d dist.Array[T], err error) {
		op, err := s.modelling(ctx, w)
		if err != nil {
			return d, err
		}
		return linop.Apply(ctx, op, s.truth)
	})
	if err != nil {
		return err
	}
	s.op, err = s.modelling(ctx, s.wavelet)
	return err
}

// modelling returns the operator from the logarithm of impedance to traces.
func (s *session[T]) modelling(ctx context.Context, w []float64) (linop.Operator[T], error) {
	return ops.PoststackLinearModelling(ctx, s.v.Space, [][]T{seismic.Samples[T](w, 0.5)}, ops.DerivativeCentered)
}

// results compares the impedance with what was known before.
func (s *session[T]) results(ctx context.Context) (*app.Results, error) {
	res := &app.Results{Pictures: func() []app.Picture { return golops.Must(s.pictures(ctx)) }}
	misfit, before, after := math.NaN(), math.NaN(), math.NaN()
	predicted, err := linop.Apply(ctx, s.op, s.x)
	if err == nil {
		misfit, err = seismic.Far(ctx, predicted, s.d)
	}
	if err != nil {
		return nil, err
	}
	type out struct {
		name string
		of   dist.Array[T]
		raw  bool // no logarithm
	}
	files := []out{{"impedance.npy", s.x, false}}
	if s.in.Words != nil {
		files = append(files, out{"impedance.segy", s.x, false})
	}
	files = append(files, out{"background.npy", s.back, false})
	if s.truth.Space() != nil {
		if before, err = seismic.Far(ctx, s.back, s.truth); err != nil {
			return nil, err
		}
		if after, err = seismic.Far(ctx, s.x, s.truth); err != nil {
			return nil, err
		}
		files = append(files, out{"model.npy", s.truth, false}, out{"data.npy", s.d, true})
	}
	for _, f := range files {
		a := f.of
		if !f.raw {
			if a, err = seismic.EachTrace(ctx, a, seismic.Each(math.Exp)); err != nil {
				return nil, err
			}
		}
		saved, err := s.v.Save(ctx, s.r.World, f.name, a, s.in)
		if err != nil {
			return nil, err
		}
		res.Arrays = append(res.Arrays, saved)
	}
	w, err := seismic.SaveWavelet(ctx, s.r.World, s.wavelet)
	if err != nil {
		return nil, err
	}
	res.Arrays = append(res.Arrays, w)
	res.Numbers = []app.Number{
		{Name: "data misfit", Key: "misfit", Value: misfit, Format: "%.4f"},
		{Name: "error of the background", Key: "error_background", Value: before, Format: "%.5f"},
		{Name: "error of the inversion", Key: "error", Value: after, Format: "%.5f"},
	}
	return res, nil
}

// section is a picture of the impedance of an inline, given its logarithm.
func (s *session[T]) section(title string, v []float64) report.Picture {
	z := make([]float64, len(v))
	for i, x := range v {
		z[i] = math.Exp(x)
	}
	return seismic.Section(title, z, s.in.Dims[1], s.Data.Interval, report.Velocity)
}

// pictures draws the middle inline, and its middle trace.
func (s *session[T]) pictures(ctx context.Context) ([]app.Picture, error) {
	ny, nx := s.in.Dims[0], s.in.Dims[1]
	d, err := seismic.Inline(ctx, s.r.World, s.d, ny/2)
	if err != nil {
		return nil, err
	}
	sections := report.Panels{}
	trace := report.Curves{Title: fmt.Sprintf("Crossline %d of %d", nx/2+1, nx), X: "sample", Y: "logarithm of impedance", Linear: true}
	for _, m := range []struct {
		title string
		of    dist.Array[T]
	}{{"Background", s.back}, {"Inverted impedance", s.x}, {"True impedance", s.truth}} {
		if m.of.Space() == nil {
			continue
		}
		v, err := seismic.Inline(ctx, s.r.World, m.of, ny/2)
		if err != nil {
			return nil, err
		}
		if v != nil {
			sections.Pictures = append(sections.Pictures, s.section(m.title, v))
			trace.Curves = append(trace.Curves, seismic.Trace(m.title, v, nx, nx/2))
		}
	}
	if d == nil {
		return nil, nil
	}
	return []app.Picture{
		{File: "sections.png", Title: "Impedance", Caption: "The middle inline before and after the inversion and, of the built-in model, the truth.", PNG: sections.PNG},
		{File: "traces.png", Title: "One trace", Caption: "The inversion adds the layers that the background lacks.", PNG: trace.PNG},
		{File: "data.png", Title: "Data", Caption: "The middle inline of what was given.", PNG: seismic.Traces("Data", d, nx, s.Data.Interval).PNG},
	}, nil
}
