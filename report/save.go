package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Save writes a file by way of write, such as the method PNG of a picture. It
// goes through a temporary file in the same folder, so that a reader sees the
// old file or the new one whole, and a failure leaves nothing behind.
func Save(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("report: save %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("report: save %s: %w", path, err)
		}
	}()
	b := bufio.NewWriter(f)
	if err := errors.Join(write(b), b.Flush()); err != nil {
		return err
	}
	// A temporary file is for its owner only; what is left behind is for all
	// to read, as files that programs make are.
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
