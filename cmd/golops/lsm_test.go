package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golops/golops/data"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/report/reporttest"
)

const childVar = "GOLOPS_TEST_CHILD"

// TestMain lets a copy of this program be the command, to be killed or started
// by mpirun or by itself.
func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		main()
	}
	os.Setenv(childVar, "1")
	os.Exit(m.Run())
}

// quick is a survey that takes a moment.
const quick = `
grid: {nx: 61, nz: 41}
acquisition:
  sources: {number: 7, first: 50, last: 550}
  receivers: {number: 15, first: 0, last: 600}
time: {samples: 251}
wavelet: {half: 30}
solver: {iterations: 12}
`

func config(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func inverse(t *testing.T, dir string) []float64 {
	t.Helper()
	_, v, err := data.ReadNPY[float64](filepath.Join(dir, "inverse.npy"))
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

// The example gives an image that is like the true model, all files, and a page
// that a browser shows without complaint.
func TestLSM(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := golops(t.Context(), fmt.Sprintf("lsm --config %s --out %s --ranks 3", config(t, quick), out))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"written to " + out, "report.html", "after 12 iterations", "model correlation 0."} {
		if !strings.Contains(stdout, want) {
			t.Errorf("output %q does not say %q", stdout, want)
		}
	}
	if !strings.Contains(stderr, "12/12") {
		t.Errorf("progress %q does not come to its end", stderr)
	}
	for _, f := range []string{"model.npy", "data.npy", "adjoint.npy", "inverse.npy", "residuals.csv", "velocity.png", "images.png", "gather.png", "residuals.png", "report.html"} {
		if st, err := os.Stat(filepath.Join(out, f)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(out, "*tmp*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// A separate test: without a browser only this part is skipped.
	t.Run("browser", func(t *testing.T) { reporttest.OpenInBrowser(t, filepath.Join(out, "report.html")) })

	code, stdout, stderr = golops(t.Context(), "view "+filepath.Join(out, "data.npy")+" --axis 0 --index 2")
	if code != 0 || !strings.Contains(stdout, "data.png") {
		t.Errorf("view: exit code %d, %q %s", code, stdout, stderr)
	}
}

// Goroutine ranks, any number, and MPI ranks make the same image.
func TestLSMRanksAgree(t *testing.T) {
	cfg, dir := config(t, quick), t.TempDir()
	one := filepath.Join(dir, "1")
	for _, split := range []string{"sources", "model"} {
		c := config(t, quick+"operator: {dynamic: false, angle: 0, split: "+split+"}\n")
		if split == "sources" {
			c = cfg
		}
		for _, n := range []int{1, 2, 4} {
			out := filepath.Join(dir, fmt.Sprint(n))
			if code, _, stderr := golops(t.Context(), fmt.Sprintf("lsm --quiet --config %s --out %s --ranks %d", c, out, n)); code != 0 {
				t.Fatalf("%d ranks: exit code %d: %s", n, code, stderr)
			}
			if d := apart(inverse(t, one), inverse(t, out)); d > 1e-5 {
				t.Errorf("split by %s: %d ranks: the image differs by %g", split, n, d)
			}
		}
	}
	golops(t.Context(), fmt.Sprintf("lsm --quiet --config %s --out %s --ranks 1", cfg, one))
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		out := filepath.Join(dir, m.Name)
		c := m.Command(t.Context(), 2, os.Args[0], "lsm", "--quiet", "--config", cfg, "--out", out)
		c.Env = append(c.Env, childVar+"=1")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := apart(inverse(t, one), inverse(t, out)); d > 1e-5 {
			t.Errorf("the image differs by %g", d)
		}
	})
}

func TestLSMJSON(t *testing.T) {
	code, stdout, stderr := golops(t.Context(), fmt.Sprintf("lsm --json --iterations 2 --ranks 2 --config %s --out %s", config(t, quick), t.TempDir()))
	var v struct {
		Status      string
		Iterations  int
		Residual    float64
		Correlation float64
		Timings     []struct{ Rank, Traces int }
		Files       []string
	}
	if err := json.Unmarshal([]byte(stdout), &v); code != 0 || err != nil {
		t.Fatalf("exit code %d: %v\n%s%s", code, err, stdout, stderr)
	}
	if v.Status != "iteration limit" || v.Iterations != 2 || !(v.Residual > 0 && v.Residual < 1) || v.Correlation == 0 || len(v.Timings) != 2 || v.Timings[0].Traces != 56 || len(v.Files) < 10 {
		t.Errorf("got %+v", v)
	}
}

// A run that is killed goes on from its checkpoint, on another number of ranks,
// to the image of a run that nobody disturbed.
func TestLSMResumesAfterKill(t *testing.T) {
	cfg, dir := config(t, strings.Replace(quick, "iterations: 12", "iterations: 30, tolerance: 0", 1)), t.TempDir()
	whole, killed, state := filepath.Join(dir, "whole"), filepath.Join(dir, "killed"), filepath.Join(dir, "state")
	if code, _, stderr := golops(t.Context(), fmt.Sprintf("lsm --quiet --ranks 3 --config %s --out %s", cfg, whole)); code != 0 {
		t.Fatal(stderr)
	}
	every := config(t, "checkpoint: {every: 1}\n"+mustRead(t, cfg))
	c := exec.CommandContext(t.Context(), os.Args[0], "lsm", "--quiet", "--ranks", "4", "--config", every, "--out", killed, "--checkpoint", state)
	c.Env = append(os.Environ(), childVar+"=1")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for n := 0; n < 5; { // until some iterations have been made
		select {
		case err := <-ended:
			t.Fatalf("it ended before it could be killed: %v\n%s", err, &out)
		case <-look.C:
			names, _ := filepath.Glob(filepath.Join(state, "*.checkpoint"))
			for _, name := range names {
				fmt.Sscanf(filepath.Base(name), "iteration-%d", &n)
			}
		}
	}
	c.Process.Signal(syscall.SIGKILL)
	<-ended
	if _, err := os.Stat(killed); err == nil {
		t.Error("the killed run has written results")
	}
	code, stdout, stderr := golops(t.Context(), fmt.Sprintf("lsm --json --ranks 2 --config %s --out %s --checkpoint %s --resume", cfg, killed, state))
	if code != 0 {
		t.Fatal(stderr)
	}
	var v struct{ Iterations, Resumed int }
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || v.Iterations != 30 || v.Resumed < 5 || v.Resumed >= 30 {
		t.Errorf("got %+v (%v), want 30 iterations, some of them resumed", v, err)
	}
	if d := apart(inverse(t, whole), inverse(t, killed)); d > 1e-6 {
		t.Errorf("the image differs by %g", d)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Bad input is one clear line and exit code 2, and nothing is written.
func TestLSMBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, dims []int, f func(i int) float64) string {
		n := 1
		for _, d := range dims {
			n *= d
		}
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		path := filepath.Join(dir, name)
		if err := data.WriteNPY(path, dims, v); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := func(name, s string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	speed := func(int) float64 { return 2000 }
	v := file("v.npy", []int{61, 41}, func(i int) float64 { return 1500 + 10*float64(i%41) })
	zero := file("zero.npy", []int{61, 41}, func(i int) float64 { return float64(i % 41) })
	flat := file("flat.npy", []int{61}, speed)
	for name, c := range map[string]struct{ args, want string }{
		"no config":        {"--config " + dir + "/none.yaml", "none.yaml: no such file"},
		"unknown name":     {"--config " + text("a.yaml", "grid: {nx: 3, nq: 1}"), "nq"},
		"no velocity":      {"--velocity " + dir + "/none.npy", "none.npy"},
		"velocity of zero": {"--velocity " + zero, "velocity is 0 at"},
		"wrong axes":       {"--velocity " + flat, "has shape [61]"},
		"constant model":   {"--velocity " + file("c.npy", []int{61, 41}, speed), "nothing reflects"},
		"no data":          {"--velocity " + v + " --data " + dir + "/none.npy", "none.npy"},
		"shape of data":    {"--velocity " + v + " --data " + file("d.npy", []int{2, 3, 4}, speed), "has shape [2 3 4], the acquisition needs [7 15 251]"},
		"NaN in data": {"--velocity " + v + " --data " + file("nan.npy", []int{7, 15, 251}, func(i int) float64 {
			if i == 2*15*251+4*251+9 {
				return math.NaN()
			}
			return 1
		}), "data are NaN at source 3, receiver 5, sample 10"},
		"no SEG-Y":          {"--velocity " + v + " --data " + text("a.segy", "nothing"), "a.segy"},
		"no geometry":       {"--geometry " + dir + "/none.csv", "none.csv"},
		"geometry outside":  {"--geometry " + text("out.csv", "source,100,0,10\nreceiver,700,0,10\n"), "receiver 1 at (700, 0, 10) lies outside the model"},
		"geometry of words": {"--geometry " + text("words.csv", "source,a,b,c\n"), "coordinates must be numbers"},
		"no receivers":      {"--geometry " + text("none.csv", "kind,x,y,z\nsource,1,0,1\n"), "0 receivers"},
		"iterations":        {"--iterations 0", "solver.iterations is 0"},
		"ranks":             {"--ranks 0", "--ranks is 0"},
		"threads":           {"--threads -1", "--threads is -1"},
		"damp":              {"--damp -1", "golops: solver.damp is -1, must be finite and not negative\n"},
		"method":            {"--method newton", `solver.method is "newton": have [cgls cgls-one-message lsqr]`},
		"type":              {"--type complex64", `operator.type is "complex64"`},
		"resume":            {"--resume", "checkpoint.resume needs checkpoint.dir"},
		"extra":             {"more", `golops lsm takes no argument "more"`},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			args := "lsm --out " + out
			if !strings.Contains(c.args, "--config") {
				args += " --config " + config(t, quick)
			}
			code, stdout, stderr := golops(t.Context(), args+" "+c.args)
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

func TestLSMPrintConfig(t *testing.T) {
	code, stdout, _ := golops(t.Context(), "lsm --print-config")
	if code != 0 || !strings.Contains(stdout, "iterations:") {
		t.Fatalf("exit code %d: %s", code, stdout)
	}
	if code, _, stderr := golops(t.Context(), fmt.Sprintf("lsm --quiet --ranks 2 --iterations 1 --config %s --out %s", config(t, stdout), t.TempDir())); code != 0 {
		t.Errorf("what it prints cannot be read: %s", stderr)
	}
}
