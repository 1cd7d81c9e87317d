package dist_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// blocks are the arrays called key of all ranks.
func blocks[T scalar.Scalar](t *testing.T, c golden.Case, key string) (dims [][]int, v [][]T) {
	for r := range c.Ranks {
		d, b := golden.Array[T](t, c, fmt.Sprintf("%s_rank%d", key, r))
		dims, v = append(dims, d), append(v, b)
	}
	return dims, v
}

// sameBlock compares what a rank holds, bit for bit: nothing was computed.
func sameBlock[T scalar.Scalar](a dist.Array[T], dims []int, want []T) error {
	got, err := a.Host()
	if err == nil && (!slices.Equal(got, want) || !slices.Equal(a.Local().Shape().Dims(), dims)) {
		err = fmt.Errorf("got %v of shape %v, want %v of %v", got, a.Local().Shape(), want, dims)
	}
	return err
}

// goldenBlocks compares what each rank holds in the end.
func goldenBlocks[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	dims, want := blocks[T](t, c, "y")
	cells := func(key string) []int {
		depth := make([]int, len(c.Dims))
		if c.Params[key] != nil {
			depth[c.Int("axis")] = c.Int(key)
		}
		return depth
	}
	return func(ctx context.Context, r dist.Proc) error {
		a, err := scattered(ctx, r, layoutOf(c), c.Dims, x)
		if err != nil {
			return err
		}
		var b dist.Array[T]
		if c.Op == "array.redistribute" {
			var to *dist.Space
			if to, err = a.Space().Like(dist.Split(c.Int("to_axis")), c.Dims...); err != nil {
				return err
			}
			b, err = dist.Redistribute(ctx, a, to)
		} else {
			b, err = dist.AddGhosts(ctx, a, cells("cells_front"), cells("cells_back"))
		}
		if err != nil {
			return err
		}
		return sameBlock(b, dims[r.Rank()], want[r.Rank()])
	}
}

// goldenToDist shares an array out, and makes one of blocks.
func goldenToDist[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	_, y := golden.Array[T](t, c, "y")
	dims, want := blocks[T](t, c, "y")
	return func(ctx context.Context, r dist.Proc) error {
		a, err := scattered(ctx, r, layoutOf(c), c.Dims, x)
		if err != nil {
			return err
		}
		if err := sameBlock(a, dims[r.Rank()], want[r.Rank()]); err != nil {
			return err
		}
		b, err := dist.FromBlock(ctx, a.Space(), want[r.Rank()])
		if err != nil {
			return err
		}
		got, err := dist.AllGather(ctx, b)
		if err == nil && !slices.Equal(got, y) {
			err = fmt.Errorf("from blocks: got %v, want %v", got, y)
		}
		return err
	}
}

// goldenAssign writes to all local rows but the first. PyLops-MPI makes the
// copies of a BROADCAST array equal at once, we do in Sync.
func goldenAssign[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	_, w := blocks[T](t, c, "w")
	dims, want := blocks[T](t, c, "y")
	return func(ctx context.Context, r dist.Proc) error {
		a, err := scattered(ctx, r, layoutOf(c), c.Dims, x)
		if err != nil {
			return err
		}
		n, v := a.Local().Len(), w[r.Rank()]
		if err := a.Local().Slice(n-len(v), n).CopyIn(v); err != nil {
			return err
		}
		if err := a.Sync(ctx); err != nil {
			return err
		}
		return sameBlock(a, dims[r.Rank()], want[r.Rank()])
	}
}

// goldenViews compares ravel and reshape. PyLops-MPI ravels the blocks of a later
// axis in the order of ranks, which is not that of the elements: we refuse.
func goldenViews[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	dims, want := blocks[T](t, c, "y")
	refused := c.Op == "array.ravel" && c.Int("axis") != 0 && c.Ranks > 1
	return func(ctx context.Context, r dist.Proc) error {
		a, err := scattered(ctx, r, layoutOf(c), c.Dims, x)
		if err != nil {
			return err
		}
		var b dist.Array[T]
		if c.Op == "array.ravel" {
			b, err = a.Ravel()
		} else {
			b, err = a.Reshape(c.Dimsd...)
		}
		switch {
		case refused && err == nil:
			return errors.New("blocks of a later axis were put one after another")
		case refused:
			return nil
		case err != nil:
			return err
		}
		if !slices.Equal(b.Space().Shape().Dims(), c.Dimsd) {
			return fmt.Errorf("the global shape is %v, want %v", b.Space().Shape(), c.Dimsd)
		}
		if err := sameBlock(b, dims[r.Rank()], want[r.Rank()]); err != nil {
			return err
		}
		// The same memory under another shape: what is written here is read there.
		dist.Zero(b)
		return sameBlock(a, a.Local().Shape().Dims(), make([]T, a.Local().Len()))
	}
}

func goldenGroups(t *testing.T, c golden.Case) launch.Program {
	_, want := golden.Ints(t, c, "groups")
	return func(ctx context.Context, r dist.Proc) (err error) {
		g, err := r.Subgroup(ctx, c.Ints("mask")[r.Rank()], r.Rank())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		if w := want[2*r.Rank():][:2]; int64(g.Rank()) != w[0] || int64(g.Size()) != w[1] {
			return fmt.Errorf("rank %d of %d in its group, want %v", g.Rank(), g.Size(), w)
		}
		return nil
	}
}
