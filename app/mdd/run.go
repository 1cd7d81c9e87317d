package mdd

import (
	"fmt"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/report"
	"github.com/golops/golops/solve"
)

// session is the state of a run on one rank. C is the complex type of R.
type session[C, R golops.Scalar] struct {
	*job
	r                  *app.Rank
	g                  golops.Vec[C]      // the kernel, by frequencies
	A                  golops.Operator[R] // of all virtual sources
	d, adj, inv, truth golops.Vec[R]
}

func run[C, R golops.Scalar](r *app.Rank, j *job) *app.Results {
	s := &session[C, R]{job: j, r: r}
	r.Stage("kernel", func() {
		s.g = s.readKernel()
		s.A = s.operator(j.virtual)
	})
	r.Stage("data", s.readData)
	r.Stage("cross-correlation", func() { s.adj = s.A.H().Apply(s.d) })
	s.inv = s.A.Domain().Zero()
	s.solve()
	res := &app.Results{Arrays: []app.Array{app.Save("inverse.npy", s.inv), app.Save("adjoint.npy", s.adj)}, Pictures: s.pictures}
	like := math.NaN()
	if s.Kernel.File == "" {
		res.Arrays = append(res.Arrays, app.Save("model.npy", s.truth), app.Save("data.npy", s.d))
		like = app.Correlation(s.inv, s.truth)
	}
	res.Numbers = []app.Number{{Name: "model correlation", Key: "correlation", Value: like, Format: "%.3f"}}
	return res
}

// readKernel returns the kernel spread over a grid of ranks: frequencies, and rows of each
// matrix.
func (s *session[C, R]) readKernel() golops.Vec[C] {
	n := s.Operator.FrequencyRanks
	if n == 0 {
		n = s.r.Size()
	}
	if s.r.Size()%n != 0 {
		golops.Check(&app.ConfigError{Err: fmt.Errorf("operator.frequency_ranks is %d, which does not divide the %d ranks", n, s.r.Size())})
	}
	grid := dist.Layout{Grid: []int{n, s.r.Size() / n}, Axes: []int{0, 1}}
	to := golops.NewSpace[C](s.r.World, grid, s.Time.Frequencies, s.sources, s.receivers)
	s.r.Work(to.Dist().LocalShape().Dim(0), "frequencies")
	if s.kernel.Complex {
		return load(s.r, s.kernel, to)
	}
	T := golops.NewSpace[R](s.r.World, dist.Split(1), s.kernel.Shape[:]...)
	var g golops.Vec[R]
	if s.Kernel.File == "" {
		g = T.FuncReal(func(i []int) float64 { return s.exampleKernel(i[0], i[1], i[2]) })
	} else {
		g = load(s.r, s.kernel, T)
	}
	F := golops.MDCKernel[C](T, wave.MDCKernelOptions{TwoSided: s.Time.TwoSided, Frequencies: s.Time.Frequencies})
	return golops.Redistribute(F.Range(), to).Apply(F.Apply(g))
}

// operator returns that of so many virtual sources. The model is split by virtual sources
// where there are enough, otherwise by receivers.
func (s *session[C, R]) operator(virtual int) golops.Operator[R] {
	axis := 1
	if s.Operator.Together && virtual >= s.r.Size() {
		axis = 2
	}
	x := golops.NewSpace[R](s.r.World, dist.Split(axis), s.samples, s.receivers, virtual)
	return golops.MDC(s.g, x, wave.MDCOptions{Interval: s.Time.Interval, Spacing: s.Operator.Spacing, TwoSided: s.Time.TwoSided})
}

// readData reads data, or models those of the example.
func (s *session[C, R]) readData() {
	ahead := s.samples - s.data.Shape[0] // samples before the first one of the file, or of the example
	if s.Kernel.File == "" {
		s.truth = s.A.Domain().FuncReal(func(i []int) float64 { return s.exampleModel(i[0]-ahead, i[1], i[2]) })
		s.d = s.A.Apply(s.truth)
		return
	}
	d := load(s.r, s.data, golops.NewSpace[R](s.r.World, s.A.Range().Layout(), s.data.Shape[:]...))
	s.d = golops.Pad(d.Space(), []int{ahead, 0, 0}, []int{0, 0, 0}).Apply(d)
}

// load returns the wavefield of a file.
func load[T golops.Scalar](r *app.Rank, w data.Wavefield, x golops.Space[T]) golops.Vec[T] {
	a, err := data.LoadWavefield[T](r.Context(), w, x.Dist())
	r.Unusable(w.Path, err)
	v := golops.FromArray(r.World, a)
	if v.NormP(math.Inf(1)) == 0 {
		golops.Check(&app.ConfigError{Err: fmt.Errorf("%s is zero everywhere: there is nothing to deconvolve", app.Shown(w.Path))})
	}
	return v
}

// solve inverts all virtual sources at once, or one after the other.
func (s *session[C, R]) solve() {
	if s.Operator.Together {
		s.invert(s.A, s.d, s.inv, s.virtual)
		return
	}
	A := s.operator(1)
	x := A.Domain().Zero()
	for v := 0; v < s.virtual && !s.r.Stopped(); v++ {
		x.Fill(0)
		s.invert(A, golops.Restriction(s.d.Space(), 2, []int{v}).Apply(s.d), x, 1)
		s.inv.AddScaled(1, golops.Restriction(s.inv.Space(), 2, []int{v}).H().Apply(x))
	}
}

// invert solves for x, which has so many virtual sources.
func (s *session[C, R]) invert(A golops.Operator[R], d, x golops.Vec[R], virtual int) {
	s.r.Live = func(x []float64) report.Picture {
		return s.picture("Deconvolution so far", "receiver", x, s.receivers, virtual, virtual/2)
	}
	m := app.Method[R, R](s.Solver.Method)
	if s.Solver.Method == "fista" { // from the largest cross-correlation on, the weight leaves nothing
		m = &solve.FISTA[R, R]{Shrinkage: golops.Shrinkage[R]{Eps: s.Solver.Weight * s.adj.NormP(math.Inf(1)), Threshold: golops.Soft}}
	}
	app.Invert(s.r, s.Solver.Solver, m, A, d, x)
}
