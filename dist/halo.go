package dist

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
	"github.com/golops/golops/trace"
)

// Halo widens each rank's block by ghost cells: copies of the elements around
// it, which other ranks hold, corners included. Depths may differ by axis and
// side and reach over several ranks. A rank that holds nothing gets no ghosts.
type Halo[T scalar.Scalar] struct {
	from, to    *Space
	there, back *Exchange[T]
	edges       bool
}

// NewHalo plans a halo of front[a] and back[a] cells along each axis a. Blocks at
// an end of the array are widened beyond it only with edges, by cells that are
// zero. It does not communicate: all ranks must call it with the same values.
func NewHalo[T scalar.Scalar](s *Space, front, back []int, edges bool) (*Halo[T], error) {
	given("NewHalo", s)
	h, err := newHalo[T](s, front, back, edges)
	if err != nil {
		return nil, fmt.Errorf("dist: halo: %w", err)
	}
	return h, nil
}

func newHalo[T scalar.Scalar](s *Space, front, back []int, edges bool) (*Halo[T], error) {
	n := s.shape.NDim()
	if s.parts != nil {
		return nil, fmt.Errorf("a stack has no axes: take its parts")
	}
	if len(front) != n || len(back) != n {
		return nil, fmt.Errorf("depths %v and %v for an array of %d axes", front, back, n)
	}
	for a := range n {
		if front[a] < 0 || back[a] < 0 {
			return nil, fmt.Errorf("depths %d and %d of axis %d must not be negative", front[a], back[a], a)
		}
	}
	w := widening{s.shape, slices.Clone(front), slices.Clone(back), edges}
	for a := range n {
		dim := s.shape.Dim(a)
		if !edges { // there is nothing further away
			w.front[a], w.back[a] = min(front[a], dim), min(back[a], dim)
		}
		if most := (math.MaxInt - dim) / 2 / s.proc.Size(); w.front[a] > most || w.back[a] > most {
			return nil, fmt.Errorf("depths %d and %d of axis %d: blocks of %d rows would become more than an int can count", front[a], back[a], a, dim)
		}
	}
	to, err := s.widened(w)
	if err != nil {
		return nil, err
	}
	h := &Halo[T]{from: s, to: to, edges: edges}
	p := NewPlan(s, labelHalo).boxes(func(r int) Box { return w.box(s.Box(r)) }, to.local)
	if h.there, err = NewExchange[T](p); err == nil {
		h.back, err = NewExchange[T](p.adjoint(labelHaloAdj))
	}
	if err != nil {
		h.Free()
		return nil, err
	}
	return h, nil
}

// widening is how far a halo reaches.
type widening struct {
	shape       shape.Shape
	front, back []int
	edges       bool
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
	l := Layout{Replicate: s.layout.Replicate, Debug: s.layout.Debug}
	if s.layout.Replicate == Scattered {
		l.Grid, l.Axes, l.Counts = s.layout.Grid, s.layout.Axes, make([][]int, len(s.layout.Grid))
		for g, a := range s.layout.Axes {
			if a == NoAxis {
				continue
			}
			dims[a] = 0
			for i := range l.Grid[g] {
				lo, hi := w.rows(a, s.off[g][i], s.off[g][i+1])
				l.Counts[g] = append(l.Counts[g], hi-lo)
				dims[a] += hi - lo
			}
		}
	}
	return s.like(l, dims)
}

// Domain returns the space without ghosts, Range the one with them.
func (h *Halo[T]) Domain() *Space { return h.from }

// Range returns the space of blocks with ghosts.
func (h *Halo[T]) Range() *Space { return h.to }

// Forward sets dst to the blocks of src with their ghosts. It is collective:
// one message from each rank to each that has ghosts of its elements.
func (h *Halo[T]) Forward(ctx context.Context, dst, src Array[T]) error {
	if err := Check("dist: halo", "forward", &dst, h.to, &src, h.from); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "dist: halo", "forward").End()
	if h.edges {
		array.Fill(dst.local, 0)
	}
	return h.there.run(ctx, dst.local, src.local)
}

// Adjoint sets dst to the blocks of src without ghosts, and adds each ghost to
// the element that it is a copy of. It is collective.
func (h *Halo[T]) Adjoint(ctx context.Context, dst, src Array[T]) error {
	if err := Check("dist: halo", "adjoint", &dst, h.from, &src, h.to); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "dist: halo", "adjoint").End()
	return h.back.run(ctx, dst.local, src.local)
}

// Free gives the buffers back to the device. h cannot be used afterwards.
func (h *Halo[T]) Free() {
	if h != nil {
		h.there.Free()
		h.back.Free()
	}
}

// AddGhosts returns a with front and back ghost cells along each axis, as many
// as there are before the ends of the array. It is collective.
func AddGhosts[T scalar.Scalar](ctx context.Context, a Array[T], front, back []int) (Array[T], error) {
	h, err := newHalo[T](a.given("AddGhosts"), front, back, false)
	var b Array[T]
	if err == nil {
		b, err = New[T](h.to)
	}
	defer h.Free()
	if err = Agree(ctx, a.space.Comm(), "dist: add ghosts", err, "front ", front, ", back ", back, " of ", a.space.describe()); err == nil {
		err = h.Forward(ctx, b, a)
	}
	return b.orFree(err)
}
