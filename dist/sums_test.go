package dist_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// sumsCase collects sums over arrays of several random spaces, split, replicated
// and stacked, and compares each with the serial computation.
func sumsCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	var sums *dist.Sums
	for round := range 2 { // the room is used again
		if sums != nil {
			sums.Reset()
		}
		var want []float64
		for range 1 + g.IntN(3) {
			s, err := g.tree(ctx, r, 2)
			if err != nil {
				return err
			}
			if sums == nil {
				sums = dist.NewSums(s, 2)
			}
			w, err := addSums[T](sums, s)
			if err != nil {
				return err
			}
			want = append(want, w...)
		}
		if err := sums.Reduce(ctx); err != nil {
			return err
		}
		for i, w := range want {
			if got := sums.Value(i); got != w {
				return fmt.Errorf("round %d: sum %d of %d is %v, want %v", round, i, len(want), got, w)
			}
		}
		if sums.Last() != want[len(want)-1] {
			return fmt.Errorf("round %d: the last sum is %v, want %v", round, sums.Last(), want[len(want)-1])
		}
	}
	return nil
}

// addSums notes four sums over vectors of s and returns what they come to.
func addSums[T scalar.Scalar](sums *dist.Sums, s *dist.Space) (want []float64, err error) {
	var a [2]dist.Array[T]
	var v [2][]T
	for i := range a {
		if a[i], err = dist.New[T](s); err != nil {
			return nil, err
		}
		salt := i + 1
		if v[i], err = fill(a[i], &salt); err != nil {
			return nil, err
		}
	}
	var dot complex128
	norm := 0.0
	for i, x := range v[0] {
		y := v[1][i]
		dot += cmplx.Conj(wide(x)) * wide(y)
		z := wide(y + 2*x)
		norm += real(cmplx.Conj(z) * z)
	}
	if err := dist.AddDot(sums, a[0], a[1]); err != nil {
		return nil, err
	}
	if err := dist.AddComplexDot(sums, a[0], a[1]); err != nil {
		return nil, err
	}
	if err := dist.AddAxpyNorm(sums, 2, a[0], a[1]); err != nil {
		return nil, err
	}
	return []float64{real(dot), real(dot), imag(dot), norm}, nil
}

// All ranks get the same bits, also of replicated arrays whose copies differ;
// a mask keeps colors apart, and another group is a bug.
func TestSumsAreShared(t *testing.T) {
	onRanks(t, 4, func(ctx context.Context, r dist.Proc) error {
		color := r.Rank() % 2
		masked, err := dist.NewSpace(ctx, r, dist.Layout{Replicate: dist.Unchecked, Mask: []int{0, 1, 0, 1}}, 5)
		if err != nil {
			return err
		}
		whole, err := dist.NewSpace(ctx, r, dist.Replicated, 5)
		if err != nil {
			return err
		}
		for _, k := range []struct {
			s     *dist.Space
			first int // whose copy counts
		}{{whole, 0}, {masked, color}} {
			x, err := dist.FromFunc(ctx, k.s, func([]int) complex64 { return complex(1, float32(r.Rank())) })
			if err != nil {
				return err
			}
			s := dist.NewSums(k.s, 1)
			if err := dist.AddDot(s, x, x); err != nil {
				return err
			}
			if err := s.Reduce(ctx); err != nil {
				return err
			}
			v := cmplx.Abs(complex(1, float64(k.first)))
			if math.Abs(s.Value(0)-5*v*v) > 1e-12 {
				return fmt.Errorf("%v: rank %d has %g, want %g", k.s, r.Rank(), s.Value(0), 5*v*v)
			}
		}
		if masked.Group() == whole.Group() || whole.Group() != r.Comm || masked.Group().Size() != 2 {
			return fmt.Errorf("groups of %d and %d ranks", masked.Group().Size(), whole.Group().Size())
		}
		x, err := dist.New[float64](masked)
		if err != nil {
			return err
		}
		defer func() {
			if _, ok := recover().(dist.LayoutError); !ok {
				panic("a sum over other ranks: no panic")
			}
		}()
		return dist.AddDot(dist.NewSums(whole, 1), x, x)
	})
}
