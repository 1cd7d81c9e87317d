package mpi

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// selfWindow is the window of a group of one rank. It needs no library.
type selfWindow struct {
	r   *rank
	buf driver.Buf
}

// Access implements driver.Window.
func (w *selfWindow) Access(ctx context.Context, a *driver.Access) error {
	if err := w.r.w.ready(ctx); err != nil {
		return err
	}
	at := func(n int) unsafe.Pointer { return w.buf.Slice(a.Offset, a.Offset+n).Ptr }
	driver.Move(a.Dst.Ptr, at(a.Dst.N), a.Dst.Bytes())
	if to := at(a.Src.N); a.Op != driver.NoOp && to != nil {
		driver.ReducerOf(a.Op, w.buf.DType)(to, to, a.Src.Ptr, a.Src.N)
	}
	return nil
}

// Lock implements driver.Window.
func (w *selfWindow) Lock(ctx context.Context, _ int, _ driver.LockKind) error {
	w.r.w.locks.Add(1)
	return w.r.w.ready(ctx)
}

// Unlock implements driver.Window.
func (w *selfWindow) Unlock(ctx context.Context, _ int) error {
	w.r.w.locks.Add(-1)
	return w.r.w.ready(ctx)
}

// Fence implements driver.Window.
func (w *selfWindow) Fence(ctx context.Context) error { return w.r.w.ready(ctx) }

// Flush implements driver.Window.
func (w *selfWindow) Flush(ctx context.Context, _ int) error { return w.r.w.ready(ctx) }

// Close implements driver.Window.
func (w *selfWindow) Close(ctx context.Context, fault error) error {
	if fault != nil {
		return fault
	}
	return w.r.w.ready(ctx)
}
