package data_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
)

// wantFiles fails unless a folder holds exactly these files.
func wantFiles(t testing.TB, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range list {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Errorf("folder has %v, want %v", got, want)
	}
}

func TestReplaceKeepsMode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.npy")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := data.WriteNPY(path, []int{1}, []float32{1}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode is %v %v", info.Mode(), err)
	}
	wantFiles(t, dir, "a.npy")
}

// TestFailureKeepsOldFile stops a write in the middle.
func TestFailureKeepsOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.segy")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("enough")
	c := data.SEGYConfig{NumTraces: 1000, NumSamples: 100, Interval: 4000}
	err := data.WriteSEGY(path, c, func(i int, dst []float32) error {
		if i == 900 {
			return stop
		}
		return nil
	}, nil)
	if !errors.Is(err, stop) || !strings.Contains(err.Error(), "trace 900") {
		t.Errorf("got %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("file now holds %.20q %v", b, err)
	}
	wantFiles(t, dir, "a.segy")
}

func TestLinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.npy"), filepath.Join(dir, "link.npy")
	if err := os.WriteFile(real, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := data.WriteNPY(link, []int{1}, []float32{7}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("link is %v %v", info.Mode(), err)
	}
	if _, a, err := data.ReadNPY[float32](real); err != nil || a[0] != 7 {
		t.Errorf("real file holds %v %v", a, err)
	}
}

func TestNoRegularFile(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{os.DevNull, dir} {
		if err := data.WriteNPY(path, []int{1}, []float32{1}); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("write %s: %v", path, err)
		}
		if _, err := data.Info(path); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("read %s: %v", path, err)
		}
	}
	missing := filepath.Join(dir, "none", "a.npy")
	if err := data.WriteNPY(missing, []int{1}, []float32{1}); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), dir) != 1 {
		t.Errorf("write %s: %v", missing, err)
	}
	if _, _, err := data.ReadNPY[float32](missing); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), dir) != 1 {
		t.Errorf("read %s: %v", missing, err)
	}
}

// The advice that all ranks must see one folder is for a rank that does not see
// the file, not for one that has no file descriptor left.
func TestSaveAdvice(t *testing.T) {
	var seen sync.Map
	defer disk.Inject(func(op, path string) error {
		if _, again := seen.LoadOrStore(path, true); again && op == disk.OpOpen {
			return syscall.EMFILE
		}
		return nil
	})()
	dir := t.TempDir()
	onAll(t, []string{"a.npy", "too many open files"}, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6)
		if err != nil {
			return err
		}
		a, err := dist.New[float32](s)
		if err != nil {
			return err
		}
		err = data.Save(ctx, filepath.Join(dir, "a.npy"), a)
		if err != nil && strings.Contains(err.Error(), "must see") {
			return nil // which onAll complains of
		}
		return err
	})
	wantFiles(t, dir)
}
