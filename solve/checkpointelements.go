package solve

import (
	"encoding/binary"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
)

// unstack returns the arrays of stacks, and the arrays that are none.
func unstack[T scalar.Scalar](arrays ...dist.Array[T]) []dist.Array[T] {
	var all []dist.Array[T]
	for _, a := range arrays {
		if a.NumParts() == 0 {
			all = append(all, a)
		}
		for i := range a.NumParts() {
			all = append(all, unstack(a.Part(i))...)
		}
	}
	return all
}

// maxRun is how many elements a piece has at most, which bounds the memory that
// a checkpoint takes beside the arrays.
const maxRun = 1 << 16

// contiguousRuns calls f for runs of elements of this rank's block that follow each
// other in the whole array too.
func contiguousRuns(s *dist.Space, f func(global, local, n int) error) error {
	size := s.LocalShape().Size()
	if size == 0 {
		return nil
	}
	sh, b := s.Shape(), s.Box(s.Comm().Rank())
	k, n := sh.NDim()-1, 1
	for ; k >= 0; k-- {
		n *= b.Hi[k] - b.Lo[k]
		if b.Hi[k]-b.Lo[k] != sh.Dim(k) {
			k--
			break
		}
	}
	st, i := sh.Strides(), b.Lo
	for local := 0; local < size; local += n {
		global := 0
		for a := range sh.NDim() {
			global += i[a] * st[a]
		}
		for at := 0; at < n; at += maxRun {
			if err := f(global+at, local+at, min(maxRun, n-at)); err != nil {
				return err
			}
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

// checksum adds up a hash of each word of four bytes and its place. Words may be
// added in any order, so ranks can sum up their own.
func checksum(b []byte, at int64) (sum uint64) {
	for ; len(b) >= 4; b, at = b[4:], at+4 {
		sum += splitmix.Hash(uint64(binary.LittleEndian.Uint32(b))<<32 ^ splitmix.Hash(uint64(at)))
	}
	return sum
}

// encode appends elements to b, little-endian.
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

// decode is the inverse of encode.
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
