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
		return nil, err
	}
	d, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	const advice = "remove it, or set TMPDIR to your own folder"
	switch owner := int(d.Sys().(*syscall.Stat_t).Uid); {
	case !d.IsDir():
		return nil, fmt.Errorf("%s is no folder: %s", dir, advice)
	case owner != uid:
		return nil, fmt.Errorf("folder %s belongs to user %d, not to %d: %s", dir, owner, uid, advice)
	case d.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("folder %s is open to other users (mode %o): %s", dir, d.Mode().Perm(), advice)
	}
	return os.OpenFile(filepath.Join(dir, "window.lock"), os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
}

// lockFile opens the lock file and waits for the lock on it.
func (r *rank) lockFile(ctx context.Context, call *driver.Signature) (*os.File, error) {
	f, err := openLock(os.TempDir(), os.Getuid())
	if err != nil {
		return nil, fmt.Errorf("mpi: window: %w", err)
	}
	var p waitState
	for err == nil {
		switch e := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); e {
		case nil:
			return f, nil
		case syscall.EWOULDBLOCK, syscall.EINTR:
			err = r.w.backOff(ctx, &p, call)
		default:
			err = fmt.Errorf("mpi: window: lock %s: %w", f.Name(), e)
		}
	}
	f.Close()
	return nil, err
}
