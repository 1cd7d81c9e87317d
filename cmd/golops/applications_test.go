package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/report/reporttest"
)

// quickRuns are the applications besides lsm, with parameters that take a moment and the
// array that matters.
var quickRuns = []struct{ name, config, array string }{
	{"mdd", "example: {sources: 17, receivers: 11, virtual: 3, samples: 100}\ntime: {frequencies: 40}\nsolver: {iterations: 8, tolerance: 0}\n", "inverse.npy"},
	{"ct", "data: {views: 18}\nimage: {size: 32}\nsolver: {iterations: 12, tolerance: 0}\n", "image.npy"},
}

// runTutorial runs the commands of a tutorial page in a folder, in their order, but for
// those of mpirun. They must succeed.
func runTutorial(t *testing.T, page, dir string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	n := 0
	for line := range strings.Lines(string(text)) {
		args, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "    golops ")
		if !is {
			continue
		}
		n++
		if code, _, stderr := golops(t.Context(), args+" --quiet --force"); code != 0 {
			t.Errorf("golops %s: exit code %d: %s", args, code, stderr)
		}
	}
	if n == 0 {
		t.Errorf("%s has no commands", page)
	}
}

func TestTutorialMDD(t *testing.T) {
	page, err := filepath.Abs("../../docs/mdd.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sines := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Sin(float64(i*i%1009)) / float64(1+i%13)
		}
		return v
	}
	err = errors.Join(data.WriteNPY(filepath.Join(dir, "g.npy"), []int{60, 17, 11}, sines(60*17*11)), data.WriteNPY(filepath.Join(dir, "d.npy"), []int{60, 17, 2}, sines(60*17*2)),
		data.WriteSEGY(filepath.Join(dir, "g.segy"), data.SEGYConfig{NumTraces: 17 * 11, NumSamples: 60, Interval: 4000}, func(i int, dst []float32) error {
			dst[i%60] = 1
			return nil
		}, func(int) map[data.Word]int { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	runTutorial(t, page, dir)
}

// Goroutine ranks, MPI and simulated GPUs give the same, and a browser shows the page
// without complaint.
func TestApplications(t *testing.T) {
	for _, app := range quickRuns {
		t.Run(app.name, func(t *testing.T) {
			cfg, dir := config(t, app.config), t.TempDir()
			read := func(out string) []float64 {
				t.Helper()
				_, v, err := data.ReadNPY[float64](filepath.Join(out, app.array))
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			in := func(name string) string { return filepath.Join(dir, name) }
			one := in("one")
			code, stdout, stderr := golops(t.Context(), fmt.Sprintf("%s --ranks 1 --config %s --out %s", app.name, cfg, one))
			if code != 0 || !strings.Contains(stdout, "written to "+one) {
				t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
			}
			want := read(one)
			t.Run("browser", func(t *testing.T) { reporttest.OpenInBrowser(t, filepath.Join(one, "report.html")) })
			compare := func(t *testing.T, out string) {
				t.Helper()
				if d := apart(want, read(out)); !(d < 1e-5) {
					t.Errorf("%s: the result differs by %g", out, d)
				}
			}
			if code, _, stderr := golops(t.Context(), fmt.Sprintf("%s --quiet --ranks 3 --config %s --out %s", app.name, cfg, in("three"))); code != 0 {
				t.Fatal(stderr)
			}
			compare(t, in("three"))
			mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
				ranks := map[string]int{"openmpi": 3}[m.Name]
				out := in(m.Name)
				c := m.Command(t.Context(), max(ranks, 2), os.Args[0], app.name, "--quiet", "--config", cfg, "--out", out)
				c.Env = append(c.Env, childVar+"=1")
				if text, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				compare(t, out)
			})
			t.Run("sim", func(t *testing.T) {
				simulate(t, 2)
				if code, _, stderr := golops(t.Context(), fmt.Sprintf("%s --quiet --device cuda --config %s --out %s", app.name, cfg, in("gpu"))); code != 0 {
					t.Fatal(stderr)
				}
				compare(t, in("gpu"))
			})
		})
	}
}
