package dist

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Reduction turns arrays into numbers. It collects slots over arrays on the same
// ranks, of one or of several spaces, and one message gives all ranks their values:
//
//	red := dist.NewReduction(x.Space(), 2)
//	d, n := dist.AddDot(red, x, y), dist.AddNorm2(red, y)
//	err := red.Do(ctx)
//	alpha := d.Float() / n.Float()
//
// All ranks get the very same numbers, so that all decide the same. One rank counts
// the elements that several hold. Whatever the layout, all ranks must add the same
// slots in the same order and call Do.
//
// The message is one sum. A largest number takes one element per rank in it, which
// is zero on all other ranks: all ranks then see all, and a NaN is not lost.
type Reduction struct {
	group   *comm.Comm
	v       []float64 // the message
	err     error     // the first one of the slots
	done    bool      // the next slot is the first of another message
	single  bool      // there is one slot over arrays
	slots   int
	word    comm.Label // of the first slot
	letters comm.Label // one for each slot
	device  deviceSums
}

// Slot is a number of a Reduction. It has its value after Do, until the next slot is
// added.
type Slot struct {
	r    *Reduction
	at   int
	kind slotKind
	p    float64 // of a norm
}

type slotKind uint8

const (
	realSum slotKind = iota
	complexSum
	squareSum // three numbers, see squares
	powerSum  // of a p-norm
	largest   // one number per rank
	smallest
)

// NewReduction returns a reduction over arrays on the ranks of s, with room for so
// many slots; more make it grow. A GPU is fastest if 1 means 1.
func NewReduction(s *Space, slots int) *Reduction {
	given("NewReduction", s)
	if slots < 0 || slots > 1<<20 {
		panic(LayoutError(fmt.Sprintf("dist: NewReduction: room for %d slots: must be from 0 to %d", slots, 1<<20)))
	}
	return &Reduction{group: s.group, v: make([]float64, 0, 2*slots), single: slots == 1}
}

// once returns the reduction of functions such as Dot. Only one is under way at a
// time, because only one goroutine uses a rank.
func (s *Space) once() *Reduction {
	r := &s.proc.shared.once
	r.group, r.single = s.group, true
	r.Reset()
	return r
}

// Reset forgets all slots. Do makes it unnecessary.
func (r *Reduction) Reset() {
	r.v, r.letters, r.slots, r.device.n = r.v[:0], 0, 0, 0
	r.err, r.done = nil, false
}

// Do waits for the device and fills the slots. It is collective: one message, none
// with one rank. The reduction is empty afterwards.
func (r *Reduction) Do(ctx context.Context) error {
	r.fail(r.fetch())
	err := r.err
	r.err, r.done = nil, true
	if err != nil || len(r.v) == 0 || r.group.Size() == 1 {
		return err
	}
	label := r.letters
	if r.slots == 1 {
		label = r.word
	}
	b := comm.Of(r.v).Labelled(label)
	return r.group.AllReduce(ctx, b, b, comm.Sum)
}

// Float returns the value, of a complex one the real part.
func (s Slot) Float() float64 {
	v := s.r.v[s.at:]
	switch s.kind {
	case squareSum:
		return squares{v[0], v[1], v[2]}.root()
	case powerSum:
		return math.Pow(v[0], 1/s.p)
	case largest, smallest:
		most := v[0]
		for _, w := range v[1:s.r.group.Size()] {
			most = s.kind.join(most, w)
		}
		return most
	}
	return v[0]
}

// Complex returns the value as a complex number.
func (s Slot) Complex() complex128 {
	if s.kind == complexSum {
		return complex(s.r.v[s.at], s.r.v[s.at+1])
	}
	return complex(s.Float(), 0)
}

// AddNumber returns a slot for the sum of what each rank gives.
func (r *Reduction) AddNumber(v float64) Slot {
	s := r.slot(realSum, 1, labelNumber, 'v')
	r.v[s.at] = v
	return s
}

// AddDot returns a slot for xᴴy.
func AddDot[T scalar.Scalar](r *Reduction, x, y Array[T]) Slot {
	return addDot(r, x, y, scalar.Of[T]().IsComplex(), true, labelDot, 'd')
}

// AddNorm2 returns a slot for ‖x‖², the sum of the squares. Those of elements beyond
// 1e±150 leave the range of float64: see AddNorm.
func AddNorm2[T scalar.Scalar](r *Reduction, x Array[T]) Slot {
	return addDot(r, x, x, false, true, labelSquares, 'n')
}

func addDot[T scalar.Scalar](r *Reduction, x, y Array[T], both, conj bool, word comm.Label, letter byte) Slot {
	mustMatch("Dot", x, y)
	s := r.over(x.space, sumOf(both), word, letter)
	for i, leaf := range x.space.leaves {
		if !leaf.counts() {
			continue
		}
		x, y := x.block(i), y.block(i)
		if room, ok := r.deviceRoom(x.Device(), s); ok {
			r.fail(array.DotInto(room, *x, *y, conj))
			continue
		}
		v, err := array.Dot(*x, *y, conj)
		s.add(v, err)
	}
	return s
}

// AddAxpyNorm2 sets y = y + a·x and returns a slot for ‖y‖², in one pass over memory
// where the device can.
func AddAxpyNorm2[T scalar.Scalar](r *Reduction, a T, x, y Array[T]) Slot {
	mustMatch("AddAxpyNorm2", x, y)
	s := r.over(y.space, realSum, labelAxpyNorm, 'a')
	for i, leaf := range y.space.leaves {
		x, y := x.block(i), y.block(i)
		if !leaf.counts() { // another rank counts the same elements
			array.Axpby(a, *x, 1, *y)
			continue
		}
		if room, ok := r.deviceRoom(y.Device(), s); ok {
			r.fail(array.AxpyNormInto(room, a, *x, *y))
			continue
		}
		v, err := array.AxpyNorm(a, *x, *y)
		s.add(complex(v, 0), err)
	}
	return s
}

// AddSum returns a slot for the sum of all elements of x.
func AddSum[T scalar.Scalar](r *Reduction, x Array[T]) Slot {
	s := r.over(x.given("AddSum"), sumOf(scalar.Of[T]().IsComplex()), labelSum, 's')
	for i, leaf := range x.space.leaves {
		if b := x.block(i); leaf.counts() {
			s.add(array.Sum(*b))
		}
	}
	return s
}

// AddMinMax returns slots for the smallest and the largest element of a real array.
func AddMinMax[T scalar.Scalar](r *Reduction, x Array[T]) (lo, hi Slot) {
	s := x.given("AddMinMax")
	if scalar.Of[T]().IsComplex() {
		r.fail(fmt.Errorf("dist: min and max of %v: complex numbers have no order: %w", scalar.Of[T](), device.ErrUnsupported))
		return lo, hi
	}
	lo, hi = r.over(s, smallest, labelMin, 'l'), r.over(s, largest, labelMax, 'h')
	for i, leaf := range s.leaves {
		if b := x.block(i); leaf.counts() {
			l, h, err := array.MinMax(*b)
			lo.add(complex(l, 0), err)
			hi.add(complex(h, 0), err)
		}
	}
	return lo, hi
}

// AddNorm returns a slot for the p-norm of x, which Norm describes.
func AddNorm[T scalar.Scalar](r *Reduction, x Array[T], p float64) Slot {
	kind := powerSum
	switch {
	case math.IsNaN(p):
		r.fail(errors.New("dist: norm: p is NaN"))
	case p == 2:
		kind = squareSum
	case p == 0:
		kind = realSum
	case math.IsInf(p, 1):
		kind = largest
	case math.IsInf(p, -1):
		kind = smallest
	}
	s := r.over(x.given("AddNorm"), kind, normLabel(p), 'p')
	s.p = p
	for i, leaf := range x.space.leaves {
		b := x.block(i)
		switch {
		case !leaf.counts():
		case kind == squareSum:
			addSquares(s, b)
		default:
			if !math.IsInf(p, 0) {
				if room, ok := r.deviceRoom(b.Device(), s); ok {
					r.fail(array.NormInto(room, *b, p))
					continue
				}
			}
			v, err := array.Norm(*b, p, 1)
			s.add(complex(v, 0), err)
		}
	}
	return s
}

// over is slot for a number over arrays of a space.
func (r *Reduction) over(s *Space, k slotKind, word comm.Label, letter byte) Slot {
	if s.group != r.group {
		panic(LayoutError(fmt.Sprintf("dist: reduction: %v is on other ranks or has another mask than the rest", s)))
	}
	n, none := 1, 0.0
	switch k {
	case complexSum:
		n = 2
	case squareSum:
		n = 3
	case largest:
		n, none = r.group.Size(), math.Inf(-1)
	case smallest:
		n, none = r.group.Size(), math.Inf(1)
	}
	r.device.direct = r.single && len(s.leaves) == 1
	t := r.slot(k, n, word, letter)
	r.v[t.mine()] = none
	return t
}

// slot makes room for a slot of n numbers. Ranks whose slots have different words or
// letters are in a mismatch. Eight letters fit a label; of further slots only the
// number tells ranks apart.
func (r *Reduction) slot(k slotKind, n int, word comm.Label, letter byte) Slot {
	if r.done {
		r.Reset()
	}
	if r.slots == 0 {
		r.word = word
	}
	if r.slots < 8 {
		r.letters |= comm.Label(letter) << (8 * r.slots)
	}
	r.slots++
	at := len(r.v)
	for range n {
		r.v = append(r.v, 0)
	}
	return Slot{r: r, at: at, kind: k}
}

// fail keeps the first error for Do.
func (r *Reduction) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// mine returns where this rank's number is.
func (s Slot) mine() int {
	if s.kind == largest || s.kind == smallest {
		return s.at + s.r.group.Rank()
	}
	return s.at
}

// add joins a number of this rank with those before it.
func (s Slot) add(v complex128, err error) {
	s.r.fail(err)
	at := s.mine()
	s.r.v[at] = s.kind.join(s.r.v[at], real(v))
	if s.kind == complexSum {
		s.r.v[at+1] += imag(v)
	}
}

func (k slotKind) join(a, b float64) float64 {
	switch k {
	case largest:
		return max(a, b) // NaN stays NaN, as it does not in package math
	case smallest:
		return min(a, b)
	}
	return a + b
}

func sumOf(complex bool) slotKind {
	if complex {
		return complexSum
	}
	return realSum
}

// counts reports whether this rank's block counts in a reduction: of ranks that
// hold the same elements, one counts them.
func (s *Space) counts() bool { return s.primary || s.group.Size() == 1 }
