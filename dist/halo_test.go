package dist_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// haloCase compares blocks with ghosts of any depth with global indexing, and
// looks whether the adjoint is one.
func haloCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	dims := g.dims()
	s, err := g.space(ctx, r, dims)
	if err != nil {
		return err
	}
	front, back := make([]int, len(dims)), make([]int, len(dims))
	for a := range dims {
		if g.IntN(3) > 0 {
			front[a], back[a] = g.IntN(5), g.IntN(5)
		}
	}
	edges := g.IntN(2) == 0
	what := fmt.Sprintf("halo %v, %v, edges %v of %v", front, back, edges, s)
	h, err := dist.NewHalo[T](s, front, back, edges)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer h.Free()
	u, err := filled[T](ctx, s, 1)
	if err != nil {
		return err
	}
	v, err := filled[T](ctx, h.Range(), 2)
	if err != nil {
		return err
	}
	hu, err := dist.New[T](h.Range())
	if err != nil {
		return err
	}
	hv, err := dist.New[T](s)
	if err != nil {
		return err
	}
	for range 2 {
		dist.Fill(hu, 7)
		dist.Fill(hv, 7)
		if err := h.Forward(ctx, hu, u); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := widened(hu, s, front, back, edges); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := h.Adjoint(ctx, hv, v); err != nil {
			return fmt.Errorf("%s: adjoint: %w", what, err)
		}
		if err := sameDots(ctx, hu, v, u, hv); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// widened compares this rank's block with ghosts, element by element, with the
// vector called 1 of s.
func widened[T scalar.Scalar](a dist.Array[T], s *dist.Space, front, back []int, edges bool) error {
	dims := s.Shape().Dims()
	b := s.Box(s.Proc().Rank())
	var want []T
	var walk func(axis int, i []int)
	walk = func(axis int, i []int) {
		if axis == len(dims) {
			v := T(0)
			if inside(dims, i) {
				v = value[T](1, flat(dims, i))
			}
			want = append(want, v)
			return
		}
		lo, hi := b.Lo[axis]-front[axis], b.Hi[axis]+back[axis]
		if !edges {
			lo, hi = max(lo, 0), min(hi, dims[axis])
		}
		for k := lo; k < hi; k++ {
			walk(axis+1, append(i[:axis:axis], k))
		}
	}
	if s.LocalShape().Size() > 0 {
		walk(0, make([]int, 0, len(dims)))
	}
	got, err := a.Host()
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("got %v, want %v", got, want)
	}
	return err
}

func inside(dims, i []int) bool {
	for a, d := range dims {
		if i[a] < 0 || i[a] >= d {
			return false
		}
	}
	return true
}

// TestAddGhosts widens the blocks of three ranks, one of them empty, by more
// rows than a neighbour has.
func TestAddGhosts(t *testing.T) {
	want := [][]float64{{0, 1, 2}, nil, {0, 1, 2, 3}}
	onRanks(t, 3, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{Counts: [][]int{{1, 0, 3}}}, 4)
		if err != nil {
			return err
		}
		a, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(i[0]) })
		if err != nil {
			return err
		}
		b, err := dist.AddGhosts(ctx, a, []int{5}, []int{2})
		if err != nil {
			return err
		}
		got, err := b.Host()
		if err == nil && !slices.Equal(got, want[r.Rank()]) {
			err = fmt.Errorf("got %v, want %v", got, want[r.Rank()])
		}
		return err
	})
}
