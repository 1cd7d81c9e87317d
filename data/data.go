// Package data moves arrays, images and seismic traces between files and ranks: .npy
// and .npz of NumPy, TIFF, and SEG-Y.
//
// Headers are not trusted: sizes are compared with the size of the file before memory is
// allocated. A damaged file is an error, never a panic. Files are written under a
// temporary name in the same folder and renamed when they are complete and on disk.
package data

import (
	"errors"
	"os"

	"github.com/golops/golops/internal/disk"
)

// openRegular opens a file for reading and returns its size. It refuses pipes and
// devices: they have no size to check a header with.
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

// bare removes the path from an error of the file system. Callers name the path.
func bare(err error) error { return disk.Bare(err) }
