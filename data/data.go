// Package data moves arrays and seismic traces between files and ranks: .npy
// and .npz of NumPy, and SEG-Y.
//
// Nothing that a file says is trusted: sizes are compared with those of the
// file before memory is asked for, and a damaged file is an error, never a
// panic. Files are written under a temporary name in the same folder and
// renamed when they are complete and on disk, so that nobody sees half of one.
package data

import (
	"errors"
	"os"

	"github.com/golops/golops/internal/disk"
)

// openRegular opens a file for reading and returns its size. Pipes and devices
// have none, so that nothing a header says could be checked.
func openRegular(path string) (*os.File, int64, error) {
	info, err := os.Stat(path) // before Open, which waits for the other end of a pipe
	if err != nil {
		return nil, 0, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("this is no regular file: its size cannot be checked")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, bare(err)
	}
	return f, info.Size(), nil
}

// bare takes the path out of an error of the file system, which callers name
// themselves, and keeps the operation and the cause.
func bare(err error) error { return disk.Bare(err) }
