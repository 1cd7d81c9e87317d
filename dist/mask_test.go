package dist_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// held returns which elements of s the ranks of this rank's color hold.
func held(s *dist.Space, mask []int) []bool {
	r := s.Proc()
	in := make([]bool, s.Size())
	dims := s.Shape().Dims()
	for q, color := range mask {
		if color != mask[r.Rank()] {
			continue
		}
		b := s.Box(q)
		for k := range in {
			at, ok := k, true
			for axis := len(dims) - 1; axis >= 0; axis-- {
				i := at % dims[axis]
				ok = ok && b.Lo[axis] <= i && i < b.Hi[axis]
				at /= dims[axis]
			}
			in[k] = in[k] || ok
		}
	}
	return in
}

// maskCase reduces among ranks of one color: each element that they hold counts
// once, those of other colors do not.
func maskCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	mask := make([]int, r.Size())
	for i := range mask {
		mask[i] = g.IntN(3)
	}
	var want complex128
	var parts [3]dist.Array[T]
	for i := range parts {
		dims := g.dims()
		l := g.layout(dims, r.Size())
		l.Mask = mask
		s, err := dist.NewSpace(ctx, r, l, dims...)
		if err != nil {
			return err
		}
		if parts[i], err = filled[T](ctx, s, i); err != nil {
			return err
		}
		var one complex128
		for k, in := range held(s, mask) {
			if v := wide(value[T](i, k)); in {
				one += cmplx.Conj(v) * v
			}
		}
		if got, err := dist.Dot(ctx, parts[i], parts[i]); err != nil || wide(got) != one {
			return fmt.Errorf("dot of %v: got %v, want %v: %w", s, got, one, err)
		}
		want += one
	}
	stack, err := dist.StackOf(parts[:]...)
	if err != nil {
		return err
	}
	got, err := dist.Dot(ctx, stack, stack)
	if err != nil || wide(got) != want {
		return fmt.Errorf("dot of %v: got %v, want %v: %w", stack.Space(), got, want, err)
	}
	dots, err := dotsOf(ctx, parts[:], parts[:])
	if err != nil || dots[0]+dots[1]+dots[2] != want {
		return fmt.Errorf("dots of %v: got %v, want %v together: %w", stack.Space(), dots, want, err)
	}
	return nil
}

// TestMaskIsKept makes spaces from one with a mask.
func TestMaskIsKept(t *testing.T) {
	onRanks(t, 4, func(ctx context.Context, r dist.Proc) error {
		mask := []int{5, 5, 0, 0}
		s, err := dist.NewSpace(ctx, r, dist.Layout{Mask: mask}, 8, 3)
		if err != nil {
			return err
		}
		mask[0] = 0 // a space has a mask of its own
		like, err := s.Like(dist.Split(1), 2, 8)
		if err != nil {
			return err
		}
		less, err := s.DropAxis(1)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		dist.Fill(x, 1)
		flat, err := x.Ravel()
		if err != nil {
			return err
		}
		twin, err := dist.NewSpace(ctx, r, dist.Layout{Mask: []int{5, 5, 0, 0}}, 8)
		if err != nil {
			return err
		}
		if !twin.Equal(less) {
			return fmt.Errorf("%v is not %v", twin, less)
		}
		for _, t := range []*dist.Space{like, less, flat.Space(), twin} {
			a, err := dist.New[float64](t)
			if err != nil {
				return err
			}
			dist.Fill(a, 1)
			if got, err := dist.Sum(ctx, a); err != nil || got != float64(t.Size()/2) {
				return fmt.Errorf("sum over half of %v: got %v: %w", t, got, err)
			}
		}
		return nil
	})
}
