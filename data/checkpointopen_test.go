package data_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/solve"
)

// A run does not touch the checkpoints of an earlier one unless it is told what
// becomes of them.
func TestFolderWithCheckpoints(t *testing.T) {
	cp := twoStates(t)
	before := states(t, cp.Dir)
	cp.Resume = false
	_, err := checkpointed(t, 2, 6, 0, cp)
	for _, want := range []string{cp.Dir, "checkpoints of an earlier run", "iteration 4", "resume", "restart"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	if got := states(t, cp.Dir); !slices.Equal(got, before) {
		t.Errorf("the folder had %v, has %v", before, got)
	}
	cp.Restart = true
	if res, err := checkpointed(t, 2, 3, 0, cp); err != nil || res.Resumed != 0 || res.Notes != nil {
		t.Errorf("%+v: %v", res, err)
	}
	if got, want := states(t, cp.Dir), []string{"iteration-000003-state-000003.checkpoint"}; !slices.Equal(got, want) {
		t.Errorf("restarted: the folder has %v, want %v", got, want)
	}
	cp.Resume = true
	if _, err := checkpointed(t, 2, 3, 0, cp); err == nil || !strings.Contains(err.Error(), "both Resume and Restart") {
		t.Errorf("got %v", err)
	}
}

// A checkpoint of another run that is newer than one of this run is not deleted:
// the run refuses to go on between the two.
func TestResumeAmongOthers(t *testing.T) {
	cp := twoStates(t)
	other := t.TempDir()
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		p, err := newProblem[float64](ctx, r)
		if err == nil {
			p.A, err = linop.Scale(1.001, p.A)
		}
		if err == nil {
			_, err = p.run(ctx, 9, 0, data.Checkpoints{Dir: other, Keep: 2})
		}
		return err
	})
	foreign := filepath.Join(cp.Dir, "iteration-000009-state-000003.checkpoint")
	if err := os.Rename(filepath.Join(other, "iteration-000009-state-000001.checkpoint"), foreign); err != nil {
		t.Fatal(err)
	}
	_, err := checkpointed(t, 2, 6, 0, cp)
	if err == nil || !strings.Contains(err.Error(), "newer checkpoints of another run") || !strings.Contains(err.Error(), "another operator") {
		t.Errorf("got %v", err)
	}
	if got := states(t, cp.Dir); len(got) != 3 {
		t.Errorf("the folder has %v", got)
	}
}

// A folder in use is refused, and its holder named.
func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		f, err := data.Checkpoints{Dir: dir, Keep: 2}.OpenFolder(ctx, r.Comm, nil)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = data.Checkpoints{Dir: dir, Keep: 2}.OpenFolder(ctx, r.Comm, nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by \"process %d on ", os.Getpid())) {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
	if got := states(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// Open with nothing done after it leaves no trace.
func TestOpenLeavesNothing(t *testing.T) {
	top := t.TempDir()
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		f, err := data.Checkpoints{Dir: filepath.Join(top, "a", "b"), Keep: 2}.OpenFolder(ctx, r.Comm, nil)
		if err == nil {
			f.Close()
		}
		return err
	})
	if got := states(t, top); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// A disk that is full at the k-th call, or from then on, costs a checkpoint and
// never the run, the older checkpoint or the truth of the notes.
func TestCheckpointFaults(t *testing.T) {
	want, err := checkpointed(t, 1, 6, 0, data.Checkpoints{})
	if err != nil {
		t.Fatal(err)
	}
	step := soak.Or(int64(2), 1) // of the calls: each fails once, or each once and for ever
	for i, ever := range []bool{false, true} {
		for k := 1 + int64(i)%step; ; k += step {
			cp := twoStates(t)
			var n, from atomic.Int64
			res, err := faulty(t, cp, func(op, path string) error {
				if strings.HasSuffix(path, "lock") || strings.HasSuffix(path, "probe") {
					return nil // those are the start, where a fault is an error
				}
				if c := n.Add(1); c == k || ever && c > k && op != disk.OpRename {
					from.Add(1)
					return syscall.ENOSPC
				}
				return nil
			})
			if err != nil || res.Iters != 6 {
				t.Fatalf("call %d: %+v: %v", k, res, err)
			}
			if err := sameHistory(res.History, want.History, 1e-12); err != nil {
				t.Errorf("call %d: %v", k, err)
			}
			if (from.Load() > 0) != (len(res.Notes) == 1) {
				t.Errorf("call %d: %d faults, notes %q", k, from.Load(), res.Notes)
			}
			for _, name := range states(t, cp.Dir) {
				if strings.HasSuffix(name, ".tmp") {
					t.Errorf("call %d: %s is left", k, name)
				}
			}
			if again, err := checkpointed(t, 3, 6, 0, cp); err != nil || again.Notes != nil || again.Resumed < 4 || again.Resumed != max(4, res.Saved) {
				t.Errorf("call %d: resumed from %d of %d, notes %v: %v", k, again.Resumed, res.Saved, again.Notes, err)
			}
			if n.Load() < k {
				if k < 10 {
					t.Errorf("only %d calls", k-1)
				}
				break
			}
		}
	}
}

// faulty resumes a run while the disk fails.
func faulty(t *testing.T, cp data.Checkpoints, f disk.Fault) (solve.Result, error) {
	t.Helper()
	defer disk.Inject(f)()
	return checkpointed(t, 2, 6, 1, cp)
}

// What a user should know is told when it happens.
func TestNotesComeAtOnce(t *testing.T) {
	cp := twoStates(t)
	var told []string
	defer disk.Inject(func(op, path string) error {
		if strings.Contains(path, "iteration-000005") {
			return syscall.ENOSPC
		}
		return nil
	})()
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		p, err := newProblem[float64](ctx, r)
		if err != nil {
			return err
		}
		x, err := dist.Random[float64](ctx, p.A.Domain(), 3)
		if err != nil {
			return err
		}
		c := solve.Config{MaxIter: 6, Checkpoint: solve.Checkpoint{Saver: cp, Every: 1}}
		if r.Rank() == 0 {
			c.OnNote = func(s string) { told = append(told, s) }
			c.OnIter = func(it solve.Iteration) error {
				if it.K == 5 && len(told) != 0 || it.K == 6 && len(told) != 1 {
					return fmt.Errorf("iteration %d: told %q", it.K, told)
				}
				return nil
			}
		}
		_, err = solve.Run(ctx, p.method, p.Problem, x, c)
		return err
	})
	if len(told) != 1 || !strings.Contains(told[0], "iteration 5 could not be written") || !strings.Contains(told[0], "no space left") {
		t.Errorf("told %q", told)
	}
}
