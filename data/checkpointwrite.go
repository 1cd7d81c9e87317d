package data

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

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/solve"
)

// A checkpoint file holds a line of text, the vectors, each in the global order
// of its elements, little-endian, whatever the layout was, then a footer that
// says what they are, and the footer's length and checksum. A file that was not
// finished has no footer. Any number of ranks can read it.

const checkpointMagic = "golops checkpoint 2\n"

// footer is the end of a file.
type footer struct {
	Method      string
	DType       string
	VectorNames []string
	Shapes      [][]int
	Sums        []uint64 // of the elements and their places
	NumberNames []string
	Numbers     []float64
	Iters       int
	Damp        float64
	Data        solve.Fingerprint
	Operator    solve.Fingerprint
	History     []solve.Norms
}

// footerOf returns the footer of a state with these vectors, without their sums.
func footerOf(s *solve.State, all []savedVector) footer {
	f := footer{
		Method: s.Method, DType: s.DType, NumberNames: s.NumberNames, Numbers: s.Numbers, Iters: s.Iters,
		Damp: s.Damp, Data: s.Data, Operator: s.Operator, History: s.History,
	}
	for _, a := range all {
		f.VectorNames = append(f.VectorNames, a.label())
		f.Shapes = append(f.Shapes, a.Space().Shape().Dims())
	}
	return f
}

// otherRun says why a checkpoint belongs to another run.
type otherRun struct{ reason string }

func (e *otherRun) Error() string { return e.reason }

// fits says why h cannot continue the run of s, which has these vectors. It is an
// *otherRun if h is in order.
func (h footer) fits(s *solve.State, all []savedVector) error {
	want := footerOf(s, all)
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
	case !near(h.Data, want.Data, s.Tolerance):
		return other("it is of other data: they have norm %g and fingerprint %g, those of the run %g and %g", h.Data.Norm, h.Data.Mix, want.Data.Norm, want.Data.Mix)
	case !near(h.Operator, want.Operator, s.Tolerance):
		return other("it is of another operator: with random numbers it gives norm %g and fingerprint %g, that of the run %g and %g", h.Operator.Norm, h.Operator.Mix, want.Operator.Norm, want.Operator.Mix)
	case len(h.Numbers) != len(h.NumberNames) || len(h.Sums) != len(h.Shapes) || h.Iters < 0 || len(h.History) != h.Iters+1:
		return fmt.Errorf("it has %d numbers, %d checksums and %d norms at iteration %d: %d, %d and %d are needed",
			len(h.Numbers), len(h.Sums), len(h.History), h.Iters, len(want.Numbers), len(h.Shapes), h.Iters+1)
	}
	return nil
}

// near reports whether two fingerprints differ by at most tol, relative to the norm.
func near(p, q solve.Fingerprint, tol float64) bool {
	tol *= max(p.Norm, q.Norm)
	return math.Abs(p.Norm-q.Norm) <= tol && math.Abs(p.Mix-q.Mix) <= tol
}

// writeCheckpoint writes a file, or leaves nothing and says why. An error is one of
// communication. It is collective.
func writeCheckpoint(ctx context.Context, g *comm.Comm, path string, s *solve.State) (reason, err error) {
	tmp, all := path+temporary, vectorsOf(s)
	var fault error
	if g.Rank() == 0 {
		fault = beginCheckpoint(tmp)
		defer os.Remove(tmp) // which is not there if all went well
	}
	if reason, err = agreeToRefuse(ctx, g, fault); reason != nil || err != nil {
		return reason, err
	}
	sums, end, fault := writeVectors(ctx, tmp, all)
	if reason, err = agreeToRefuse(ctx, g, fault); reason != nil || err != nil {
		return reason, err
	}
	b := comm.Of(sums)
	if err := g.AllReduce(ctx, b, b, comm.Sum); err != nil {
		return nil, err
	}
	if g.Rank() == 0 {
		foot := footerOf(s, all)
		for _, sum := range sums {
			foot.Sums = append(foot.Sums, uint64(sum))
		}
		fault = finishCheckpoint(tmp, path, end, foot)
	}
	return agreeToRefuse(ctx, g, fault)
}

// beginCheckpoint makes a file with its first line.
func beginCheckpoint(tmp string) error {
	if _, err := disk.MkdirAll(filepath.Dir(tmp), 0o777); err != nil {
		return err
	}
	f, err := disk.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(checkpointMagic)
	return errors.Join(err, f.Close())
}

// writeVectors writes what this rank has to write of each array and returns the
// checksums of that, and where the arrays end. All of it is on the disk when it
// returns.
func writeVectors(ctx context.Context, path string, all []savedVector) (sums []int64, end int64, err error) {
	f, err := disk.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end = int64(len(checkpointMagic))
	for _, a := range all {
		sum, err := a.write(ctx, f, end)
		if err != nil {
			return nil, 0, err
		}
		sums = append(sums, int64(sum))
		end += a.size()
	}
	return sums, end, f.Sync()
}

// finishCheckpoint adds the footer and gives the file its name. It and its name are on
// the disk when it returns.
func finishCheckpoint(tmp, path string, end int64, h footer) error {
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
