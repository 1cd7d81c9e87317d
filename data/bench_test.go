package data_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// ways are layouts of a 2048 × 2048 array: one long run on each rank, many of
// 4 kilobytes, and many so short that ranks exchange them first.
var ways = []struct {
	name string
	l    dist.Layout
	dims []int
}{
	{"rows", dist.Split(0), []int{2048, 2048}},
	{"columns", dist.Split(1), []int{2048, 2048}},
	{"pairs", dist.Split(1), []int{1 << 21, 2}},
}

func BenchmarkLoad(b *testing.B) {
	for _, w := range ways {
		path := filepath.Join(b.TempDir(), "a.npy")
		if err := data.WriteNPY(path, w.dims, make([]float32, 1<<22)); err != nil {
			b.Fatal(err)
		}
		bench(b, w.name, w.l, w.dims, func(ctx context.Context, s *dist.Space, _ dist.Array[float32]) error {
			a, err := data.Load[float32](ctx, path, s)
			a.Free()
			return err
		})
	}
}

// BenchmarkSave includes waiting for the disk.
func BenchmarkSave(b *testing.B) {
	for _, w := range ways {
		path := filepath.Join(b.TempDir(), "a.npy")
		bench(b, w.name, w.l, w.dims, func(ctx context.Context, s *dist.Space, a dist.Array[float32]) error {
			return data.Save(ctx, path, a)
		})
	}
}

// bench times f on two ranks. Rank 0 has the clock and says when to stop.
func bench(b *testing.B, name string, l dist.Layout, dims []int, f func(context.Context, *dist.Space, dist.Array[float32]) error) {
	b.Run(fmt.Sprintf("ranks=2/%s", name), func(b *testing.B) {
		b.SetBytes(4 << 22)
		err := testdevices.Local(b.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, l, dims...)
			if err != nil {
				return err
			}
			a, err := dist.New[float32](s)
			if err != nil {
				return err
			}
			if r.Rank() == 0 {
				b.ResetTimer()
			}
			for range b.N {
				if err := f(ctx, s, a); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkTraces(b *testing.B) {
	for _, format := range []data.SampleFormat{data.FormatIBM, data.FormatIEEE} {
		b.Run(fmt.Sprintf("format=%d", format), func(b *testing.B) {
			const traces, samples = 1000, 1000
			path := filepath.Join(b.TempDir(), "a.segy")
			c := data.SEGYConfig{NumTraces: traces, NumSamples: samples, Interval: 4000, Format: format}
			if err := data.WriteSEGY(path, c, func(i int, dst []float32) error { dst[0] = float32(i); return nil }, nil); err != nil {
				b.Fatal(err)
			}
			s, err := data.OpenSEGY(path)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			dst := make([]float32, traces*samples)
			b.SetBytes(4 * traces * samples)
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Traces(0, traces, dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
