package commtest

import (
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// vec is an array of one type with guard elements before and after it.
type vec interface {
	dtype() scalar.DType
	len() int
	// buf returns elements lo to hi.
	buf(lo, hi int) comm.Buf
	// fill sets elements lo to hi to the values of s.
	fill(lo, hi int, s source)
	// set sets all elements to x.
	set(x num)
	// diff compares elements lo to hi with all elements of want.
	diff(lo, hi int, want vec) error
	// equal compares element i with x.
	equal(i int, x num) error
	// number returns element i if it is an integer from 0 to below top, else -1.
	number(i, top int) int
	// guards returns an error if a guard has changed.
	guards() error
	// resize makes n elements, which hold junk.
	resize(n int)
}

// elems is a vec of T.
type elems[T scalar.Element] struct {
	mem []T // with guards
	t   traits
	deviceCopy
}

const guard = 5 // elements; odd, so that memory of small types is not aligned

var junk = num{90, 91}

// newVecs makes an empty vec of each type.
var newVecs = [...]func(p *deviceMemory) vec{
	scalar.Uint8: newElems[uint8], scalar.Int32: newElems[int32], scalar.Int64: newElems[int64],
	scalar.Float32: newElems[float32], scalar.Float64: newElems[float64],
	scalar.Complex64: newElems[complex64], scalar.Complex128: newElems[complex128],
	scalar.Half: newElems[scalar.Float16], scalar.Brain: newElems[scalar.BFloat16],
}

func newElems[T scalar.Element](p *deviceMemory) vec {
	return &elems[T]{t: traitsOf[scalar.Of[T]()], deviceCopy: deviceCopy{p: p}}
}

func newVec(dt scalar.DType, n int, p *deviceMemory) vec {
	v := newVecs[dt](p)
	v.resize(n)
	return v
}

// in returns the elements in host memory.
func (e *elems[T]) in() []T { return e.all()[guard : len(e.mem)-guard] }

func (e *elems[T]) all() []T {
	if e.newer {
		e.download(bytesOf(e.mem))
	}
	return e.mem
}

func (e *elems[T]) dtype() scalar.DType { return scalar.Of[T]() }
func (e *elems[T]) len() int            { return len(e.mem) - 2*guard }

func (e *elems[T]) buf(lo, hi int) comm.Buf {
	if e.p != nil {
		return onDevice(&e.deviceCopy, e.mem, guard+lo, guard+hi)
	}
	return comm.Of(e.in()[lo:hi])
}

func (e *elems[T]) resize(n int) {
	if n += 2 * guard; n > cap(e.mem) {
		e.mem = make([]T, n, n+n/4)
	}
	e.mem = e.mem[:n]
	e.newer = false
	j := one[T](junk)
	for i := range e.mem {
		e.mem[i] = j
	}
}

func (e *elems[T]) set(x num) {
	v, d := one[T](x), e.in()
	for i := range d {
		d[i] = v
	}
}

func (e *elems[T]) fill(lo, hi int, s source) {
	d := e.in()[lo:hi]
	head := min(len(d), period)
	var v [64]num
	for at := 0; at < head; at += len(v) {
		n := min(len(v), head-at)
		s.nums(v[:n], e.t, at)
		convert(d[at:at+n], v[:n])
	}
	for at := head; at < len(d); {
		at += copy(d[at:], d[:at])
	}
}

func (e *elems[T]) diff(lo, hi int, want vec) error {
	a, b := e.in()[lo:hi], want.(*elems[T]).in()
	if len(a) != len(b) {
		panic(fmt.Sprintf("commtest: compare %d elements with %d", len(a), len(b)))
	}
	for i, x := range a {
		if x != b[i] {
			return fmt.Errorf("index %d of %d %v: got %v, want %v", i, len(a), e.dtype(), x, b[i])
		}
	}
	return nil
}

func (e *elems[T]) equal(i int, x num) error {
	if got, want := e.in()[i], one[T](x); got != want {
		return fmt.Errorf("index %d of %d %v: got %v, want %v", i, e.len(), e.dtype(), got, want)
	}
	return nil
}

func (e *elems[T]) number(i, top int) int {
	for n := range top {
		if e.in()[i] == one[T](num{re: int64(n)}) {
			return n
		}
	}
	return -1
}

func (e *elems[T]) guards() error {
	j, n := one[T](junk), len(e.all())
	for i := range guard {
		for _, at := range [...]int{i, n - 1 - i} {
			if e.mem[at] != j {
				return fmt.Errorf("memory outside the buffer: index %d of %d %v: got %v, want it untouched",
					at-guard, e.len(), e.dtype(), e.mem[at])
			}
		}
	}
	return nil
}

// memory allocates vecs and releases them all at once.
type memory struct {
	device *deviceMemory // nil means host memory
	vecs   [len(scalar.DTypes) + 1][]vec
	used   [len(scalar.DTypes) + 1]int
}

func (m *memory) vec(dt scalar.DType, n int) vec {
	have, at := m.vecs[dt], m.used[dt]
	m.used[dt]++
	if at == len(have) {
		v := newVec(dt, n, m.device)
		m.vecs[dt] = append(have, v)
		return v
	}
	have[at].resize(n)
	return have[at]
}

// release releases all vecs. No request may be under way.
func (m *memory) release() { clear(m.used[:]) }
