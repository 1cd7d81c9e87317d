package data

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
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/solve"
)

// readCheckpoint fills s from a file of the same run, or says why not and leaves s
// alone. An error is one that no other file would help with. The file is read twice,
// first to see that all is well, so that no second copy of the arrays is needed. It
// is collective.
func readCheckpoint(ctx context.Context, g *comm.Comm, path string, s *solve.State) (reason, err error) {
	all := vectorsOf(s)
	file, foot, reason := openCheckpoint(path, s, all)
	if file != nil {
		defer file.Close()
	}
	if reason, err = agreeToRefuse(ctx, g, reason); reason != nil || err != nil {
		return reason, err
	}
	sums, reason := readVectors(ctx, file, all, false)
	if reason, err = agreeToRefuse(ctx, g, reason); reason != nil || err != nil {
		return reason, err
	}
	b := comm.Of(sums)
	if err := g.AllReduce(ctx, b, b, comm.Sum); err != nil {
		return nil, err
	}
	for i, sum := range sums {
		if uint64(sum) != foot.Sums[i] {
			return fmt.Errorf("the vector %q is damaged: its checksum is %x, must be %x", all[i].label(), uint64(sum), foot.Sums[i]), nil
		}
	}
	_, err = readVectors(ctx, file, all, true)
	if err = comm.Agree(ctx, g, err); err == nil {
		s.Iters, s.History, s.Numbers = foot.Iters, foot.History, foot.Numbers
	}
	return nil, err
}

// agreeToRefuse spreads a refusal from any rank to all. err is not nil only if
// communication failed.
func agreeToRefuse(ctx context.Context, g *comm.Comm, mine error) (reason, err error) {
	got := comm.Agree(ctx, g, mine)
	if _, other := got.(*comm.RankError); got == nil || got == mine || other {
		return got, nil
	}
	return nil, got
}

// openCheckpoint opens a file whose footer is in order and fits.
func openCheckpoint(path string, s *solve.State, all []savedVector) (*os.File, footer, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, footer{}, err
	}
	foot, data, err := readFooter(f, size)
	if err == nil {
		err = foot.fits(s, all)
	}
	need := int64(0)
	for _, a := range all {
		need += a.size()
	}
	if err == nil && data != need {
		err = fmt.Errorf("it has %d bytes of vectors, %d are needed", data, need)
	}
	return f, foot, err
}

// maxFooter is far more than a footer has: its history takes some 20 bytes per
// iteration.
const maxFooter = 1 << 30

// readFooter reads the end of a file of this many bytes, trusting nothing in it,
// and returns how many bytes of vectors there are.
func readFooter(f io.ReaderAt, size int64) (h footer, data int64, err error) {
	b := make([]byte, len(checkpointMagic))
	_, err = f.ReadAt(b, 0)
	if version, ok := strings.CutPrefix(string(b), "golops checkpoint "); err == nil && ok && string(b) != checkpointMagic {
		return h, 0, fmt.Errorf("it is of version %s, this program reads %s: start anew with Restart, or in another folder", strings.TrimSpace(version), strings.TrimPrefix(strings.TrimSpace(checkpointMagic), "golops checkpoint "))
	}
	if err != nil || string(b) != checkpointMagic {
		return h, 0, fmt.Errorf("it is no checkpoint of golops: it does not start with %q", checkpointMagic)
	}
	tail := make([]byte, 12)
	end := size - int64(len(tail))
	if end < int64(len(checkpointMagic)) {
		return h, 0, fmt.Errorf("it is cut off: it has %d bytes", size)
	}
	if _, err := f.ReadAt(tail, end); err != nil {
		return h, 0, err
	}
	n, sum := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint32(tail[8:])
	if data = end - int64(len(checkpointMagic)) - int64(n); n > maxFooter || data < 0 {
		return h, 0, errors.New("it is cut off or damaged at its end")
	}
	b = make([]byte, n)
	if _, err := f.ReadAt(b, end-int64(n)); err != nil {
		return h, 0, err
	}
	if crc32.ChecksumIEEE(b) != sum {
		return h, 0, errors.New("it is cut off, or its footer is damaged")
	}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&h); err != nil {
		return h, 0, fmt.Errorf("its footer cannot be read: %w", err)
	}
	return h, data, nil
}

// readVectors returns the checksums of this rank's blocks, which count on one of
// the ranks that hold the same, and takes the elements if told to.
func readVectors(ctx context.Context, f io.ReaderAt, all []savedVector, take bool) ([]int64, error) {
	sums := make([]int64, len(all))
	at := int64(len(checkpointMagic))
	for i, a := range all {
		if take || a.Space().Primary() {
			sum, err := a.read(ctx, f, at, take)
			if err != nil {
				return sums, err
			}
			sums[i] = int64(sum)
		}
		at += a.size()
	}
	return sums, nil
}
