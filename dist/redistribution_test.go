package dist_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// moveCase takes an array between two random layouts: blocks and gathered
// values are those of the direct computation, the way back restores it, and the
// way back is the adjoint.
func moveCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	dims := g.dims()
	from, err := g.space(ctx, r, dims)
	if err != nil {
		return err
	}
	to, err := g.space(ctx, r, dims)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%v to %v", from, to)
	x, err := filled[T](ctx, from, 1)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := holdsValues(x, 1); err != nil {
		return fmt.Errorf("from function: %w", err)
	}
	y, err := dist.Redistribute(ctx, x, to)
	if err == nil {
		err = holdsValues(y, 1)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	root := g.IntN(r.Size())
	all, err := dist.Gather(ctx, y, root)
	if err != nil {
		return fmt.Errorf("%s: gather: %w", what, err)
	}
	if want := valuesOf[T](1, from.Size()); r.Rank() == root && !slices.Equal(all, want) || r.Rank() != root && all != nil {
		return fmt.Errorf("%s: gathered %v, want %v", what, all, want)
	}
	return moveBack(ctx, from, to, x, y)
}

func moveBack[T scalar.Scalar](ctx context.Context, from, to *dist.Space, x, y dist.Array[T]) error {
	m, err := dist.NewRedistribution[T](from, to)
	if err != nil {
		return err
	}
	defer m.Free()
	z, err := dist.New[T](from)
	if err != nil {
		return err
	}
	for range 2 { // the plan is good for more than once
		dist.Fill(z, 7)
		if err := m.Adjoint(ctx, z, y); err != nil {
			return err
		}
		if err := holdsValues(z, 1); err != nil {
			return fmt.Errorf("back: %w", err)
		}
		dist.Fill(y, 7)
		if err := m.Forward(ctx, y, x); err != nil {
			return err
		}
		if err := holdsValues(y, 1); err != nil {
			return fmt.Errorf("again: %w", err)
		}
	}
	v, err := filled[T](ctx, to, 2)
	if err == nil {
		err = m.Adjoint(ctx, z, v)
	}
	if err != nil {
		return err
	}
	return sameDots(ctx, y, v, x, z) // ⟨Mx, v⟩ = ⟨x, Mᴴv⟩
}

// sameDots reports a difference between aᴴb and cᴴd, which are sums of small
// integers and so exact.
func sameDots[T scalar.Scalar](ctx context.Context, a, b, c, d dist.Array[T]) error {
	p, err := dist.Dot(ctx, a, b)
	if err != nil {
		return err
	}
	q, err := dist.Dot(ctx, c, d)
	if err == nil && p != q {
		err = fmt.Errorf("dot test: %v is not %v, of %v and %v", p, q, a.Space(), c.Space())
	}
	return err
}

// gatherCase scatters from rank 0 and gathers again.
func gatherCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	s, err := g.space(ctx, r, g.dims())
	if err != nil {
		return err
	}
	want := valuesOf[T](3, s.Size())
	var global []T
	if r.Rank() == 0 {
		global = want
	}
	a, err := dist.Scatter(ctx, s, global)
	if err == nil {
		err = holdsValues(a, 3)
	}
	if err != nil {
		return fmt.Errorf("scatter to %v: %w", s, err)
	}
	root := g.IntN(r.Size())
	got, err := dist.Gather(ctx, a, root)
	if err != nil {
		return fmt.Errorf("gather %v: %w", s, err)
	}
	if r.Rank() == root && !slices.Equal(got, want) {
		return fmt.Errorf("gather %v: got %v, want %v", s, got, want)
	}
	if got, err = dist.AllGather(ctx, a); err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("gather %v on all ranks: got %v, want %v: %w", s, got, want, err)
	}
	block, err := a.Host()
	if err != nil {
		return err
	}
	b, err := dist.FromBlock(ctx, s, block)
	if err == nil {
		err = holdsValues(b, 3)
	}
	return err
}
