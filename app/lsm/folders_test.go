package lsm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/internal/testdevices"
)

// tiny is the example on a grid that takes a moment.
func tiny(t *testing.T) Config {
	c := Default()
	c.Grid.NX, c.Grid.NZ = 21, 15
	c.Acquisition.Sources = Line{Number: 3, First: 50, Last: 150, Depth: 10}
	c.Acquisition.Receivers = Line{Number: 5, First: 0, Last: 200, Depth: 20}
	c.Time.Samples, c.Wavelet.Half, c.Solver.Iterations, c.Solver.Tolerance = 101, 20, 5, 0
	c.Out = filepath.Join(t.TempDir(), "out")
	return c
}

// watch keeps what an observer hears.
type watch struct {
	stages, notes, warnings, saved []string
	relative                       []float64
}

func (w *watch) Stage(name string)                         { w.stages = append(w.stages, name) }
func (w *watch) Iteration(_, _ int, _ string, rel float64) { w.relative = append(w.relative, rel) }
func (w *watch) Note(s string)                             { w.notes = append(w.notes, s) }
func (w *watch) Warn(s string)                             { w.warnings = append(w.warnings, s) }
func (w *watch) Saved(s string)                            { w.saved = append(w.saved, s) }

// attempt runs a job on two ranks and returns what rank 0 gets.
func attempt(t *testing.T, j *Job, w *watch, stop func() app.Stop) (res *app.Result, err error) {
	t.Helper()
	return attemptWith(t, j, w, app.Control{Stop: stop})
}

// attemptWith is attempt with a Control, whose Observer is w on rank 0.
func attemptWith(t *testing.T, j *Job, w *watch, c app.Control) (res *app.Result, err error) {
	t.Helper()
	_ = testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		c := c
		if r.Rank() == 0 {
			c.Observer = w
		}
		out, e := App().Run(ctx, r, j.Task(), c)
		if r.Rank() == 0 {
			res, err = out, e
		}
		return e
	})
	return res, err
}

func prepared(t *testing.T, c Config) *Job {
	t.Helper()
	j, err := Prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// do runs a job that must not fail.
func do(t *testing.T, j *Job) (*app.Result, *watch) {
	t.Helper()
	return doWith(t, j, app.Control{})
}

func doWith(t *testing.T, j *Job, c app.Control) (*app.Result, *watch) {
	t.Helper()
	w := &watch{}
	res, err := attemptWith(t, j, w, c)
	if err != nil {
		t.Fatal(err)
	}
	return res, w
}

// tree returns the content of the files below dir, by name.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func sameTree(a, b map[string]string) bool {
	for n, v := range a {
		if w, ok := b[n]; !ok || v != w {
			return false
		}
	}
	return len(a) == len(b)
}

// entries lists a folder, hidden files included.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// Folders that cannot be used are an error of the user before the first stage,
// and leave everything as it was.
func TestFoldersAreTriedFirst(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *Config, j *app.Control, dir string)
		want   string
	}{
		"out is a file":             {func(c *Config, _ *app.Control, dir string) { c.Out = filepath.Join(dir, "file") }, "is no folder"},
		"out below a file":          {func(c *Config, _ *app.Control, dir string) { c.Out = filepath.Join(dir, "file", "x") }, "not a directory"},
		"out cannot be made":        {func(c *Config, _ *app.Control, _ string) { c.Out = "/proc/golops/x" }, "output folder /proc/golops/x"},
		"out is a dead link":        {func(c *Config, _ *app.Control, dir string) { c.Out = filepath.Join(dir, "dead") }, "a link to something that is not there"},
		"out has other files":       {func(c *Config, _ *app.Control, dir string) { c.Out = filepath.Join(dir, "mine") }, `such as "thesis.tex"`},
		"out has files of the kind": {func(c *Config, _ *app.Control, dir string) { c.Out = filepath.Join(dir, "input") }, "holds no results"},
		"out is a folder of others": {func(c *Config, _ *app.Control, dir string) { c.Out = dir }, "no results of golops lsm"},
		"checkpoint is a file":      {func(c *Config, _ *app.Control, dir string) { c.Checkpoint.Dir = filepath.Join(dir, "file") }, "checkpoint folder"},
		"checkpoint below a file":   {func(c *Config, _ *app.Control, dir string) { c.Checkpoint.Dir = filepath.Join(dir, "file", "x") }, "checkpoint folder"},
		"checkpoint in out":         {func(c *Config, _ *app.Control, _ string) { c.Checkpoint.Dir = filepath.Join(c.Out, "ck") }, "lies in the output folder"},
		"checkpoint is out":         {func(c *Config, _ *app.Control, _ string) { c.Checkpoint.Dir = c.Out }, "lies in the output folder"},
		"restart of nothing":        {func(_ *Config, ctl *app.Control, _ string) { ctl.Restart = true }, "restart needs a checkpoint folder"},
		"no room":                   {func(c *Config, _ *app.Control, _ string) { c.Time.Samples = 1 << 50 }, "make room"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			err := errors.Join(
				os.WriteFile(filepath.Join(dir, "file"), []byte("mine"), 0o666), os.Symlink("nowhere", filepath.Join(dir, "dead")),
				os.Mkdir(filepath.Join(dir, "mine"), 0o777), os.WriteFile(filepath.Join(dir, "mine", "thesis.tex"), []byte("mine"), 0o666),
				os.Mkdir(filepath.Join(dir, "input"), 0o777), os.WriteFile(filepath.Join(dir, "input", "data.npy"), []byte("mine"), 0o666))
			if err != nil {
				t.Fatal(err)
			}
			before := entries(t, dir)
			cfg := tiny(t)
			j := prepared(t, cfg)
			var ctl app.Control
			c.change(&j.Config, &ctl, dir)
			w := &watch{}
			_, err = attemptWith(t, j, w, ctl)
			var bad *app.ConfigError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "rank ") {
				t.Errorf("got %v, want a ConfigError with %q", err, c.want)
			}
			if w.stages != nil {
				t.Errorf("stages %v were begun", w.stages)
			}
			if got := entries(t, dir); !slices.Equal(got, before) {
				t.Errorf("the folder had %v, has %v", before, got)
			}
			if got := entries(t, filepath.Dir(cfg.Out)); len(got) != 0 {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

// Results take the place of older ones, which stay whole under a number, or go
// if the user says so. No file of the older run is left among the new ones.
func TestOlderResults(t *testing.T) {
	c := tiny(t)
	do(t, prepared(t, c))
	first, parent := tree(t, c.Out), filepath.Dir(c.Out)
	if len(first) != 11 {
		t.Errorf("got %v", entries(t, c.Out))
	}
	// The second run has data of its own, so it leaves no model.
	data := filepath.Join(t.TempDir(), "d.npy")
	if err := os.WriteFile(data, []byte(first["data.npy"]), 0o666); err != nil {
		t.Fatal(err)
	}
	other := c
	other.Data.File, other.Velocity.Constant = data, 2000
	res, _ := do(t, prepared(t, other))
	if got := tree(t, c.Out+".1"); !sameTree(got, first) {
		t.Errorf("the older results have changed: %v", entries(t, c.Out+".1"))
	}
	if got, want := res.Notes, []string{"the older results are now in " + c.Out + ".1"}; !slices.Equal(got, want) {
		t.Errorf("notes %q, want %q", got, want)
	}
	if got := entries(t, c.Out); slices.Contains(got, "model.npy") || slices.Contains(got, "data.npy") || !slices.Contains(got, "inverse.npy") {
		t.Errorf("the new results are %v", got)
	}
	if res, _ := doWith(t, prepared(t, c), app.Control{Force: true}); res.Notes != nil {
		t.Errorf("notes %q", res.Notes)
	}
	if got, want := entries(t, parent), []string{"out", "out.1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	do(t, prepared(t, c))
	if got, want := entries(t, parent), []string{"out", "out.1", "out.2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := tree(t, c.Out)["inverse.npy"]; got != first["inverse.npy"] {
		t.Error("the same run gives another image")
	}
}

// An empty folder of the user stays the same folder, the current one too. A
// current folder with results is refused.
func TestOutIsEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	c := tiny(t)
	c.Out = "."
	do(t, prepared(t, c))
	after, err := os.Stat(dir)
	if err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("the folder is another: %v %v", after, err)
	}
	if got := entries(t, dir); len(got) != 11 || !slices.Contains(got, "inverse.npy") {
		t.Errorf("got %v", got)
	}
	if _, err := attempt(t, prepared(t, c), &watch{}, nil); err == nil || !strings.Contains(err.Error(), "it is the current folder") {
		t.Errorf("got %v", err)
	}
}

// A link to a folder is followed.
func TestOutIsLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(real, 0o777), os.Symlink("real", link)); err != nil {
		t.Fatal(err)
	}
	c := tiny(t)
	c.Out = link
	do(t, prepared(t, c))
	first := tree(t, real)
	do(t, prepared(t, c))
	if got, want := entries(t, dir), []string{"link", "real", "real.1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || !sameTree(tree(t, real+".1"), first) {
		t.Errorf("the link or the older results have changed: %v", err)
	}
}

// A folder that another run uses is refused, and its holder named.
func TestFoldersInUse(t *testing.T) {
	c := tiny(t)
	f, err := disk.Acquire(filepath.Join(filepath.Dir(c.Out), ".golops-out.lock"))
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{}
	_, err = attempt(t, prepared(t, c), w, nil)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by \"process %d on ", os.Getpid())) || w.stages != nil {
		t.Errorf("got %v after %v", err, w.stages)
	}
	f.Release()
	c.Checkpoint.Dir = t.TempDir()
	l, err := disk.Acquire(filepath.Join(c.Checkpoint.Dir, ".golops-lock"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = attempt(t, prepared(t, c), w, nil)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by \"process %d on ", os.Getpid())) || w.stages != nil {
		t.Errorf("got %v after %v", err, w.stages)
	}
	l.Release()
	do(t, prepared(t, c))
	if got := entries(t, filepath.Dir(c.Out)); !slices.Equal(got, []string{"out"}) {
		t.Errorf("left behind: %v", got)
	}
}

// What killed runs have left is removed, unless an image is in it.
func TestStaleFolders(t *testing.T) {
	c := tiny(t)
	parent := filepath.Dir(c.Out)
	empty, full := filepath.Join(parent, ".golops-out.partial-1-"), filepath.Join(parent, ".golops-out.partial-2-")
	err := errors.Join(os.Mkdir(empty, 0o777), os.WriteFile(filepath.Join(empty, "adjoint.npy"), nil, 0o666), os.WriteFile(filepath.Join(empty, ".golops-1.tmp"), nil, 0o666),
		os.Mkdir(full, 0o777), os.WriteFile(filepath.Join(full, "inverse.npy"), []byte("precious"), 0o666), os.WriteFile(filepath.Join(parent, ".golops-out.lock"), nil, 0o666))
	if err != nil {
		t.Fatal(err)
	}
	res, w := do(t, prepared(t, c))
	want := []string{empty + ", which a run that was killed had left, is removed", "a run that was killed has left its results in " + full}
	if !slices.Equal(res.Notes, want) || !slices.Equal(w.warnings, want) {
		t.Errorf("notes %q, warnings %q, want %q", res.Notes, w.warnings, want)
	}
	if got := entries(t, parent); !slices.Equal(got, []string{filepath.Base(full), "out"}) {
		t.Errorf("got %v", got)
	}
}

// A stop before the first iteration leaves older results alone.
func TestStopAtOnceKeepsOlder(t *testing.T) {
	c := tiny(t)
	do(t, prepared(t, c))
	before := tree(t, filepath.Dir(c.Out))
	res, err := attempt(t, prepared(t, c), &watch{}, func() app.Stop { return app.Stop{Signal: 2} })
	if err != nil || res.Iterations != 0 || res.Files != nil {
		t.Errorf("%+v: %v", res, err)
	}
	if !sameTree(tree(t, filepath.Dir(c.Out)), before) {
		t.Error("the older results have changed")
	}
}

// A run in a hurry moves its image into place before it writes anything else.
func TestHurry(t *testing.T) {
	c := tiny(t)
	do(t, prepared(t, c))
	w := &watch{}
	var moved []string // what the folder has when it takes its place
	defer disk.Inject(func(op, path string) error {
		if op == disk.OpRename && path == c.Out {
			moved, _ = filepath.Glob(filepath.Join(filepath.Dir(c.Out), ".golops-*", "*"))
		}
		return nil
	})()
	n := 0
	res, err := attempt(t, prepared(t, c), w, func() app.Stop {
		if len(w.relative) < 4 && n == 0 {
			return app.Stop{}
		}
		n++
		return app.Stop{Signal: 2, Hurry: true}
	})
	if err != nil || res.Iterations == 0 || len(res.Files) != 11 {
		t.Fatalf("%+v: %v", res, err)
	}
	if want := []string{"image in " + filepath.Join(c.Out, "inverse.npy")}; !slices.Equal(w.saved, want) {
		t.Errorf("saved %q, want %q", w.saved, want)
	}
	if len(moved) != 1 || filepath.Base(moved[0]) != "inverse.npy" {
		t.Errorf("%v are moved", moved)
	}
	if got := entries(t, c.Out); len(got) != 11 {
		t.Errorf("got %v", got)
	}
}

// The residual that a resumed run tells is relative to the data, as before, and
// it says from where it goes on, or that there was nothing.
func TestResumeTells(t *testing.T) {
	c := tiny(t)
	c.Checkpoint.Dir = filepath.Join(filepath.Dir(c.Out), "state")
	c.Checkpoint.Resume = true
	res, w := do(t, prepared(t, c))
	if want := []string{"no checkpoint in " + c.Checkpoint.Dir + ": starts from the beginning"}; !slices.Equal(w.warnings, want) || !slices.Equal(res.Notes, want) {
		t.Errorf("warnings %q, notes %q", w.warnings, res.Notes)
	}
	if want := []string{fmt.Sprintf("checkpoint of iteration 5 in %s", c.Checkpoint.Dir), "image in " + filepath.Join(c.Out, "inverse.npy")}; !slices.Equal(w.saved, want) {
		t.Errorf("saved %q", w.saved)
	}
	last := w.relative[5]
	c.Solver.Iterations = 8
	res, w = do(t, prepared(t, c))
	if want := []string{"resumed at iteration 5 of " + c.Checkpoint.Dir}; !slices.Equal(w.notes, want) || w.warnings != nil {
		t.Errorf("notes %q, warnings %q", w.notes, w.warnings)
	}
	if len(w.relative) != 4 || w.relative[0] != last || !(w.relative[3] < last) || !near(w.relative[3], res.Reduction) {
		t.Errorf("residuals %v, before %g, at the end %g", w.relative, last, res.Reduction)
	}
	c.Checkpoint.Resume = false
	w = &watch{}
	if _, err := attempt(t, prepared(t, c), w, nil); err == nil || !strings.Contains(err.Error(), "iteration 8") || !strings.Contains(err.Error(), "restart") || w.stages != nil {
		t.Errorf("got %v after %v", err, w.stages)
	}
	if res, _ := doWith(t, prepared(t, c), app.Control{Restart: true}); res.Resumed != 0 || res.Iterations != 8 {
		t.Errorf("restarted: %+v", res)
	}
}

func near(a, b float64) bool { return a-b < 1e-6*a && b-a < 1e-6*a }
