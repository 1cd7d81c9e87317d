package mpi

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/mpirun"
)

func TestFlushLetsBuffersGo(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		if out, err := ranks(t, m, 2, "flush"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// flushed puts and gets many times within one epoch. After Flush of a target the window
// holds no buffer of it, but still those of others.
func flushed(ctx context.Context, c *comm.Comm) error {
	q := driver.Call{Dst: comm.Of(make([]float64, 4))}
	q.CheckWindow()
	dw, _, err := c.Conn().(driver.OneSided).Window(ctx, &q)
	if err != nil {
		return err
	}
	w := dw.(*window)
	if err := w.Lock(ctx, driver.Everyone, driver.Shared); err != nil {
		return err
	}
	src := comm.Of(make([]float64, 4))
	for range 10 {
		for to := range c.Size() {
			if err := w.Access(ctx, &driver.Access{Target: to, Src: src, Op: driver.Replace}); err != nil {
				return err
			}
		}
		before := len(w.kept)
		if err := w.Flush(ctx, 0); err != nil {
			return err
		}
		if k := len(w.kept); k != before-before/c.Size() {
			return fmt.Errorf("Flush of rank 0 of %d: %d buffers of %d are left", c.Size(), k, before)
		}
		for to := 1; to < c.Size(); to++ {
			if err := w.Flush(ctx, to); err != nil {
				return err
			}
		}
		if len(w.kept) != 0 || w.kept[:1][0].mem != nil { // where the collector would find it
			return fmt.Errorf("%d buffers are left", len(w.kept))
		}
	}
	if err := w.Unlock(ctx, driver.Everyone); err != nil {
		return err
	}
	return w.Close(ctx, nil)
}
