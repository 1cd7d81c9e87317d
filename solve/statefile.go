package solve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// A checkpoint file holds the vectors first, each in the global order of its
// elements, little-endian, whatever the layout was; then a footer that says
// what they are, and the footer's length and checksum. A file that was not
// finished has no footer. Any number of ranks can read it.

const magic = "golops checkpoint 1\n"

// header is the footer of a file.
type header struct {
	Method  string
	DType   string
	Shapes  [][]int
	Sums    []uint64 // of the elements and their places
	Numbers []float64
	Iters   int
	Damp    float64
	Data    print
	History []Norms
	Elapsed time.Duration
}

// print tells the data of two problems apart, however they were rounded.
type print struct{ Norm, Mix float64 }

// fingerprint returns that of b. It is collective.
func fingerprint[T scalar.Scalar](ctx context.Context, b dist.Array[T]) (print, error) {
	sums := dist.NewSums(b.Space(), 2)
	if err := dist.AddDot(sums, b, b); err != nil {
		return print{}, err
	}
	w, err := dist.New[T](b.Space())
	if err != nil {
		return print{}, err
	}
	defer w.Free()
	for _, leaf := range leaves(w) {
		host := make([]T, leaf.Local().Len())
		runs(leaf.Space(), func(global, local, n int) error {
			for i := range n {
				host[local+i] = num[T](float64(int64(mix(uint64(global+i)))) / (1 << 63))
			}
			return nil
		})
		if err := leaf.Local().CopyIn(host); err != nil {
			return print{}, err
		}
	}
	if err := dist.AddDot(sums, w, b); err != nil {
		return print{}, err
	}
	err = sums.Reduce(ctx)
	return print{math.Sqrt(sums.Value(0)), sums.Value(1)}, err
}

func (p print) near(q print) bool {
	tol := 1e-4 * (p.Norm + q.Norm)
	return math.Abs(p.Norm-q.Norm) <= tol && math.Abs(p.Mix-q.Mix) <= tol
}

// fits says why h cannot continue a run that wants what want says.
func (h header) fits(want header) error {
	switch {
	case h.Method != want.Method:
		return fmt.Errorf("it is of %s, the run is of %s", h.Method, want.Method)
	case h.DType != want.DType:
		return fmt.Errorf("its elements are %s, those of the run %s", h.DType, want.DType)
	case !slices.EqualFunc(h.Shapes, want.Shapes, slices.Equal[[]int]):
		return fmt.Errorf("its vectors have shapes %v, those of the run %v", h.Shapes, want.Shapes)
	case h.Damp != want.Damp:
		return fmt.Errorf("it was damped by %g, the run is by %g", h.Damp, want.Damp)
	case !h.Data.near(want.Data):
		return fmt.Errorf("it is of other data, of norm %g, those of the run have norm %g", h.Data.Norm, want.Data.Norm)
	}
	return nil
}

// describe fills in what the vectors say.
func describe[T scalar.Scalar](h header, all []dist.Array[T]) header {
	h.DType, h.Shapes, h.Sums = scalar.Of[T]().String(), nil, nil
	for _, a := range all {
		h.Shapes = append(h.Shapes, a.Space().Shape().Dims())
	}
	return h
}

// write writes a file, or leaves nothing. It is collective.
func write[T scalar.Scalar](ctx context.Context, c comm.Comm, path string, h header, arrays []dist.Array[T]) error {
	var all []dist.Array[T]
	for _, a := range arrays {
		all = append(all, leaves(a)...)
	}
	h = describe(h, all)
	tmp := path + ".tmp"
	var err error
	if c.Rank() == 0 {
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			err = os.WriteFile(tmp, []byte(magic), 0o666)
		}
	}
	if err := comm.Agree(ctx, c, err); err != nil {
		return err
	}
	sums, end, err := writeBlocks(tmp, all)
	if err = comm.Agree(ctx, c, err); err == nil {
		b := comm.Of(sums)
		err = c.AllReduce(ctx, b, b, comm.Sum)
	}
	if err == nil && c.Rank() == 0 {
		for _, s := range sums {
			h.Sums = append(h.Sums, uint64(s))
		}
		err = finish(tmp, path, end, h)
	}
	if err = comm.Agree(ctx, c, err); err != nil && c.Rank() == 0 {
		os.Remove(tmp)
	}
	return err
}

// writeBlocks writes what this rank has to write of each array and returns the
// checksums of that, and where the arrays end.
func writeBlocks[T scalar.Scalar](path string, all []dist.Array[T]) (sums []int64, end int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return make([]int64, len(all)), 0, err
	}
	defer f.Close()
	end = int64(len(magic))
	for _, a := range all {
		s, e := writeBlock(f, end, a)
		sums, err = append(sums, int64(s)), errors.Join(err, e)
		end += int64(a.Space().Size() * scalar.Of[T]().Size())
	}
	return sums, end, errors.Join(err, f.Sync())
}

func writeBlock[T scalar.Scalar](f *os.File, at int64, a dist.Array[T]) (sum uint64, err error) {
	if !a.Space().Primary() {
		return 0, nil // another rank writes the same
	}
	host, err := a.Host()
	if err != nil {
		return 0, err
	}
	size := scalar.Of[T]().Size()
	var b []byte
	err = runs(a.Space(), func(global, local, n int) error {
		b = encode(b[:0], host[local:local+n])
		sum += checksum(b, global*size)
		_, err := f.WriteAt(b, at+int64(global*size))
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
	f, err := os.OpenFile(tmp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(foot.Bytes(), tail...), end)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
