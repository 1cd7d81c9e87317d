package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/spf13/cobra"
)

// run runs the smallest application as a command.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	p := app.NewProcess(&out, &err, "test")
	root := &cobra.Command{Use: "golops"}
	root.AddCommand(App().Command(p))
	code = p.Execute(t.Context(), root, append([]string{"unblur"}, args...))
	return code, out.String(), err.String()
}

// An application of a hundred lines has files, a page, JSON, a configuration that
// repeats the run, and one line for bad input.
func TestSmallestApplication(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	code, stdout, stderr := run(t, "--ranks", "2", "--json", "--out", out)
	var v struct {
		Status         string
		Residual, Mean float64
		Files          []string
		Timings        []struct{ Seconds map[string]float64 }
	}
	if err := json.Unmarshal([]byte(stdout), &v); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
	want := "sharp.npy residuals.csv unblur.yaml blurred.npy pictures.png residuals.png report.html"
	if strings.Join(v.Files, " ") != want || !(v.Residual < 1e-2) || !(v.Mean > 0.4 && v.Mean < 0.6) || len(v.Timings) != 2 || v.Timings[1].Seconds["inversion"] == 0 {
		t.Errorf("got %+v", v)
	}
	// Its own files and its own configuration give the same picture.
	again := filepath.Join(dir, "again")
	code, _, stderr = run(t, "--ranks", "1", "--quiet", "--config", filepath.Join(out, "unblur.yaml"), "--picture", filepath.Join(out, "blurred.npy"), "--out", again)
	_, a, erra := data.ReadNPY[float64](filepath.Join(out, "sharp.npy"))
	_, b, errb := data.ReadNPY[float64](filepath.Join(again, "sharp.npy"))
	if code != 0 || erra != nil || errb != nil || len(a) != len(b) {
		t.Fatalf("exit code %d, %v, %v: %s", code, erra, errb, stderr)
	}
	for i := range a {
		if d := a[i] - b[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("element %d is %g, and %g from its own file", i, a[i], b[i])
		}
	}
	t.Chdir(dir)
	if err := errors.Join(os.WriteFile("bad.yaml", []byte("widht: 3\n"), 0o666), os.WriteFile("even.yaml", []byte("width: 2\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--size 0":                 "unknown flag: --size",
		"--pictur a.npy":           "did you mean --picture?",
		"--picture nowhere.npy":    "nowhere.npy",
		"moon.npy":                 "golops unblur takes no argument \"moon.npy\": use --picture moon.npy",
		"--method newton":          `solver.method is "newton": have [cgls cgls-one-message lsqr]`,
		"--config no.yaml":         "no.yaml: no such file",
		"--config bad.yaml":        `bad.yaml:1:1: there is no key "widht": did you mean width? There are file, size, width, solver, checkpoint, out`,
		"--config even.yaml":       "width is 2",
		"--checkpoint " + out:      "lies in the output folder",
		"--resume":                 "checkpoint.resume needs checkpoint.dir",
		"--config out/unblur.yaml": "",
	} {
		code, stdout, stderr := run(t, append(strings.Fields(args), "--out", "out", "--quiet", "--ranks", "1")...)
		if want == "" {
			if code != 0 {
				t.Errorf("%s: exit code %d: %s", args, code, stderr)
			}
			continue
		}
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, %q, want %q", args, code, stdout, stderr, want)
		}
	}
	if code, stdout, _ := run(t, "--print-config"); code != 0 || stdout != defaultText {
		t.Errorf("--print-config: exit code %d, %q", code, stdout)
	}
}

// CONTRIBUTING.md shows lines of the smallest application, word for word.
func TestContributing(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	source, serr := os.ReadFile("smallest_test.go")
	if err != nil || serr != nil {
		t.Fatal(err, serr)
	}
	_, section, _ := strings.Cut(string(text), "### A new application\n")
	section, _, _ = strings.Cut(section, "\n### ")
	blocks := strings.Split(section, "```go\n")[1:]
	for _, b := range blocks {
		if code, _, _ := strings.Cut(b, "```"); !strings.Contains(string(source), code) {
			t.Errorf("smallest_test.go does not have\n%s", code)
		}
	}
	if len(blocks) != 4 {
		t.Errorf("%d pieces of code", len(blocks))
	}
}

// All ranks end with the code of the stop, so that no launcher takes the run for
// complete, and the result is printed before the ranks end: the end of MPI may
// hang.
func TestRanksPrintBeforeTheyEnd(t *testing.T) {
	var out, stderr bytes.Buffer
	rank, err := App().RankProgram(app.NewProcess(&out, &stderr, ""), "--out", filepath.Join(t.TempDir(), "out"), "--iterations", "2")
	if err != nil {
		t.Fatal(err)
	}
	err = launch.Config{Ranks: 2}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		err := rank(ctx, r)
		if r.Rank() == 0 && !strings.Contains(out.String(), "after 2 iterations") {
			t.Errorf("rank 0 has returned and printed %q", &out)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
