package data

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// savedVector is an array of a checkpoint, of any element type, that is not a stack.
type savedVector interface {
	label() string
	Space() *dist.Space
	size() int64 // bytes of the whole array
	write(ctx context.Context, f io.WriterAt, at int64) (sum uint64, err error)
	read(ctx context.Context, f io.ReaderAt, at int64, take bool) (sum uint64, err error)
}

// savedArray is a savedVector of T.
type savedArray[T scalar.Scalar] struct {
	dist.Array[T]
	name string
}

// vectorsOf returns the arrays of a state, and the leaves of those that are stacks.
func vectorsOf(s *solve.State) (all []savedVector) {
	for _, v := range s.Vectors {
		switch a := v.Array.(type) {
		case dist.Array[float32]:
			all = appendLeaves(all, v.Name, a)
		case dist.Array[float64]:
			all = appendLeaves(all, v.Name, a)
		case dist.Array[complex64]:
			all = appendLeaves(all, v.Name, a)
		case dist.Array[complex128]:
			all = appendLeaves(all, v.Name, a)
		}
	}
	return all
}

func appendLeaves[T scalar.Scalar](all []savedVector, name string, a dist.Array[T]) []savedVector {
	for i := range a.NumLeaves() {
		all = append(all, savedArray[T]{a.Leaf(i), name})
	}
	return all
}

func (a savedArray[T]) label() string { return a.name }

func (a savedArray[T]) size() int64 { return int64(a.Space().Size()) * int64(scalar.Of[T]().Size()) }

// write writes what this rank has to write of the array that starts at a place of
// the file, and returns the checksum of that.
func (a savedArray[T]) write(ctx context.Context, f io.WriterAt, at int64) (sum uint64, err error) {
	if !a.Space().Primary() {
		return 0, nil // another rank writes the same
	}
	if err := a.Space().Device().Sync(ctx); err != nil {
		return 0, err
	}
	w := &summedWriter{f, at, 0}
	err = writeBlock(ctx, w, at, a.Array)
	return w.sum, err
}

// read returns the checksum of this rank's block of the array that starts at a
// place of the file, and copies the elements if take is set.
func (a savedArray[T]) read(ctx context.Context, f io.ReaderAt, at int64, take bool) (sum uint64, err error) {
	to := newBlockCursor(a.Local())
	next := to.write
	if !take {
		unused := make([]T, min(a.Local().Len(), chunk/scalar.Of[T]().Size()))
		next = func(n int) ([]T, error) { return unused[:min(n, len(unused))], nil }
	}
	if err := a.Space().Device().Sync(ctx); err != nil {
		return 0, err
	}
	r := &summedReader{f, at, 0}
	h := NPY{Offset: at, elem: elementOf[T]()}
	if err := readBlock(ctx, next, r, h, a.Space().Runs(a.Space().Comm().Rank())); err != nil {
		return 0, err
	}
	return r.sum, to.flush()
}

// summedWriter adds up the checksum of the bytes that are written. They count from
// a place of the file on.
type summedWriter struct {
	f    io.WriterAt
	from int64
	sum  uint64
}

func (w *summedWriter) WriteAt(b []byte, at int64) (int, error) {
	w.sum += checksum(b, at-w.from)
	return w.f.WriteAt(b, at)
}

// summedReader is summedWriter for bytes that are read.
type summedReader struct {
	f    io.ReaderAt
	from int64
	sum  uint64
}

func (r *summedReader) ReadAt(b []byte, at int64) (int, error) {
	n, err := r.f.ReadAt(b, at)
	r.sum += checksum(b[:n], at-r.from)
	return n, err
}

// checksum adds up a hash of each word of four bytes and its place. Words may be
// added in any order, so ranks can sum up their own.
func checksum(b []byte, at int64) (sum uint64) {
	for ; len(b) >= 4; b, at = b[4:], at+4 {
		sum += splitmix.Hash(uint64(binary.LittleEndian.Uint32(b))<<32 ^ splitmix.Hash(uint64(at)))
	}
	return sum
}
