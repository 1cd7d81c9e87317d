package mpi

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLockFile checks that no other user can reach the lock file of windows.
func TestLockFile(t *testing.T) {
	uid := os.Getuid()
	folder := func(temp string, uid int) string { return filepath.Join(temp, "golops-"+strconv.Itoa(uid)) }
	t.Run("made", func(t *testing.T) {
		temp := t.TempDir()
		for range 2 { // made, and there already
			f, err := openLock(temp, uid)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		d, err := os.Stat(folder(temp, uid))
		if err != nil || d.Mode().Perm() != 0o700 {
			t.Errorf("folder: %v, %v, want mode 0700", d, err)
		}
	})
	for name, c := range map[string]struct {
		want string
		make func(temp string) (who int, err error)
	}{
		"folder of another user": {"belongs to user", func(temp string) (int, error) { return uid + 1, os.Mkdir(folder(temp, uid+1), 0o700) }},
		"folder open to others": {"is open to other users", func(temp string) (int, error) {
			if err := os.Mkdir(folder(temp, uid), 0o700); err != nil {
				return uid, err
			}
			return uid, os.Chmod(folder(temp, uid), 0o770)
		}},
		"folder is a link": {"is no folder", func(temp string) (int, error) {
			to := filepath.Join(temp, "victim")
			if err := os.Mkdir(to, 0o700); err != nil {
				return uid, err
			}
			return uid, os.Symlink(to, folder(temp, uid))
		}},
		"file is a link": {"too many levels of symbolic links", func(temp string) (int, error) {
			if err := os.Mkdir(folder(temp, uid), 0o700); err != nil {
				return uid, err
			}
			return uid, os.Symlink(filepath.Join(temp, "victim"), filepath.Join(folder(temp, uid), "window.lock"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			who, err := c.make(temp)
			if err != nil {
				t.Fatal(err)
			}
			f, err := openLock(temp, who)
			if err == nil {
				f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
}
