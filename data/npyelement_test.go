package data

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/golops/golops/scalar"
)

// Files are little-endian. The bytes of a machine that is not are reversed in a copy.
func TestFileBytes(t *testing.T) {
	defer func(was bool) { littleEndian = was }(littleEndian)
	testFileBytes[float32](t)
	testFileBytes[float64](t)
	testFileBytes[complex64](t)
	testFileBytes[complex128](t)
}

func testFileBytes[T scalar.Scalar](t *testing.T) {
	v := []T{scalar.From[T](1.5 - 2.25i), scalar.From[T](3e-7 + 4i)}
	for _, little := range []bool{true, false} {
		order := binary.ByteOrder(binary.LittleEndian)
		if little != (binary.NativeEndian.Uint16([]byte{1, 0}) == 1) {
			order = binary.BigEndian // what a machine that is not this one would take for little-endian
		}
		var want bytes.Buffer
		if err := binary.Write(&want, order, v); err != nil {
			t.Fatal(err)
		}
		littleEndian = little
		if got := fileBytes(v); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%v, little-endian %t: got %x, want %x", scalar.Of[T](), little, got, want.Bytes())
		}
		if got := fileBytes(v[:0]); len(got) != 0 {
			t.Errorf("no elements have %d bytes", len(got))
		}
	}
}
