//go:build unix

package gpusim

import (
	"fmt"
	"os"
	"syscall"
)

// lock keeps other processes from building the same at the same time.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("gpusim: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("gpusim: lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
