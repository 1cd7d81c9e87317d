package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/golops/golops/comm"
)

// Probe writes to a folder from every rank, so that one that cannot be written,
// or that is not the same on all ranks, is found before there is anything to
// lose. The folder belongs to this run. It is collective: all ranks get an error
// or none does.
func Probe(ctx context.Context, c *comm.Comm, dir string) error {
	name := filepath.Join(dir, ".golops-probe")
	var err error
	if c.Rank() == 0 {
		defer os.Remove(name)
		err = touch(name, os.O_CREATE|os.O_TRUNC|noFollow, 0)
	}
	if err := comm.Agree(ctx, c, probeError(dir, err)); err != nil {
		return err
	}
	if err = touch(name, 0, int64(c.Rank())); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: all ranks must see the folder that rank 0 writes to", Bare(err))
	}
	return comm.Agree(ctx, c, probeError(dir, err))
}

func probeError(dir string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the folder %s cannot be written: %w", dir, Bare(err))
}

// touch writes a byte to a file.
func touch(name string, flag int, at int64) error {
	f, err := OpenFile(name, os.O_RDWR|flag, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte{1}, at)
	return errors.Join(err, f.Sync(), f.Close())
}
