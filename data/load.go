package data

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// chunk is how much is read or written before looking whether to stop.
const chunk = 8 << 20 // bytes

// Load returns the array in a .npy file, whose shape must be that of the
// space, in any order of axes and bytes. Elements are converted as by ReadNPY.
//
// It is collective: every rank opens the file and reads only its own block. A layout with
// many short runs in the file is read in long runs and then redistributed, which takes the
// memory of the array twice. So does Fortran order. If a rank fails, all ranks return an
// error that names it.
func Load[T scalar.Scalar](ctx context.Context, path string, s *dist.Space) (dist.Array[T], error) {
	defer trace.Begin(ctx, "read a file").End()
	a, h, err := loadBlock[T](ctx, path, s)
	said := fmt.Sprintf("%s with %v of %s, Fortran order %v", path, h.Shape, h.DType, h.Fortran)
	what := fmt.Sprintf("data: load %s as %v", path, scalar.Of[T]())
	if err = dist.Agree(ctx, s.Comm(), what, err, said); err != nil {
		a.Free()
		return dist.Array[T]{}, err
	}
	if a.Space() != s {
		b, err := dist.Redistribute(ctx, a, s)
		a.Free()
		if err != nil {
			return dist.Array[T]{}, fmt.Errorf("%s: %w", what, err)
		}
		return b, nil
	}
	if err := a.Sync(ctx); err != nil { // the copies of disks that are not shared may differ
		a.Free()
		return dist.Array[T]{}, fmt.Errorf("%s: %w", what, err)
	}
	return a, nil
}

// loadBlock reads this rank's block in the space that suits the file.
func loadBlock[T scalar.Scalar](ctx context.Context, path string, s *dist.Space) (a dist.Array[T], h NPY, err error) {
	if s.Parts() != nil {
		return a, h, fmt.Errorf("a stack has no shape: load its parts")
	}
	f, h, err := openNPY(path)
	if err != nil {
		return a, h, err
	}
	defer f.Close()
	if want := s.Shape().Dims(); !slices.Equal(h.Shape, want) {
		return a, h, fmt.Errorf("the file has shape %v, the space has %v", h.Shape, want)
	}
	if _, err := decoder[T](h.elem); err != nil {
		return a, h, err
	}
	via, err := staging(s, h.Fortran, h.elem.size)
	if err == nil {
		a, err = dist.New[T](via)
	}
	if err == nil {
		err = fillBlock(ctx, a, f, h)
	}
	return a, h, err
}

// fillBlock reads the elements of a from the file.
func fillBlock[T scalar.Scalar](ctx context.Context, a dist.Array[T], f *os.File, h NPY) error {
	s, local := a.Space(), a.Local()
	runs := runsInFile(s, s.Comm().Rank(), h.Fortran)
	if !h.Fortran || len(h.Shape) < 2 {
		w := newBlockCursor(local)
		if err := readBlock(ctx, w.write, f, h, runs); err != nil {
			return err
		}
		return w.flush()
	}
	order, err := device.Make[T](local.Len())
	if err != nil {
		return err
	}
	if err := readBlock(ctx, inOrder(order), f, h, runs); err != nil {
		return err
	}
	host := local.Mem().Host
	if host == nil {
		if host, err = device.Make[T](len(order)); err != nil {
			return err
		}
	}
	reverseAxes(host, order, s.LocalShape().Dims())
	if local.Mem().Host == nil {
		return local.CopyIn(host)
	}
	return nil
}

// readBlock reads the runs of a block of the file. next(n) returns memory for at most
// n elements.
func readBlock[T scalar.Scalar](ctx context.Context, next func(n int) ([]T, error), f io.ReaderAt, h NPY, runs iter.Seq2[int, int]) error {
	read, err := decoder[T](h.elem)
	if err != nil {
		return err
	}
	r := &from{file: f}
	for at, n := range runs {
		r.at = h.Offset + int64(at)*int64(h.elem.size)
		for n > 0 {
			dst, err := next(min(n, chunk/h.elem.size))
			if err != nil {
				return err
			}
			if err := read(dst, r); err != nil {
				return fmt.Errorf("elements from %d on: %w", at, short(bare(err)))
			}
			n -= len(dst)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// inOrder returns a function that returns the next elements of dst.
func inOrder[T scalar.Scalar](dst []T) func(n int) ([]T, error) {
	return func(n int) ([]T, error) {
		next := dst[:n]
		dst = dst[n:]
		return next, nil
	}
}

// from reads a file from an offset. Unlike an io.SectionReader it can be moved, so a
// run of elements allocates nothing.
type from struct {
	file io.ReaderAt
	at   int64
}

func (r *from) Read(p []byte) (int, error) {
	n, err := r.file.ReadAt(p, r.at)
	r.at += int64(n)
	return n, err
}
