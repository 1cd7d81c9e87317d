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
// lose. It is collective: all ranks get an error or none does.
func Probe(ctx context.Context, c comm.Comm, dir string) error {
	var t *Temporary
	name := ""
	var err error
	if c.Rank() == 0 {
		if t, err = Create(filepath.Join(dir, "probe")); err == nil {
			defer t.Discard()
			name = t.Name()
			_, err = t.Write(make([]byte, c.Size()))
		}
	}
	if err := comm.Agree(ctx, c, probeError(dir, err)); err != nil {
		return err
	}
	if err := comm.BroadcastObject(ctx, c, &name, 0); err != nil {
		return err
	}
	return comm.Agree(ctx, c, probeError(dir, touch(name, c)))
}

func probeError(dir string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the folder %s cannot be written: %w", dir, Bare(err))
}

// touch writes this rank's byte to the file that rank 0 made.
func touch(name string, c comm.Comm) error {
	f, err := OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: all ranks must see the folder that rank 0 writes to", Bare(err))
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte{1}, int64(c.Rank()))
	return errors.Join(err, f.Sync(), f.Close())
}
