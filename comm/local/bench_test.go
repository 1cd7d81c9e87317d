package local_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
)

// BenchmarkAllReduce reports the bytes of one rank's buffer per second, the
// algbw of golops perf.
func BenchmarkAllReduce(b *testing.B) {
	for _, algo := range []driver.Algo{driver.Direct, driver.Ring, driver.Tree} {
		for _, bytes := range []int{8, 1 << 10, 64 << 10, 1 << 20, 64 << 20} {
			b.Run(fmt.Sprintf("ranks=2/%v/bytes=%d", algo, bytes), func(b *testing.B) {
				b.SetBytes(int64(bytes))
				b.ReportAllocs()
				err := local.Config{Algo: algo}.Run(b.Context(), 2, func(ctx context.Context, c *comm.Comm) error {
					src, dst := make([]float32, bytes/4), make([]float32, bytes/4)
					if err := c.Barrier(ctx); err != nil {
						return err
					}
					if c.Rank() == 0 {
						b.ResetTimer()
					}
					for range b.N {
						if err := c.AllReduce(ctx, comm.Of(dst), comm.Of(src), comm.Sum); err != nil {
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
	}
}
