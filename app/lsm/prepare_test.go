package lsm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops/wave"
)

// layers writes a velocity model of three layers.
func layers(t testing.TB, path string, factor float64, dims ...int) string {
	t.Helper()
	n := 1
	for _, d := range dims {
		n *= d
	}
	v := make([]float64, n)
	nz := dims[len(dims)-1]
	for i := range v {
		v[i] = factor * (1500 + 500*float64(i%nz*3/nz))
	}
	if err := data.WriteNPY(path, dims, v); err != nil {
		t.Fatal(err)
	}
	return path
}

// No number of a configuration ends in a crash: it is refused in words that
// compare with the machine, before memory is taken.
func TestHugeNumbers(t *testing.T) {
	for key, set := range map[string]func(c *Config, n int){
		"nx":        func(c *Config, n int) { c.Grid.NX = n },
		"nz":        func(c *Config, n int) { c.Grid.NZ = n },
		"ny":        func(c *Config, n int) { c.Velocity.Constant, c.Grid.NY = 2000, n },
		"samples":   func(c *Config, n int) { c.Time.Samples = n },
		"sources":   func(c *Config, n int) { c.Acquisition.Sources.Number = n },
		"receivers": func(c *Config, n int) { c.Acquisition.Receivers.Number = n },
		"half":      func(c *Config, n int) { c.Wavelet.Half = n },
		"all":       func(c *Config, n int) { c.Grid.NX, c.Grid.NZ, c.Time.Samples = n, n, n },
	} {
		for _, n := range []int{math.MaxInt, math.MaxInt/2 + 1, 1e12} {
			c := Default()
			set(&c, n)
			_, err := Prepare(c)
			want := "this machine has"
			if key == "half" {
				want = "wavelet.half is"
			}
			var bad *app.ConfigError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s = %d: got %v", key, n, err)
			}
		}
	}
	c := Default()
	c.Checkpoint.Time = 1e300
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "checkpoint.seconds is 1e+300") {
		t.Errorf("seconds: got %v", err)
	}
}

func TestFaultsInNumbers(t *testing.T) {
	for want, set := range map[string]func(c *Config){
		"solver.tolerance is 1, must be below 1":                    func(c *Config) { c.Solver.Tolerance = 1 },
		"solver.tolerance is -1, must not be negative: give 0":      func(c *Config) { c.Solver.Tolerance = -1 },
		"solver.tolerance is NaN":                                   func(c *Config) { c.Solver.Tolerance = math.NaN() },
		"solver.damp is -1, must be finite and not negative":        func(c *Config) { c.Solver.Damp = -1 },
		"operator.aperture is 0 and operator.angle 30: limits need": func(c *Config) { c.Operator.Dynamic, c.Operator.Angle = false, 30 },
		"is time.interval in milliseconds? It is in seconds":        func(c *Config) { c.Time.Interval = 4 },
		"is no text in UTF-8":                                       func(c *Config) { c.Out = "a\xff" },
	} {
		c := Default()
		set(&c)
		if err := c.Validate(); err == nil || err.Error() != strings.TrimSpace(err.Error()) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q alone", err, want)
		}
	}
	for text, ok := range map[string]bool{
		"operator: {dynamic: false}":                         true,
		"operator: {dynamic: false, angle: 0, aperture: 0}":  true,
		"operator: {dynamic: false, angle: 60}":              false,
		"operator: {dynamic: false, aperture: 1}":            false,
		"operator: {angle: 60}":                              true,
		"operator: {dynamic: false}\nsolver: {tolerance: 1}": false,
	} {
		c := Default()
		if err := app.Read(&c, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); (err == nil) != ok {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// An odd half is taken as written too.
func TestWaveletHalf(t *testing.T) {
	for _, half := range []int{1, 2, 39, 40} {
		c := Default()
		c.Wavelet.Half = half
		j, err := Prepare(c)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(j.Wavelet); n != 2*half+1 || j.Wavelet[half] != 1 || j.Wavelet[0] != j.Wavelet[n-1] {
			t.Errorf("half %d: %d samples, %g in the middle", half, n, j.Wavelet[half])
		}
	}
}

func TestWaveletOfZeros(t *testing.T) {
	c := Default()
	c.Wavelet.File = filepath.Join(t.TempDir(), "w.npy")
	if err := data.WriteNPY(c.Wavelet.File, []int{5}, make([]float64, 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := Prepare(c); err == nil || !strings.Contains(err.Error(), "the wavelet is zero everywhere") {
		t.Errorf("got %v", err)
	}
}

// Where nobody says where sources and receivers are, they are spread over the
// model, and that is said; recorded data need a geometry.
func TestAcquisitionOfTheExampleIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	for _, nx := range []int{61, 301} {
		c := Default()
		c.Velocity.File = layers(t, filepath.Join(dir, fmt.Sprint(nx, ".npy")), 1, nx, 41)
		j, err := Prepare(c)
		if err != nil {
			t.Fatal(err)
		}
		width := float64(nx-1) * 10
		if first, last := j.Sources[0].X/width, j.Sources[17].X/width; len(j.Sources) != 18 || first > 0.05 || last < 0.95 || j.Receivers[60].X != width {
			t.Errorf("sources go from %g to %g of the model, receivers to %g", first, last, j.Receivers[60].X)
		}
		if text := strings.Join(j.Warnings, "\n"); !strings.Contains(text, "no geometry is given: 18 sources are spread") || !strings.Contains(text, "61 receivers") {
			t.Errorf("warnings %q", text)
		}
		text, err := App().YAML(j.Config)
		if err != nil {
			t.Fatal(err)
		}
		again := Default()
		if err := app.Read(&again, strings.NewReader(string(text))); err != nil {
			t.Fatal(err)
		}
		if k, err := Prepare(again); err != nil || !slices.Equal(k.Sources, j.Sources) || !slices.Equal(k.Receivers, j.Receivers) || len(k.Warnings) > 0 {
			t.Errorf("again: %v, warnings %v", err, k.Warnings)
		}
		c.Data.File = c.Velocity.File
		if _, err := Prepare(c); err == nil || !strings.Contains(err.Error(), "data need --geometry") {
			t.Errorf("data without geometry: got %v", err)
		}
		if err := app.Read(&c, strings.NewReader("acquisition: {sources: {number: 18}, receivers: {number: 61, last: 300, first: 0}}")); err != nil {
			t.Fatal(err)
		}
		if _, err := Prepare(c); err == nil || strings.Contains(err.Error(), "data need --geometry") {
			t.Errorf("data with lines: got %v", err)
		}
	}
	if j, err := Prepare(Default()); err != nil || len(j.Warnings) > 0 || j.Sources[1] != (wave.Point{X: 150, Z: 10}) {
		t.Errorf("the example: %v, %v", err, j.Warnings)
	}
}

// Numbers in other units are possible, but never without a word.
func TestUnits(t *testing.T) {
	dir := t.TempDir()
	for want, set := range map[string]func(c *Config){
		"velocities are 1.5 to 2.5 m/s: are they in km/s?":              func(c *Config) { c.Velocity.File = layers(t, filepath.Join(dir, "a.npy"), 1e-3, 41, 31) },
		"velocities are 150000 to 250000 m/s: are they in other units?": func(c *Config) { c.Velocity.File = layers(t, filepath.Join(dir, "b.npy"), 100, 41, 31) },
		"time.interval is 0.2 s: is time.interval in milliseconds?":     func(c *Config) { c.Time.Interval, c.Wavelet.Frequency = 0.2, 1 },
		"lie between x = 0 and 0.4 m of a model of 400 m": func(c *Config) {
			c.Acquisition.Geometry = write(t, filepath.Join(dir, "km.csv"), "source,0,0,.01\nreceiver,0.4,0,.02\n")
		},
	} {
		c := small(t)
		set(&c)
		j, err := Prepare(c)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(j.Warnings) != 1 || !strings.Contains(j.Warnings[0], want) {
			t.Errorf("got %q, want %q", j.Warnings, want)
		}
	}
}

// failure runs c and returns the error.
func failure(t *testing.T, c Config, ranks int) error {
	t.Helper()
	job, err := Prepare(c)
	if err != nil {
		return err
	}
	return testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		_, err := App().Run(ctx, r, job.Task(), app.Control{})
		return err
	})
}

// An operator of zeros, an image outside of the aperture and data of zeros are
// errors that say why, before the inversion; nothing is written.
func TestNothingToInvert(t *testing.T) {
	dir := t.TempDir()
	gathers := func(name string, v float64) string {
		d := make([]float64, 5*9*201)
		for i := range d {
			d[i] = v
		}
		path := filepath.Join(dir, name)
		if err := data.WriteNPY(path, []int{5, 9, 201}, d); err != nil {
			t.Fatal(err)
		}
		return path
	}
	apart := write(t, filepath.Join(dir, "apart.csv"), "source,0,0,0\nsource,10,0,0\nsource,20,0,0\nsource,30,0,0\nsource,40,0,0\n"+strings.Repeat("receiver,400,0,10\n", 9))
	ones := gathers("ones.npy", 1)
	for name, v := range map[string]struct {
		set  func(c *Config)
		want string
	}{
		"km/s": {func(c *Config) { c.Velocity.Constant, c.Data.File, c.Acquisition.Geometry = 2, ones, apart }, "no travel time falls into the 0.8 s of the data, the first of source 5 and receiver 1, which are nearest to each other, is 180 s: velocities are 2 to 2 m/s: are they in km/s?"},
		"modelled": {func(c *Config) {
			c.Velocity.File, c.Acquisition.Geometry = layers(t, filepath.Join(dir, "v.npy"), 1e-3, 41, 31), apart
		}, "modelled data are zero everywhere: no travel time falls"},
		"aperture": {func(c *Config) {
			c.Velocity.Constant, c.Data.File, c.Acquisition.Geometry, c.Operator.Aperture = 2000, ones, apart, 1e-6
		}, "operator.aperture of 1e-06 leave out every point"},
		"zero": {func(c *Config) { c.Velocity.Constant, c.Data.File = 2000, gathers("zero.npy", 0) }, "data are zero everywhere in "},
		"underflow": {func(c *Config) {
			c.Velocity.Constant, c.Data.File, c.Operator.Type = 2000, gathers("tiny.npy", 1e-200), "float32"
		}, "as float32, which has nothing below 1e-45"},
	} {
		t.Run(name, func(t *testing.T) {
			c := small(t)
			v.set(&c)
			for _, ranks := range []int{1, 2} {
				err := failure(t, c, ranks)
				var bad *app.ConfigError
				if !errors.As(err, &bad) || !strings.Contains(err.Error(), v.want) {
					t.Errorf("ranks=%d: got %v, want %q", ranks, err, v.want)
				}
			}
			if _, err := os.Stat(c.Out); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// What a run reads does not lie where it writes, links included.
func TestOutputIsNotInput(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	v := layers(t, filepath.Join(dir, "v.npy"), 1, 61, 41)
	if err := os.MkdirAll(filepath.Join(out, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	inner := layers(t, filepath.Join(out, "sub", "model.npy"), 1, 61, 41)
	link, linked := filepath.Join(dir, "link.npy"), filepath.Join(dir, "linked")
	if err := errors.Join(os.Symlink(inner, link), os.Symlink(out, linked)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		velocity, out, state string
		ok                   bool
	}{
		"beside":      {v, out, "", true},
		"beside, new": {v, filepath.Join(dir, "new", "deep"), filepath.Join(dir, "new", "state"), true},
		"like it":     {v, filepath.Join(dir, "v"), "", true},
		"in it":       {inner, out, "", false},
		"by a link":   {link, out, "", false},
		"link to it":  {inner, linked, "", false},
		"same folder": {v, dir, "", false},
		"the file":    {v, v, "", false},
		"state in it": {v, out, filepath.Join(out, "state"), false},
		"state is it": {v, out, out, false},
	} {
		cfg := Default()
		cfg.Velocity.File, cfg.Out, cfg.Checkpoint.Dir = c.velocity, c.out, c.state
		_, err := App().Check(cfg)
		if c.ok && err != nil || !c.ok && (err == nil || !strings.Contains(err.Error(), "lies in the output folder")) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, ok := range map[string]bool{"lsm.yaml": true, "mine.yaml": false, "sub/lsm.yaml": false} {
		c := Default()
		if err := app.ReadFile(&c, write(t, filepath.Join(out, name), "out: "+out+"\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := App().Check(c); (err == nil) != ok {
			t.Errorf("configuration %s: got %v", name, err)
		}
	}
}

func TestGeometry(t *testing.T) {
	dir := t.TempDir()
	s, r := wave.Point{X: 100, Z: 10}, wave.Point{X: 30, Y: 0, Z: 20}
	for name, text := range map[string]string{
		"plain":           "source,100,0,10\nreceiver,30,0,20\n",
		"header":          "kind,x,y,z\nsource,100,0,10\nreceiver,30,0,20\n",
		"other order":     "x,y,z,kind\n100,0,10,source\n30,0,20,receiver\n",
		"no y":            "kind,x,z\nsource,100,10\nreceiver,30,20\n",
		"short":           "type,x,depth\nsrc,100,10\nrec,30,20\n",
		"letters":         "s,100,0,10\nr,30,0,20\n",
		"from Windows":    "\ufeffKind, X, Y, Z\r\n# made by hand\r\nSource, 100, 0, 10\r\nReceiver, 30, 0, 20\r\n",
		"mark, no header": "\ufeffsource,100,0,10\nreceiver,30,0,20\n",
	} {
		src, rec, err := readGeometry(write(t, filepath.Join(dir, "g.csv"), text))
		if err != nil || !slices.Equal(src, []wave.Point{s}) || !slices.Equal(rec, []wave.Point{r}) {
			t.Errorf("%s: got %v, %v, %v", name, src, rec, err)
		}
	}
	for text, want := range map[string]string{
		"kind,x,y,elevation\n":                 `g.csv:1: column "elevation" is unknown: have kind, x, y and z`,
		"kind,x,x,z\n":                         "column x is there twice",
		"x,y,z\n":                              "columns kind, x and z are needed",
		"kind,x,z\nsource,1\n":                 "g.csv:2: has 2 columns, needs 3",
		"source,1,2\n":                         "g.csv:1: has 3 columns, needs 4",
		"source,a,0,1\n":                       `x is "a": coordinates must be numbers`,
		"source,NaN,0,1\n":                     `x is "NaN": coordinates must be numbers`,
		"source,1e999,0,1\n":                   "coordinates must be numbers",
		"source,1,0,1\nstation,1,0,1\n":        `g.csv:2: "station" is neither source nor receiver`,
		"source,1,0,1\n\x1b]0;owned\a,1,0,1\n": `"\x1b]0;owned\a" is neither`,
		"source,\"1\n":                         "g.csv:1:11: ",
		"\x93NUMPY\x01\x00":                    "this is a .npy file",
		"source,1,0,1\n":                       "has 1 sources and 0 receivers",
		"":                                     "has 0 sources and 0 receivers",
	} {
		if _, _, err := readGeometry(write(t, filepath.Join(dir, "g.csv"), text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// FuzzGeometry reads any text: no panic, and every point that is read is finite.
func FuzzGeometry(f *testing.F) {
	for _, s := range []string{"source,1,2,3\nreceiver,4,5,6\n", "x,kind,z\n1,src,2\n", "# c\n\"s\",1,2,3", "kind,x,y,z\r\nr, 1e3 ,-0,.5"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		src, rec, err := parseGeometry(text)
		if err != nil {
			if s := err.Error(); strings.ContainsAny(s, "\x1b\a\x00\n") || len(s) > 1000 {
				t.Errorf("raw or long: %.300q", s)
			}
			return
		}
		for _, p := range slices.Concat(src, rec) {
			if v := p.X + p.Y + p.Z; math.IsNaN(v) && !math.IsInf(p.X+p.Y, 0) {
				t.Errorf("%q gives %v", text, p)
			}
		}
	})
}

// Tables of travel times that no machine holds are an error of the run, too: each
// rank has those of its own sources, so that they are not known before.
func TestHugeTables(t *testing.T) {
	c := small(t)
	c.Grid.NX, c.Grid.NZ, c.Velocity.Smooth = 501, 501, 0
	c.Acquisition.Sources = Line{Number: 1}
	c.Acquisition.Receivers = Line{Number: 1e6, Last: 5000}
	c.Time.Samples, c.Wavelet.Half = 3, 1
	if err := failure(t, c, 1); err == nil || !strings.Contains(err.Error(), "time table of 1000000 points × 251001 nodes: 1.8 TiB asked for") {
		t.Errorf("got %v", err)
	}
}
