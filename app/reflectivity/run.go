package reflectivity

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
	"github.com/golops/golops/prox"
	"github.com/golops/golops/report"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// session is the state of a run on one rank.
type session[T scalar.Scalar] struct {
	*job
	r               *app.Rank
	v               *seismic.Volume[T]
	wavelet         []float64
	op              linop.Operator[T]
	d, x, ls, truth dist.Array[T]
	alpha           float64 // step of the methods
	largest         float64 // weight above which all spikes are zero
	weight          float64 // that was chosen, relative to largest
	trials          []trial
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
	}{{"data", s.readData}, {"least squares", s.leastSquares}, {"weight", s.chooseWeight}} {
		r.Stage(stage.name, func() { golops.Check(stage.f(ctx)) })
	}
	if s.x, err = dist.New[T](s.v.Space); err != nil {
		return nil, err
	}
	r.Live = func(x []float64) report.Picture {
		ny, nx := j.in.Dims[0], j.in.Dims[1]
		var section []float64
		for t := range j.in.Dims[2] {
			section = append(section, x[(t*ny+ny/2)*nx:][:nx]...)
		}
		return s.section("Spikes so far", section)
	}
	m, p, err := s.method(ctx)
	if err != nil {
		return nil, err
	}
	x := golops.FromArray(r.World, s.x)
	if p.A == nil {
		app.Minimise(r, j.Solver, m, golops.Op[T, T]{}, x)
	} else {
		app.Invert(r, j.Solver, m, golops.FromMap(r.World, p.A), golops.FromArray(r.World, p.B), x)
	}
	return s.results(ctx)
}

// readData reads or models traces and makes the operator.
func (s *session[T]) readData(ctx context.Context) (err error) {
	if s.Data.File == "" {
		dims := s.in.Dims
		z := func(i []int, k int) float64 { return seismic.Earth(i[0], i[1], k, dims).Impedance() }
		s.truth, err = s.v.Func(ctx, func(i []int) float64 {
			if i[2] == 0 {
				return 0
			}
			a, b := z(i, i[2]-1), z(i, i[2])
			return (b - a) / (b + a)
		})
		if err != nil {
			return err
		}
	}
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

// modelling returns the operator from spikes to traces.
func (s *session[T]) modelling(ctx context.Context, w []float64) (linop.Operator[T], error) {
	return ops.Convolve1D(ctx, s.v.Space, 0, seismic.Samples[T](w, 1), len(w)/2)
}

// leastSquares finds what the methods need to know of the operator, and the baseline.
func (s *session[T]) leastSquares(ctx context.Context) error {
	adj, err := linop.Apply(ctx, linop.H(s.op), s.d)
	if err != nil {
		return err
	}
	defer adj.Free()
	if s.largest, err = dist.Norm(ctx, adj, math.Inf(1)); err != nil {
		return err
	}
	if s.largest == 0 {
		return &app.ConfigError{Err: fmt.Errorf("the wavelet explains nothing of the data: check its units and that it belongs to them")}
	}
	s.alpha = 1 / bound(s.wavelet)
	if s.ls, err = dist.New[T](s.v.Space); err != nil {
		return err
	}
	_, err = solve.Run(ctx, &solve.CGLS[T, T]{}, solve.Problem[T, T]{A: s.op, B: s.d}, s.ls, solve.Config{MaxIter: 30, RelTol: 1e-2})
	return err
}

// bound returns a number that is no smaller than the square of the norm of a
// convolution with w: the square of its largest amplitude at any frequency.
func bound(w []float64) float64 {
	most := 0.0
	for k := range 8*len(w) + 1 {
		re, im := 0.0, 0.0
		for i, v := range w {
			sin, cos := math.Sincos(math.Pi * float64(k*i) / float64(8*len(w)))
			re += v * cos
			im += v * sin
		}
		most = max(most, re*re+im*im)
	}
	return 1.02 * most // between two frequencies it may be a little larger
}

// method returns what the configuration names.
func (s *session[T]) method(ctx context.Context) (solve.Method[T, T], solve.Problem[T, T], error) {
	p := solve.Problem[T, T]{A: s.op, B: s.d}
	o := solve.Shrinkage[T]{Eps: s.weight * s.largest, Alpha: s.alpha}
	switch s.Solver.Method {
	case "ista":
		return &solve.ISTA[T, T]{Shrinkage: o}, p, nil
	case "proximal-gradient":
		f, err := prox.L2Operator(ctx, s.op, s.d, 1, prox.InnerDefaults())
		if err != nil {
			return nil, p, err
		}
		g, err := prox.L1[T](ctx, s.v.Space, o.Eps)
		if err != nil {
			return nil, p, err
		}
		smooth, ok := f.(solve.Smooth[T])
		if !ok {
			return nil, p, fmt.Errorf("reflectivity: %T has no gradient", f)
		}
		return &solve.ProximalGradient[T]{F: smooth, G: g, Weight: 1, Tau: s.alpha, Momentum: solve.FISTAMomentum}, solve.Problem[T, T]{}, nil
	}
	return &solve.FISTA[T, T]{Shrinkage: o}, p, nil
}

// results compares the spikes with the truth.
func (s *session[T]) results(ctx context.Context) (*app.Results, error) {
	predicted, err := linop.Apply(ctx, s.op, s.x)
	if err != nil {
		return nil, err
	}
	misfit, err := seismic.Far(ctx, predicted, s.d)
	if err != nil {
		return nil, err
	}
	spikes, err := dist.Norm(ctx, s.x, 0)
	if err != nil {
		return nil, err
	}
	before, after := math.NaN(), math.NaN()
	res := &app.Results{Pictures: func() []app.Picture { return golops.Must(s.pictures(ctx)) }}
	type out struct {
		name string
		of   dist.Array[T]
	}
	files := []out{{"reflectivity.npy", s.x}}
	if s.in.Words != nil {
		files = append(files, out{"reflectivity.segy", s.x})
	}
	files = append(files, out{"least-squares.npy", s.ls})
	if s.truth.Space() != nil {
		if before, err = correlation(ctx, s.ls, s.truth); err != nil {
			return nil, err
		}
		if after, err = correlation(ctx, s.x, s.truth); err != nil {
			return nil, err
		}
		files = append(files, out{"model.npy", s.truth}, out{"data.npy", s.d})
	}
	for _, f := range files {
		saved, err := s.v.Save(ctx, s.r.World, f.name, f.of, s.in)
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
		{Name: "weight", Key: "weight", Value: s.weight, Format: "%.4f"},
		{Name: "spikes per trace", Key: "spikes", Value: spikes * float64(s.in.Dims[2]) / float64(s.v.Space.Size()), Format: "%.1f"},
		{Name: "correlation of least squares", Key: "correlation_least_squares", Value: before, Format: "%.3f"},
		{Name: "correlation with the truth", Key: "correlation", Value: after, Format: "%.3f"},
	}
	return res, nil
}

// correlation returns how much a is like b: 1 is equal but for a factor.
func correlation[T scalar.Scalar](ctx context.Context, a, b dist.Array[T]) (float64, error) {
	dot, err := dist.Dot(ctx, a, b)
	if err != nil {
		return 0, err
	}
	x, err := dist.Norm(ctx, a, 2)
	if err != nil {
		return 0, err
	}
	y, err := dist.Norm(ctx, b, 2)
	return real(scalar.Complex(dot)) / max(x*y, math.SmallestNonzeroFloat64), err
}

func (s *session[T]) section(title string, v []float64) report.Picture {
	return seismic.Section(title, v, s.in.Dims[1], s.Data.Interval, report.Seismic)
}

// pictures draws the middle inline, its middle trace, and the choice of the weight.
func (s *session[T]) pictures(ctx context.Context) ([]app.Picture, error) {
	ny, nx := s.in.Dims[0], s.in.Dims[1]
	sections := report.Panels{Scaling: report.Normalized, Columns: 2}
	traces := report.Curves{Title: fmt.Sprintf("Crossline %d of %d", nx/2+1, nx), X: "sample", Y: "reflection coefficient", Linear: true}
	for i, m := range []struct {
		title string
		of    dist.Array[T]
	}{{"Data", s.d}, {"Least squares", s.ls}, {"Sparse spikes", s.x}, {"Truth", s.truth}} {
		if m.of.Space() == nil {
			continue
		}
		v, err := seismic.Inline(ctx, s.r.World, m.of, ny/2)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		p := s.section(m.title, v)
		p.Scale.Clip = 99.5
		sections.Pictures = append(sections.Pictures, p)
		if i > 0 {
			traces.Curves = append(traces.Curves, seismic.Trace(m.title, v, nx, nx/2))
		}
	}
	list := []app.Picture{
		{File: "sections.png", Title: "Reflection coefficients", Caption: "The middle inline: the data, what least squares make of them, and sparse spikes.", PNG: sections.PNG},
		{File: "traces.png", Title: "One trace", Caption: "Least squares leave the wavelet in; sparse spikes stand where layers meet.", PNG: traces.PNG},
	}
	if len(s.trials) > 0 {
		list = append(list, s.curve())
	}
	return list, nil
}
