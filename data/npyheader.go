package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/golops/golops/scalar"
)

// NPY is what the header of a .npy file says about the array in it.
type NPY struct {
	DType   string // NumPy's name of the element type, such as "<f4"
	Shape   []int  // empty for a single number
	Fortran bool   // the first axis runs fastest in the file, not the last
	Offset  int64  // where the elements start

	elem element
	n    int // elements
}

// Scalar returns the smallest element type of arrays that takes the elements
// of the file: float32 for integers of up to 16 bits, float64 for wider ones.
// Integers beyond 2⁵³ are rounded by every type.
func (h NPY) Scalar() scalar.DType { return h.elem.scalar() }

// bytes returns how long the file must be.
func (h NPY) bytes() int64 { return h.Offset + int64(h.n)*int64(h.elem.size) }

const (
	magic     = "\x93NUMPY"
	maxHeader = 1 << 16 // bytes; what can be read here needs 200, and a lie must not cost memory
	maxAxes   = 64      // what NumPy allows
)

// readHeader reads the header at the start of r and nothing more.
func readHeader(r io.Reader) (NPY, error) {
	var h NPY
	start := make([]byte, len(magic)+2)
	if _, err := io.ReadFull(r, start); err != nil {
		return h, fmt.Errorf("header: %w", short(err))
	}
	if string(start[:len(magic)]) != magic {
		return h, fmt.Errorf("it starts with %q: this is no .npy file", start[:len(magic)])
	}
	length := make([]byte, 4)
	switch v := start[len(magic)]; v {
	case 1:
		length = length[:2]
	case 2, 3:
	default:
		return h, fmt.Errorf("header: version %d.%d is unknown: have 1, 2 and 3", v, start[len(magic)+1])
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return h, fmt.Errorf("header: %w", short(err))
	}
	n := uint32(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = binary.LittleEndian.Uint32(length)
	}
	if n > maxHeader {
		return h, fmt.Errorf("header: it claims %d bytes, at most %d are possible", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, fmt.Errorf("header: %w", short(err))
	}
	h.Offset = int64(len(start) + len(length) + len(text))
	if err := h.parse(string(text)); err != nil {
		return h, fmt.Errorf("header %.200q: %w", strings.TrimSpace(string(text)), err)
	}
	return h, nil
}

// short replaces io.EOF by an error that says that the file ended early.
func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file is truncated: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// parse reads the dictionary of a header.
func (h *NPY) parse(text string) error {
	l := literal{rest: text}
	l.want("{")
	seen := map[string]bool{}
	for l.err == nil && !l.take("}") {
		key := l.quoted()
		if l.want(":"); l.err == nil && seen[key] {
			return fmt.Errorf("%q stands there twice", key)
		}
		seen[key] = true
		switch {
		case l.err != nil:
		case key == "descr":
			h.DType = l.quoted()
		case key == "fortran_order":
			h.Fortran = l.boolean()
		case key == "shape":
			h.Shape = l.tuple()
		default:
			return fmt.Errorf("%q is unknown: have descr, fortran_order, shape", key)
		}
		if !l.take(",") {
			l.want("}")
			break
		}
	}
	if l.err == nil && strings.Trim(l.rest, " \t\r\n\x00") != "" {
		l.fail("nothing more")
	}
	if l.err != nil {
		return l.err
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return fmt.Errorf("%q is missing", key)
		}
	}
	return h.check()
}

// check computes the number and the size of elements.
func (h *NPY) check() (err error) {
	if h.elem, err = parseElement(h.DType); err != nil {
		return err
	}
	if len(h.Shape) > maxAxes {
		return fmt.Errorf("%d axes, at most %d are possible", len(h.Shape), maxAxes)
	}
	h.n, err = count(h.Shape)
	if err == nil && h.n > (math.MaxInt-maxHeader-16)/16 {
		err = fmt.Errorf("shape %v has more elements than a file can hold", h.Shape)
	}
	return err
}

// count returns the elements of an array of this shape, 1 of no axes.
func count(dims []int) (int, error) {
	n, zero := 1, false
	for i, d := range dims {
		if d < 0 {
			return 0, fmt.Errorf("axis %d of shape %v is negative", i, dims)
		}
		if zero = zero || d == 0; d == 0 {
			continue // the others must still not overflow: strides are their products
		}
		if n > math.MaxInt/d {
			return 0, fmt.Errorf("shape %v has more elements than an int can count", dims)
		}
		n *= d
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// literal parses the Python values of a header. After a failure it reads nothing more.
type literal struct {
	rest string
	err  error
}

func (l *literal) fail(want string) {
	if l.err == nil {
		l.err = fmt.Errorf("%s expected at %.20q", want, l.rest)
	}
}

// take removes s, and spaces before it, and reports whether it was there.
func (l *literal) take(s string) bool {
	l.rest = strings.TrimLeft(l.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(l.rest, s)
	if ok {
		l.rest = rest
	}
	return ok
}

func (l *literal) want(s string) {
	if l.err == nil && !l.take(s) {
		l.fail(s)
	}
}

func (l *literal) quoted() string {
	for _, q := range []string{"'", `"`} {
		if l.err == nil && l.take(q) {
			if s, rest, ok := strings.Cut(l.rest, q); ok {
				l.rest = rest
				return s
			}
		}
	}
	if l.err == nil && l.take("[") {
		l.err = elementError("records of several fields cannot be read: write each field as a separate array")
	}
	l.fail("a quoted name")
	return ""
}

func (l *literal) boolean() bool {
	if l.take("True") {
		return true
	}
	if !l.take("False") {
		l.fail("True or False")
	}
	return false
}

func (l *literal) tuple() []int {
	dims := []int{}
	l.want("(")
	for l.err == nil && !l.take(")") {
		dims = append(dims, l.integer())
		if !l.take(",") {
			l.want(")")
			break
		}
	}
	return dims
}

// integer reads a decimal number. Python 2 appended an L to long integers.
func (l *literal) integer() int {
	l.take("")
	end := strings.IndexFunc(l.rest, func(r rune) bool { return r != '-' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(l.rest)
	}
	if end == 0 {
		l.fail("an integer")
		return 0
	}
	n, err := strconv.Atoi(l.rest[:end])
	if err != nil {
		l.fail("an integer that fits")
	}
	l.rest = l.rest[end:]
	l.take("L")
	return n
}

// header returns the same bytes that NumPy writes before an array in C order.
func header(descr string, dims []int) []byte {
	shape := make([]string, len(dims))
	for i, d := range dims {
		shape[i] = strconv.Itoa(d)
	}
	tuple, spare := strings.Join(shape, ", "), 0
	if len(dims) > 0 {
		spare = max(21-len(shape[0]), 0) // NumPy leaves room for the first axis to grow
	}
	if len(dims) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }%s", descr, tuple, strings.Repeat(" ", spare))
	const before, align = len(magic) + 4, 64
	pad := align - (before+len(text)+1)%align
	var b bytes.Buffer
	b.WriteString(magic + "\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(text)+pad+1)))
	b.WriteString(text + strings.Repeat(" ", pad) + "\n")
	return b.Bytes()
}
