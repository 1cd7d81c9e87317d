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
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// read fills arrays from a file that fits want, or says the reason why not and
// leaves them alone. An error is one that no other file would help with. The
// file is read twice, first to see that all is well, so that no second copy of
// the arrays is needed. It is collective.
func read(ctx context.Context, c comm.Comm, path string, want header, all []savedVector) (h header, reason, err error) {
	f, h, reason := open(path, describe(want, all), all)
	if f != nil {
		defer f.Close()
	}
	if reason, err = refuse(ctx, c, reason); reason != nil || err != nil {
		return h, reason, err
	}
	sums, reason := readBlocks(f, all, false)
	if reason, err = refuse(ctx, c, reason); reason != nil || err != nil {
		return h, reason, err
	}
	b := comm.Of(sums)
	if err := c.AllReduce(ctx, b, b, comm.Sum); err != nil {
		return h, nil, err
	}
	for i, s := range sums {
		if uint64(s) != h.Sums[i] {
			return h, fmt.Errorf("the vector %q is damaged: its checksum is %x, must be %x", all[i].label(), uint64(s), h.Sums[i]), nil
		}
	}
	_, err = readBlocks(f, all, true)
	return h, nil, comm.Agree(ctx, c, err)
}

// refuse spreads a refusal from any rank to all. err is not nil only if
// communication failed.
func refuse(ctx context.Context, c comm.Comm, mine error) (reason, err error) {
	got := comm.Agree(ctx, c, mine)
	if _, other := got.(*comm.RankError); got == nil || got == mine || other {
		return got, nil
	}
	return nil, got
}

// open opens a file whose footer is in order and fits.
func open(path string, want header, all []savedVector) (*os.File, header, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, header{}, err
	}
	st, err := f.Stat()
	if err != nil {
		return f, header{}, err
	}
	h, data, err := readFooter(f, st.Size())
	if err == nil {
		err = h.fits(want)
	}
	need := int64(0)
	for _, a := range all {
		need += a.size()
	}
	if err == nil && data != need {
		err = fmt.Errorf("it has %d bytes of vectors, %d are needed", data, need)
	}
	return f, h, err
}

// maxFooter is far more than a footer has: its history takes some 20 bytes per
// iteration.
const maxFooter = 1 << 30

// readFooter reads the end of a file of this many bytes, trusting nothing in it,
// and returns how many bytes of vectors there are.
func readFooter(f io.ReaderAt, size int64) (h header, data int64, err error) {
	b := make([]byte, len(magic))
	_, err = f.ReadAt(b, 0)
	if version, ok := strings.CutPrefix(string(b), "golops checkpoint "); err == nil && ok && string(b) != magic {
		return h, 0, fmt.Errorf("it is of version %s, this program reads %s: start anew with Restart, or in another folder", strings.TrimSpace(version), strings.TrimPrefix(strings.TrimSpace(magic), "golops checkpoint "))
	}
	if err != nil || string(b) != magic {
		return h, 0, fmt.Errorf("it is no checkpoint of golops: it does not start with %q", magic)
	}
	tail := make([]byte, 12)
	end := size - int64(len(tail))
	if end < int64(len(magic)) {
		return h, 0, fmt.Errorf("it is cut off: it has %d bytes", size)
	}
	if _, err := f.ReadAt(tail, end); err != nil {
		return h, 0, err
	}
	n, sum := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint32(tail[8:])
	if data = end - int64(len(magic)) - int64(n); n > maxFooter || data < 0 {
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

// readBlocks returns the checksums of this rank's blocks, which count on one of
// the ranks that hold the same, and takes the elements if told to.
func readBlocks(f io.ReaderAt, all []savedVector, take bool) ([]int64, error) {
	sums := make([]int64, len(all))
	at := int64(len(magic))
	for i, a := range all {
		if take || a.space().Primary() {
			s, err := a.read(f, at, take)
			if err != nil {
				return sums, err
			}
			sums[i] = int64(s)
		}
		at += a.size()
	}
	return sums, nil
}

// read returns the checksum of this rank's block of the array that starts at a
// place of the file, and copies the elements if take is set.
func (a savedArray[T]) read(f io.ReaderAt, at int64, take bool) (sum uint64, err error) {
	each := scalar.Of[T]().Size()
	n := min(a.Local().Len(), maxRun)
	b, host := make([]byte, n*each), make([]T, n)
	err = contiguousRuns(a.Space(), func(global, local, n int) error {
		place := int64(global) * int64(each)
		if _, err := f.ReadAt(b[:n*each], at+place); err != nil {
			return fmt.Errorf("elements %d to %d: %w", global, global+n, err)
		}
		sum += checksum(b[:n*each], place)
		if !take {
			return nil
		}
		decode(host[:n], b)
		return a.Local().Slice(local, local+n).CopyIn(host[:n])
	})
	return sum, err
}
