package linop_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// opsOf is how many operators a rank gives: some give none.
func opsOf(rank int) int { return []int{2, 0, 3, 1}[rank%4] }

// serial returns the operator of a random matrix that this rank holds alone.
// It depends on rank and i only, so that every rank knows every matrix.
func serial[T scalar.Scalar](ctx context.Context, r dist.Proc, rank, i int, rng, dom []int) (known[T], error) {
	s := spaces{ctx: ctx, r: r.Alone()}
	x, y := s.of(dist.Layout{}, dom...), s.of(dist.Layout{}, rng...)
	if s.err != nil {
		return known[T]{}, s.err
	}
	return randomOp[T](uint64(1000*rank+i), x, y)
}

// give makes the operators that all ranks give, of shapes that depend on rank
// and i; join puts their matrices together, this rank's operators are returned.
func give[T scalar.Scalar](ctx context.Context, r dist.Proc, shapes func(k, i int) (rng, dom []int), join func(m matrix)) (mine []linop.Operator[T], err error) {
	for k := range r.Size() {
		for i := range opsOf(k) {
			rng, dom := shapes(k, i)
			a, err := serial[T](ctx, r, k, i, rng, dom)
			if err != nil {
				return nil, err
			}
			join(a.m)
			if k == r.Rank() {
				mine = append(mine, a.op)
			}
		}
	}
	return mine, nil
}

func stacks[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	var errs []error
	var all matrix
	first := true
	join := func(put func(a, b matrix) matrix) func(matrix) {
		first = true
		return func(m matrix) {
			if !first {
				m = put(all, m)
			}
			all, first = m, false
		}
	}
	mine, err := give[T](ctx, r, func(k, i int) (rng, dom []int) {
		return []int{1 + (k+i)%3}, []int{2, 1 + (k*i)%3}
	}, join(matrix.diag))
	if err != nil {
		return err
	}
	op, err := linop.BlockDiagRanks(ctx, r, mine...)
	errs = append(errs, check(ctx, "BlockDiag", op, err, all))

	mine, err = give[T](ctx, r, func(k, i int) (rng, dom []int) { return []int{1 + (k+i)%3, 2}, []int{3, 2} }, join(matrix.above))
	if err != nil {
		return err
	}
	op, err = linop.VStackRanks(ctx, r, mine...)
	errs = append(errs, check(ctx, "VStack", op, err, all))

	mine, err = give[T](ctx, r, func(k, i int) (rng, dom []int) { return []int{3, 2}, []int{1 + (k+i)%3} }, join(matrix.beside))
	if err != nil {
		return err
	}
	op, err = linop.HStackRanks(ctx, r, mine...)
	errs = append(errs, check(ctx, "HStack", op, err, all))
	return errors.Join(errs...)
}

func TestStacks(t *testing.T) {
	forTypes(t, stacks[float32], stacks[float64], stacks[complex64], stacks[complex128])
}

// The algebra and stacks of operators are the same on devices of other kinds.
func TestDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, n := range []int{1, 2} {
			err := p.Local(t.Context(), n, func(ctx context.Context, r dist.Proc) error {
				return errors.Join(algebra[float32](ctx, r), stacks[complex128](ctx, r), block[float64](ctx, r))
			})
			if err != nil {
				t.Errorf("ranks=%d: %v", n, err)
			}
		}
	})
}

func block[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	widths := []int{2, 1, 3}
	var rows [][]linop.Operator[T]
	var all matrix
	for k := range r.Size() {
		for i := range opsOf(k) {
			var ops []linop.Operator[T]
			var row matrix
			for j, w := range widths {
				a, err := serial[T](ctx, r, k, 10*i+j, []int{1 + (k+i)%3}, []int{w})
				if err != nil {
					return err
				}
				ops = append(ops, a.op)
				if j == 0 {
					row = a.m
				} else {
					row = row.beside(a.m)
				}
			}
			if all.v == nil {
				all = row
			} else {
				all = all.above(row)
			}
			if k == r.Rank() {
				rows = append(rows, ops)
			}
		}
	}
	op, err := linop.BlockRanks(ctx, r, rows)
	return check(ctx, "Block", op, err, all)
}

func TestBlock(t *testing.T) {
	forTypes(t, block[float32], block[float64], block[complex64], block[complex128])
}

// Stacks of one rank can be given to stacks over ranks, and those of stacked
// arrays, too, which are then flattened.
func nested[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	a, err := serial[T](ctx, r, 0, 0, []int{3}, []int{2, 2})
	if err != nil {
		return err
	}
	b, err := serial[T](ctx, r, 0, 1, []int{2}, []int{2, 2})
	if err != nil {
		return err
	}
	v, err := linop.VStackRanks(ctx, r.Alone(), a.op, b.op)
	if err != nil {
		return err
	}
	sv, err := linop.VStack(a.op, b.op)
	if err != nil {
		return err
	}
	sd, err := linop.BlockDiag(sv, b.op)
	if err != nil {
		return err
	}
	ab := a.m.above(b.m)
	one := ab.diag(ab).diag(ab.diag(b.m))
	all := one
	for range r.Size() - 1 {
		all = all.diag(one)
	}
	op, err := linop.BlockDiagRanks(ctx, r, v, sv, sd)
	errs := []error{check(ctx, "BlockDiag of stacks", op, err, all)}

	all = ab
	for range 2*r.Size() - 1 {
		all = all.above(ab)
	}
	op, err = linop.VStackRanks(ctx, r, v, sv)
	errs = append(errs, check(ctx, "VStack of stacks", op, err, all))
	h, err := linop.HStackRanks(ctx, r, linop.H(v), linop.H(sv))
	return errors.Join(append(errs, check(ctx, "HStack of stacks", h, err, all.h()))...)
}

func TestNested(t *testing.T) {
	forTypes(t, nested[float32], nested[float64], nested[complex64], nested[complex128])
}

// With a mask, ranks of one color make a stack of their own.
func masked(ctx context.Context, r dist.Proc) error {
	mask := make([]int, r.Size())
	for i := range mask {
		mask[i] = i % 2
	}
	c := linop.StackConfig[float64]{Mask: mask}
	a, err := serial[float64](ctx, r, 0, 0, []int{2}, []int{3})
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range []struct {
		name string
		make func() (linop.Operator[float64], error)
	}{
		{"BlockDiag", func() (linop.Operator[float64], error) { return c.BlockDiagRanks(ctx, r, a.op) }},
		{"VStack", func() (linop.Operator[float64], error) { return c.VStackRanks(ctx, r, a.op) }},
		{"HStack", func() (linop.Operator[float64], error) { return c.HStackRanks(ctx, r, a.op) }},
		{"Block", func() (linop.Operator[float64], error) {
			return c.BlockRanks(ctx, r, [][]linop.Operator[float64]{{a.op}})
		}},
	} {
		op, err := s.make()
		if err == nil {
			err = optest.All(ctx, op)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	v, err := c.VStackRanks(ctx, r, a.op)
	if err != nil {
		return err
	}
	y, err := dist.New[float64](v.Range())
	if err != nil {
		return err
	}
	dist.Fill(y, 1)
	x, err := linop.Apply(ctx, linop.H(v), y)
	if err != nil {
		return err
	}
	same := (r.Size() + 1 - r.Rank()%2) / 2 // ranks of this color
	want := float64(same) * real(a.m.at(0, 0)+a.m.at(1, 0))
	if got, err := x.Host(); err != nil || math.Abs(got[0]-want) > 1e-12 {
		errs = append(errs, fmt.Errorf("the adjoint on rank %d adds up to %v, of its color's %d ranks it is %v: %w", r.Rank(), got, same, want, err))
	}
	return errors.Join(errs...)
}

func TestMask(t *testing.T) { forRanks(t, masked) }

// The groups of a mask are made once, however many stacks have it, and given back
// when the program ends.
func TestGroupsAreGivenBack(t *testing.T) {
	err := launch.Config{Ranks: 4}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		n := commtest.NewCounter(r.Comm)
		if err := (launch.Config{}).RunOn(ctx, n.Comm, masked); err != nil {
			return err
		}
		if made, closed := n.Calls("Split"), n.Calls("Close"); made != 2 || closed != 2 {
			return fmt.Errorf("%d groups made and %d closed, want 2: a rank alone, and the ranks of its color", made, closed)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Stacks work in groups of ranks that do not know of each other.
func TestStacksInGroups(t *testing.T) {
	forRanks(t, func(ctx context.Context, r dist.Proc) error {
		sub, err := r.Subgroup(ctx, r.Rank()%2, 0)
		if err != nil {
			return err
		}
		for color := range 2 { // one after the other: the check of allocations counts those of all
			if r.Rank()%2 == color {
				if err := stacks[float64](ctx, sub); err != nil {
					return err
				}
			}
			if err := r.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
