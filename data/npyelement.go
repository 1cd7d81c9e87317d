package data

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/golops/golops/scalar"
)

// element is the element type of a file.
type element struct {
	kind byte // b, i, u, f or c, as NumPy writes it
	size int  // in bytes
	swap bool // the order of bytes is not that of this machine
}

// readable are the elements that files may have, without the order of bytes.
var readable = []string{"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"}

// elementError reports an array of text, records or other things that are no
// numbers.
type elementError string

func (e elementError) Error() string { return string(e) }

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// parseElement reads NumPy's name of an element type, such as "<f4".
func parseElement(descr string) (element, error) {
	order, rest := byte('|'), descr
	if rest != "" && strings.IndexByte("<>|=", rest[0]) >= 0 {
		order, rest = rest[0], rest[1:]
	}
	if !slices.Contains(readable, rest) {
		return element{}, elementError(fmt.Sprintf("element type %q cannot be read: have %s; convert it with astype in NumPy", descr, strings.Join(readable, ", ")))
	}
	e := element{kind: rest[0]}
	e.size, _ = strconv.Atoi(rest[1:]) // it is one of the above
	if order == '|' && e.size > 1 {
		return e, fmt.Errorf("element type %q does not say the order of its bytes, < or >", descr)
	}
	e.swap = e.size > 1 && (order == '<' && !littleEndian || order == '>' && littleEndian)
	return e, nil
}

// elementName is NumPy's name of T in the files that golops writes, which are
// little-endian.
func elementName[T scalar.Scalar]() string {
	if d := scalar.Of[T](); d.IsComplex() {
		return fmt.Sprintf("<c%d", d.Size())
	}
	return fmt.Sprintf("<f%d", scalar.Of[T]().Size())
}

// elementOf is the element type of the files that golops writes of T.
func elementOf[T scalar.Scalar]() element {
	e, _ := parseElement(elementName[T]()) // it can be read
	return e
}

// fileBytes returns the bytes of v in a file that golops writes: the memory of v, or
// a copy on a machine that is not little-endian.
func fileBytes[T scalar.Scalar](v []T) []byte {
	if littleEndian {
		return view[byte](v)
	}
	v = slices.Clone(v)
	switch scalar.Of[T]() {
	case scalar.Float32, scalar.Complex64:
		swapBytes(view[uint32](v))
	default:
		swapBytes(view[uint64](v))
	}
	return view[byte](v)
}

// scalar is the smallest element type of arrays that takes e; see NPY.Scalar.
func (e element) scalar() scalar.DType {
	switch {
	case e.kind == 'c' && e.size == 8:
		return scalar.Complex64
	case e.kind == 'c':
		return scalar.Complex128
	case e.kind == 'f' && e.size == 4 || e.size <= 2:
		return scalar.Float32
	}
	return scalar.Float64
}

type float interface{ float32 | float64 }

type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float
}

// decoder returns a function that fills dst with the next len(dst) elements
// of r, which lie there as e. It keeps its buffer between calls.
func decoder[T scalar.Scalar](e element) (func(dst []T, r io.Reader) error, error) {
	if e.kind == 'c' && !scalar.Of[T]().IsComplex() {
		return nil, fmt.Errorf("its elements are complex and cannot be read as %v: read %v and take a part or the size", scalar.Of[T](), e.scalar())
	}
	var zero T
	switch any(zero).(type) {
	case float32, complex64:
		return decoderOf[T, float32](e), nil
	}
	return decoderOf[T, float64](e), nil
}

// decoderOf is decoder for T whose real type is R.
func decoderOf[T scalar.Scalar, R float](e element) func([]T, io.Reader) error {
	bytes := e.size
	if e.kind == 'c' {
		bytes /= 2
	}
	switch string(e.kind) + strconv.Itoa(bytes) {
	case "i1":
		return decodeFrom[T, R, int8](e)
	case "i2":
		return decodeFrom[T, R, int16](e)
	case "i4":
		return decodeFrom[T, R, int32](e)
	case "i8":
		return decodeFrom[T, R, int64](e)
	case "u2":
		return decodeFrom[T, R, uint16](e)
	case "u4":
		return decodeFrom[T, R, uint32](e)
	case "u8":
		return decodeFrom[T, R, uint64](e)
	case "f4", "c4":
		return decodeFrom[T, R, float32](e)
	case "f8", "c8":
		return decodeFrom[T, R, float64](e)
	}
	return decodeFrom[T, R, uint8](e) // b1 and u1
}

// decodeFrom is decoderOf for a file of numbers S, two for a complex element.
// Where S is R already, elements are read straight to where they belong.
func decodeFrom[T scalar.Scalar, R float, S number](e element) func([]T, io.Reader) error {
	step := 1 // how many R there are in dst for each S in the file
	if e.kind != 'c' && scalar.Of[T]().IsComplex() {
		step = 2
	}
	_, same := any(S(0)).(R)
	var buf []S
	return func(dst []T, r io.Reader) error {
		out := view[R](dst)
		if same && step == 1 {
			return readNumbers(out, r, e.swap)
		}
		if buf == nil {
			buf = make([]S, 1<<13)
		}
		for len(out) > 0 {
			in := buf[:min(len(buf), len(out)/step)]
			if err := readNumbers(in, r, e.swap); err != nil {
				return err
			}
			if e.kind == 'b' {
				for i, v := range in {
					in[i] = min(v, 1) // any value but 0 is true
				}
			}
			convert(out, in, step)
			out = out[len(in)*step:]
		}
		return nil
	}
}

// convert sets every step-th element of dst to those of src and zeroes the
// others, which are imaginary parts.
func convert[R float, S number](dst []R, src []S, step int) {
	if step == 1 {
		for i, v := range src {
			dst[i] = R(v)
		}
		return
	}
	for i, v := range src {
		dst[2*i], dst[2*i+1] = R(v), 0
	}
}

// readNumbers fills dst from r and turns the bytes of each number if asked to.
func readNumbers[S number](dst []S, r io.Reader, swap bool) error {
	if len(dst) == 0 {
		return nil
	}
	if _, err := io.ReadFull(r, view[byte](dst)); err != nil {
		return err
	}
	if swap {
		swapBytes(dst)
	}
	return nil
}

// swapBytes reverses the bytes of each number.
func swapBytes[S number](s []S) {
	var one S
	switch unsafe.Sizeof(one) {
	case 2:
		turn(view[uint16](s), bits.ReverseBytes16)
	case 4:
		turn(view[uint32](s), bits.ReverseBytes32)
	case 8:
		turn(view[uint64](s), bits.ReverseBytes64)
	}
}

func turn[U any](s []U, f func(U) U) {
	for i, v := range s {
		s[i] = f(v)
	}
}

// view returns the memory of s as numbers of a type that is no larger.
func view[To, From any](s []From) []To {
	var f From
	var t To
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(f)/unsafe.Sizeof(t)))
}
