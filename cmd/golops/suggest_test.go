package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/app/lsm"
	"github.com/golops/golops/data"
)

// A typo is one line that says what was meant.
func TestTypos(t *testing.T) {
	for args, want := range map[string]string{
		"lms":                             `unknown command "lms" for "golops": did you mean golops lsm?`,
		"banana":                          `unknown command "banana" for "golops": have `,
		"lsm --iteration 5":               "unknown flag: --iteration: did you mean --iterations?",
		"lsm --velocty v.npy":             "did you mean --velocity?",
		"lsm --banana":                    "unknown flag: --banana: golops lsm --help lists the flags",
		"view --titel x a.npy":            "did you mean --title?",
		"lsm survey.yaml":                 `golops lsm takes no argument "survey.yaml": use --config survey.yaml`,
		"lsm --iterations 3 g.csv":        "use --geometry g.csv",
		"lsm shots.segy":                  "use --data shots.segy",
		"lsm more":                        `golops lsm takes no argument "more": golops lsm --help lists the flags`,
		"info survey.yaml":                `golops info takes no argument "survey.yaml": golops info --help`,
		"lsm --ranks -2":                  "golops: --ranks is -2, must be 1 to 4096\n",
		"lsm --ranks 100000":              "golops: --ranks is 100000, must be 1 to 4096\n",
		"lsm --threads 100000":            "golops: --threads is 100000, must be 1 to 4096\n",
		"lsm --ranks 9223372036854775807": "must be 1 to 4096\n",
		"lsm --damp -1":                   "golops: solver.damp is -1, must be finite and not negative\n",
		"lsm --tol 1":                     "solver.tolerance is 1, must be below 1",
		"lsm --tol NaN":                   "solver.tolerance is NaN",
	} {
		if strings.HasPrefix(args, "lsm") {
			args += " --out " + filepath.Join(t.TempDir(), "out")
		}
		code, stdout, stderr := golops(t.Context(), args)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

// What is strange is said on standard error, in the JSON and on the page, and the
// run goes on.
func TestWarnings(t *testing.T) {
	dir := t.TempDir()
	v := make([]float64, 61*41)
	for i := range v {
		v[i] = 1500 + 300*float64(i%41/10)
	}
	file := filepath.Join(dir, "v.npy")
	if err := data.WriteNPY(file, []int{61, 41}, v); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	code, stdout, stderr := golops(t.Context(), "lsm --iterations 1 --ranks 2 --json --velocity "+file+" --out "+out)
	const want = "no geometry is given: 18 sources are spread over the model"
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	if code != 0 || err != nil || strings.Count(stderr, "warning: "+want) != 1 || !strings.Contains(stdout, want) || !strings.Contains(string(page), want) {
		t.Errorf("exit code %d, %v: %q, %q", code, err, stderr, stdout)
	}
	// What it has left repeats it, with what was made up now given.
	code, stdout, stderr = golops(t.Context(), "lsm --json --ranks 1 --config "+filepath.Join(out, "lsm.yaml"))
	if code != 0 || strings.Contains(stderr, want) || !strings.Contains(stdout, `"iterations": 1`) {
		t.Errorf("again: exit code %d, %q, %q", code, stderr, stdout)
	}
	if old, err := filepath.Glob(filepath.Join(dir, "out*", "inverse.npy")); err != nil || len(old) != 2 || apart(inverse(t, filepath.Dir(old[0])), inverse(t, filepath.Dir(old[1]))) > 1e-12 {
		t.Errorf("images %v are not the same: %v", old, err)
	}
}

// Flags reach the parameters that own data need first.
func TestFlagsOfOwnData(t *testing.T) {
	dir := t.TempDir()
	v := make([]float64, 31*21)
	for i := range v {
		v[i] = 1500 + 300*float64(i%21/5)
	}
	file, out := filepath.Join(dir, "v.npy"), filepath.Join(dir, "out")
	if err := data.WriteNPY(file, []int{31, 21}, v); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := golops(t.Context(), "lsm --iterations 1 --ranks 1 --quiet --dx 5 --dz 4 --samples 201 --interval 0.002 --frequency 35 --velocity "+file+" --out "+out)
	if code != 0 {
		t.Fatalf("exit code %d: %q", code, stderr)
	}
	c := lsm.Default()
	if err := app.ReadFile(&c, filepath.Join(out, "lsm.yaml")); err != nil {
		t.Fatal(err)
	}
	if c.Grid.DX != 5 || c.Grid.DZ != 4 || c.Time.Samples != 201 || c.Time.Interval != 0.002 || c.Wavelet.Frequency != 35 {
		t.Errorf("the run had %+v, %+v, %+v", c.Grid, c.Time, c.Wavelet)
	}
}
