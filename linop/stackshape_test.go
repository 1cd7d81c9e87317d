package linop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
)

// wantSpace compares a space with what it should be.
func wantSpace(what string, got, want *dist.Space) error {
	if !got.Equal(want) {
		return fmt.Errorf("%s is %v, want %v", what, got, want)
	}
	return nil
}

// One operator for each rank's block of x, with as many rows as it has there,
// makes up an operator from x to x: it fits others over x without a move. It is
// nothing but its rows, so a rank with no rows may give none.
func TestBlocksOfASpaceMakeUpTheSpace(t *testing.T) {
	forRanks(t, func(ctx context.Context, r dist.Proc) error {
		s := spaces{ctx: ctx, r: r}
		x := s.of(dist.Layout{}, 5, 2, 3)
		y := s.rows(5, 2, 3)
		if s.err != nil {
			return s.err
		}
		var errs []error
		for _, sp := range []*dist.Space{x, y} {
			var all matrix
			var mine []op64
			for k := range r.Size() {
				b := sp.Box(k)
				rows := b.Hi[0] - b.Lo[0]
				if rows == 0 {
					continue
				}
				a, err := serial[float64](ctx, r, k, 0, []int{rows, 2, 3}, []int{rows, 2, 3})
				if err != nil {
					return err
				}
				if all.v == nil {
					all = a.m
				} else {
					all = all.diag(a.m)
				}
				if k == r.Rank() {
					mine = append(mine, a.op)
				}
			}
			d, err := linop.BlockDiagRanks(ctx, r, mine...)
			if err != nil {
				return err
			}
			// The other operator is over x, so for sp == y the stack has a move.
			a, err := randomOp[float64](7, x, x)
			if err != nil {
				return err
			}
			v, err := linop.VStack(d, a.op)
			errs = append(errs,
				wantSpace("the domain", d.Domain(), sp), wantSpace("the range", d.Range(), sp),
				check(ctx, "stack of blocks and an operator", v, err, all.above(a.m)))
		}
		return errors.Join(errs...)
	})
}

// What shape stacks have: that of blocks on top of each other where the axes
// behind axis 0 are the same, one axis where they are not.
func TestShapesOfStacks(t *testing.T) {
	forRanks(t, func(ctx context.Context, r dist.Proc) error {
		n, last := r.Size(), r.Size()-1
		f := faulty{ctx, r}
		mk := func(rng, dom []int) op64 {
			return f.op(f.space(r.Alone(), dist.Replicated, rng...), f.space(r.Alone(), dist.Replicated, dom...))
		}
		odd := func(dims, onLast []int) []int { // another shape on the last rank
			if r.Rank() == last {
				return onLast
			}
			return dims
		}
		d := []int{2, 3}
		for _, c := range []struct {
			name     string
			make     func() (op64, error)
			rng, dom []int
		}{
			{"two operators of each rank", func() (op64, error) {
				return linop.BlockDiagRanks(ctx, r, mk([]int{4}, []int{1, 2, 3}), mk([]int{1}, []int{2, 2, 3}))
			}, []int{5 * n}, []int{3 * n, 2, 3}},
			{"other axes on one rank", func() (op64, error) {
				return linop.BlockDiagRanks(ctx, r, mk(d, odd(d, []int{3, 2})), mk(d, d))
			}, []int{4 * n, 3}, []int{12 * n}},
			{"more axes on one rank", func() (op64, error) {
				return linop.BlockDiagRanks(ctx, r, mk(odd(d, []int{1, 2, 3}), d), mk(d, d))
			}, []int{12 * n}, []int{4 * n, 3}},
			{"no axes", func() (op64, error) { return linop.BlockDiagRanks(ctx, r, mk(nil, d), mk(nil, d)) }, []int{2 * n}, []int{4 * n, 3}},
			{"vertical", func() (op64, error) { return linop.VStackRanks(ctx, r, mk([]int{2, 5}, d), mk([]int{1, 5}, d)) }, []int{3 * n, 5}, d},
			{"horizontal", func() (op64, error) { return linop.HStackRanks(ctx, r, mk(d, []int{2, 5}), mk(d, []int{1, 5})) }, d, []int{3 * n, 5}},
			{"block", func() (op64, error) {
				return linop.BlockRanks(ctx, r, [][]op64{{mk(d, []int{2, 5}), mk(d, []int{1, 5})}, {mk(d, []int{2, 5}), mk(d, []int{1, 5})}})
			}, []int{4 * n, 3}, []int{3, 5}},
			{"block of other columns in one row", func() (op64, error) {
				return linop.BlockRanks(ctx, r, [][]op64{{mk(d, []int{2, 5}), mk(d, []int{1, 5})}, {mk(d, []int{10}), mk(d, []int{1, 5})}})
			}, []int{4 * n, 3}, []int{15}},
		} {
			op, err := c.make()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if got := op.Range().Shape().Dims(); !slices.Equal(got, c.rng) {
				return fmt.Errorf("%s: the range is of shape %v, want %v", c.name, got, c.rng)
			}
			if got := op.Domain().Shape().Dims(); !slices.Equal(got, c.dom) {
				return fmt.Errorf("%s: the domain is of shape %v, want %v", c.name, got, c.dom)
			}
			if err := wantCounts(op, n); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		return nil
	})
}

// wantCounts checks that what is split is split evenly along axis 0: in these
// tests all ranks give operators of the same sizes.
func wantCounts(op op64, ranks int) error {
	for _, s := range []*dist.Space{op.Domain(), op.Range()} {
		if s.Replicated() {
			continue
		}
		want := slices.Repeat([]int{s.Shape().Dim(0) / ranks}, ranks)
		if _, got := s.SplitBy(0); !slices.Equal(got, want) {
			return fmt.Errorf("%v: axis 0 is split by %v, want %v", s, got, want)
		}
	}
	return nil
}
