package wave_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/solve"
)

// survey returns what a golden case describes.
func survey(t *testing.T, c golden.Case) (wave.KirchhoffOptions, wave.Grid, error) {
	axis := func(a string) wave.Axis {
		return wave.Axis{N: c.Int("n" + a), Origin: c.Float(a + "0"), Step: c.Float("d" + a)}
	}
	g := wave.Grid{X: axis("x"), Z: axis("z")}
	dims := 2
	if _, ok := c.Params["ny"]; ok {
		g.Y, dims = axis("y"), 3
	}
	points := func(kind string) []wave.Point {
		var p []wave.Point
		z := c.Floats(kind + "z")
		for i, x := range c.Floats(kind + "x") {
			p = append(p, wave.Point{X: x, Z: z[i]})
			if dims == 3 {
				p[i].Y = c.Floats(kind + "y")[i]
			}
		}
		return p
	}
	k := wave.KirchhoffOptions{
		Sources: points("s"), Receivers: points("r"), Samples: c.Int("nt"), Interval: c.Float("dt"),
		Wavelet: c.Floats("wav"), Centre: c.Int("wavcenter"),
	}
	var err error
	if c.Bool("wavfilter") {
		k.Wavelet, err = wave.FilterWavelet(k.Wavelet, k.Interval, dims)
	}
	if c.String("mode") == "byot" {
		tables, e := wave.NewTimeTables(g)
		err = errors.Join(err, e, tables.Add(k.Sources, rows(t, c, "trav_srcs")), tables.Add(k.Receivers, rows(t, c, "trav_recs")))
		k.Times = tables
	} else {
		var e error
		k.Times, e = wave.NewConstant(g, c.Float("vel"))
		err = errors.Join(err, e)
	}
	if c.Bool("dynamic") && err == nil {
		k.Weights, err = dynamic(c, g, k)
	}
	return k, g, err
}

// rows returns a table of PyLops, nodes × points, with one row for each point.
func rows(t *testing.T, c golden.Case, key string) []float64 {
	sh, v := golden.Array[float64](t, c, key)
	out := make([]float64, len(v))
	for i := range sh[0] {
		for p := range sh[1] {
			out[p*sh[0]+i] = v[i*sh[1]+p]
		}
	}
	return out
}

func dynamic(c golden.Case, g wave.Grid, k wave.KirchhoffOptions) (wave.Weights, error) {
	velocity := slices.Repeat([]float64{c.Float("vel")}, g.Nodes())
	a := c.Floats("angle_limits")
	var aperture wave.Taper
	if c.Params["aperture"] != nil {
		l := c.Floats("aperture_limits")
		aperture = wave.Taper{Start: l[1], End: l[1]} // PyLops has a hard limit there
	}
	return wave.NewDynamic(g, velocity, k.Sources, k.Receivers, wave.Taper{Start: a[0], End: a[1]}, aperture)
}

// left are cases that we mean differently, and why.
var left = map[string]string{
	"byot-2d-pairs":    "one table per pair: tables are per source and per receiver here",
	"byot-2d-late":     "one table per pair as well",
	"byot-2d-early":    "negative travel times are an error here",
	"dynamic-2d-byot":  "PyLops takes the angles of given times on a grid of unit steps",
	"dynamic-3d-nodes": "where the gradient of the time is zero, PyLops has NaN and leaves the node out",
}

func TestGoldenKirchhoff(t *testing.T) {
	seen := 0
	for _, c := range golden.CasesIn(t, "lsm", "Kirchhoff") {
		name := strings.Split(c.Name, "/")[1]
		if left[name] != "" {
			continue
		}
		seen++
		for _, ranks := range []int{1, 2, 3} {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				k, _, err := survey(t, c)
				if err != nil {
					return err
				}
				op, err := wave.KirchhoffBySource[float64](ctx, r, k)
				if err != nil {
					return err
				}
				if err := optest.Dot(ctx, op); err != nil {
					return err
				}
				if err := image(t, ctx, c, op, "x", "y"); err != nil {
					return fmt.Errorf("forward: %w", err)
				}
				if err := image(t, ctx, c, linop.H(op), "u", "v"); err != nil {
					return fmt.Errorf("adjoint: %w", err)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s on %d ranks: %v", name, ranks, err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d cases seen", seen)
	}
}

func image(t *testing.T, ctx context.Context, c golden.Case, op linop.Operator[float64], in, out string) error {
	x, err := scatter(t, ctx, c, op.Domain(), in)
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, op, x)
	if err != nil {
		return err
	}
	got, err := dist.AllGather(ctx, y)
	if err != nil {
		return err
	}
	_, want := golden.Array[float64](t, c, out)
	if d := apart(got, want); d > 1e-12 {
		return fmt.Errorf("differs by %g", d)
	}
	return nil
}

func scatter(t *testing.T, ctx context.Context, c golden.Case, s *dist.Space, key string) (dist.Array[float64], error) {
	_, v := golden.Array[float64](t, c, key)
	if s.Comm().Rank() != 0 {
		v = nil
	}
	return dist.Scatter(ctx, s, v)
}

// apart returns ‖a - b‖/‖b‖.
func apart(a, b []float64) float64 {
	var d, n float64
	for i := range b {
		d += (a[i] - b[i]) * (a[i] - b[i])
		n += b[i] * b[i]
	}
	return math.Sqrt(d / n)
}

// The tutorial of PyLops-MPI: data, adjoint and inverse. The rounding of CGLS
// grows in waves there, as testdata/lsm/README.md shows of PyLops-MPI itself:
// its model after 100 iterations differs by 6e-4 from one number of ranks to
// another. The limits here are what any two programs can agree on.
func TestGoldenTutorial(t *testing.T) {
	for _, c := range golden.CasesIn(t, "lsm", "LSM") {
		for ranks := soak.Or(2, 1); ranks <= 2; ranks++ {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error { return tutorial(t, ctx, r, c) })
			if err != nil {
				t.Errorf("%s on %d ranks: %v", c.Name, ranks, err)
			}
		}
	}
}

func tutorial(t *testing.T, ctx context.Context, r dist.Proc, c golden.Case) error {
	k, _, err := survey(t, c)
	if err != nil {
		return err
	}
	op, err := wave.KirchhoffBySource[float64](ctx, r, k)
	if err != nil {
		return err
	}
	m, err := scatter(t, ctx, c, op.Domain(), "refl")
	if err != nil {
		return err
	}
	d, err := linop.Apply(ctx, op, m)
	if err != nil {
		return err
	}
	all, err := dist.AllGather(ctx, d)
	if err != nil {
		return err
	}
	sh, want := golden.Array[float64](t, c, "data")
	for i, s := range c.Ints("data_sources") {
		for rec := range sh[1] {
			got := all[(s*sh[1]+rec)*k.Samples:][:sh[2]]
			if e := apart(got, want[(i*sh[1]+rec)*sh[2]:][:sh[2]]); e > 1e-12 {
				return fmt.Errorf("data of source %d, receiver %d differ by %g", s, rec, e)
			}
		}
	}
	adj, err := linop.Apply(ctx, linop.H(op), d)
	if err != nil {
		return err
	}
	if err := near(t, ctx, c, adj, "adjoint", 1e-12); err != nil {
		return err
	}
	limits := map[int]struct {
		key string
		tol float64
	}{10: {"model10", 1e-10}, 30: {"model30", 1e-5}, 100: {"model100", 1e-2}}
	x, err := dist.New[float64](op.Domain())
	if err != nil {
		return err
	}
	_, err = solve.Run(ctx, &solve.CGLS[float64, float64]{}, solve.Problem[float64, float64]{A: op, B: d}, x, solve.Config{
		MaxIter: 100,
		OnIter: func(it solve.Iteration) error {
			if l, ok := limits[it.K]; ok {
				return near(t, ctx, c, x, l.key, l.tol)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	dist.Zero(x)
	_, err = solve.Run(ctx, &solve.CGLS[float64, float64]{}, solve.Problem[float64, float64]{A: op, B: d}, x, solve.Config{Damp: c.Float("damp"), MaxIter: 100})
	if err != nil {
		return err
	}
	return near(t, ctx, c, x, "model_damped", 1e-4)
}

func near(t *testing.T, ctx context.Context, c golden.Case, x dist.Array[float64], key string, tol float64) error {
	got, err := dist.AllGather(ctx, x)
	if err != nil {
		return err
	}
	_, want := golden.Array[float64](t, c, key)
	d := apart(got, want)
	if x.Space().Comm().Rank() == 0 {
		t.Logf("%s: %s differs by %.1e", c.Name, key, d)
	}
	if d > tol {
		return fmt.Errorf("%s differs by %g", key, d)
	}
	return nil
}
