package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/data"
)

// A name that a terminal would obey: it sets the title of a window.
const evil, tamed = "x\x1b]0;owned\a", `x\x1b]0;owned\a`

// Names of files, and keys of files from elsewhere, are shown as text wherever
// the command prints them.
func TestNamesAreShownAsText(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := data.WriteNPY(in(evil+".npy"), []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("keys.yaml"), []byte("\"x\\e]0;owned\\a\": 1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
	}{
		{"view " + in(evil+".npy"), 0},
		{"view " + in(evil+"-missing.npy"), 2},
		{"perf all_reduce --json " + in(evil+"/none.json"), 2},
		{"lsm --config " + in(evil+".yaml"), 2},
		{"lsm --config " + in("keys.yaml"), 2},
		{"lsm --velocity " + in(evil), 2},
		{fmt.Sprintf("lsm --config %s --iterations 1 --ranks 1 --out %s", config(t, quick), in(evil)), 0},
		{evil, 2},
	} {
		code, stdout, stderr := golops(t.Context(), c.args)
		all := stdout + stderr
		if code != c.code || strings.ContainsAny(all, "\x1b\a") || !strings.Contains(all, tamed) {
			t.Errorf("%q: exit code %d, want %d, and %q", c.args, code, c.code, all)
		}
	}
}
