package commtest

import (
	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
)

// num is an element of any type before conversion: a Gaussian integer, so small that no
// reduction of the suite rounds or overflows. Real types ignore im.
type num struct{ re, im int64 }

const (
	notReduced = comm.NoOp // op of values that are copied, not reduced
	everyone   = -1        // rank of a source that is the reduction of all ranks' values; everyone-k is that of the first k ranks
	period     = 1021      // after how many elements values repeat: a prime, so that no block size divides it
)

// source identifies a sequence of values, so that any rank can compute what any other
// contributes.
type source struct {
	tag  uint64  // of the operation
	op   comm.Op // by which the values will be reduced
	size int     // ranks that contribute
	rank int     // the contributing rank, or everyone
	off  int     // of the first value
}

// traits are the properties of an element type on which the values depend.
type traits struct {
	unsigned, integer, complex bool
	sum                        int // bits of a value in a sum that must be exact
	all                        int // bits of a value that must be exact
}

var traitsOf = [...]traits{
	scalar.Uint8:      {unsigned: true, integer: true, sum: 3, all: 8},
	scalar.Int32:      {integer: true, sum: 20, all: 31},
	scalar.Int64:      {integer: true, sum: 50, all: 62},
	scalar.Float32:    {sum: 14, all: 24},
	scalar.Float64:    {sum: 40, all: 53},
	scalar.Complex64:  {complex: true, sum: 14, all: 24},
	scalar.Complex128: {complex: true, sum: 40, all: 53},
	scalar.Half:       {sum: 6, all: 11},
	scalar.Brain:      {sum: 4, all: 8},
}

// nums sets v to the values of s from the at-th on.
func (s source) nums(v []num, t traits, at int) {
	for j := range v {
		i := (s.off + at + j) % period
		if s.rank <= everyone {
			v[j] = s.reduced(t, i)
		} else {
			v[j] = s.value(t, s.rank, i)
		}
	}
}

// value returns what rank r contributes at i.
func (s source) value(t traits, r, i int) num {
	h := hash(s.tag, r, i)
	switch {
	case s.op == comm.Prod:
		return s.factor(t, h, r, i)
	case s.op == comm.Average && !t.integer:
		return s.forAverage(t, r, i)
	case s.op == comm.Sum || s.op == comm.Average:
		return t.num(h, t.sum, s.size)
	}
	return t.num(h, t.all, 1)
}

// num returns a value with this many bits. For uint8, the sum of size values does not
// overflow.
func (t traits) num(h uint64, bits, size int) num {
	if t.unsigned {
		top := min(uint64(1)<<bits-1, uint64(255/size))
		return num{re: int64(h % (top + 1))}
	}
	v := num{re: signed(h, bits)}
	if t.complex {
		v.im = signed(splitmix.Hash(h), bits)
	}
	return v
}

func signed(h uint64, bits int) int64 { return int64(h>>(64-bits)) - int64(1)<<(bits-1) }

// factor returns a value for a product: 1, -1, i or -i on all but four ranks.
func (s source) factor(t traits, h uint64, r, i int) num {
	first := int(hash(s.tag, -1, i) % uint64(s.size))
	large := (r+s.size-first)%s.size < 4
	switch {
	case t.complex && large:
		return num{1 + int64(h%2), int64(h/2%3) - 1}
	case t.complex:
		return [...]num{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}[h%4]
	}
	v := num{re: 1}
	if large {
		v.re += int64(h % 3)
	}
	if !t.unsigned && h>>32%2 == 1 {
		v.re = -v.re
	}
	return v
}

// forAverage returns a value whose sum over all ranks is a multiple of their number: a common value
// plus differences that cancel in pairs of ranks.
func (s source) forAverage(t traits, r, i int) num {
	v := t.num(hash(s.tag, -1, i), t.sum, 1)
	if r|1 >= s.size {
		return v
	}
	d := t.num(hash(s.tag, r|1, i), t.sum-3, 1)
	if r%2 == 1 {
		d.re, d.im = -d.re, -d.im
	}
	return num{v.re + d.re, v.im + d.im}
}

// reduced returns the reduction of all ranks' values at i.
func (s source) reduced(t traits, i int) num {
	a := s.value(t, 0, i)
	ranks := s.size
	if s.rank < everyone {
		ranks = everyone - s.rank
	}
	for r := 1; r < ranks; r++ {
		a = combine(s.op, a, s.value(t, r, i))
	}
	if s.op == comm.Average {
		a.re /= int64(s.size) // cut towards zero
		a.im /= int64(s.size)
	}
	return a
}

func combine(op comm.Op, a, b num) num {
	switch op {
	case comm.Prod:
		return num{a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re}
	case comm.Min:
		return num{re: min(a.re, b.re)}
	case comm.Max:
		return num{re: max(a.re, b.re)}
	}
	return num{a.re + b.re, a.im + b.im}
}

// convert sets d to the elements that v stands for.
func convert[T scalar.Element](d []T, v []num) {
	switch d := any(d).(type) {
	case []uint8:
		integers(d, v)
	case []int32:
		integers(d, v)
	case []int64:
		integers(d, v)
	case []float32:
		integers(d, v)
	case []float64:
		integers(d, v)
	case []complex64:
		for i := range d {
			d[i] = complex(float32(v[i].re), float32(v[i].im))
		}
	case []complex128:
		for i := range d {
			d[i] = complex(float64(v[i].re), float64(v[i].im))
		}
	case []scalar.Float16:
		for i := range d {
			d[i] = scalar.ToFloat16(float32(v[i].re))
		}
	case []scalar.BFloat16:
		for i := range d {
			d[i] = scalar.ToBFloat16(float32(v[i].re))
		}
	}
}

func integers[T uint8 | int32 | int64 | float32 | float64](d []T, v []num) {
	for i := range d {
		d[i] = T(v[i].re)
	}
}

func one[T scalar.Element](v num) T {
	d := []T{0}
	convert(d, []num{v})
	return d[0]
}

func hash(tag uint64, r, i int) uint64 {
	return splitmix.Hash(tag + uint64(r)*0x9e3779b97f4a7c15 + uint64(i)*0xd1b54a32d192ed03)
}
