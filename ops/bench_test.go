package ops_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// The array of the benchmarks: 16 MB of float64, more than the caches of a core.
const benchRows, benchCols = 2000, 1000

// newMap makes an operator from x, or from a relative of x.
type newMap[D, R scalar.Scalar] func(ctx context.Context, x *dist.Space) (linop.Map[D, R], error)

// traffic returns the bytes that each direction must move at least, for a
// domain of x bytes and a range of y bytes with elements of elem bytes.
type traffic func(x, y, elem int) (forward, adjoint int)

// plain reads one side and writes the other.
func plain(x, y, _ int) (forward, adjoint int) { return x + y, x + y }

// with is for an operator that also reads elements of a table, once.
func with(elements int) traffic {
	return func(x, y, elem int) (forward, adjoint int) { n := x + y + elements*elem; return n, n }
}

// fewer reads only those elements that it keeps.
func fewer(x, y, _ int) (forward, adjoint int) { return 2 * y, x + y }

// onTypes benchmarks two forms of one operator, which differ in the element
// type, in both directions on one and two ranks.
func onTypes[A, B, C, D scalar.Scalar](b *testing.B, t traffic, f newMap[A, B], g newMap[C, D]) {
	for _, direction := range []string{"forward", "adjoint"} {
		for _, ranks := range []int{1, 2} {
			name := fmt.Sprintf("%s/ranks=%d/", direction, ranks)
			b.Run(name+scalar.Of[A]().String(), func(b *testing.B) { apply(b, ranks, direction == "adjoint", t, f) })
			b.Run(name+scalar.Of[C]().String(), func(b *testing.B) { apply(b, ranks, direction == "adjoint", t, g) })
		}
	}
}

// apply times b.N applications on each rank. It cannot use b.Loop, of which each
// rank would have to be told.
func apply[D, R scalar.Scalar](b *testing.B, ranks int, adjoint bool, t traffic, f newMap[D, R]) {
	b.ReportAllocs()
	err := testdevices.Local(b.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, benchRows, benchCols)
		if err != nil {
			return err
		}
		op, err := f(ctx, x)
		if err != nil {
			return err
		}
		u, err := dist.New[D](op.Domain())
		if err != nil {
			return err
		}
		v, err := dist.New[R](op.Range())
		if err != nil {
			return err
		}
		dist.Fill(u, 1)
		dist.Fill(v, 1)
		once := func() error { return op.Forward(ctx, v, u) }
		if adjoint {
			once = func() error { return op.Adjoint(ctx, u, v) }
		}
		if r.Rank() == 0 {
			d, e := scalar.Of[D]().Size(), scalar.Of[R]().Size()
			there, back := t(op.Domain().Size()*d, op.Range().Size()*e, d)
			if adjoint {
				there = back
			}
			b.SetBytes(int64(there))
		}
		return inStep(ctx, b, r, once)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// inStep runs the loop on all ranks at the same time. The clock starts when all
// are ready and stops when all are done.
func inStep(ctx context.Context, b *testing.B, r dist.Proc, once func() error) error {
	if err := once(); err != nil { // what is made on the first call is made now
		return err
	}
	if err := atRest(ctx, r, b.ResetTimer); err != nil {
		return err
	}
	for range b.N {
		if err := once(); err != nil {
			return err
		}
	}
	return atRest(ctx, r, b.StopTimer)
}

// atRest calls f on rank 0 while the others wait.
func atRest(ctx context.Context, r dist.Proc, f func()) error {
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	if r.Rank() == 0 {
		f()
	}
	return r.Barrier(ctx)
}
