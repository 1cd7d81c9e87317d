package solve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/scalar"
)

// A checkpoint file holds a line of text, the vectors, each in the global order
// of its elements, little-endian, whatever the layout was, then a footer that
// says what they are, and the footer's length and checksum. A file that was not
// finished has no footer. Any number of ranks can read it.

const magic = "golops checkpoint 2\n"

// header is the footer of a file.
type header struct {
	Method      string
	DType       string
	VectorNames []string
	Shapes      [][]int
	Sums        []uint64 // of the elements and their places
	NumberNames []string
	Numbers     []float64
	Iters       int
	Damp        float64
	Data        fingerprint
	Operator    fingerprint
	History     []Norms
	tol         float64 // by which fingerprints of one run may differ; not in the file
}

// otherRun says why a checkpoint belongs to another run.
type otherRun struct{ reason string }

func (e *otherRun) Error() string { return e.reason }

// fits says why h cannot continue a run that wants what want says. It is an
// *otherRun if h is in order.
func (h header) fits(want header) error {
	other := func(format string, args ...any) error { return &otherRun{fmt.Sprintf(format, args...)} }
	switch {
	case h.Method != want.Method:
		return other("it is of %s, the run is of %s", h.Method, want.Method)
	case h.DType != want.DType:
		return other("its elements are %s, those of the run %s", h.DType, want.DType)
	case h.Damp != want.Damp: // which may change how many vectors there are
		return other("it was damped by %g, the run is by %g", h.Damp, want.Damp)
	case !slices.Equal(h.VectorNames, want.VectorNames):
		return other("it has the vectors %q, the run keeps %q", h.VectorNames, want.VectorNames)
	case !slices.Equal(h.NumberNames, want.NumberNames):
		return other("it has the numbers %q, the run keeps %q", h.NumberNames, want.NumberNames)
	case !slices.EqualFunc(h.Shapes, want.Shapes, slices.Equal[[]int]):
		return other("its vectors have shapes %v, those of the run %v", h.Shapes, want.Shapes)
	case !h.Data.near(want.Data, want.tol):
		return other("it is of other data: they have norm %g and fingerprint %g, those of the run %g and %g", h.Data.Norm, h.Data.Mix, want.Data.Norm, want.Data.Mix)
	case !h.Operator.near(want.Operator, want.tol):
		return other("it is of another operator: with random numbers it gives norm %g and fingerprint %g, that of the run %g and %g", h.Operator.Norm, h.Operator.Mix, want.Operator.Norm, want.Operator.Mix)
	case len(h.Numbers) != len(h.NumberNames) || len(h.Sums) != len(h.Shapes) || h.Iters < 0 || len(h.History) != h.Iters+1:
		return fmt.Errorf("it has %d numbers, %d checksums and %d norms at iteration %d: %d, %d and %d are needed",
			len(h.Numbers), len(h.Sums), len(h.History), h.Iters, len(want.Numbers), len(h.Shapes), h.Iters+1)
	}
	return nil
}

// describe fills in what the vectors say.
func describe(h header, all []savedVector) header {
	h.Shapes, h.Sums, h.VectorNames = nil, nil, nil
	for _, a := range all {
		h.VectorNames = append(h.VectorNames, a.label())
		h.Shapes = append(h.Shapes, a.space().Shape().Dims())
	}
	return h
}

// write writes a file, or leaves nothing and says the reason. An error is one of
// the ranks' talk. It is collective.
func write(ctx context.Context, c comm.Comm, path string, h header, all []savedVector) (reason, err error) {
	tmp := path + temporary
	h = describe(h, all)
	var fault error
	if c.Rank() == 0 {
		fault = begin(tmp)
		defer os.Remove(tmp) // which is not there if all went well
	}
	if reason, err = refuse(ctx, c, fault); reason != nil || err != nil {
		return reason, err
	}
	sums, end, fault := writeBlocks(tmp, all)
	if reason, err = refuse(ctx, c, fault); reason != nil || err != nil {
		return reason, err
	}
	b := comm.Of(sums)
	if err := c.AllReduce(ctx, b, b, comm.Sum); err != nil {
		return nil, err
	}
	if c.Rank() == 0 {
		for _, s := range sums {
			h.Sums = append(h.Sums, uint64(s))
		}
		fault = finish(tmp, path, end, h)
	}
	return refuse(ctx, c, fault)
}

// begin makes a file with its first line.
func begin(tmp string) error {
	if _, err := disk.MkdirAll(filepath.Dir(tmp), 0o777); err != nil {
		return err
	}
	f, err := disk.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(magic)
	return errors.Join(err, f.Close())
}

// writeBlocks writes what this rank has to write of each array and returns the
// checksums of that, and where the arrays end. All of it is on the disk when it
// returns.
func writeBlocks(path string, all []savedVector) (sums []int64, end int64, err error) {
	f, err := disk.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end = int64(len(magic))
	for _, a := range all {
		s, err := a.write(f, end)
		if err != nil {
			return nil, 0, err
		}
		sums = append(sums, int64(s))
		end += a.size()
	}
	return sums, end, f.Sync()
}

// savedVector is an array of a checkpoint, of any element type, that is not a stack.
type savedVector interface {
	label() string
	space() *dist.Space
	size() int64 // bytes of the whole array
	write(f *disk.File, at int64) (sum uint64, err error)
	read(f io.ReaderAt, at int64, take bool) (sum uint64, err error)
}

// savedArray is a savedVector of T.
type savedArray[T scalar.Scalar] struct {
	dist.Array[T]
	name string
}

// saveVector returns an array, or the arrays of a stack, under a name.
func saveVector[T scalar.Scalar](name string, a dist.Array[T]) (all []savedVector) {
	for _, a := range unstack(a) {
		all = append(all, savedArray[T]{a, name})
	}
	return all
}

func (a savedArray[T]) label() string { return a.name }

func (a savedArray[T]) space() *dist.Space { return a.Space() }

func (a savedArray[T]) size() int64 { return int64(a.Space().Size()) * int64(scalar.Of[T]().Size()) }

// write writes what this rank has to write of the array that starts at a place of
// the file, and returns the checksum of that.
func (a savedArray[T]) write(f *disk.File, at int64) (sum uint64, err error) {
	if !a.Space().Primary() {
		return 0, nil // another rank writes the same
	}
	var b []byte
	host := make([]T, min(a.Local().Len(), maxRun))
	err = contiguousRuns(a.Space(), func(global, local, n int) error {
		if err := a.Local().Slice(local, local+n).CopyOut(host[:n]); err != nil {
			return err
		}
		b = encode(b[:0], host[:n])
		place := int64(global) * int64(scalar.Of[T]().Size())
		sum += checksum(b, place)
		_, err := f.WriteAt(b, at+place)
		return err
	})
	return sum, err
}

// finish adds the footer and gives the file its name. It and its name are on
// the disk when finish returns.
func finish(tmp, path string, end int64, h header) error {
	var foot bytes.Buffer
	if err := gob.NewEncoder(&foot).Encode(h); err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint64(nil, uint64(foot.Len()))
	tail = binary.LittleEndian.AppendUint32(tail, crc32.ChecksumIEEE(foot.Bytes()))
	f, err := disk.OpenFile(tmp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(foot.Bytes(), tail...), end)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := disk.Rename(tmp, path); err != nil {
		return err
	}
	disk.SyncDir(filepath.Dir(path))
	return nil
}
