package lsm

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// stopped runs c on three ranks and returns the results of all.
func stopped(t *testing.T, c Config, ctl func(rank int) app.Control) [3]*app.Result {
	t.Helper()
	job, err := Prepare(c)
	if err != nil {
		t.Fatal(err)
	}
	var res [3]*app.Result
	err = launch.Config{Ranks: len(res)}.Local(t.Context(), func(ctx context.Context, r dist.Proc) (err error) {
		res[r.Rank()], err = App().Run(ctx, r, job.Task(), ctl(r.Rank()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A signal that one rank gets stops all ranks after the same iteration, and all
// know which it was.
func TestStopOfOneRankReachesAll(t *testing.T) {
	c := small(t)
	asked := 0
	for rank, res := range stopped(t, c, func(rank int) app.Control {
		if rank != 1 {
			return app.Control{}
		}
		return app.Control{Stop: func() (s app.Stop) {
			if asked++; asked == 4 { // the first is before the first iteration
				s = app.Stop{Signal: 15, Hurry: true}
			}
			return s
		}}
	}) {
		if want := (app.Stop{Signal: 15, Hurry: true}); res.Stopped != want || res.Iterations != 3 || res.Status != "stopped" {
			t.Errorf("rank %d: %s after %d iterations by %+v, want stopped after 3 by %+v", rank, res.Status, res.Iterations, res.Stopped, want)
		}
	}
	if _, err := os.Stat(filepath.Join(c.Out, "inverse.npy")); err != nil {
		t.Error(err)
	}
}

// A stop before the first iteration leaves an older result alone.
func TestStopBeforeFirstIterationWritesNothing(t *testing.T) {
	c := small(t)
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(c.Out, "inverse.npy")
	if err := os.WriteFile(old, []byte("older"), 0o666); err != nil {
		t.Fatal(err)
	}
	for rank, res := range stopped(t, c, func(int) app.Control { return app.Control{Stop: func() app.Stop { return app.Stop{Signal: 2} }} }) {
		if res.Iterations != 0 || len(res.Files) != 0 || res.Stopped.Signal != 2 {
			t.Errorf("rank %d: %+v", rank, res)
		}
	}
	if b, err := os.ReadFile(old); string(b) != "older" {
		t.Errorf("the older image is now %q, %v", b, err)
	}
}

// A file called stop in the checkpoint folder stops a run and goes away, so that
// the run can be resumed.
func TestStopFile(t *testing.T) {
	c := small(t)
	c.Checkpoint.Dir = t.TempDir()
	file := filepath.Join(c.Checkpoint.Dir, app.StopFile)
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for rank, res := range stopped(t, c, func(int) app.Control { return app.Control{} }) {
		if res.Status != "stopped" || res.Stopped.Signal != 2 {
			t.Errorf("rank %d: %s by %+v", rank, res.Status, res.Stopped)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there: the next run would stop at once")
	}
}
