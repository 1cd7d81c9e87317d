//go:build linux || darwin || freebsd

package disk

import (
	"errors"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// removeOpen says that a file can be removed while it is open.
const removeOpen = true

// flock locks a file, or says at once that it is held or cannot be locked.
func flock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errHeld
	case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.EINVAL):
		return errors.ErrUnsupported
	}
	return err
}

// Free returns how many bytes this user can still write to the file system of
// a folder. ok is false where the system does not say.
func Free(dir string) (bytes uint64, ok bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil || s.Blocks == 0 || s.Bsize <= 0 {
		return 0, false
	}
	return uint64(max(0, int64(s.Bavail))) * uint64(s.Bsize), true
}

// SameDisk reports whether two folders are on one file system.
func SameDisk(a, b string) bool {
	var s, t syscall.Stat_t
	return syscall.Stat(a, &s) == nil && syscall.Stat(b, &t) == nil && s.Dev == t.Dev
}
