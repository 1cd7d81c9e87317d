package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/scalar"
)

// property is something that holds for whatever shape, grid and counts, tried
// in turn with the four element types.
type property struct {
	name  string
	types [4]func(ctx context.Context, r dist.Proc, g gen) error
}

var properties = []property{
	{"redistribute", [4]func(context.Context, dist.Proc, gen) error{moveCase[float32], moveCase[float64], moveCase[complex64], moveCase[complex128]}},
	{"scatter and gather", [4]func(context.Context, dist.Proc, gen) error{gatherCase[float32], gatherCase[float64], gatherCase[complex64], gatherCase[complex128]}},
	{"halo", [4]func(context.Context, dist.Proc, gen) error{haloCase[float32], haloCase[float64], haloCase[complex64], haloCase[complex128]}},
	{"reductions", [4]func(context.Context, dist.Proc, gen) error{reduceCase[float32], reduceCase[float64], reduceCase[complex64], reduceCase[complex128]}},
	{"stacks", [4]func(context.Context, dist.Proc, gen) error{stackCase[float32], stackCase[float64], stackCase[complex64], stackCase[complex128]}},
	{"slots", [4]func(context.Context, dist.Proc, gen) error{reductionCase[float32], reductionCase[float64], reductionCase[complex64], reductionCase[complex128]}},
	{"masks", [4]func(context.Context, dist.Proc, gen) error{maskCase[float32], maskCase[float64], maskCase[complex64], maskCase[complex128]}},
	{"vectors", [4]func(context.Context, dist.Proc, gen) error{vectorCase[float32], vectorCase[float64], vectorCase[complex64], vectorCase[complex128]}},
	{"norms along", [4]func(context.Context, dist.Proc, gen) error{alongCase[float32], alongCase[float64], alongCase[complex64], alongCase[complex128]}},
	{"reshape", [4]func(context.Context, dist.Proc, gen) error{reshapeCase[float32], reshapeCase[float64], reshapeCase[complex64], reshapeCase[complex128]}},
}

// TestProperties tries each property on random spaces.
func TestProperties(t *testing.T) {
	for _, p := range properties {
		t.Run(p.name, func(t *testing.T) {
			for _, ranks := range []int{1, 2, 3, 4, 6, 7, 8} {
				seed := rand.Uint64()
				err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
					return p.try(ctx, r, seed, casesOfEach)
				})
				if err != nil {
					t.Errorf("%d ranks, seed %d: %v", ranks, seed, err)
				}
			}
		})
	}
}

// casesUnderMPI are few: ranks that wait take the cores from those that work.
var casesUnderMPI = soak.Or(4, 12)

func runProperties(ctx context.Context, r dist.Proc, seed uint64) error {
	for _, p := range properties {
		if err := p.try(ctx, r, seed, casesUnderMPI); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// TestDevices is properties on devices of other kinds.
func TestDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, ranks := range []int{1, 2, 3} {
			seed, cases := rand.Uint64(), soak.Or(20, 40)
			if p.Slow {
				cases = soak.Or(4, 12)
			}
			err := p.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				for _, q := range properties {
					if err := q.try(ctx, r, seed, cases); err != nil {
						return fmt.Errorf("%s: %w", q.name, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("ranks=%d: seed %d: %v", ranks, seed, err)
			}
		}
	})
}

func (p property) try(ctx context.Context, r dist.Proc, seed uint64, cases int) error {
	for i := range cases {
		// All ranks draw the same numbers.
		if err := p.types[i%4](ctx, r, gen{rand.New(rand.NewPCG(seed, uint64(i)))}); err != nil {
			return fmt.Errorf("case %d: %w", i, err)
		}
	}
	return nil
}

// gen draws shapes and layouts.
type gen struct{ *rand.Rand }

func (g gen) dims() []int {
	d := make([]int, 1+g.IntN(4))
	if g.IntN(20) == 0 {
		d = nil
	}
	for i := range d {
		d[i] = g.IntN(8)
		if d[i] == 0 && g.IntN(3) > 0 { // empty arrays are worth a few cases only
			d[i] = 3
		}
	}
	return d
}

// layout draws any layout of an array of this shape on n ranks.
func (g gen) layout(dims []int, n int) dist.Layout {
	switch g.IntN(8) {
	case 0:
		return dist.Layout{Replicate: dist.Checked, Debug: g.IntN(2) == 0}
	case 1:
		return dist.Replicated
	}
	l := dist.Layout{Grid: g.grid(n)}
	free := g.Perm(len(dims))
	for _, e := range l.Grid {
		if len(free) == 0 || g.IntN(8) == 0 {
			l.Axes, l.Counts = append(l.Axes, dist.NoAxis), append(l.Counts, nil)
			continue
		}
		l.Axes, l.Counts = append(l.Axes, free[0]), append(l.Counts, g.counts(dims[free[0]], e))
		free = free[1:]
	}
	return l
}

// grid draws extents whose product is n.
func (g gen) grid(n int) []int {
	grid := []int{1, 1, 1}[:1+g.IntN(3)]
	for f := 2; n > 1; f++ {
		for ; n%f == 0; n /= f {
			grid[g.IntN(len(grid))] *= f
		}
	}
	return grid
}

// counts draws a way to cut rows, nil for the balanced one.
func (g gen) counts(rows, parts int) []int {
	if g.IntN(2) == 0 {
		return nil
	}
	cuts := []int{0, rows}
	for range parts - 1 {
		cuts = append(cuts, g.IntN(rows+1))
	}
	slices.Sort(cuts)
	c := make([]int, parts)
	for i := range c {
		c[i] = cuts[i+1] - cuts[i]
	}
	return c
}

// space draws a space. Some are one-sided, where ranks have windows.
func (g gen) space(ctx context.Context, r dist.Proc, dims []int) (*dist.Space, error) {
	l := g.layout(dims, r.Size())
	l.Way = dist.Way(g.IntN(2))
	s, err := dist.NewSpace(ctx, r, l, dims...)
	if errors.Is(err, errors.ErrUnsupported) { // TestOneSided says who must have them
		l.Way = dist.Messages
		s, err = dist.NewSpace(ctx, r, l, dims...)
	}
	return s, err
}

// value is element i of a vector called salt: small integers, so that sums and
// products of many are exact in every type.
func value[T scalar.Scalar](salt, i int) T {
	h := uint64(salt)*0x9E3779B97F4A7C15 + uint64(i)*0xBF58476D1CE4E5B9
	h ^= h >> 29
	h *= 0x94D049BB133111EB
	h ^= h >> 32
	return number[T](float64(h%9)-4, float64(h>>8%7)-3)
}

// number is re + im i, of a real type re alone.
func number[T scalar.Scalar](re, im float64) T { return scalar.From[T](complex(re, im)) }

// wide is v in the widest type.
func wide[T scalar.Scalar](v T) complex128 { return scalar.Complex(v) }

// flat is the place of a global index in memory order.
func flat(dims, i []int) int {
	n := 0
	for a, d := range dims {
		n = n*d + i[a]
	}
	return n
}

// valuesOf is the vector called salt as every rank can compute it.
func valuesOf[T scalar.Scalar](salt, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = value[T](salt, i)
	}
	return v
}

// filled returns the vector of s called salt.
func filled[T scalar.Scalar](ctx context.Context, s *dist.Space, salt int) (dist.Array[T], error) {
	dims := s.Shape().Dims()
	return dist.FromFunc(ctx, s, func(i []int) T { return value[T](salt, flat(dims, i)) })
}

// holds reports a difference between this rank's block and f of global indices.
func holds[T scalar.Scalar](a dist.Array[T], f func(i []int) T) error {
	s := a.Space()
	got, err := a.Host()
	if err != nil {
		return err
	}
	b, n := s.Box(s.Proc().Rank()), s.Shape().NDim()
	if want := s.LocalShape().Size(); len(got) != want {
		return fmt.Errorf("%d elements, want %d", len(got), want)
	}
	i := slices.Clone(b.Lo[:n])
	for _, v := range got {
		if w := f(i); v != w {
			return fmt.Errorf("element %v of %v is %v, want %v", i, s, v, w)
		}
		for a := n - 1; a >= 0; a-- {
			if i[a]++; i[a] < b.Hi[a] {
				break
			}
			i[a] = b.Lo[a]
		}
	}
	return nil
}

// holdsValues is holds for the vector called salt.
func holdsValues[T scalar.Scalar](a dist.Array[T], salt int) error {
	dims := a.Space().Shape().Dims()
	return holds(a, func(i []int) T { return value[T](salt, flat(dims, i)) })
}
