package mdd

import (
	"context"
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
)

// small is the example on a few stations.
func small(t *testing.T) Config {
	c := app.Default[Config](DefaultText)
	c.Example.Sources, c.Example.Receivers, c.Example.Virtual, c.Example.Samples = 17, 11, 3, 100
	c.Time.Frequencies, c.Solver.Iterations, c.Solver.Tolerance = 40, 8, 0
	c.Out = filepath.Join(t.TempDir(), "out")
	return c
}

// inverse runs c and returns the wavefield of the virtual sources.
func inverse(t *testing.T, c Config, ranks int) ([]float64, *app.Result) {
	t.Helper()
	return inverseOn(t, testdevices.Local, c, ranks)
}

func inverseOn(t *testing.T, run func(context.Context, int, launch.Program) error, c Config, ranks int) ([]float64, *app.Result) {
	t.Helper()
	task, err := App().Check(c)
	if err != nil {
		t.Fatal(err)
	}
	var res *app.Result
	err = run(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		out, err := App().Run(ctx, r, task, app.Control{})
		if r.Rank() == 0 {
			res = out
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return array(t, filepath.Join(c.Out, "inverse.npy")), res
}

func array(t *testing.T, path string) []float64 {
	t.Helper()
	_, v, err := data.ReadNPY[float64](path)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// apart returns ‖a - b‖/‖a‖.
func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	var d, n float64
	for i := range a {
		d += (a[i] - b[i]) * (a[i] - b[i])
		n += a[i] * a[i]
	}
	return math.Sqrt(d / n)
}

// The example is the tutorial of PyLops-MPI: its data, cross-correlation, model and
// history, on 1 and 2 ranks there and here. PyLops-MPI has √400 in its kernel, and golops
// the √799 of the integral. The rounding of CGLS grows, there too: numbers of ranks agree
// to 2e-10 after 30 iterations, and to 4e-3 after 39.
func TestGolden(t *testing.T) {
	for ranks := soak.Or(2, 1); ranks <= 2; ranks++ {
		c := app.Default[Config](DefaultText)
		c.Solver.Iterations, c.Solver.Tolerance, c.Out = 30, 0, filepath.Join(t.TempDir(), "out")
		inv, _ := inverse(t, c, ranks)
		for _, file := range []string{"mpi1.npz", "mpi2.npz"} {
			golden := func(name string) []float64 {
				_, v, err := data.ReadNPZ[float64]("../../testdata/mdd/"+file, name)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			factor := math.Sqrt(799.0 / 400)
			for name, v := range map[string]struct {
				want  string
				width int
				scale float64
			}{"data.npy": {"data", 101, factor}, "adjoint.npy": {"adjoint", 61, factor * factor}} {
				var thinned []float64
				for i, x := range array(t, filepath.Join(c.Out, name)) {
					if i/v.width%9 == 0 {
						thinned = append(thinned, x/v.scale)
					}
				}
				if d := apart(golden(v.want), thinned); !(d < 1e-6) {
					t.Errorf("ranks=%d, %s: %s differ by %g", ranks, file, v.want, d)
				}
			}
			if d := apart(golden("inverse"), inv); !(d < 1e-6) {
				t.Errorf("ranks=%d, %s: the model differs by %g", ranks, file, d)
			}
			want, got := golden("history"), history(t, c.Out)
			for k := range got {
				if !(math.Abs(got[k]/got[0]-want[k]/want[0]) < 1e-6*want[k]/want[0]) {
					t.Errorf("ranks=%d, %s: residual %g after %d iterations, want %g", ranks, file, got[k]/got[0], k, want[k]/want[0])
				}
			}
			if len(got) != 31 {
				t.Errorf("%d residuals", len(got))
			}
		}
	}
}

// history returns the residuals.
func history(t *testing.T, dir string) (v []float64) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "residuals.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		x, err := strconv.ParseFloat(r[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		v = append(v, x)
	}
	return v
}

// Any number of ranks, any layout of kernel and model, and one virtual source after the
// other give the same, and the deconvolution is more like the truth.
func TestLayoutsAgree(t *testing.T) {
	c := small(t)
	want, res := inverse(t, c, 1)
	like := func(a, b []float64) float64 {
		var ab, aa, bb float64
		for i := range a {
			ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
		}
		return ab / math.Sqrt(aa*bb)
	}
	truth, adj := array(t, filepath.Join(c.Out, "model.npy")), array(t, filepath.Join(c.Out, "adjoint.npy"))
	if a, i := like(adj, truth), like(want, truth); !(i > a+0.05) || math.Abs(i-res.Number("correlation")) > 1e-9 {
		t.Errorf("the correlation with the truth is %g for the adjoint, %g for the inverse, reported %g", a, i, res.Number("correlation"))
	}
	for name, v := range map[string]struct {
		ranks int
		set   func(c *Config)
	}{
		"by receivers": {4, func(*Config) {}},
		"by virtual":   {3, func(*Config) {}},
		"2-D":          {4, func(c *Config) { c.Operator.FrequencyRanks = 2 }},
		"rows only":    {2, func(c *Config) { c.Operator.FrequencyRanks = 1 }},
		"lsqr":         {2, func(c *Config) { c.Solver.Method = "lsqr" }},
		"many ranks":   {soak.Or(7, 13), func(*Config) {}},
		"one message":  {2, func(c *Config) { c.Solver.Method = "cgls-one-message" }},
	} {
		c := small(t)
		v.set(&c)
		if got, _ := inverse(t, c, v.ranks); !(apart(want, got) < 1e-8) {
			t.Errorf("%s: the model differs by %g", name, apart(want, got))
		}
	}
	// One by one, each has its own path to the solution: compare where all are near it.
	c.Solver.Iterations, c.Solver.Damp = 60, 0.2
	c.Out = filepath.Join(t.TempDir(), "damped")
	want, _ = inverse(t, c, 2)
	c.Operator.Together, c.Out = false, filepath.Join(t.TempDir(), "each")
	if got, _ := inverse(t, c, 2); !(apart(want, got) < 1e-5) {
		t.Errorf("one by one: the model differs by %g", apart(want, got))
	}
}

// FISTA finds a wavefield that is more like the spikes of the truth than that of CGLS.
func TestSparse(t *testing.T) {
	c := small(t)
	c.Example.Sources, c.Example.Receivers, c.Example.Virtual, c.Example.Samples = 51, 31, 1, 200
	c.Time.Frequencies, c.Solver.Iterations = 100, 60
	_, plain := inverse(t, c, 1)
	c.Solver.Method, c.Out = "fista", filepath.Join(t.TempDir(), "out")
	x, res := inverse(t, c, 2)
	zeros := 0
	for _, v := range x {
		if v == 0 {
			zeros++
		}
	}
	if !(res.Number("correlation") > plain.Number("correlation")+0.05) || res.Measure != "cost" || zeros < len(x)/2 {
		t.Errorf("correlation %g, of CGLS %g; %d zeros of %d; %s", res.Number("correlation"), plain.Number("correlation"), zeros, len(x), res.Summary())
	}
}

// The model is the same on devices of other kinds, to single precision.
func TestDevices(t *testing.T) {
	c := small(t)
	want, _ := inverse(t, c, 1)
	c.Operator.Type = "float32"
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, ranks := range []int{1, 2} {
			c.Out = filepath.Join(t.TempDir(), "out")
			if got, _ := inverseOn(t, p.Local, c, ranks); !(apart(want, got) < 1e-4) {
				t.Errorf("ranks=%d: the model differs by %g", ranks, apart(want, got))
			}
		}
	})
}

// survey writes the kernel of the example in time, as .npy and as SEG-Y, and in
// frequencies, and its data.
func survey(t *testing.T, c Config, dir string) {
	t.Helper()
	j, err := newJob(c)
	if err != nil {
		t.Fatal(err)
	}
	inverse(t, c, 1)
	e, n := c.Example, c.Example.Samples
	g := make([]float64, n*e.Sources*e.Receivers)
	for i := range g {
		g[i] = j.exampleKernel(i/(e.Sources*e.Receivers), i/e.Receivers%e.Sources, i%e.Receivers)
	}
	f := make([]complex128, j.Time.Frequencies*e.Sources*e.Receivers)
	for k := range j.Time.Frequencies {
		for s := range e.Sources {
			for r := range e.Receivers {
				var sum complex128
				for i := range n {
					sin, cos := math.Sincos(-2 * math.Pi * float64(k) * float64(i+n-1) / float64(j.samples))
					sum += complex(g[(i*e.Sources+s)*e.Receivers+r], 0) * complex(cos, sin)
				}
				f[(k*e.Sources+s)*e.Receivers+r] = sum
			}
		}
	}
	d := array(t, filepath.Join(c.Out, "data.npy"))
	err = errors.Join(data.WriteNPY(filepath.Join(dir, "g.npy"), []int{n, e.Sources, e.Receivers}, g),
		data.WriteNPY(filepath.Join(dir, "f.npy"), []int{j.Time.Frequencies, e.Sources, e.Receivers}, f),
		data.WriteNPY(filepath.Join(dir, "d.npy"), []int{j.samples, e.Sources, e.Virtual}, d),
		data.WriteNPY(filepath.Join(dir, "half.npy"), []int{n, e.Sources, e.Virtual}, d[len(d)-n*e.Sources*e.Virtual:]),
		data.WriteSEGY(filepath.Join(dir, "g.segy"), data.SEGYConfig{NumTraces: e.Sources * e.Receivers, NumSamples: n, Interval: 4000}, func(i int, dst []float32) error {
			for k := range dst {
				dst[k] = float32(j.exampleKernel(k, i/e.Receivers, i%e.Receivers))
			}
			return nil
		}, func(int) map[data.Word]int { return nil }))
	if err != nil {
		t.Fatal(err)
	}
}

// Wavefields from files, in time or in frequencies, NumPy or SEG-Y, give what the example
// gives.
func TestFromFiles(t *testing.T) {
	c, dir := small(t), t.TempDir()
	survey(t, c, dir)
	want := array(t, filepath.Join(c.Out, "inverse.npy"))
	for name, v := range map[string]struct {
		kernel, data string
		sources      int
		tol          float64
	}{"time": {"g.npy", "d.npy", 0, 1e-9}, "frequency": {"f.npy", "d.npy", 0, 1e-9}, "SEG-Y": {"g.segy", "d.npy", 17, 1e-3}} {
		f := c
		f.Kernel.File, f.Kernel.Sources, f.Data.File, f.Out = filepath.Join(dir, v.kernel), v.sources, filepath.Join(dir, v.data), filepath.Join(t.TempDir(), "out")
		got, res := inverse(t, f, 3)
		if d := apart(want, got); !(d < v.tol) || !math.IsNaN(res.Number("correlation")) {
			t.Errorf("%s: the model differs by %g", name, d)
		}
	}
	// Data from time zero on: what they lack at negative times is zero in both.
	f := c
	f.Kernel.File, f.Data.File, f.Out = filepath.Join(dir, "g.npy"), filepath.Join(dir, "half.npy"), filepath.Join(t.TempDir(), "out")
	f.Operator.Together = false
	if got, _ := inverse(t, f, 2); len(got) != len(want) {
		t.Errorf("%d elements, want %d", len(got), len(want))
	}
}

func TestWrongInput(t *testing.T) {
	c, dir := small(t), t.TempDir()
	survey(t, c, dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	zero, nan := make([]float64, 199*17*3), make([]float64, 199*17*3)
	for i := range nan {
		nan[i] = 1
	}
	nan[77] = math.NaN()
	err := errors.Join(data.WriteNPY(in("flat.npy"), []int{4}, make([]float64, 4)), data.WriteNPY(in("other.npy"), []int{199, 16, 3}, make([]float64, 199*16*3)),
		data.WriteNPY(in("brief.npy"), []int{17, 17, 3}, make([]float64, 17*17*3)), data.WriteNPY(in("nothing.npy"), []int{100, 17, 0}, []float64{}),
		data.WriteNPY(in("short.npy"), []int{50, 17, 3}, make([]float64, 50*17*3)), data.WriteNPY(in("even.npy"), []int{100, 17, 3}, make([]float64, 100*17*3)),
		data.WriteNPY(in("zero.npy"), []int{199, 17, 3}, zero), data.WriteNPY(in("nan.npy"), []int{199, 17, 3}, nan), os.WriteFile(in("no.npy"), []byte("x"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	files := func(kernel, data string) func(c *Config) {
		return func(c *Config) { c.Kernel.File, c.Data.File = in(kernel), in(data) }
	}
	for want, set := range map[string]func(c *Config){
		"give both, or none": func(c *Config) { c.Kernel.File = in("g.npy") },
		"none.npy":           files("none.npy", "d.npy"),
		"no.npy":             files("no.npy", "d.npy"),
		"has shape [4]: a wavefield has three axes":               files("flat.npy", "d.npy"),
		"has 16 sources, the kernel":                              files("g.npy", "other.npy"),
		"has 50 samples, the kernel":                              files("g.npy", "short.npy"),
		"their number must be odd":                                files("f.npy", "even.npy"),
		"is complex: data are samples of time":                    files("g.npy", "f.npy"),
		"it must say of how many sources":                         files("g.segy", "d.npy"),
		"time.interval is 0.002 s":                                func(c *Config) { files("g.segy", "d.npy")(c); c.Kernel.Sources, c.Time.Interval = 17, 0.002 },
		"it has 187 traces, which are not those of 16 sources":    func(c *Config) { files("g.segy", "d.npy")(c); c.Kernel.Sources = 16 },
		"has 40 frequencies, data of 17 samples have 9":           func(c *Config) { files("f.npy", "brief.npy")(c); c.Time.TwoSided = false },
		"there is nothing in it":                                  files("g.npy", "nothing.npy"),
		"is zero everywhere: there is nothing to deconvolve":      files("g.npy", "zero.npy"),
		"is NaN: replace what is no number":                       files("g.npy", "nan.npy"),
		"solver.weight is 2, must be above 0 and below 1":         func(c *Config) { c.Solver.Method, c.Solver.Weight = "fista", 2 },
		"solver.damp is 1, which is not for fista":                func(c *Config) { c.Solver.Method, c.Solver.Damp = "fista", 1 },
		"a folder of checkpoints is for one inversion":            func(c *Config) { c.Operator.Together, c.Checkpoint.Dir = false, in("state") },
		"time.interval is 4 s: is it in milliseconds?":            func(c *Config) { c.Time.Interval = 4 },
		"example.frequency is 125 Hz, samples of 0.004 s hold":    func(c *Config) { c.Example.Frequency = 125 },
		"the waves come after 0.2 s, when the samples have ended": func(c *Config) { c.Time.Interval = 0.002 },
		"example.receivers is 4, must be at least 10":             func(c *Config) { c.Example.Receivers = 4 },
		"operator.frequency_ranks is 3, which does not divide":    func(c *Config) { c.Operator.FrequencyRanks = 3 },
		"a kernel of 40 frequencies × 1000000000 sources × 11 re": func(c *Config) { c.Example.Sources = 1e9 },
	} {
		c := small(t)
		set(&c)
		task, err := App().Check(c)
		if err != nil {
			err = &app.ConfigError{Err: err} // every error of Check is
		} else {
			err = testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
				_, err := App().Run(ctx, r, task, app.Control{})
				return err
			})
		}
		var bad *app.ConfigError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, err := os.Stat(c.Out); err == nil {
			t.Errorf("%s: something was written", want)
		}
	}
	c.Time.Frequencies = 1000
	if err := app.Read(&c, strings.NewReader("time: {frequencies: 1000}")); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(c); err == nil || !strings.Contains(err.Error(), "time.frequencies is 1000, there are 100") {
		t.Errorf("got %v", err)
	}
}

func TestDefault(t *testing.T) {
	c := app.Default[Config](DefaultText)
	if err := c.validate(); err != nil {
		t.Error(err)
	}
	for _, key := range app.Keys(c) {
		if !strings.Contains(DefaultText, key[strings.LastIndex(key, ".")+1:]+":") {
			t.Errorf("%s is not in the default configuration", key)
		}
	}
}
