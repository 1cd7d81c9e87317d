//go:build unix

package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/golops/golops/internal/disk"
)

// Devices, pipes, folders and links to nothing stay what they are.
func TestSaveRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe, dead, loop := filepath.Join(dir, "pipe"), filepath.Join(dir, "dead"), filepath.Join(dir, "loop")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o666), os.Symlink("nowhere", dead), os.Symlink("loop", loop)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dead, loop, dir, os.DevNull} {
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		tried := disk.Try(path)
		if err := disk.Save(path, put("new")); err == nil || tried == nil || tried.Error() != err.Error() {
			t.Errorf("%s: got %v, and %v before", path, err, tried)
		}
		if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s was %v, is %v: %v", path, before.Mode(), after, err)
		}
	}
	if all, _ := os.ReadDir(dir); len(all) != 3 {
		t.Errorf("the folder holds %v", all)
	}
}

// The umask holds for new files and for those that are replaced.
func TestSaveKeepsUmask(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for range 2 {
		if err := disk.Save(path, put("x")); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, want 0600: %v", st.Mode(), err)
		}
	}
}
