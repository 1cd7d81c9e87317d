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

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// read fills arrays from a file that fits want, or says why not and leaves them
// alone. It is collective.
func read[T scalar.Scalar](ctx context.Context, c comm.Comm, path string, want header, arrays []dist.Array[T]) (header, error) {
	var all []dist.Array[T]
	for _, a := range arrays {
		all = append(all, leaves(a)...)
	}
	want = describe(want, all)
	var h header
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		if h, err = readFooter(f); err == nil {
			err = h.fits(want)
		}
		if err == nil && len(h.Sums) != len(all) {
			err = fmt.Errorf("it has %d checksums for %d vectors", len(h.Sums), len(all))
		}
	}
	if err := comm.Agree(ctx, c, err); err != nil {
		return h, err
	}
	// Only when all ranks have found their elements right does any take them.
	hosts, sums := make([][]T, len(all)), make([]int64, len(all))
	at := int64(len(magic))
	for i, a := range all {
		s, e := readBlock(f, at, a, &hosts[i])
		err = errors.Join(err, e)
		if a.Space().Primary() {
			sums[i] = int64(s)
		}
		at += int64(a.Space().Size() * scalar.Of[T]().Size())
	}
	if err := comm.Agree(ctx, c, err); err != nil {
		return h, err
	}
	b := comm.Of(sums)
	if err := c.AllReduce(ctx, b, b, comm.Sum); err != nil {
		return h, err
	}
	for i, s := range sums {
		if uint64(s) != h.Sums[i] {
			return h, fmt.Errorf("vector %d is damaged: its checksum is %x, must be %x", i, uint64(s), h.Sums[i])
		}
	}
	for i, a := range all {
		err = errors.Join(err, a.Local().CopyIn(hosts[i]))
	}
	return h, comm.Agree(ctx, c, err)
}

// readFooter reads the end of a file and trusts nothing in it.
func readFooter(f *os.File) (h header, err error) {
	st, err := f.Stat()
	if err != nil {
		return h, err
	}
	b := make([]byte, len(magic))
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != magic {
		return h, errors.New("it is no checkpoint of golops")
	}
	tail := make([]byte, 12)
	if _, err := f.ReadAt(tail, st.Size()-12); err != nil {
		return h, errors.New("it is cut off")
	}
	n, sum := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint32(tail[8:])
	if n > uint64(st.Size()) {
		return h, errors.New("it is cut off or damaged at its end")
	}
	b = make([]byte, n)
	if _, err := f.ReadAt(b, st.Size()-12-int64(n)); err != nil || crc32.ChecksumIEEE(b) != sum {
		return h, errors.New("it is cut off or damaged at its end")
	}
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&h); err != nil {
		return h, fmt.Errorf("its footer: %w", err)
	}
	return h, nil
}

func readBlock[T scalar.Scalar](f *os.File, at int64, a dist.Array[T], host *[]T) (sum uint64, err error) {
	*host = make([]T, a.Local().Len())
	size := scalar.Of[T]().Size()
	var b []byte
	err = runs(a.Space(), func(global, local, n int) error {
		if cap(b) < n*size {
			b = make([]byte, n*size)
		}
		b = b[:n*size]
		if _, err := f.ReadAt(b, at+int64(global*size)); err != nil {
			return fmt.Errorf("elements %d to %d: %w", global, global+n, err)
		}
		sum += checksum(b, global*size)
		decode((*host)[local:local+n], b)
		return nil
	})
	return sum, err
}

// leaves returns the arrays of a stack, or the array itself.
func leaves[T scalar.Scalar](a dist.Array[T]) []dist.Array[T] {
	if a.NumParts() == 0 {
		return []dist.Array[T]{a}
	}
	var all []dist.Array[T]
	for i := range a.NumParts() {
		all = append(all, leaves(a.Part(i))...)
	}
	return all
}

// runs calls f for each run of elements of this rank's block that follow each
// other in the whole array too.
func runs(s *dist.Space, f func(global, local, n int) error) error {
	sh, b := s.Shape(), s.Box(s.Comm().Rank())
	k, n := sh.Rank()-1, 1
	for ; k >= 0; k-- {
		n *= b.Hi[k] - b.Lo[k]
		if b.Hi[k]-b.Lo[k] != sh.Dim(k) {
			k--
			break
		}
	}
	if s.LocalShape().Size() == 0 {
		return nil
	}
	st, i := sh.Strides(), b.Lo
	for local := 0; local < s.LocalShape().Size(); local += n {
		global := 0
		for a := range sh.Rank() {
			global += i[a] * st[a]
		}
		if err := f(global, local, n); err != nil {
			return err
		}
		for a := k; a >= 0; a-- {
			if i[a]++; i[a] < b.Hi[a] {
				break
			}
			i[a] = b.Lo[a]
		}
	}
	return nil
}

// checksum adds up a hash of each word and its place. Words may be added in any
// order, so ranks can sum up their own.
func checksum(b []byte, at int) (sum uint64) {
	for ; len(b) >= 4; b, at = b[4:], at+4 {
		sum += mix(uint64(binary.LittleEndian.Uint32(b))<<32 ^ mix(uint64(at)))
	}
	return sum
}

// mix is a hash of 64 bits: each bit of x changes about half of the result.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func encode[T scalar.Scalar](b []byte, v []T) []byte {
	le := binary.LittleEndian
	switch v := any(v).(type) {
	case []float32:
		for _, x := range v {
			b = le.AppendUint32(b, math.Float32bits(x))
		}
	case []float64:
		for _, x := range v {
			b = le.AppendUint64(b, math.Float64bits(x))
		}
	case []complex64:
		for _, x := range v {
			b = le.AppendUint32(le.AppendUint32(b, math.Float32bits(real(x))), math.Float32bits(imag(x)))
		}
	case []complex128:
		for _, x := range v {
			b = le.AppendUint64(le.AppendUint64(b, math.Float64bits(real(x))), math.Float64bits(imag(x)))
		}
	}
	return b
}

func decode[T scalar.Scalar](v []T, b []byte) {
	f32 := func(i int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])) }
	f64 := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])) }
	switch v := any(v).(type) {
	case []float32:
		for i := range v {
			v[i] = f32(i)
		}
	case []float64:
		for i := range v {
			v[i] = f64(i)
		}
	case []complex64:
		for i := range v {
			v[i] = complex(f32(2*i), f32(2*i+1))
		}
	case []complex128:
		for i := range v {
			v[i] = complex(f64(2*i), f64(2*i+1))
		}
	}
}
