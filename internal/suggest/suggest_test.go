package suggest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	have := []string{"lsm", "view", "perf", "info", "iterations", "tolerance", "source_x", "nx", "nz"}
	for typed, want := range map[string]string{
		"iteration": "iterations", "itertions": "iterations", "ITERATIONS": "iterations", "lms": "lsm", "tol": "tolerance",
		"vew": "view", "source-x": "source_x", "nq": "nx", "banana": "", "": "", "x": "nx", "q": "", strings.Repeat("v", 1<<20): "",
	} {
		if got := Word(typed, have); got != want {
			t.Errorf("%.20q: got %q, want %q", typed, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
