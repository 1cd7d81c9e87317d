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
	defer trace.Begin(ctx, "write a file").End()
	s, c := a.Space(), a.Space().Comm()
	what := fmt.Sprintf("data: save %s", path)
	var t *disk.Temporary
	defer func() { t.Discard() }()
	size, err := int64(0), error(nil)
	switch {
	case s.Parts() != nil:
		err = fmt.Errorf("a stack has no shape: save its parts")
	case c.Rank() == 0:
		if t, err = disk.Create(path); err == nil {
			size, err = start[T](t, s.Shape().Dims())
		}
	}
	said := fmt.Sprintf("%s with %v of %v", path, s.Shape(), scalar.Of[T]())
	if err = dist.Agree(ctx, c, what, err, said); err != nil {
		return err
	}
	file := struct {
		Name string
		Size int64
	}{Size: size}
	if t != nil {
		file.Name = t.Name()
	}
	if err := comm.BroadcastObject(ctx, c, &file, 0); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if a, err = staged(ctx, a); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if a.Space() != s {
		defer a.Free()
	}
	if err := dist.Agree(ctx, c, what, saveBlock(ctx, file.Name, file.Size, a)); err != nil {
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
	if err := writeBlock(ctx, f, size-int64(s.Size())*int64(scalar.Of[T]().Size()), a); err != nil {
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
