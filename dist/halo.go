package dist

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// NewHalo plans the way between s and the space whose blocks are widened by front[a]
// and back[a] ghost cells along each axis a: copies of the elements around the block,
// which other ranks hold, corners included. Depths may reach over several ranks. A
// rank that holds nothing gets no ghosts. Blocks at an end of the array are widened
// beyond it only with edges, by cells that are zero. Ghosts travel the way of the layout
// of s. It does not communicate: all ranks must call it with the same values.
func NewHalo[T scalar.Scalar](s *Space, front, back []int, edges bool) (*Move[T], error) {
	given("NewHalo", s)
	m, err := newHalo[T](s, front, back, edges, s.layout.Way)
	return named("dist: halo", m, err)
}

func newHalo[T scalar.Scalar](s *Space, front, back []int, edges bool, way Way) (*Move[T], error) {
	w, err := newWidening(s, front, back, edges)
	if err != nil {
		return nil, err
	}
	to, err := s.widened(w)
	if err != nil {
		return nil, err
	}
	m := &Move[T]{name: "dist: halo", from: s, to: to, zeros: edges}
	p := (&Plan{from: s, way: way, label: labelHalo}).boxes(func(r int) Box { return w.box(s.Box(r)) }, to.local)
	return m, m.add(p, p.adjoint(labelHaloAdj))
}

// AddGhosts returns a with front and back ghost cells along each axis, as many
// as there are before the ends of the array. It is collective.
func AddGhosts[T scalar.Scalar](ctx context.Context, a Array[T], front, back []int) (Array[T], error) {
	m, err := newHalo[T](a.given("AddGhosts"), front, back, false, Messages)
	return m.once(ctx, "dist: add ghosts", a, err, "front ", front, ", back ", back, " of ", a.space.describe())
}

// widening is how far a halo reaches.
type widening struct {
	shape       shape.Shape
	front, back []int
	edges       bool
}

func newWidening(s *Space, front, back []int, edges bool) (w widening, err error) {
	n := s.shape.NDim()
	if s.parts != nil {
		return w, fmt.Errorf("a stack has no axes: take its parts")
	}
	if len(front) != n || len(back) != n {
		return w, fmt.Errorf("depths %v and %v for an array of %d axes", front, back, n)
	}
	w = widening{s.shape, slices.Clone(front), slices.Clone(back), edges}
	for a := range n {
		if front[a] < 0 || back[a] < 0 {
			return w, fmt.Errorf("depths %d and %d of axis %d must not be negative", front[a], back[a], a)
		}
		dim := s.shape.Dim(a)
		if !edges { // there is nothing further away
			w.front[a], w.back[a] = min(front[a], dim), min(back[a], dim)
		}
		if most := (math.MaxInt - dim) / 2 / s.proc.Size(); w.front[a] > most || w.back[a] > most {
			return w, fmt.Errorf("depths %d and %d of axis %d: blocks of %d rows would become more than an int can count", front[a], back[a], a, dim)
		}
	}
	return w, nil
}

// rows widens a range of rows of one axis; no rows stay none.
func (w *widening) rows(a, lo, hi int) (int, int) {
	if lo == hi {
		return lo, hi
	}
	if lo, hi = lo-w.front[a], hi+w.back[a]; !w.edges {
		lo, hi = max(lo, 0), min(hi, w.shape.Dim(a))
	}
	return lo, hi
}

func (w *widening) box(b Box) Box {
	for a := range w.shape.NDim() {
		b.Lo[a], b.Hi[a] = w.rows(a, b.Lo[a], b.Hi[a])
	}
	return b
}

// widened returns the space of the blocks with their ghosts.
func (s *Space) widened(w widening) (*Space, error) {
	dims := make([]int, s.shape.NDim())
	for a := range dims {
		lo, hi := w.rows(a, 0, s.shape.Dim(a))
		dims[a] = hi - lo
	}
	l := s.layout.clone()
	for g, a := range l.Axes {
		if a == NoAxis {
			continue
		}
		dims[a] = 0
		for i := range l.Grid[g] {
			lo, hi := w.rows(a, s.off[g][i], s.off[g][i+1])
			l.Counts[g][i] = hi - lo
			dims[a] += hi - lo
		}
	}
	return s.like(l, dims)
}
