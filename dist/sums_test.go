package dist_test

import (
	"context"
	"fmt"
	"math/cmplx"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// sumsCase collects sums over arrays of several random spaces, split, replicated
// and stacked, and compares each with the serial computation.
func sumsCase[T scalar.Scalar](ctx context.Context, r dist.Rank, g gen) error {
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
	}
	return nil
}

// addSums notes three sums over vectors of s and returns what they come to.
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
	if err := dist.AddImagDot(sums, a[0], a[1]); err != nil {
		return nil, err
	}
	if err := dist.AddAxpyNorm(sums, 2, a[0], a[1]); err != nil {
		return nil, err
	}
	return []float64{real(dot), imag(dot), norm}, nil
}
