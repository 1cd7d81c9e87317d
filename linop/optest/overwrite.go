package optest

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Overwrites checks that Forward and Adjoint write all of dst, whatever was in
// it: NaN that fill it before must be gone afterwards. It also checks that they
// leave src alone.
func Overwrites[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	if err := valid(a); err != nil {
		return err
	}
	err := overwrites(ctx, a)
	if err := agree(ctx, a, "overwriting by forward", err); err != nil {
		return err
	}
	err = overwrites(ctx, linop.H(a))
	return agree(ctx, a, "overwriting by adjoint", err)
}

func overwrites[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	x, err := dist.Random[D](ctx, a.Domain(), 0)
	if err != nil {
		return err
	}
	y, err := dist.New[R](a.Range())
	if err != nil {
		return err
	}
	dist.Fill(y, scalar.From[R](complex(math.NaN(), math.NaN())))
	before, err := x.Host()
	if err != nil {
		return err
	}
	if err := a.Forward(ctx, y, x); err != nil {
		return err
	}
	after, err := x.Host()
	if err != nil {
		return err
	}
	out, err := y.Host()
	if err != nil {
		return err
	}
	me := a.Domain().Comm().Rank()
	for i, v := range after {
		if v != before[i] {
			return fmt.Errorf("element %d of src on rank %d was %v and is %v afterwards", i, me, before[i], v)
		}
	}
	for i, v := range out {
		if v != v {
			return fmt.Errorf("element %d of dst on rank %d is NaN, as it was before: %v of %d are", i, me, count(out), len(out))
		}
	}
	return nil
}

// count returns how many elements are NaN.
func count[T scalar.Scalar](x []T) (n int) {
	for _, v := range x {
		if v != v {
			n++
		}
	}
	return n
}
