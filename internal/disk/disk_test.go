package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/internal/disk"
)

func put(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// Whatever call fails, the old file stays whole and nothing is left beside it.
func TestSaveFaults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	full := fs.ErrPermission // any error will do
	k := int64(1)
	for ; ; k++ {
		var n atomic.Int64
		restore := disk.Inject(func(op, _ string) error {
			if n.Add(1) == k {
				return fmt.Errorf("call %d, %s: %w", k, op, full)
			}
			return nil
		})
		err := disk.Save(path, put("new"))
		restore()
		if n.Load() < k {
			if err != nil {
				t.Error(err)
			}
			break
		}
		if !errors.Is(err, full) {
			t.Errorf("call %d: got %v", k, err)
		}
		if b, _ := os.ReadFile(path); string(b) != "old" {
			t.Errorf("call %d: the file holds %q", k, b)
		}
		if all, _ := os.ReadDir(dir); len(all) != 1 {
			t.Errorf("call %d: the folder holds %v", k, all)
		}
	}
	if b, _ := os.ReadFile(path); string(b) != "new" || k != 5 {
		t.Errorf("after %d calls the file holds %q", k-1, b)
	}
}

// A lock is held by one, says by whom, and goes with a process that is killed.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := disk.Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	var used *disk.InUseError
	if _, err := disk.Acquire(path); !errors.As(err, &used) || !strings.Contains(used.Holder, fmt.Sprintf("process %d on %s", os.Getpid(), host)) {
		t.Errorf("a second lock: %v", err)
	}
	l.Release()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock's file stays: %v", err)
	}

	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), lockVar+"="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // the child has it
		t.Fatal(err)
	}
	if _, err := disk.Acquire(path); !errors.As(err, &used) || !strings.Contains(used.Holder, fmt.Sprintf("process %d ", c.Process.Pid)) {
		t.Errorf("locked by a child: %v", err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if l, err = disk.Acquire(path); err != nil {
		t.Errorf("after its holder was killed: %v", err)
	}
	l.Release()
}

const lockVar = "GOLOPS_TEST_LOCK"

// TestMain lets a copy of this program hold a lock until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(lockVar); path != "" {
		if _, err := disk.Acquire(path); err != nil {
			panic(err)
		}
		fmt.Println("locked")
		select {}
	}
	os.Exit(m.Run())
}

// Two processes that take turns never hold a lock at once, though each removes
// the file at its end.
func TestLockTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var held, turns atomic.Int32
	err := local.Run(t.Context(), 4, func(context.Context, *comm.Comm) error {
		for turns.Load() < 200 {
			l, err := disk.Acquire(path)
			var used *disk.InUseError
			if errors.As(err, &used) {
				continue
			}
			if err != nil {
				return err
			}
			if n := held.Add(1); n != 1 {
				return fmt.Errorf("%d hold the lock", n)
			}
			turns.Add(1)
			held.Add(-1)
			l.Release()
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	good := func(ctx context.Context, c *comm.Comm) error { return disk.Probe(ctx, c, dir) }
	if err := local.Run(t.Context(), 3, good); err != nil {
		t.Error(err)
	}
	err := local.Run(t.Context(), 3, func(ctx context.Context, c *comm.Comm) error {
		err := disk.Probe(ctx, c, "/proc/golops")
		if err == nil || !strings.Contains(err.Error(), "the folder /proc/golops cannot be written") {
			return fmt.Errorf("rank %d: got %v", c.Rank(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if all, _ := os.ReadDir(dir); len(all) != 0 {
		t.Errorf("left behind: %v", all)
	}
}

func TestFree(t *testing.T) {
	dir := t.TempDir()
	if n, ok := disk.Free(dir); !ok || n == 0 {
		t.Errorf("free %d, %v", n, ok)
	}
	if _, ok := disk.Free(filepath.Join(dir, "none")); ok {
		t.Error("a folder that is not there has room")
	}
	if !disk.SameDisk(dir, filepath.Dir(dir)) || disk.SameDisk(dir, "/proc") {
		t.Error("disks are mistaken")
	}
}
