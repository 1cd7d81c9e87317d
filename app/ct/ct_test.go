package ct

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/report/reporttest"
	"github.com/spf13/cobra"
)

const childVar = "GOLOPS_TEST_CHILD"

// TestMain lets a copy of this program be the command, started by mpirun.
func TestMain(m *testing.M) {
	if os.Getenv(childVar) == "" {
		os.Exit(m.Run())
	}
	p := app.NewProcess(os.Stdout, os.Stderr, "test")
	os.Exit(execute(context.Background(), p, os.Args[1:]))
}

func execute(ctx context.Context, p *app.Process, args []string) int {
	root := &cobra.Command{Use: "golops"}
	root.AddCommand(App().Command(p))
	return p.Execute(ctx, root, args)
}

// command runs a command.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = execute(t.Context(), app.NewProcess(&out, &err, "test"), args)
	return code, out.String(), err.String()
}

// small is the example with few pixels.
func small(t *testing.T) Config {
	c := app.Default[Config](DefaultText)
	c.Image.Size, c.Data.Views, c.Solver.Iterations = 40, 18, 15
	c.Geometry.Source, c.Geometry.Detector = 90, 60
	c.Out = filepath.Join(t.TempDir(), "out")
	return c
}

func image(t *testing.T, dir, name string) []float64 {
	t.Helper()
	_, v, err := data.ReadNPY[float64](filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func inverted(t *testing.T, on func(context.Context, int, launch.Program) error, c Config, ranks int) []float64 {
	t.Helper()
	task, err := Prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	err = on(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		_, err := App().Run(ctx, r, task, app.Control{Force: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return image(t, c.Out, "image.npy")
}

func apart(a, b []float64) float64 {
	var d, n float64
	for i := range a {
		d, n = d+(a[i]-b[i])*(a[i]-b[i]), n+a[i]*a[i]
	}
	return math.Sqrt(d / n)
}

// The image does not depend on ranks and devices.
func TestRanksAndDevicesAgree(t *testing.T) {
	for _, method := range []string{"tv", "nonnegative", "lsqr"} {
		c := small(t)
		c.Solver.Method = method
		if method == "nonnegative" {
			c.Geometry.Beam = "fan"
		}
		if method == "lsqr" {
			c.Solver.Iterations = 8 // rounding grows by some ten in each step
		}
		want := inverted(t, testdevices.Local, c, 1)
		for _, ranks := range []int{2, 3} {
			if d := apart(want, inverted(t, testdevices.Local, c, ranks)); !(d < 1e-9) {
				t.Errorf("%s: %d ranks: the image differs by %g", method, ranks, d)
			}
		}
		if method != "tv" {
			continue
		}
		testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
			if d := apart(want, inverted(t, p.Local, c, 2)); !(d < 1e-9) {
				t.Errorf("%s: the image differs by %g", method, d)
			}
		})
	}
}

// MPI ranks make the image of one rank, from files, in single precision.
func TestMPI(t *testing.T) {
	dir := t.TempDir()
	args := func(name string) []string {
		return []string{"ct", "--quiet", "--size", "32", "--views", "20", "--iterations", "20", "--type", "float32", "--out", filepath.Join(dir, name)}
	}
	if code, _, stderr := command(t, append(args("one"), "--ranks", "1")...); code != 0 {
		t.Fatal(stderr)
	}
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		ranks := map[string]int{"openmpi": 2, "mpich": 3}[m.Name]
		c := m.Command(t.Context(), ranks, os.Args[0], append(args(m.Name), "--data", filepath.Join(dir, "one", "sinogram.npy"))...)
		c.Env = append(c.Env, childVar+"=1")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := apart(image(t, filepath.Join(dir, "one"), "image.npy"), image(t, filepath.Join(dir, m.Name), "image.npy")); !(d < 1e-5) {
			t.Errorf("%d ranks: the image differs by %g", ranks, d)
		}
	})
}

// Filtered back-projection is near the truth where views are many, and inversions are
// nearer where they are few.
func TestInversionsAreBetter(t *testing.T) {
	for _, c := range []struct {
		beam, method string
		views        int
		fbp, most    float64 // errors of FBP, and of the inversion relative to it
	}{{"parallel", "cgls", 120, 0.3, 0.6}, {"parallel", "nonnegative", 20, 0.5, 0.8}, {"fan", "tv", 20, 0.6, 0.5}} {
		dir := filepath.Join(t.TempDir(), "out")
		code, stdout, stderr := command(t, "ct", "--json", "--size", "48", "--ranks", "2", "--beam", c.beam, "--method", c.method, "--views", fmt.Sprint(c.views),
			"--iterations", "40", "--filter", "ramp", "--noise", "0.005", "--source", "150", "--detector", "100", "--out", dir)
		var v struct {
			Error, PSNR float64
			FBP         float64 `json:"fbp_error"`
			Files       []string
		}
		if err := json.Unmarshal([]byte(stdout), &v); code != 0 || err != nil {
			t.Fatalf("exit code %d: %v\n%s", code, err, stderr)
		}
		if !(v.FBP < c.fbp && v.Error < c.most*v.FBP && v.PSNR > 15) || len(v.Files) != 11 {
			t.Errorf("%s, %s: %+v", c.beam, c.method, v)
		}
	}
}

// A disc has the right value in filtered back-projection, whatever the units are and
// where the axis is.
func TestBackProjectionHasUnits(t *testing.T) {
	c := small(t)
	c.Geometry.Spacing, c.Geometry.Shift, c.Image.Pixel, c.Image.Size, c.Image.Filter = 0.15, 0.07, 0.2, 48, "ramp"
	const radius, value, views, detectors = 3.1, 0.7, 120, 80
	sinogram := make([]float64, views*detectors)
	for i := range sinogram {
		s := (float64(i%detectors)-float64(detectors-1)/2)*c.Geometry.Spacing + c.Geometry.Shift
		sinogram[i] = 2 * value * math.Sqrt(max(0, radius*radius-s*s))
	}
	c.Data.File = filepath.Join(t.TempDir(), "disc.npy")
	if err := data.WriteNPY(c.Data.File, []int{views, detectors}, sinogram); err != nil {
		t.Fatal(err)
	}
	inverted(t, testdevices.Local, c, 2)
	fbp := image(t, c.Out, "fbp.npy")
	n, inside, mean := c.Image.Size, 0.0, 0.0
	for i, v := range fbp {
		y, x := float64(i/n)-float64(n-1)/2, float64(i%n)-float64(n-1)/2
		if math.Hypot(x, y)*c.Image.Pixel < 0.8*radius {
			inside, mean = inside+1, mean+v
		}
	}
	if mean /= inside; math.Abs(mean-value) > 0.01*value {
		t.Errorf("the disc has %g, want %g", mean, value)
	}
}

// The same sinogram in .npy, .tif and with angles from a file gives the same image, and
// a run from a checkpoint goes on as if nothing had been.
func TestFilesAndCheckpoints(t *testing.T) {
	c := small(t)
	c.Checkpoint.Dir, c.Checkpoint.Every = filepath.Join(t.TempDir(), "state"), 5
	want := inverted(t, testdevices.Local, c, 2)
	dir := c.Out
	_, sinogram, err := data.ReadNPY[float64](filepath.Join(dir, "sinogram.npy"))
	if err != nil {
		t.Fatal(err)
	}
	angles, files := "", t.TempDir()
	for i := range c.Data.Views {
		angles += fmt.Sprintln(float64(i) * 180 / float64(c.Data.Views))
	}
	if err := os.WriteFile(filepath.Join(files, "angles.txt"), []byte(angles), 0o666); err != nil {
		t.Fatal(err)
	}
	err = testdevices.Local(t.Context(), 1, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Data.Views, len(sinogram)/c.Data.Views)
		if err != nil {
			return err
		}
		a, err := dist.Scatter(ctx, s, sinogram)
		if err != nil {
			return err
		}
		return data.SaveTIFF(ctx, filepath.Join(files, "sinogram.tif"), a)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tol := range map[string]float64{filepath.Join(dir, "sinogram.npy"): 1e-9, filepath.Join(files, "sinogram.tif"): 1e-4} {
		d := small(t)
		d.Data.File, d.Data.Angles = name, filepath.Join(files, "angles.txt")
		if got := inverted(t, testdevices.Local, d, 1); !(apart(want, got) < tol) {
			t.Errorf("%s: the image differs by %g", name, apart(want, got))
		}
	}
	long := c
	long.Solver.Iterations, long.Checkpoint.Resume, long.Out = 25, true, filepath.Join(t.TempDir(), "long")
	got := inverted(t, testdevices.Local, long, 3)
	long.Checkpoint, long.Out = app.Checkpoint{}, filepath.Join(t.TempDir(), "straight")
	if d := apart(inverted(t, testdevices.Local, long, 1), got); !(d < 1e-9) {
		t.Errorf("the resumed image differs by %g", d)
	}
}

// Every wrong file, shape, unit and flag is one line and code 2, before anything is
// computed.
func TestWrongInput(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name string, shape []int, v ...float64) error {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return data.WriteNPY(name, shape, slices.Repeat(v, n/len(v)))
	}
	err := errors.Join(
		write("good.npy", []int{20, 30}, 1), write("cube.npy", []int{2, 3, 4}, 1), write("nan.npy", []int{2, 3}, math.NaN()), write("zero.npy", []int{2, 3}, 0),
		write("line.npy", []int{6}, 1), write("empty.npy", []int{2, 0}, 1),
		data.WriteNPY("complex.npy", []int{2, 2}, make([]complex128, 4)),
		os.WriteFile("words.txt", []byte("0\n1\nnorth\n"), 0o666), os.WriteFile("none.txt", nil, 0o666), os.WriteFile("wide.txt", []byte(strings.Repeat("1\n", 30)), 0o666),
		os.WriteFile("few.txt", []byte("0\n90\n"), 0o666), os.WriteFile("radians.txt", []byte(evenly(20, math.Pi)), 0o666), os.WriteFile("huge.txt", []byte("1e9\n"), 0o666),
		os.WriteFile("no.npy", []byte("hello"), 0o666), os.WriteFile("no.tif", []byte("hello, world"), 0o666), os.WriteFile("bad.yaml", []byte("geometry: {beem: fan}\n"), 0o666),
		os.WriteFile("turn.yaml", []byte("data: {turn: fast}\n"), 0o666),
	)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--data nowhere.npy":                   "nowhere.npy: stat: no such file",
		"--data good.png":                      "good.png: an image is a file .npy or .tif",
		"--data no.npy":                        "no.npy",
		"--data no.tif":                        "begins with",
		"--data cube.npy":                      "cube.npy has shape [2 3 4]: a sinogram has two axes, views × detectors",
		"--data line.npy":                      "two axes",
		"--data empty.npy":                     "shape [2 0]",
		"--data complex.npy":                   "complex",
		"--data nan.npy":                       "norm of NaN",
		"--data zero.npy":                      "norm of 0",
		"--data good.npy --angles nowhere.txt": "nowhere.txt: stat: no such file",
		"--data good.npy --angles words.txt":   `words.txt: line 3 is "north": give one angle in degrees per line`,
		"--data good.npy --angles none.txt":    "none.txt",
		"--data good.npy --angles few.txt":     "few.txt has 2 angles, good.npy has 20 views",
		"--data good.npy --angles wide.txt":    "exchange the axes",
		"--data good.npy --angles radians.txt": "are they in radians?",
		"--data good.npy --angles huge.txt":    "must be in degrees",
		"--data good.npy --angles good.npy":    "good.npy: it has shape [20 30]: a list has one axis",
		"--beam cone":                          `geometry.beam is "cone": have [parallel fan]`,
		"--beam fan --source 100":              "geometry.source is 100, must be outside of the image",
		"--beam fan --detector -1":             "geometry.detector is -1",
		"--spacing 0":                          "geometry.spacing is 0",
		"--spacing 1e-9":                       "more than a million detectors",
		"--shift NaN":                          "geometry.shift is NaN",
		"--pixel -2":                           "image.pixel is -2",
		"--size 1":                             "image.size is 1",
		"--size 900000":                        "this machine has",
		"--filter cosine":                      `image.filter is "cosine": have [ramp hann]`,
		"--type int8":                          `image.type is "int8"`,
		"--views 0":                            "data.views is 0",
		"--noise -1":                           "data.noise is -1",
		"--turn 400":                           "data.turn is 400",
		"--method art":                         `solver.method is "art"`,
		"--weight -1":                          "solver.weight is -1",
		"--iterations 0":                       "solver.iterations is 0",
		"--angle angles.txt":                   "did you mean --angles?",
		"good.npy":                             "use --data good.npy",
		"--config bad.yaml":                    `geometry has no key "beem": did you mean beam?`,
		"--config turn.yaml":                   "turn",
		"--resume":                             "checkpoint.resume needs checkpoint.dir",
	} {
		code, stdout, stderr := command(t, append(append([]string{"ct"}, strings.Fields(args)...), "--out", "out", "--quiet", "--ranks", "1")...)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q, want %q", args, code, stdout, stderr, want)
		}
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("there are results")
	}
}

func evenly(n int, turn float64) (text string) {
	for i := range n {
		text += fmt.Sprintln(float64(i) * turn / float64(n))
	}
	return text
}

// The default is valid and has every key, with a comment.
func TestDefault(t *testing.T) {
	c := app.Default[Config](DefaultText)
	if err := c.validate(); err != nil {
		t.Error(err)
	}
	for _, key := range app.Keys(c) {
		last := key[strings.LastIndex(key, ".")+1:]
		if !strings.Contains(DefaultText, last+":") {
			t.Errorf("default.yaml has no %s", key)
		}
	}
}

// The commands of the tutorial do what it says.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../../docs/ct.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../tomography_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```go\n")[1:] {
		code, rest, _ := strings.Cut(block, "```\n")
		_, printed, _ := strings.Cut(rest, "\n    ")
		printed, _, _ = strings.Cut(printed, "\n")
		if !strings.Contains(string(source), code) || strings.Count(string(source), "\t// "+printed+"\n") != 3 {
			t.Errorf("tomography_example_test.go does not have this program, or prints something else than %q:\n%s", printed, code)
		}
	}
	t.Chdir(t.TempDir())
	ran := 0
	for line := range strings.Lines(string(text)) {
		args, is := strings.CutPrefix(strings.TrimSpace(line), "golops ct")
		if !is || !strings.HasPrefix(line, "    ") {
			continue
		}
		ran++
		quick := []string{"--quiet", "--ranks", "2"}
		if !strings.Contains(args, "--size") {
			quick = append(quick, "--size", "32")
		}
		if !strings.Contains(args, "--iterations") {
			quick = append(quick, "--iterations", "20")
		}
		if strings.Contains(args, "--config scan.yaml") {
			_, yaml, _ := strings.Cut(string(text), "    # scan.yaml\n")
			yaml, _, _ = strings.Cut(yaml, "\n\n")
			if err := os.WriteFile("scan.yaml", []byte(strings.ReplaceAll("\n"+yaml, "\n    ", "\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		code, stdout, stderr := command(t, append(append([]string{"ct"}, strings.Fields(args)...), quick...)...)
		if code != 0 {
			t.Errorf("golops ct%s: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
	if ran < 5 {
		t.Errorf("%d commands", ran)
	}
	t.Run("browser", func(t *testing.T) { reporttest.OpenInBrowser(t, filepath.Join("golops-ct", "report.html")) })
}
