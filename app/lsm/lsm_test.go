package lsm

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops/wave"
)

// small is the example on a small grid.
func small(t *testing.T) Config {
	c := Default()
	c.Grid.NX, c.Grid.NZ = 41, 31
	c.Acquisition.Sources = Line{Number: 5, First: 20, Last: 380, Depth: 10}
	c.Acquisition.Receivers = Line{Number: 9, First: 0, Last: 400, Depth: 20}
	c.Time.Samples, c.Wavelet.Half, c.Solver.Iterations = 201, 20, 8
	c.Out = filepath.Join(t.TempDir(), "out")
	return c
}

// inverse runs c on some ranks and returns the image.
func inverse(t *testing.T, c Config, ranks int) ([]float64, *app.Result) {
	t.Helper()
	return inverseOn(t, testdevices.Local, c, ranks)
}

func inverseOn(t *testing.T, run func(context.Context, int, launch.Program) error, c Config, ranks int) ([]float64, *app.Result) {
	t.Helper()
	job, err := Prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	var res *app.Result
	err = run(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		out, err := App().Run(ctx, r, job.Task(), app.Control{})
		if r.Rank() == 0 {
			res = out
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, v, err := data.ReadNPY[float64](filepath.Join(c.Out, "inverse.npy"))
	if err != nil {
		t.Fatal(err)
	}
	return v, res
}

// The image is the same on devices of other kinds, to single precision.
func TestDevices(t *testing.T) {
	c := small(t)
	c.Operator.Type, c.Operator.Dynamic, c.Operator.Angle = "float32", false, 0
	want, _ := inverse(t, c, 1)
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, ranks := range []int{1, 2} {
			for _, split := range []string{"sources", "model"} {
				c.Operator.Split = split
				if got, _ := inverseOn(t, p.Local, c, ranks); !(apart(want, got) < 1e-4) {
					t.Errorf("ranks=%d: %s split: the image differs by %g", ranks, split, apart(want, got))
				}
			}
		}
	})
}

// The image does not depend on what is spread over ranks, with weights and noise.
func TestSplitsAgree(t *testing.T) {
	c := small(t)
	c.Operator.Dynamic, c.Operator.Aperture, c.Data.Noise = true, 3, 0.1
	want, _ := inverse(t, c, 2)
	c.Operator.Split = "model"
	if got, _ := inverse(t, c, 3); !(apart(want, got) < 1e-6) {
		t.Errorf("the image differs by %g", apart(want, got))
	}
}

func apart(a, b []float64) float64 {
	var d, n float64
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
		n += a[i] * a[i]
	}
	return math.Sqrt(d / n)
}

// The inverse is nearer to the truth than the adjoint, after scaling both.
func TestInverseIsSharper(t *testing.T) {
	c := small(t)
	inv, res := inverse(t, c, 2)
	_, adj, err := data.ReadNPY[float64](filepath.Join(c.Out, "adjoint.npy"))
	if err != nil {
		t.Fatal(err)
	}
	_, truth, err := data.ReadNPY[float64](filepath.Join(c.Out, "model.npy"))
	if err != nil {
		t.Fatal(err)
	}
	a, i := correlation(adj, truth), correlation(inv, truth)
	if i < a+0.1 || math.Abs(i-res.Number("correlation")) > 1e-9 {
		t.Errorf("the adjoint correlates by %g, the inverse by %g, reported %g", a, i, res.Number("correlation"))
	}
}

func correlation(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// Data that were written and are read again, as .npy or as SEG-Y in any order,
// give the same image, and so do travel times from tables.
func TestFromFiles(t *testing.T) {
	c := small(t)
	c.Operator.Dynamic, c.Operator.Angle = false, 0
	want, _ := inverse(t, c, 1)
	job, err := Prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, dims []int, v []float64) string {
		path := filepath.Join(dir, name)
		if err := data.WriteNPY(path, dims, v); err != nil {
			t.Fatal(err)
		}
		return path
	}
	files := c
	files.Velocity.File = write("v.npy", []int{41, 31}, job.Velocity)
	files.Data.File = filepath.Join(c.Out, "data.npy")
	files.Acquisition.Geometry = filepath.Join(dir, "geom.csv")
	var geom strings.Builder
	geom.WriteString("kind,x,y,z\n# a comment\n")
	for _, p := range job.Sources {
		geom.WriteString("source," + strings.Trim(p.String(), "()") + "\n")
	}
	for _, p := range job.Receivers {
		geom.WriteString("Receiver, " + strings.Trim(p.String(), "()") + "\n")
	}
	if err := os.WriteFile(files.Acquisition.Geometry, []byte(geom.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	files.Out = filepath.Join(dir, "npy")
	if got, res := inverse(t, files, 3); apart(want, got) > 1e-9 || !math.IsNaN(res.Number("correlation")) {
		t.Errorf("from .npy: the image differs by %g, correlation %g", apart(want, got), res.Number("correlation"))
	}

	_, d, err := data.ReadNPY[float64](files.Data.File)
	if err != nil {
		t.Fatal(err)
	}
	segy := files
	segy.Data.File = writeSEGY(t, dir, job, d)
	segy.Data.Words = Words{SourceX: "SourceX", ReceiverX: "GroupX", Scalar: "CoordinateScalar"}
	segy.Out = filepath.Join(dir, "segy")
	if got, _ := inverse(t, segy, 2); apart(want, got) > 1e-4 { // samples have 32 bits there
		t.Errorf("from SEG-Y: the image differs by %g", apart(want, got))
	}
	segy.Data.Words.Scalar = ""
	if _, err := Prepare(segy); err == nil || !strings.Contains(err.Error(), "the geometry has none") {
		t.Errorf("coordinates without their scalar: got %v", err)
	}

	tables := files
	tables.Operator.Times = "tables"
	times := func(name string, points []wave.Point) string {
		v, err := wave.TimeTable[float64](t.Context(), job.times, points, 1)
		if err != nil {
			t.Fatal(err)
		}
		return write(name, []int{len(points), 41, 31}, v)
	}
	tables.Operator.Sources, tables.Operator.Receiver = times("s.npy", job.Sources), times("r.npy", job.Receivers)
	tables.Out = filepath.Join(dir, "tables")
	if got, _ := inverse(t, tables, 2); apart(want, got) > 1e-9 {
		t.Errorf("from tables: the image differs by %g", apart(want, got))
	}
}

// writeSEGY writes gathers with the traces in reverse order.
func writeSEGY(t *testing.T, dir string, job *Job, d []float64) string {
	t.Helper()
	n, nr := job.Config.Time.Samples, len(job.Receivers)
	pairs := len(job.Sources) * nr
	path := filepath.Join(dir, "shots.segy")
	err := data.WriteSEGY(path, data.SEGYConfig{NumTraces: pairs, NumSamples: n, Interval: 4000}, func(i int, dst []float32) error {
		p := pairs - 1 - i
		for k := range dst {
			dst[k] = float32(d[p*n+k])
		}
		return nil
	}, func(i int) map[data.Word]int {
		p := pairs - 1 - i
		return map[data.Word]int{data.SourceX: int(job.Sources[p/nr].X * 10), data.GroupX: int(job.Receivers[p%nr].X * 10), data.CoordinateScalar: -10}
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A model of three dimensions, noise, 32 bits, each method, damping.
func TestOtherWays(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"lsqr":             func(c *Config) { c.Solver.Method = "lsqr" },
		"cgls-one-message": func(c *Config) { c.Solver.Method = "cgls-one-message" },
		"float32":          func(c *Config) { c.Operator.Type = "float32" },
		"noise":            func(c *Config) { c.Data.Noise = 0.1; c.Solver.Damp = 1e-9 },
		"limits":           func(c *Config) { c.Operator.Aperture = 2 },
		"3-D": func(c *Config) {
			v := make([]float64, 3*41*31)
			for i := range v {
				v[i] = 1500 + 300*float64(i%31/10)
			}
			c.Velocity.File = filepath.Join(t.TempDir(), "v.npy")
			if err := data.WriteNPY(c.Velocity.File, []int{3, 41, 31}, v); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := small(t)
			change(&c)
			v, res := inverse(t, c, 2)
			for _, x := range v {
				if math.IsNaN(x) {
					t.Fatal("the image has NaN")
				}
			}
			if res.Iterations != 8 || res.Reduction <= 0 || res.Reduction > 0.6 {
				t.Errorf("got %s", res.Summary())
			}
		})
	}
}

// Noise does not depend on the number of ranks, or the image would.
func TestNoiseIsTheSame(t *testing.T) {
	c := small(t)
	c.Data.Noise = 0.2
	one, _ := inverse(t, c, 1)
	if three, _ := inverse(t, c, 3); apart(one, three) > 1e-9 {
		t.Errorf("the image differs by %g", apart(one, three))
	}
}

func TestDefault(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if !c.Example() {
		t.Error("the default is not the example")
	}
	// Every parameter is in the text, with a comment.
	for _, key := range app.Keys(c) {
		if !strings.Contains(DefaultText, key[strings.LastIndex(key, ".")+1:]+":") {
			t.Errorf("%s is not in the default configuration", key)
		}
	}
	var none Config
	if err := none.Validate(); err == nil || strings.Count(err.Error(), "\n") < 8 {
		t.Errorf("an empty configuration: got %v", err)
	}
	if reflect.DeepEqual(none, c) {
		t.Error("the default is empty")
	}
}
