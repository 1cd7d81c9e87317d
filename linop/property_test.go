package linop_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// grower builds random expressions of operators. All ranks draw the same numbers.
type grower[T scalar.Scalar] struct {
	g *rand.Rand
	s *spaces
}

// space returns a space of n elements in a layout of chance.
func (w grower[T]) space(n int) *dist.Space {
	switch w.g.IntN(4) {
	case 0:
		return w.s.of(dist.Replicated, n)
	case 1:
		return w.s.rows(n)
	case 2:
		counts := make([]int, w.s.r.Size())
		for range n {
			counts[w.g.IntN(len(counts))]++
		}
		return w.s.of(dist.Layout{Counts: [][]int{counts}}, n)
	}
	return w.s.of(dist.Layout{}, n)
}

// grow returns an expression of this depth with these numbers of rows and columns.
func (w grower[T]) grow(depth, rows, cols int) (known[T], error) {
	if depth == 0 {
		dom, rng := w.space(cols), w.space(rows)
		if w.s.err != nil {
			return known[T]{}, w.s.err
		}
		return randomOp[T](w.g.Uint64(), dom, rng)
	}
	kind := w.g.IntN(9)
	if kind == 6 && rows != cols {
		kind = 0
	}
	switch kind {
	case 0, 1:
		a, b, err := w.two(depth, rows, cols, rows, cols)
		if err != nil {
			return a, err
		}
		if kind == 0 {
			op, err := linop.Add(a.op, b.op)
			return known[T]{op, a.m.plus(1, b.m)}, err
		}
		op, err := linop.Sub(a.op, b.op)
		return known[T]{op, a.m.plus(-1, b.m)}, err
	case 2:
		k := 1 + w.g.IntN(6)
		a, b, err := w.two(depth, rows, k, k, cols)
		if err != nil {
			return a, err
		}
		op, err := linop.Compose(a.op, b.op)
		return known[T]{op, a.m.times(b.m)}, err
	case 3, 4, 5:
		a, err := w.grow(depth-1, cols, rows)
		if err != nil {
			return a, err
		}
		switch kind {
		case 3:
			return known[T]{linop.H(a.op), a.m.h()}, nil
		case 4:
			op, err := linop.T(a.op)
			return known[T]{op, a.m.t()}, err
		}
		op, err := linop.Conj(linop.H(a.op))
		return known[T]{op, a.m.t()}, err
	case 6:
		a, err := w.grow(depth-1, rows, cols)
		if err != nil {
			return a, err
		}
		op, err := linop.Power(a.op, 2)
		return known[T]{op, a.m.times(a.m)}, err
	case 7:
		a, b, err := w.two(depth, rows+1, cols, rows, rows+1)
		if err != nil {
			return a, err
		}
		c, err := w.grow(depth-1, 2, cols)
		if err != nil {
			return c, err
		}
		v, err := linop.VStack(a.op, c.op)
		if err != nil {
			return c, err
		}
		d, err := w.grow(depth-1, rows, 2)
		if err != nil {
			return d, err
		}
		h, err := linop.HStack(b.op, d.op)
		if err != nil {
			return d, err
		}
		op, err := linop.Compose(h, v)
		return known[T]{op, b.m.beside(d.m).times(a.m.above(c.m))}, err
	}
	a, err := w.grow(depth-1, rows, cols)
	if err != nil {
		return a, err
	}
	c := scalar.From[T](complex(w.g.Float64()-0.5, w.g.Float64()))
	op, err := linop.Scale(c, a.op)
	return known[T]{op, a.m.scale(scalar.Complex(c))}, err
}

func (w grower[T]) two(depth, r1, c1, r2, c2 int) (a, b known[T], err error) {
	if a, err = w.grow(depth-1, r1, c1); err == nil {
		b, err = w.grow(depth-1, r2, c2)
	}
	return a, b, err
}

func expressions[T scalar.Scalar](seed uint64) launch.Program {
	return func(ctx context.Context, r dist.Proc) error {
		g := rand.New(rand.NewPCG(seed, 2))
		w := grower[T]{g, &spaces{ctx: ctx, r: r}}
		for i := range 8 {
			a, err := w.grow(1+i%4, 1+g.IntN(7), 1+g.IntN(7))
			if err != nil {
				return err
			}
			// What is left of terms that cancel by chance has fewer digits.
			c := optest.DotConfig{Seed: seed, Tol: 1e-8}
			if err := optest.AllWith(ctx, c, a.op); err != nil {
				return fmt.Errorf("expression %d: %w", i, err)
			}
			if err := optest.MatchesDenseWith(ctx, c, a.op, elements[T](a.m)); err != nil {
				return fmt.Errorf("expression %d: %w", i, err)
			}
		}
		return nil
	}
}

// Random expressions over random layouts are what their matrices are.
func TestExpressions(t *testing.T) {
	for _, ranks := range rankCounts {
		t.Run(fmt.Sprintf("ranks=%d", ranks), func(t *testing.T) {
			seed := rand.Uint64()
			if err := testdevices.Local(t.Context(), ranks, expressions[float64](seed)); err != nil {
				t.Errorf("float64, seed %d: %v", seed, err)
			}
			if err := testdevices.Local(t.Context(), ranks, expressions[complex128](seed)); err != nil {
				t.Errorf("complex128, seed %d: %v", seed, err)
			}
		})
	}
}
