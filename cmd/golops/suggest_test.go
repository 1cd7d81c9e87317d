package main

import (
	"path/filepath"
	"strings"
	"testing"
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
