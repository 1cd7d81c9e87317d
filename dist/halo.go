package dist

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Halo widens each rank's block by ghost cells: copies of the elements around
// it, which other ranks hold, corners included. Depths may differ by axis and
// side and reach over several ranks. A rank that holds nothing gets no ghosts.
type Halo[T scalar.Scalar] struct {
	from, to *Space
	e        *exchange[T]
	edges    bool
}

// NewHalo plans a halo of front[a] and back[a] cells along each axis a. Blocks at
// an end of the array are widened beyond it only with edges, by cells that are
// zero. It does not communicate: all ranks must call it with the same values.
func NewHalo[T scalar.Scalar](s *Space, front, back []int, edges bool) (*Halo[T], error) {
	n := s.shape.Rank()
	if s.parts != nil {
		return nil, fmt.Errorf("dist: halo of a stack: take its parts")
	}
	if len(front) != n || len(back) != n {
		return nil, fmt.Errorf("dist: halo: %d and %d depths for an array of %d axes", len(front), len(back), n)
	}
	for a := range n {
		if front[a] < 0 || back[a] < 0 {
			return nil, fmt.Errorf("dist: halo: depths %d and %d of axis %d must not be negative", front[a], back[a], a)
		}
	}
	wide := func(r int) Box { return s.widen(s.Box(r), front, back, edges) }
	to, err := s.widened(wide)
	if err != nil {
		return nil, err
	}
	me := s.rank.Rank()
	p := boxes{
		rank:   n,
		has:    func(r int) (Box, bool) { return s.Box(r), s.isPrimary(r) },
		want:   wide,
		same:   !s.split,
		device: s.Device(), me: me, all: s.rank.Size(),
		hasB:  [2]shape.Shape{s.local, to.local},
		hasLo: [2][shape.MaxRank]int{s.box.Lo, wide(me).Lo},
	}
	if s.split && !s.everyAxisSplits() {
		return nil, fmt.Errorf("dist: halo: %v holds elements more than once", s)
	}
	e, err := newExchange[T](s.Comm(), p)
	if err != nil {
		return nil, err
	}
	return &Halo[T]{s, to, e, edges}, nil
}

func (s *Space) widen(b Box, front, back []int, edges bool) Box {
	for a := range s.shape.Rank() {
		if b.Lo[a] == b.Hi[a] {
			return Box{Lo: b.Lo, Hi: b.Lo}
		}
	}
	for a := range s.shape.Rank() {
		b.Lo[a] -= front[a]
		b.Hi[a] += back[a]
		if !edges {
			b.Lo[a], b.Hi[a] = max(b.Lo[a], 0), min(b.Hi[a], s.shape.Dim(a))
		}
	}
	return b
}

// widened returns the space of the blocks with their ghosts.
func (s *Space) widened(wide func(r int) Box) (*Space, error) {
	dims := make([]int, s.shape.Rank())
	for a := range dims {
		b := wide(0)
		dims[a] = max(b.Hi[a]-b.Lo[a], 0)
	}
	l := Layout{Replicate: s.layout.Replicate, Debug: s.layout.Debug}
	if s.layout.Replicate == Scattered {
		l.Grid, l.Axes, l.Counts = s.layout.Grid, s.layout.Axes, make([][]int, len(s.layout.Grid))
		for g, a := range s.layout.Axes {
			if a == Whole {
				continue
			}
			c := make([]int, len(l.Grid))
			dims[a] = 0
			for i := range l.Grid[g] {
				c[g] = i
				b := wide(s.RankAt(c))
				l.Counts[g] = append(l.Counts[g], max(b.Hi[a]-b.Lo[a], 0))
				dims[a] += max(b.Hi[a]-b.Lo[a], 0)
			}
		}
	}
	return s.Like(l, dims...)
}

// Domain returns the space without ghosts, Range the one with them.
func (h *Halo[T]) Domain() *Space { return h.from }

// Range returns the space of blocks with ghosts.
func (h *Halo[T]) Range() *Space { return h.to }

// Forward sets dst to the blocks of src with their ghosts.
func (h *Halo[T]) Forward(ctx context.Context, dst, src Array[T]) error {
	if h.edges {
		array.Fill(dst.local, 0)
	}
	return h.e.run(ctx, dst.local, src.local)
}

// Adjoint sets dst to the blocks of src without ghosts, and adds each ghost to
// the element that it is a copy of.
func (h *Halo[T]) Adjoint(ctx context.Context, dst, src Array[T]) error {
	return h.e.runBack(ctx, dst.local, src.local, true)
}

// AddGhosts returns a with front and back ghost cells along each axis, as many
// as there are before the ends of the array. It is collective.
func AddGhosts[T scalar.Scalar](ctx context.Context, a Array[T], front, back []int) (Array[T], error) {
	h, err := NewHalo[T](a.space, front, back, false)
	var b Array[T]
	if err == nil {
		b, err = New[T](h.to)
	}
	if err = Agree(ctx, a.space.Comm(), "dist: add ghosts", err, front, back); err != nil {
		return Array[T]{}, err
	}
	return b, h.Forward(ctx, b, a)
}
