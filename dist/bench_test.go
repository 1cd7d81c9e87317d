package dist_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/scalar"
)

// bench runs a call on goroutine ranks in lock step: rank 0 decides how long
// and the others, b.N at a time, follow. bytes are those of all ranks.
func bench(b *testing.B, ranks int, bytes int, setup func(ctx context.Context, r dist.Proc) (call func() error, err error)) {
	b.Helper()
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	err := testdevices.Local(b.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		call, err := setup(ctx, r)
		if err == nil {
			err = call() // memory is touched, requests are made
		}
		if err == nil {
			err = r.Barrier(ctx)
		}
		if err != nil {
			return err
		}
		if r.Rank() == 0 {
			b.ResetTimer()
		}
		for range b.N {
			if err := call(); err != nil {
				return err
			}
		}
		if err := r.Barrier(ctx); err != nil {
			return err
		}
		if r.Rank() == 0 {
			b.StopTimer()
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

const benchRows, benchCols = 2048, 1024

func BenchmarkVectors(b *testing.B) {
	for _, ranks := range []int{1, 2} {
		b.Run(fmt.Sprintf("float32/ranks=%d", ranks), func(b *testing.B) { benchVectors[float32](b, ranks) })
		b.Run(fmt.Sprintf("float64/ranks=%d", ranks), func(b *testing.B) { benchVectors[float64](b, ranks) })
	}
}

// vectorsOf returns three arrays of rows split over the ranks.
func vectorsOf[T scalar.Scalar](ctx context.Context, r dist.Proc) (a [3]dist.Array[T], err error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, benchRows, benchCols)
	if err != nil {
		return a, err
	}
	for i := range a {
		if a[i], err = dist.New[T](s); err != nil {
			return a, err
		}
		dist.Fill(a[i], number[T](float64(i+1), 0))
	}
	return a, nil
}

func benchVectors[T scalar.Scalar](b *testing.B, ranks int) {
	vector := benchRows * benchCols * scalar.Of[T]().Size()
	for _, k := range []struct {
		name  string
		bytes int // read and written
		call  func(ctx context.Context, a [3]dist.Array[T]) func() error
	}{
		{"Axpby", 3 * vector, func(_ context.Context, a [3]dist.Array[T]) func() error {
			return func() error { dist.Axpby(0.5, a[0], 0.5, a[1]); return nil }
		}},
		{"Combine", 3 * vector, func(_ context.Context, a [3]dist.Array[T]) func() error {
			return func() error { dist.Combine(a[2], 0.5, a[0], 0.5, a[1]); return nil }
		}},
		{"Dot", 2 * vector, func(ctx context.Context, a [3]dist.Array[T]) func() error {
			return func() error { return second(dist.Dot(ctx, a[0], a[1])) }
		}},
		{"Reduction", 6 * vector, func(ctx context.Context, a [3]dist.Array[T]) func() error {
			red := dist.NewReduction(a[0].Space(), 3)
			return func() error {
				for i := range a {
					dist.AddDot(red, a[i], a[(i+1)%3])
				}
				return red.Do(ctx)
			}
		}},
		{"Norm", vector, func(ctx context.Context, a [3]dist.Array[T]) func() error {
			return func() error { return second(dist.Norm(ctx, a[0], 2)) }
		}},
	} {
		b.Run(k.name, func(b *testing.B) {
			bench(b, ranks, k.bytes, func(ctx context.Context, r dist.Proc) (func() error, error) {
				a, err := vectorsOf[T](ctx, r)
				return k.call(ctx, a), err
			})
		})
	}
}

// BenchmarkRedistribute moves rows to columns; bytes are read once and written
// once.
func BenchmarkRedistribute(b *testing.B) {
	for _, ranks := range []int{1, 2} {
		b.Run(fmt.Sprintf("float32/ranks=%d", ranks), func(b *testing.B) { benchMove[float32](b, ranks) })
		b.Run(fmt.Sprintf("float64/ranks=%d", ranks), func(b *testing.B) { benchMove[float64](b, ranks) })
	}
}

func benchMove[T scalar.Scalar](b *testing.B, ranks int) {
	bench(b, ranks, 2*benchRows*benchCols*scalar.Of[T]().Size(), func(ctx context.Context, r dist.Proc) (func() error, error) {
		a, err := vectorsOf[T](ctx, r)
		if err != nil {
			return nil, err
		}
		to, err := a[0].Space().Like(dist.Split(1), benchRows, benchCols)
		if err != nil {
			return nil, err
		}
		dst, err := dist.New[T](to)
		if err != nil {
			return nil, err
		}
		m, err := dist.NewRedistribution[T](a[0].Space(), to)
		return func() error { return m.Forward(ctx, dst, a[0]) }, err
	})
}

// BenchmarkHalo widens blocks by two rows on each side; bytes are read once and
// written once, ghosts included.
func BenchmarkHalo(b *testing.B) {
	for _, ranks := range []int{1, 2} {
		b.Run(fmt.Sprintf("float32/ranks=%d", ranks), func(b *testing.B) { benchHalo[float32](b, ranks) })
		b.Run(fmt.Sprintf("float64/ranks=%d", ranks), func(b *testing.B) { benchHalo[float64](b, ranks) })
	}
}

func benchHalo[T scalar.Scalar](b *testing.B, ranks int) {
	rows := benchRows + 4*(ranks-1)
	for _, adjoint := range []bool{false, true} {
		b.Run(map[bool]string{false: "Forward", true: "Adjoint"}[adjoint], func(b *testing.B) {
			bench(b, ranks, 2*rows*benchCols*scalar.Of[T]().Size(), func(ctx context.Context, r dist.Proc) (func() error, error) {
				s, err := dist.NewSpace(ctx, r, dist.Layout{}, benchRows, benchCols)
				return haloCall[T](ctx, s, err, 2, adjoint)
			})
		})
	}
}

// BenchmarkGhosts widens blocks that are no larger than the ghosts that they send to each
// side, by messages and by puts. Sizes and bytes are of the ghosts of one side.
func BenchmarkGhosts(b *testing.B) {
	for _, ranks := range []int{2, 4} {
		for bytes := 1 << 10; bytes <= 4<<20; bytes *= 4 {
			for _, adjoint := range []bool{false, true} {
				for _, way := range []dist.Way{dist.Messages, dist.OneSided} {
					name := map[bool]string{false: "Forward", true: "Adjoint"}[adjoint]
					b.Run(fmt.Sprintf("ranks=%d/bytes=%d/%s/%v", ranks, bytes, name, way), func(b *testing.B) {
						bench(b, ranks, bytes, func(ctx context.Context, r dist.Proc) (func() error, error) {
							s, err := dist.NewSpace(ctx, r, dist.Layout{Way: way}, ranks, bytes/8)
							return haloCall[float64](ctx, s, err, 1, adjoint)
						})
					})
				}
			}
		}
	}
}

// haloCall returns a halo of rows over s, unless there is an error.
func haloCall[T scalar.Scalar](ctx context.Context, s *dist.Space, err error, rows int, adjoint bool) (func() error, error) {
	if err != nil {
		return nil, err
	}
	h, err := dist.NewHalo[T](s, []int{rows, 0}, []int{rows, 0}, false)
	if err != nil {
		return nil, err
	}
	a, err := dist.New[T](s)
	if err != nil {
		return nil, err
	}
	wide, err := dist.New[T](h.Range())
	if adjoint {
		return func() error { return h.Adjoint(ctx, a, wide) }, err
	}
	return func() error { return h.Forward(ctx, wide, a) }, err
}
