package lsm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/internal/soak"
)

// resultFiles are those of a run.
var resultFiles = []string{
	"inverse.npy", "residuals.csv", "lsm.yaml", "adjoint.npy", "model.npy", "data.npy",
	"velocity.png", "images.png", "gather.png", "residuals.png", "report.html",
}

// A disk that is full at the k-th call of a run, or from there on, for every k:
// older results stay whole, there is no half file, what was written is where the
// error says, and a fault at a checkpoint does not end the run.
func TestFullDiskAtEveryCall(t *testing.T) {
	c := tiny(t)
	do(t, prepared(t, c))
	older := tree(t, c.Out)
	step := soak.Or(int64(11), 1) // of the calls that are tried: a run makes some 140
	for _, ever := range []bool{false, true} {
		first := int64(1)
		if ever {
			first = 3
		}
		for k := first; ; k += step {
			if !fullAt(t, c, older, k, ever) {
				if k < 50 {
					t.Errorf("a run makes only %d calls", k)
				}
				break
			}
		}
	}
}

// The same on real disks that are too small: for the results, for a part of them,
// for the checkpoints.
func TestSmallDisks(t *testing.T) {
	c := tiny(t)
	do(t, prepared(t, c))
	older := tree(t, c.Out)
	sizes := []int{440, 520, 600, 700, 840} // kB; the older results take 420
	if soak.On() {
		sizes = nil
		for k := 420; k < 1000; k += 4 {
			sizes = append(sizes, k)
		}
	}
	outcome := map[string]int{}
	for _, kb := range sizes {
		dir := t.TempDir()
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", kb), "tmpfs", dir).CombinedOutput(); err != nil {
			t.Skipf("a small disk needs the right to mount one: %v: %s", err, out)
		}
		t.Cleanup(func() { _ = exec.Command("umount", dir).Run() }) // where a fault has kept it from the one below
		c.Out, c.Checkpoint.Dir, c.Checkpoint.Every = filepath.Join(dir, "out"), filepath.Join(dir, "state"), 1
		for n, text := range older {
			if err := errors.Join(os.MkdirAll(c.Out, 0o777), os.WriteFile(filepath.Join(c.Out, n), []byte(text), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		w := &watch{}
		res, err := attempt(t, prepared(t, c), w, nil)
		for _, problem := range damage(t, dir, older, w, res, err) {
			t.Errorf("%d kB: %s\nthe error is %v, the folder has %v", kb, problem, err, entries(t, dir))
		}
		switch {
		case errors.As(err, new(*app.ConfigError)):
			outcome["refused at the start"]++
		case err != nil:
			outcome["results in part"]++
		default:
			outcome["whole"]++
		}
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if outcome["results in part"] == 0 {
		t.Errorf("got %v: sizes are chosen so that some results fit", outcome)
	}
	t.Log(outcome)
}

// fullAt makes a run in a folder with older results while the k-th call fails. It
// reports whether there was a k-th call.
func fullAt(t *testing.T, c Config, older map[string]string, k int64, ever bool) bool {
	t.Helper()
	dir := t.TempDir()
	c.Out, c.Checkpoint.Dir, c.Checkpoint.Every = filepath.Join(dir, "out"), filepath.Join(dir, "state"), 2
	if err := os.Mkdir(c.Out, 0o777); err != nil {
		t.Fatal(err)
	}
	for n, text := range older {
		if err := os.WriteFile(filepath.Join(c.Out, n), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	j := prepared(t, c)
	var n atomic.Int64
	var hit atomic.Pointer[string] // the first call that failed
	restore := disk.Inject(func(op, path string) error {
		if i := n.Add(1); i < k || i > k && (!ever || op == disk.OpRename || op == disk.OpSync) {
			return nil
		}
		what := fmt.Sprintf("call %d, %s %s", k, op, path)
		hit.CompareAndSwap(nil, &what)
		return syscall.ENOSPC
	})
	w := &watch{}
	res, err := attempt(t, j, w, nil)
	restore()
	if hit.Load() == nil {
		if err != nil || len(res.Files) != len(older) {
			t.Errorf("no fault: %+v: %v", res, err)
		}
		return false
	}
	what := *hit.Load()
	for _, problem := range damage(t, dir, older, w, res, err) {
		t.Errorf("%s (for ever: %t): %s\nthe error is %v, the folder has %v", what, ever, problem, err, entries(t, dir))
	}
	return true
}

// damage lists what is wrong with a folder after a run that met a full disk.
func damage(t *testing.T, dir string, older map[string]string, w *watch, res *app.Result, err error) (bad []string) {
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	kept, images := 0, 0
	for _, n := range entries(t, dir) {
		if n == "state" {
			for _, f := range entries(t, filepath.Join(dir, n)) {
				if !strings.HasSuffix(f, ".checkpoint") {
					say("state has %s", f)
				}
			}
			continue
		}
		files := tree(t, filepath.Join(dir, n))
		switch n {
		case "out", "out.1", "out.new", "out.incomplete":
		default:
			if err == nil || !strings.Contains(err.Error(), n) {
				say("nobody knows of %s", n)
			}
		}
		if sameTree(files, older) {
			kept++
			continue
		}
		for f, text := range files {
			if !slices.Contains(resultFiles, f) {
				say("%s has %s", n, f)
			}
			if strings.HasSuffix(f, ".npy") && text != older[f] { // the same run gives the same arrays
				say("%s of %s is damaged", f, n)
			}
			if _, _, err := data.ReadNPY[float64](filepath.Join(dir, n, f)); strings.HasSuffix(f, ".npy") && err != nil {
				say("%s of %s: %v", f, n, err)
			}
		}
		if files["inverse.npy"] != "" {
			images++
			if err == nil && n != "out" {
				say("the new results are in %s", n)
			}
		}
	}
	if kept != 1 {
		say("%d folders have the older results", kept)
	}
	var usage *app.ConfigError
	switch {
	case errors.As(err, &usage):
		if w.stages != nil || images != 0 {
			say("an error of usage after %v", w.stages)
		}
	case err != nil:
		if !errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "lsm: results: ") {
			say("the error does not tell what happened")
		}
		if images != 1 && !strings.Contains(err.Error(), "inverse.npy") {
			say("%d new images", images)
		}
	case images != 1 || len(res.Files) != len(older):
		say("%d new images, files %v", images, res.Files)
	case w.warnings == nil:
		say("nobody was warned")
	}
	return bad
}
