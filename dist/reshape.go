package dist

import (
	"fmt"
	"slices"

	"github.com/golops/golops/shape"
)

// Reshape returns the elements of a under another global shape of the same
// size, over the same memory. The global order of elements stays that of the
// last axis running fastest, so the blocks of ranks must be ranges of rows in
// the new shape too, as they are when only axes before or behind a split one
// change; otherwise the error says to Redistribute first. It does not
// communicate.
func (a Array[T]) Reshape(dims ...int) (Array[T], error) {
	s := a.given("Reshape")
	if s.parts != nil {
		return Array[T]{}, fmt.Errorf("dist: reshape: a stack has no shape: reshape its parts")
	}
	t, err := s.reshaped(dims)
	if err != nil {
		return Array[T]{}, fmt.Errorf("dist: reshape %s to %v: %w", s.describe(), dims, err)
	}
	return Wrap(t, a.local), nil
}

// Ravel returns a as an array of one axis. It is Reshape to its size.
func (a Array[T]) Ravel() (Array[T], error) { return a.Reshape(a.given("Ravel").Size()) }

func (s *Space) reshaped(dims []int) (*Space, error) {
	sh, err := shape.New(dims...)
	if err != nil {
		return nil, err
	}
	if sh.Size() != s.shape.Size() {
		return nil, fmt.Errorf("%d elements are not %d", s.shape.Size(), sh.Size())
	}
	l := s.layout.clone()
	used := make([]bool, sh.NDim())
	for g, a := range l.Axes {
		if a == NoAxis {
			continue
		}
		b, rows := NoAxis, []int(nil)
		switch {
		case l.Grid[g] == 1: // all rows are in each block
		case sh.Size() == 0: // any rows will do
			if i := slices.Index(used, false); i >= 0 {
				b = i
			}
		default:
			if b, rows, err = s.rowsIn(sh, used, a, l.Counts[g]); err != nil {
				return nil, err
			}
		}
		if l.Axes[g], l.Counts[g] = b, rows; b != NoAxis {
			used[b] = true
		}
	}
	return s.like(l, dims)
}

// rowsIn finds the axis of another shape whose rows hold the same elements as
// the rows of axis a, and how many of them each block has. Blocks of rows of an
// axis repeat as often as there are elements in the axes before it, so that
// number must be the same.
func (s *Space) rowsIn(sh shape.Shape, used []bool, a int, counts []int) (axis int, rows []int, err error) {
	outer, n, inner := s.shape.Around(a)
	best := NoAxis
	var broken error
	for b := range sh.NDim() {
		newOuter, newN, newInner := sh.Around(b)
		if newOuter != outer || used[b] {
			continue
		}
		r := slices.Clone(counts)
		bad := slices.IndexFunc(counts, func(c int) bool { return c*inner%newInner != 0 })
		if bad >= 0 {
			broken = fmt.Errorf("block %d of axis %d has %d elements in a row, not a multiple of the %d behind axis %d", bad, a, counts[bad]*inner, newInner, b)
			continue
		}
		for i, c := range counts {
			r[i] = c * inner / newInner
		}
		if best == NoAxis || newN == n {
			best, rows = b, r
		}
	}
	switch {
	case best != NoAxis:
		return best, rows, nil
	case broken != nil:
		return NoAxis, nil, fmt.Errorf("%w: Redistribute first", broken)
	}
	return NoAxis, nil, fmt.Errorf("the blocks of axis %d are not ranges of rows of any axis there: Redistribute first", a)
}
