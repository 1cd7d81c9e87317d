package mpi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/golops/golops/comm/driver"
)

// openLock opens the lock file. It is in a folder that only this user can enter, so
// that no other user can hold the lock forever.
func openLock(temp string, uid int) (*os.File, error) {
	dir := filepath.Join(temp, fmt.Sprintf("golops-%d", uid))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("mpi: window: %w", err)
	}
	d, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("mpi: window: %w", err)
	}
	const advice = "remove it, or set TMPDIR to your own folder"
	switch {
	case !d.IsDir():
		return nil, fmt.Errorf("mpi: window: %s is no folder: %s", dir, advice)
	case owner(d) != uid:
		return nil, fmt.Errorf("mpi: window: folder %s belongs to user %d, not to %d: %s", dir, owner(d), uid, advice)
	case d.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("mpi: window: folder %s is open to other users (mode %o): %s", dir, d.Mode().Perm(), advice)
	}
	name := filepath.Join(dir, "window.lock")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mpi: window: %w", err)
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || owner(info) != uid) {
		err = fmt.Errorf("%s is no file of user %d: %s", name, uid, advice)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("mpi: window: %w", err)
	}
	return f, nil
}

// owner returns the user id of a file's owner.
func owner(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// lockFile waits for the file lock and returns a function that releases it.
func (r *rank) lockFile(ctx context.Context, call *driver.Signature) (release func(), err error) {
	f, err := openLock(os.TempDir(), os.Getuid())
	if err != nil {
		return func() {}, err
	}
	var p waitState
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			f.Close()
			return func() {}, fmt.Errorf("mpi: window: lock %s: %w", f.Name(), err)
		}
		if err := r.w.backOff(ctx, &p, call); err != nil {
			f.Close()
			return func() {}, err
		}
	}
}
