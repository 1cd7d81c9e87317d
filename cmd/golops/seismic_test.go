package main

import (
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

// seismic are the applications on seismic volumes, small, with their most important file.
var seismic = []struct{ name, config, image string }{
	{"poststack", "example: {inlines: 5, crosslines: 12, samples: 50}\nwavelet: {half: 10}\nsolver: {iterations: 20}\n", "impedance.npy"},
	{"prestack", "example: {inlines: 4, crosslines: 6, samples: 40}\nwavelet: {half: 10}\nsolver: {iterations: 20}\n", "properties.npy"},
	{"reflectivity", "example: {inlines: 5, crosslines: 12, samples: 50}\nwavelet: {half: 10}\nweight: {iterations: 10}\nsolver: {iterations: 20}\n", "reflectivity.npy"},
}

func array(t *testing.T, path ...string) []float64 {
	t.Helper()
	_, v, err := data.ReadNPY[float64](filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Goroutine ranks, split in one axis or two, MPI ranks and simulated GPUs find the same.
func TestSeismicRanksAgree(t *testing.T) {
	for _, a := range seismic {
		t.Run(a.name, func(t *testing.T) {
			cfg, dir := config(t, a.config), t.TempDir()
			out := func(n int) string { return filepath.Join(dir, fmt.Sprint(n)) }
			run := func(n int, flags string) string {
				t.Helper()
				code, _, stderr := golops(t.Context(), fmt.Sprintf("%s --quiet --config %s --out %s %s", a.name, cfg, out(n), flags))
				if code != 0 {
					t.Fatalf("%s: exit code %d: %s", flags, code, stderr)
				}
				return out(n)
			}
			want := array(t, run(0, "--ranks 1"), a.image)
			for i, flags := range []string{"--ranks 2 --split crosslines", "--ranks 3", "--ranks 4 --split both"} {
				if d := apart(want, array(t, run(i+1, flags), a.image)); !(d < 1e-5) {
					t.Errorf("%s: the result differs by %g", flags, d)
				}
			}
			t.Run("browser", func(t *testing.T) { reporttest.OpenInBrowser(t, filepath.Join(out(0), "report.html")) })
			mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
				ranks := map[string]int{"openmpi": 2, "mpich": 3}[m.Name]
				c := m.Command(t.Context(), ranks, os.Args[0], a.name, "--quiet", "--config", cfg, "--out", filepath.Join(dir, m.Name))
				c.Env = append(c.Env, childVar+"=1")
				if text, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if d := apart(want, array(t, dir, m.Name, a.image)); !(d < 1e-5) {
					t.Errorf("the result differs by %g", d)
				}
			})
			t.Run("GPUs", func(t *testing.T) {
				simulate(t, 2)
				if d := apart(want, array(t, run(9, "--ranks 2 --device cuda"), a.image)); !(d < 1e-5) {
					t.Errorf("the result differs by %g", d)
				}
			})
		})
	}
}

// stack writes a volume of 3 × 4 traces of 50 samples as SEG-Y.
func stack(t *testing.T, path string, traces int, sample func(n, k int) float32) string {
	t.Helper()
	err := data.WriteSEGY(path, data.SEGYConfig{NumTraces: traces, NumSamples: 50, Interval: 4000}, func(n int, dst []float32) error {
		for k := range dst {
			dst[k] = sample(n, k)
		}
		return nil
	}, func(n int) map[data.Word]int {
		return map[data.Word]int{data.Inline: 7 + n/4, data.Crossline: 100 + 2*(n%4), data.CDPX: 11 * n}
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A SEG-Y volume gives impedance with the headers of the data.
func TestPoststackSEGY(t *testing.T) {
	dir := t.TempDir()
	spike := func(n, k int) float32 { return float32(0.05 * math.Exp(-0.1*float64((k-20-n)*(k-20-n)))) }
	in := stack(t, filepath.Join(dir, "stack.segy"), 12, spike)
	out := filepath.Join(dir, "out")
	code, _, stderr := golops(t.Context(), fmt.Sprintf("poststack --quiet --data %s --estimate --ranks 2 --out %s --config %s", in, out, config(t, "wavelet: {half: 10}\nbackground: {first: 4000, last: 6000}\n")))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	s, err := data.OpenVolume(filepath.Join(out, "impedance.segy"), data.Inline, data.Crossline)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if x, err := s.Header(5, data.CDPX); err != nil || x != 55 || s.Interval() != 4000 || len(s.Numbers[0]) != 3 {
		t.Errorf("header %d, interval %d: %v", x, s.Interval(), err)
	}
	trace, z := make([]float32, 50), array(t, out, "impedance.npy")
	if err := s.Trace(6, trace); err != nil || trace[10] != float32(z[6*50+10]) || !(trace[10] > 3000 && trace[10] < 7000) {
		t.Errorf("sample is %g, the array has %g: %v", trace[10], z[6*50+10], err)
	}
}

func TestSeismicBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, dims []int, v float64) string {
		n := 1
		for _, d := range dims {
			n *= d
		}
		all := make([]float64, n)
		for i := range all {
			all[i] = v
		}
		path := filepath.Join(dir, name)
		if err := data.WriteNPY(path, dims, all); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := func(n, k int) float32 { return 1 }
	segy, part := stack(t, filepath.Join(dir, "a.segy"), 12, one), stack(t, filepath.Join(dir, "part.segy"), 11, one)
	vol, back := file("v.npy", []int{3, 4, 50}, 1), file("b.npy", []int{3, 4, 50}, 5000)
	nan := stack(t, filepath.Join(dir, "nan.segy"), 12, func(n, k int) float32 {
		if n == 6 && k == 7 {
			return float32(math.NaN())
		}
		return 1
	})
	gathers := file("g.npy", []int{3, 4, 5, 50}, 1)
	for _, c := range []struct{ args, config, want string }{
		{"poststack --data " + dir + "/none.npy --background " + back, "", "none.npy"},
		{"poststack --data " + vol, "", "no background is given"},
		{"poststack --data " + vol + " --background " + back, "", "data.interval is 0: a .npy file does not say"},
		{"poststack --data " + vol + " --background " + back + " --interval 4", "", "is it in milliseconds?"},
		{"poststack --data " + file("flat.npy", []int{4, 50}, 1) + " --background " + back + " --interval 0.004", "", "flat.npy has shape [4 50]: needs inlines × crosslines × samples"},
		{"poststack --data " + vol + " --interval 0.004 --background " + file("w.npy", []int{3, 4, 51}, 1), "", "w.npy has shape [3 4 51], must be [3 4 50]"},
		{"poststack --data " + vol + " --interval 0.004 --background " + file("neg.npy", []int{3, 4, 50}, -1), "", "neg.npy has an impedance of -1: all must be positive"},
		{"poststack --noise -1", "", "example.noise is -1"},
		{"poststack --data " + part, "background: {first: 1, last: 2}", "there is no trace at Inline 9, Crossline 106"},
		{"poststack --data " + nan, "background: {first: 1, last: 2}", "the sample at [1 2 7] is NaN"},
		{"poststack --data " + segy, "data: {inline: CDP}\nbackground: {first: 1, last: 2}", "traces 0 and 4 are both at CDP 0"},
		{"poststack --data " + segy, "data: {inline: Somewhere}\nbackground: {first: 1, last: 2}", "Somewhere"},
		{"poststack --data " + segy, "background: {first: -1, last: 2}", "impedances must be positive"},
		{"poststack --data " + segy + " --background " + back, "background: {first: 1, last: 2}", "both a file"},
		{"poststack --data " + file("zero.npy", []int{3, 4, 50}, 0) + " --interval 0.004 --background " + back, "", "zero.npy: all samples are zero"},
		{"poststack --wavelet " + file("even.npy", []int{4}, 1), "", "a wavelet has one axis of an odd number"},
		{"poststack --wavelet " + file("nowave.npy", []int{5}, 0), "", "the wavelet is zero everywhere"},
		{"poststack --wavelet " + file("five.npy", []int{5}, 1) + " --estimate", "", "wavelet.estimate is set"},
		{"poststack", "wavelet: {frequency: 130}", "hold less than 125 Hz"},
		{"poststack", "wavelet: {half: 60}", "longer than the traces, which have 50"},
		{"poststack --regularization tv", "", "tv and l1 need one of"},
		{"poststack --regularization none --method admm", "", "tv and l1 need one of"},
		{"poststack --regularization sharp", "", `regularization.kind is "sharp"`},
		{"poststack --weight -1", "", "regularization.weight is -1"},
		{"poststack --by pixel", "", `regularization.by is "pixel"`},
		{"poststack --split time", "", `spread.split is "time"`},
		{"poststack --type int", "", `spread.type is "int"`},
		{"prestack --data " + gathers + " --background " + back, "", "g.npy has 5 angles, the configuration 9"},
		{"prestack --angles 5 --interval 0.004 --data " + gathers + " --background " + back, "", "b.npy has shape [3 4 50], must be [3 4 3 50]"},
		{"prestack --data " + gathers, "", "no background is given"},
		{"prestack --angles 2", "", "angles.number is 2, must be at least 3"},
		{"prestack --last 95", "", "angles go from 0 to 95 degrees"},
		{"prestack --last 0.6", "", "are the angles in radians?"},
		{"prestack --vsvp 1.5", "", "angles.vsvp is 1.5"},
		{"prestack", "angles: {kind: zoeppritz}", `angles.kind is "zoeppritz"`},
		{"prestack --method fista", "", `solver.method is "fista"`},
		{"reflectivity --method cgls", "", "sparse spikes need one of"},
		{"reflectivity --damp 1", "", "solver.damp is 1, must be 0"},
		{"reflectivity --choice best", "", `weight.choice is "best"`},
		{"reflectivity --choice given --weight 2", "", "weight.value is 2, must lie between 0 and 1"},
		{"reflectivity --choice discrepancy --left 0", "", "weight.noise is 0, must lie between 0 and 1"},
		{"reflectivity --choice discrepancy --left 0.0001", "", "even the smallest weight leaves"},
		{"reflectivity", "weight: {trials: 2}", "weight.trials is 2, must be at least 4"},
	} {
		app, flags, _ := strings.Cut(c.args, " ")
		t.Run(c.args, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			text := c.config
			if !strings.Contains(text, "wavelet:") {
				text += "\nwavelet: {half: 10}\n"
			}
			text += "\nexample: {inlines: 2, crosslines: 3, samples: 50}\n"
			code, stdout, stderr := golops(t.Context(), fmt.Sprintf("%s --out %s --config %s %s", app, out, config(t, text), flags))
			if code != 2 || stdout != "" || !strings.Contains(stderr, c.want) {
				t.Errorf("got exit code %d, output %q, error %q, want 2 and %q", code, stdout, stderr, c.want)
			}
			if lines := strings.Split(strings.TrimSpace(stderr), "\n"); !strings.HasPrefix(lines[len(lines)-1], "golops: ") {
				t.Errorf("got %q, want one line at the end", stderr)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("something was written")
			}
		})
	}
}
