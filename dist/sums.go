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
// Reduce leaves the very same numbers on all ranks, so that all decide alike:
// of elements that several ranks hold, one rank's sum is sent to the others,
// whose copies may differ from it by rounding. Squares are not scaled as Norm
// does it: those of elements beyond 1e±150 leave the range of float64.
type Sums struct {
	group comm.Comm
	v     []float64
}

// NewSums returns room for n sums over arrays on the ranks of s.
func NewSums(s *Space, n int) *Sums { return &Sums{s.group, make([]float64, 0, n)} }

// Reset forgets all sums, for the next iteration.
func (s *Sums) Reset() { s.v = s.v[:0] }

// Value returns sum number i, in the order in which they were added. It is
// right after Reduce.
func (s *Sums) Value(i int) float64 { return s.v[i] }

// Last returns the sum that was added last. It is right after Reduce.
func (s *Sums) Last() float64 { return s.v[len(s.v)-1] }

// Reduce adds up over the ranks. It is collective: one message, none with one
// rank.
func (s *Sums) Reduce(ctx context.Context) error {
	if len(s.v) == 0 || !s.sends() {
		return nil
	}
	b := comm.Of(s.v)
	return s.group.AllReduce(ctx, b, b, comm.Sum)
}

// sends reports whether the parts of several ranks are added up.
func (s *Sums) sends() bool { return s.group.Size() > 1 }

// among panics unless sums over a space are added up among the ranks of s.
func (s *Sums) among(op string, space *Space) {
	if space.group != s.group {
		panic(LayoutError(fmt.Sprintf("dist: %s: %v is on other ranks or has another mask than the rest", op, space)))
	}
}

// AddDot notes the real part of xᴴy. It waits for the device.
func AddDot[T scalar.Scalar](s *Sums, x, y Array[T]) error {
	v, err := dotFor("AddDot", s, x, y)
	s.v = append(s.v, real(v))
	return err
}

// AddComplexDot notes xᴴy as two sums: the real and then the imaginary part.
func AddComplexDot[T scalar.Scalar](s *Sums, x, y Array[T]) error {
	v, err := dotFor("AddComplexDot", s, x, y)
	s.v = append(s.v, real(v), imag(v))
	return err
}

func dotFor[T scalar.Scalar](op string, s *Sums, x, y Array[T]) (complex128, error) {
	s.among(op, x.space)
	alike(op, x, y)
	return dotHere(x, y, true, s.sends())
}

// AddAxpyNorm sets y = y + a·x and notes Σ|y|², in one pass over memory where
// the device can.
func AddAxpyNorm[T scalar.Scalar](s *Sums, a T, x, y Array[T]) error {
	s.among("AddAxpyNorm", y.space)
	alike("AddAxpyNorm", x, y)
	v, err := axpyNorm(a, x, y, s.sends())
	s.v = append(s.v, v)
	return err
}

func axpyNorm[T scalar.Scalar](a T, x, y Array[T], sends bool) (v float64, err error) {
	for i, p := range y.parts {
		w, err := axpyNorm(a, x.parts[i], p, sends)
		if err != nil {
			return 0, err
		}
		v += w
	}
	if y.parts != nil {
		return v, nil
	}
	counts := !sends || y.space.primary
	if f, ok := y.local.Kernels().(device.AxpyNormer[T]); ok && counts {
		return f.AxpyNorm(a, x.local.Mem(), y.local.Mem())
	}
	array.Axpby(a, x.local, 1, y.local)
	if !counts { // another rank counts the same elements
		return 0, nil
	}
	return y.local.Kernels().Norm(y.local.Mem(), 2, 1)
}

// Group returns the ranks that reductions over the space are among: all, or
// those of this rank's color if the space has a mask.
func (s *Space) Group() comm.Comm { return s.group }
