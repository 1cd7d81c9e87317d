package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Save writes an array to a .npy file in C order, the last axis running
// fastest, byte for byte what WriteNPY writes of the whole.
//
// It is collective: every rank writes its own block. Of several ranks with the same
// elements only one writes. A layout with many short runs in the file is first
// redistributed into long runs, which takes the memory of the array twice. All ranks must
// see the same folder. If a rank fails, all ranks return an error that names it, and the
// folder is unchanged. A killed program may leave a file .golops-*.tmp.
func Save[T scalar.Scalar](ctx context.Context, path string, a dist.Array[T]) error {
	s := a.Space()
	what, said := fmt.Sprintf("data: save %s", path), fmt.Sprintf("%s with %v of %v", path, s.Shape(), scalar.Of[T]())
	return saveTogether(ctx, s.Comm(), path, what, said, func(t *disk.Temporary) (int64, error) {
		if s.Parts() != nil {
			return 0, fmt.Errorf("a stack has no shape: save its parts")
		}
		return start[T](t, s.Shape().Dims())
	}, func(name string, size int64) error {
		b, err := staged(ctx, a)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if b.Space() != s {
			defer b.Free()
		}
		return dist.Agree(ctx, s.Comm(), what, saveBlock(ctx, name, size, b))
	})
}

// saveTogether lets all ranks write a file. Rank 0 begins it, with its size, and gives it
// its name when all ranks have written their parts. It is collective, and so is write.
func saveTogether(ctx context.Context, c *comm.Comm, path, what, said string, begin func(*disk.Temporary) (int64, error), write func(name string, size int64) error) error {
	defer trace.Begin(ctx, "write a file").End()
	var t *disk.Temporary
	defer func() { t.Discard() }()
	var file struct {
		Name string
		Size int64
	}
	var err error
	if c.Rank() == 0 {
		if t, err = disk.Create(path); err == nil {
			file.Name = t.Name()
			file.Size, err = begin(t)
		}
	}
	if err = dist.Agree(ctx, c, what, err, said); err != nil {
		return err
	}
	if err := comm.BroadcastObject(ctx, c, &file, 0); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := write(file.Name, file.Size); err != nil {
		return err
	}
	if t != nil {
		err = t.Publish()
	}
	return dist.Agree(ctx, c, what, err)
}

// start writes the header of an array of this shape and makes the file as long
// as it will be.
func start[T scalar.Scalar](t *disk.Temporary, dims []int) (size int64, err error) {
	h := header(elementName[T](), dims)
	n, err := count(dims)
	if err != nil {
		return 0, err
	}
	size = int64(len(h)) + int64(n)*int64(scalar.Of[T]().Size())
	if _, err := t.Write(h); err != nil {
		return 0, bare(err)
	}
	if err := t.Truncate(size); err != nil {
		return 0, fmt.Errorf("make room for %d bytes: %w", size, bare(err))
	}
	return size, nil
}

// staged returns a, or its elements in a space that suits a file better.
func staged[T scalar.Scalar](ctx context.Context, a dist.Array[T]) (dist.Array[T], error) {
	via, err := staging(a.Space(), false, scalar.Of[T]().Size())
	if err != nil || via == a.Space() {
		return a, err
	}
	return dist.Redistribute(ctx, a, via)
}

// saveBlock writes this rank's elements to the temporary file of rank 0, unless
// a lower rank holds them too, and waits until they are on disk.
func saveBlock[T scalar.Scalar](ctx context.Context, name string, size int64, a dist.Array[T]) error {
	s := a.Space()
	if err := s.Device().Sync(ctx); err != nil {
		return err
	}
	if !writes(s) {
		return nil
	}
	return writePart(name, size, func(f *disk.File) error {
		return writeBlock(ctx, f, size-int64(s.Size())*int64(scalar.Of[T]().Size()), a)
	})
}

// writePart lets this rank write to the temporary file of rank 0 and waits until what it
// wrote is on disk.
func writePart(name string, size int64, write func(*disk.File) error) error {
	f, err := disk.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: all ranks must see the folder that rank 0 writes to", bare(err))
	}
	if err != nil {
		return bare(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return bare(err)
	} else if info.Size() != size {
		return fmt.Errorf("the temporary file has %d bytes, rank 0 made it %d long: all ranks must see the same folder", info.Size(), size)
	}
	if err := write(f); err != nil {
		return bare(err)
	}
	if err := f.Sync(); err != nil {
		return bare(err)
	}
	return bare(f.Close())
}

// writeBlock writes this rank's elements of an array that starts at a place of a file.
func writeBlock[T scalar.Scalar](ctx context.Context, f io.WriterAt, first int64, a dist.Array[T]) error {
	elem := scalar.Of[T]().Size()
	src := newBlockCursor(a.Local())
	for at, n := range a.Space().Runs(a.Space().Comm().Rank()) {
		for n > 0 {
			part, err := src.read(min(n, chunk/elem))
			if err != nil {
				return err
			}
			if _, err := f.WriteAt(fileBytes(part), first+int64(at)*int64(elem)); err != nil {
				return err
			}
			at, n = at+len(part), n-len(part)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// writes reports whether this rank holds elements that no lower rank holds.
// Blocks are equal or share nothing.
func writes(s *dist.Space) bool {
	me := s.Comm().Rank()
	if s.LocalShape().Size() == 0 {
		return false
	}
	for r := range me {
		if s.Box(r) == s.Box(me) {
			return false
		}
	}
	return true
}
