package prestack

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
	"github.com/golops/golops/solve"
)

// session is the state of a run on one rank. Models are logarithms of three properties.
type session[T scalar.Scalar] struct {
	*job
	r                 *app.Rank
	v, m              *seismic.Volume[T] // of the data and of the properties
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
	if s.m, err = seismic.NewVolume[T](ctx, r.Proc(), j.dims, j.Spread.Split); err != nil {
		return nil, err
	}
	r.Work(s.v.Space.LocalShape().Size()/j.in.Dims[3], "traces")
	r.Stage("background", func() { golops.Check(s.readBackground(ctx)) })
	r.Stage("data", func() { golops.Check(s.readData(ctx)) })
	if s.x, err = dist.New[T](s.m.Space); err != nil {
		return nil, err
	}
	dist.Copy(s.x, s.back)
	p := solve.Problem[T, T]{A: s.op, B: s.d}
	if w := j.Regularization.Weight; w > 0 {
		l, err := ops.Laplacian[T](ctx, s.m.Space, ops.LaplacianOptions{Axes: []int{0, 2, 3}})
		if err != nil {
			return nil, err
		}
		if p, err = solve.Regularize(p, solve.Term[T, T]{R: l, Weight: w}); err != nil {
			return nil, err
		}
	}
	r.Live = func(x []float64) report.Picture {
		nt, ny, nx := j.dims[3], j.dims[0], j.dims[1]
		var section []float64
		for t := range nt {
			section = append(section, x[(t*3*ny+ny/2)*nx:][:nx]...)
		}
		return s.section(j.Angles.names()[0]+" so far", section)
	}
	app.Invert(r, j.Solver, app.Method[T, T](j.Solver.Method), golops.FromMap(r.World, p.A), golops.FromArray(r.World, p.B), golops.FromArray(r.World, s.x))
	return s.results(ctx)
}

// readBackground makes the model to start from, and the true one of the example.
func (s *session[T]) readBackground(ctx context.Context) (err error) {
	if s.Data.File == "" {
		s.truth, err = s.m.Func(ctx, func(i []int) float64 {
			rock := seismic.Earth(i[0], i[1], i[3], s.dims)
			p := [3]float64{rock.VP, rock.VS, rock.Density}
			if s.Angles.Kind == "fatti" && i[2] < 2 {
				p[i[2]] *= rock.Density / 1000
			}
			return math.Log(p[i[2]])
		})
		s.back = s.truth
	}
	if b := s.Background.File; b != "" && err == nil {
		if s.back, err = s.m.Read(ctx, s.r, seismic.Input{Path: b}); err != nil {
			return err
		}
		lo, _, e := dist.MinMax(ctx, s.back)
		if e != nil {
			return e
		}
		if !(lo > 0) {
			return &app.ConfigError{Err: fmt.Errorf("%s has a property of %g: all must be positive", app.Shown(b), lo)}
		}
		s.back, err = seismic.EachTrace(ctx, s.back, seismic.Each(math.Log))
	}
	if err != nil {
		return err
	}
	s.back, err = seismic.EachTrace(ctx, s.back, seismic.Smooth(s.Background.Smooth))
	return err
}

// readData reads or models gathers and makes the operator.
func (s *session[T]) readData(ctx context.Context) (err error) {
	s.d, s.wavelet, err = seismic.Record(ctx, s.r, s.v, s.in, s.Data.Interval, s.Example.Noise, s.Wavelet, s.given, func(w []float64) (d dist.Array[T], err error) {
		op, err := s.modelling(ctx, w)
		if err != nil {
			return d, err
		}
		return linop.Apply(ctx, op, s.truth)
	})
	if err == nil {
		s.op, err = s.modelling(ctx, s.wavelet)
	}
	return err
}

// modelling returns the operator from properties to gathers.
func (s *session[T]) modelling(ctx context.Context, w []float64) (linop.Operator[T], error) {
	return ops.PrestackLinearModelling(ctx, s.m.Space, [][]T{seismic.Samples[T](w, 1)}, s.Angles.options(), ops.DerivativeCentered)
}

// results compares the properties with what was known before.
func (s *session[T]) results(ctx context.Context) (*app.Results, error) {
	predicted, err := linop.Apply(ctx, s.op, s.x)
	if err != nil {
		return nil, err
	}
	misfit, err := seismic.Far(ctx, predicted, s.d)
	if err != nil {
		return nil, err
	}
	res := &app.Results{Pictures: func() []app.Picture { return golops.Must(s.pictures(ctx)) }}
	before, after := math.NaN(), math.NaN()
	type out struct {
		name string
		of   dist.Array[T]
	}
	files := []out{{"properties.npy", s.x}, {"background.npy", s.back}}
	if s.truth.Space() != nil {
		if before, err = seismic.Far(ctx, s.back, s.truth); err != nil {
			return nil, err
		}
		if after, err = seismic.Far(ctx, s.x, s.truth); err != nil {
			return nil, err
		}
		files = append(files, out{"model.npy", s.truth})
	}
	for _, f := range files {
		a, err := seismic.EachTrace(ctx, f.of, seismic.Each(math.Exp))
		if err != nil {
			return nil, err
		}
		saved, err := s.m.Save(ctx, s.r.World, f.name, a, s.in)
		if err != nil {
			return nil, err
		}
		res.Arrays = append(res.Arrays, saved)
	}
	if s.truth.Space() != nil {
		saved, err := s.v.Save(ctx, s.r.World, "data.npy", s.d, s.in)
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

// section is a picture of a property of an inline, given its logarithm.
func (s *session[T]) section(title string, v []float64) report.Picture {
	z := make([]float64, len(v))
	for i, x := range v {
		z[i] = math.Exp(x)
	}
	return seismic.Section(title, z, s.in.Dims[1], s.Data.Interval, report.Velocity)
}

// pictures draws each property along the middle inline, its middle trace, and a gather.
func (s *session[T]) pictures(ctx context.Context) ([]app.Picture, error) {
	ny, nx, names := s.in.Dims[0], s.in.Dims[1], s.Angles.names()
	panels := report.Panels{Scaling: report.Each, Columns: 2}
	if s.truth.Space() != nil {
		panels.Columns = 3
	}
	traces := report.Curves{Title: fmt.Sprintf("%s at crossline %d of %d", names[1], nx/2+1, nx), X: "sample", Y: "logarithm", Linear: true}
	for p, name := range names {
		first, lo, hi := len(panels.Pictures), math.Inf(1), math.Inf(-1)
		for _, m := range []struct {
			title string
			of    dist.Array[T]
		}{{"background", s.back}, {"inverted", s.x}, {"true", s.truth}} {
			if m.of.Space() == nil {
				continue
			}
			v, err := seismic.Inline(ctx, s.r.World, m.of, ny/2, p)
			if err != nil {
				return nil, err
			}
			if v == nil {
				continue
			}
			for _, x := range v {
				lo, hi = min(lo, math.Exp(x)), max(hi, math.Exp(x))
			}
			panels.Pictures = append(panels.Pictures, s.section(name+", "+m.title, v))
			if p == 1 {
				traces.Curves = append(traces.Curves, seismic.Trace(m.title, v, nx, nx/2))
			}
		}
		for i := range panels.Pictures[first:] {
			panels.Pictures[first+i].Scale = report.Scale{Min: lo, Max: hi}
		}
	}
	gather, err := s.gather(ctx, ny/2, nx/2)
	if err != nil || gather == nil {
		return nil, err
	}
	o, n := s.Angles.options(), s.Angles.Number
	pic := seismic.Traces("Gather", gather, n, s.Data.Interval)
	pic.X = report.Axis{Label: "angle", Unit: "degrees", Origin: o.Angles[0], Step: (o.Angles[n-1] - o.Angles[0]) / float64(n-1)}
	return []app.Picture{
		{File: "sections.png", Title: "Properties", Caption: "The middle inline before and after the inversion and, of the built-in model, the truth.", PNG: panels.PNG},
		{File: "traces.png", Title: "One trace", Caption: "The inversion adds the layers that the background lacks.", PNG: traces.PNG},
		{File: "gather.png", Title: "One gather", Caption: "How reflections change with the angle of incidence tells velocities and density apart.", PNG: pic.PNG},
	}, nil
}

// gather returns the traces of all angles at a point on rank 0, samples × angles.
func (s *session[T]) gather(ctx context.Context, inline, crossline int) ([]float64, error) {
	a := s.d
	for _, at := range [][2]int{{2, inline}, {3, crossline}} {
		op, err := ops.Restriction[T](ctx, a.Space(), at[0], []int{at[1]})
		if err != nil {
			return nil, err
		}
		if a, err = linop.Apply(ctx, op, a); err != nil {
			return nil, err
		}
	}
	return app.Gather(golops.FromArray(s.r.World, a)), nil
}
