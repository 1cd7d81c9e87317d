package golops_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/internal/mpirun"
)

// tutorials runs the programs of the tutorials.
func tutorials(w *golops.World) error {
	for _, p := range []golops.Program{interpolate, denoise, deblur} {
		if err := p(w); err != nil {
			return err
		}
	}
	return nil
}

// TestTutorialPages compares the programs of the pages with the examples, word for word,
// and what they print.
func TestTutorialPages(t *testing.T) {
	source, err := os.ReadFile("tutorial_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for page, programs := range map[string]int{"docs/tutorials/interpolation.md": 1, "docs/tutorials/tv.md": 2} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		shown := strings.Split(string(text), "```go\n")[1:]
		if len(shown) != programs {
			t.Errorf("%s has %d programs, want %d", page, len(shown), programs)
		}
		for _, block := range shown {
			code, rest, _ := strings.Cut(block, "```\n")
			if !strings.Contains(string(source), code) {
				t.Errorf("%s: this is not in tutorial_example_test.go:\n%s", page, code)
			}
			output := regexp.MustCompile(`(?m)^    (.*)$`).FindStringSubmatch(rest)
			if output == nil || strings.Count(string(source), "\t// "+output[1]+"\n") != 3 {
				t.Errorf("%s: the Example does not print this on 1, 2 and 3 ranks: %q", page, output)
			}
		}
		for _, m := range regexp.MustCompile(`\(\.\./(images/[\w-]+\.png)\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat("docs/" + m[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

func TestTutorialsUnderMPI(t *testing.T) {
	source, err := os.ReadFile("tutorial_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 2, os.Args[0])
		c.Env = append(c.Env, childVar+"=tutorials")
		out, err := c.Output()
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(string(source), "\t// "+line) {
				err = errors.Join(err, errors.New("not what goroutine ranks print"))
			}
		}
		if err != nil || strings.Count(string(out), "\n") != 3 {
			t.Errorf("%v, printed:\n%s", err, out)
		}
	})
}
