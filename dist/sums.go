package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Sums collects real sums over arrays on the same ranks, of one or of several
// spaces, and adds them up over the ranks in one message. Solvers use it where
// an algorithm needs two numbers at once.
//
// Reduce gives all ranks the very same numbers, so that all decide the same. As
// in Dot, one rank counts the elements that several hold. Squares are not scaled
// as in Norm: those of elements beyond 1e±150 leave the range of float64.
type Sums struct {
	group  comm.Comm
	v      []float64
	single bool // there is one sum only
	label  comm.Label
	kinds  int // letters in it
	device deviceSums
}

// NewSums returns room for n sums over arrays on the ranks of s.
func NewSums(s *Space, n int) *Sums {
	given("NewSums", s)
	if n < 0 || n > 1<<20 {
		panic(LayoutError(fmt.Sprintf("dist: NewSums: room for %d sums: must be from 0 to %d", n, 1<<20)))
	}
	return &Sums{group: s.group, v: make([]float64, 0, n), single: n == 1}
}

// Reset forgets all sums, for the next iteration.
func (s *Sums) Reset() {
	s.v = s.v[:0]
	s.device.n, s.label, s.kinds = 0, 0, 0
}

// Value returns sum number i, in the order in which they were added. It is
// right after Reduce.
func (s *Sums) Value(i int) float64 { return s.v[i] }

// Last returns the sum that was added last. It is right after Reduce.
func (s *Sums) Last() float64 { return s.v[len(s.v)-1] }

// Reduce waits for the device and adds up over the ranks. It is collective: one
// message, none with one rank.
func (s *Sums) Reduce(ctx context.Context) error {
	if err := s.fetch(); err != nil {
		return err
	}
	if len(s.v) == 0 || s.group.Size() == 1 {
		return nil
	}
	b := comm.Of(s.v).Labelled(s.label)
	return s.group.AllReduce(ctx, b, b, comm.Sum)
}

// among panics unless sums over a space are added up among the ranks of s.
func (s *Sums) among(op string, space *Space) {
	if space.group != s.group {
		panic(LayoutError(fmt.Sprintf("dist: %s: %v is on other ranks or has another mask than the rest", op, space)))
	}
}

// AddDot notes the real part of xᴴy.
func AddDot[T scalar.Scalar](s *Sums, x, y Array[T]) error {
	s.v = append(s.v, 0)
	s.kind('d')
	return addDot("AddDot", s, x, y, target{at: len(s.v) - 1})
}

// AddComplexDot notes xᴴy as two sums: the real and then the imaginary part.
func AddComplexDot[T scalar.Scalar](s *Sums, x, y Array[T]) error {
	s.v = append(s.v, 0, 0)
	s.kind('c')
	return addDot("AddComplexDot", s, x, y, target{len(s.v) - 2, true})
}

func addDot[T scalar.Scalar](op string, s *Sums, x, y Array[T], to target) error {
	mustMatch(op, x, y)
	s.among(op, x.space)
	s.device.direct = s.single && x.parts == nil // a single sum is faster without the buffer on the device
	return addDots(s, x, y, to)
}

func addDots[T scalar.Scalar](s *Sums, x, y Array[T], to target) error {
	for i, p := range x.parts {
		if err := addDots(s, p, y.parts[i], to); err != nil {
			return err
		}
	}
	if x.parts != nil || !x.space.counts() {
		return nil
	}
	if k, ok := x.local.Kernels().(device.AsyncReducer[T]); ok && !s.device.direct {
		m, err := s.slot(x.local.Device(), to)
		if err == nil {
			k.DotInto(m, x.local.Mem(), y.local.Mem(), true)
		}
		return err
	}
	v, err := array.Dot(x.local, y.local, true)
	s.add(to, v)
	return err
}

// AddAxpyNorm sets y = y + a·x and notes Σ|y|², in one pass over memory where
// the device can.
func AddAxpyNorm[T scalar.Scalar](s *Sums, a T, x, y Array[T]) error {
	mustMatch("AddAxpyNorm", x, y)
	s.among("AddAxpyNorm", y.space)
	s.v = append(s.v, 0)
	s.kind('n')
	s.device.direct = s.single && x.parts == nil
	return addAxpyNorms(s, a, x, y, target{at: len(s.v) - 1})
}

func addAxpyNorms[T scalar.Scalar](s *Sums, a T, x, y Array[T], to target) error {
	for i, p := range y.parts {
		if err := addAxpyNorms(s, a, x.parts[i], p, to); err != nil {
			return err
		}
	}
	if y.parts != nil {
		return nil
	}
	if !y.space.counts() { // another rank counts the same elements
		array.Axpby(a, x.local, 1, y.local)
		return nil
	}
	if k, ok := y.local.Kernels().(device.AsyncReducer[T]); ok && !s.device.direct {
		m, err := s.slot(y.local.Device(), to)
		if err == nil {
			k.AxpyNormInto(m, a, x.local.Mem(), y.local.Mem())
		}
		return err
	}
	v, err := array.AxpyNorm(a, x.local, y.local)
	s.add(to, complex(v, 0))
	return err
}
