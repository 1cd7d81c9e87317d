package app_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/spf13/cobra"
)

// What fails in an application is told without lines of Go, whether an expression of the
// front door panics on all ranks or on one, in a stage, in pictures or outside. A fault of
// the user is one line and code 2. A bug keeps its trace.
func TestErrorsOfTheFrontDoor(t *testing.T) {
	stage := func(f func(r *app.Rank)) func(*app.Rank) *app.Results {
		return func(r *app.Rank) *app.Results {
			r.Stage("data", func() { f(r) })
			return &app.Results{Pictures: func() []app.Picture { return nil }}
		}
	}
	for _, c := range []struct {
		name string
		run  func(r *app.Rank) *app.Results
		code int
		want string // all of standard error, or a part if it ends in ...
	}{
		{"user", stage(func(*app.Rank) { golops.Check(&app.ConfigError{Err: errors.New("moon.npy is dark")}) }), 2, "golops: moon.npy is dark\n"},
		{"file on one rank", stage(func(r *app.Rank) {
			var err error
			if r.Rank() == 1 {
				err = errors.New("it is dark")
			}
			r.Unusable("moon.npy", err)
		}), 2, "golops: rank 1: moon.npy: it is dark\n"},
		{"check", stage(func(*app.Rank) { golops.Check(errors.New("no luck")) }), 1, "golops: rank 0: unblur: data: no luck\n"},
		{"expression", stage(func(r *app.Rank) { golops.Smoothing1D(r.Real(4), 5, 3) }), 1, "golops: rank 0: unblur: data: ops: ..."},
		{"expression on one rank", stage(func(r *app.Rank) {
			if r.Rank() == 1 {
				golops.Must(0, errors.New("no luck"))
			}
			r.Real(4)
		}), 1, "golops: rank 1: unblur: data: no luck\n"},
		{"outside", func(r *app.Rank) *app.Results { golops.Check(errors.New("no luck")); return nil }, 1, "golops: rank 0: no luck\n"},
		{"pictures", func(*app.Rank) *app.Results {
			return &app.Results{Pictures: func() []app.Picture { golops.Check(errors.New("no paint")); return nil }}
		}, 1, "golops: rank 0: unblur: results: no paint: ..."},
		{"wrong shape", stage(func(r *app.Rank) { r.Real(4).Zero().Copy(r.Real(5).Zero()) }), 1, "golops: rank 0: unblur: data: attempt_test.go:..."},
		{"bug", stage(func(r *app.Rank) { panic("a bug") }), 1, "a bug..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := App()
			a.Prepare = func(cfg Config) (*app.Task, error) { return &app.Task{Config: cfg, Run: c.run}, nil }
			var out, stderr bytes.Buffer
			root := &cobra.Command{Use: "golops"}
			root.AddCommand(a.Command(app.NewProcess(&out, &stderr, "test")))
			code := app.NewProcess(&out, &stderr, "test").Execute(t.Context(), root, []string{"unblur", "--quiet", "--ranks", "2", "--out", filepath.Join(t.TempDir(), "out")})
			got := stderr.String()
			part, cut := strings.CutSuffix(c.want, "...")
			if code != c.code || !strings.Contains(got, part) || !cut && got != part || out.Len() > 0 {
				t.Errorf("exit code %d, %q, %q, want %d, %q", code, got, out.String(), c.code, c.want)
			}
			if bug := c.name == "wrong shape" || c.name == "bug"; strings.Contains(got, ".go:") != bug {
				t.Errorf("it names lines of Go: %t, want %t:\n%s", !bug, bug, got)
			}
		})
	}
}
