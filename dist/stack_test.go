package dist_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// tree draws a stack of stacks, depth of them above the arrays at least.
func (g gen) tree(ctx context.Context, r dist.Proc, depth int) (*dist.Space, error) {
	if depth == 0 {
		return g.space(ctx, r, g.dims())
	}
	var parts []*dist.Space
	for range 1 + g.IntN(3) {
		p, err := g.tree(ctx, r, g.IntN(depth))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return dist.Stack(parts...)
}

// fill fills the arrays of a stack with vectors called salt, salt+2, ... and
// returns all their elements.
func fill[T scalar.Scalar](a dist.Array[T], salt *int) (all []T, err error) {
	for i := range a.NumParts() {
		v, err := fill(a.Part(i), salt)
		if err != nil {
			return nil, err
		}
		all = append(all, v...)
	}
	if a.NumParts() > 0 {
		return all, nil
	}
	s := a.Space()
	all = valuesOf[T](*salt, s.Size())
	b, dims := s.Box(s.Proc().Rank()), s.Shape().Dims()
	host := make([]T, 0, s.LocalShape().Size())
	for k, v := range all {
		in := true
		for axis := len(dims) - 1; axis >= 0; axis-- {
			i := k % dims[axis]
			in = in && b.Lo[axis] <= i && i < b.Hi[axis]
			k /= dims[axis]
		}
		if in {
			host = append(host, v)
		}
	}
	*salt += 2
	return all, a.Local().CopyIn(host)
}

// stackCase takes a random stack of random arrays, some of them replicated, and
// compares reductions and element-wise operations with the serial computation.
func stackCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	s, err := g.tree(ctx, r, 3)
	if err != nil {
		return err
	}
	var a [3]dist.Array[T]
	for i := range a {
		if a[i], err = dist.New[T](s); err != nil {
			return err
		}
	}
	x, y, z := a[0], a[1], a[2]
	saltX, saltY := 1, 2
	p, err := fill(x, &saltX)
	if err != nil {
		return err
	}
	q, err := fill(y, &saltY)
	if err != nil {
		return err
	}
	if err := reductions(ctx, x, y, p, q); err != nil {
		return err
	}
	if err := manyDots(ctx, r, g, x, y, p, q); err != nil {
		return err
	}
	dist.Combine(z, 2, x, -1, y)
	dist.Axpby(1, x, 2, z) // z = 5x - 2y
	dist.MulConj(z, z, y)
	sum := slices.Clone(p)
	for i := range p {
		five := 5*p[i] - 2*q[i]
		sum[i] = number[T](real(cmplx.Conj(wide(five))), imag(cmplx.Conj(wide(five)))) * q[i]
	}
	return reductions(ctx, z, y, sum, q)
}

// manyDots takes dots of a stack, a split and a replicated array in one message.
func manyDots[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen, x, y dist.Array[T], p, q []T) error {
	xs, ys := []dist.Array[T]{x}, []dist.Array[T]{y}
	values := [][2][]T{{p, q}}
	for range 20 { // more than stay on a device
		s, err := g.space(ctx, r, g.dims())
		if err != nil {
			return err
		}
		u, err := filled[T](ctx, s, 5)
		if err != nil {
			return err
		}
		v, err := filled[T](ctx, s, 6)
		if err != nil {
			return err
		}
		xs, ys = append(xs, u), append(ys, v)
		values = append(values, [2][]T{valuesOf[T](5, s.Size()), valuesOf[T](6, s.Size())})
	}
	for _, n := range []int{1, 3, len(xs)} {
		dots, err := dotsOf(ctx, xs[:n], ys[:n])
		if err != nil {
			return err
		}
		for i, got := range dots {
			var want complex128
			for k := range values[i][0] {
				want += cmplx.Conj(wide(values[i][0][k])) * wide(values[i][1][k])
			}
			if got != want {
				return fmt.Errorf("reduction of %d: result %d of %v: got %v, want %v", n, i, xs[i].Space(), got, want)
			}
		}
	}
	return nil
}

// TestStackSpace looks at what a stack says of itself.
func TestStackSpace(t *testing.T) {
	onRanks(t, 3, func(ctx context.Context, r dist.Proc) error {
		a, err := dist.NewSpace(ctx, r, dist.Layout{}, 5, 2)
		if err != nil {
			return err
		}
		b, err := a.Like(dist.Replicated, 3)
		if err != nil {
			return err
		}
		s, err := dist.Stack(a, b)
		if err != nil {
			return err
		}
		deep, err := dist.Stack(s, b)
		if err != nil {
			return err
		}
		same, err := dist.Stack(s, b)
		if err != nil {
			return err
		}
		local := a.LocalShape().Size() + 6
		copies, err := dist.Stack(b, b)
		if err != nil {
			return err
		}
		for what, ok := range map[string]bool{
			"size":              deep.Size() == 16 && deep.Shape().Size() == 16,
			"local":             deep.LocalShape().Size() == local,
			"alone":             deep.Alone().Size() == local && deep.Alone().Comm().Size() == 1,
			"equal":             deep.Equal(same) && !deep.Equal(s) && !s.Equal(a) && !a.Equal(s) && !s.Equal(nil),
			"replicated":        !deep.Replicated() && copies.Replicated(),
			"parts":             len(deep.Parts()) == 2 && deep.Parts()[0] == s,
			"has no split axis": func() bool { g, c := deep.SplitBy(0); return g == dist.NoAxis && c == nil }(),
			"words":             strings.HasPrefix(deep.String(), "stack{stack{shape [5 2], axis 0 split [2 2 1]; shape [3] replicated}; shape [3]"),
		} {
			if !ok {
				return fmt.Errorf("%s of %v is wrong", what, deep)
			}
		}
		x, err := dist.New[float32](deep)
		if err != nil {
			return err
		}
		dist.Fill(x, 2)
		one := x.Alone(deep.Alone())
		if got, err := dist.Sum(ctx, one); err != nil || got != float32(2*local) {
			return fmt.Errorf("sum of this rank's blocks: got %v, want %v: %w", got, 2*local, err)
		}
		h, err := x.Host()
		if err != nil || len(h) != local {
			return fmt.Errorf("%d elements on the host, want %d: %w", len(h), local, err)
		}
		_, err = dist.StackOf[float32]()
		if err == nil {
			return fmt.Errorf("a stack of nothing: no error")
		}
		return nil
	})
}
