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
type Sums struct {
	group comm.Comm
	sent  []float64 // parts that are added up over the ranks
	value []float64 // by number, of sums that are complete on this rank
	where []int     // by number: the place in sent, or -1
}

// NewSums returns room for n sums over arrays on the ranks of s.
func NewSums(s *Space, n int) *Sums {
	return &Sums{group: s.group, sent: make([]float64, 0, n), value: make([]float64, 0, n), where: make([]int, 0, n)}
}

// Reset forgets all sums, for the next iteration.
func (s *Sums) Reset() { s.sent, s.value, s.where = s.sent[:0], s.value[:0], s.where[:0] }

// Value returns sum number i, in the order in which they were added. It is
// right after Reduce.
func (s *Sums) Value(i int) float64 {
	if w := s.where[i]; w >= 0 {
		return s.sent[w]
	}
	return s.value[i]
}

// Reduce adds up over the ranks. It is collective: one message, none if all
// sums are over arrays that every rank holds whole.
func (s *Sums) Reduce(ctx context.Context) error {
	if len(s.sent) == 0 {
		return nil
	}
	b := comm.Of(s.sent)
	return s.group.AllReduce(ctx, b, b, comm.Sum)
}

// add notes a sum over the elements of a space: a part of it, or all.
func (s *Sums) add(space *Space, v float64) {
	if space.group != s.group {
		panic(LayoutError(fmt.Sprintf("dist: Sums: %v is on other ranks or has another mask than the rest", space)))
	}
	if space.reduces() {
		s.sent, s.where = append(s.sent, v), append(s.where, len(s.sent))
		s.value = append(s.value, 0)
		return
	}
	s.value, s.where = append(s.value, v), append(s.where, -1)
}

// AddDot notes the real part of xᴴy. It waits for the device.
func AddDot[T scalar.Scalar](s *Sums, x, y Array[T]) error {
	alike("AddDot", x, y)
	v, err := dotHere(x, y, true, x.space.reduces())
	s.add(x.space, real(v))
	return err
}

// AddImagDot notes the imaginary part of xᴴy.
func AddImagDot[T scalar.Scalar](s *Sums, x, y Array[T]) error {
	alike("AddImagDot", x, y)
	v, err := dotHere(x, y, true, x.space.reduces())
	s.add(x.space, imag(v))
	return err
}

// AddAxpyNorm sets y = y + a·x and notes Σ|y|², in one pass over memory where
// the device can.
func AddAxpyNorm[T scalar.Scalar](s *Sums, a T, x, y Array[T]) error {
	alike("AddAxpyNorm", x, y)
	v, err := axpyNorm(a, x, y, y.space.reduces())
	s.add(y.space, v)
	return err
}

func axpyNorm[T scalar.Scalar](a T, x, y Array[T], reduces bool) (v float64, err error) {
	for i, p := range y.parts {
		w, err := axpyNorm(a, x.parts[i], p, reduces)
		if err != nil {
			return 0, err
		}
		v += w
	}
	if y.parts != nil {
		return v, nil
	}
	if f, ok := y.local.Kernels().(device.AxpyNormer[T]); ok {
		v, err = f.AxpyNorm(a, x.local.Mem(), y.local.Mem())
	} else {
		array.Axpby(a, x.local, 1, y.local)
		v, err = y.local.Kernels().Norm(y.local.Mem(), 2, 1)
	}
	if reduces && !y.space.primary {
		v = 0
	}
	return v, err
}
