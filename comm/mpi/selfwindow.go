package mpi

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/golops/golops/comm"
)

// selfWindow is the window of a group of one rank. It needs no library.
type selfWindow struct {
	r      *rank
	buf    comm.Buf
	locked bool
	closed bool // this rank has closed it
}

func (w *selfWindow) ready(ctx context.Context) error {
	if w.closed {
		return comm.ErrClosed
	}
	return w.r.ready(ctx)
}

// targetAddr checks an access and returns its address, nil if it is empty.
func (w *selfWindow) targetAddr(ctx context.Context, name string, target, offset int, b comm.Buf) (unsafe.Pointer, error) {
	if err := w.ready(ctx); err != nil {
		return nil, err
	}
	if err := comm.CheckAccess(name, w.buf, target, []int{w.buf.N}, offset, b); err != nil {
		return nil, err
	}
	return w.buf.Slice(offset, offset+b.N).Ptr, nil
}

func (w *selfWindow) Put(ctx context.Context, target, offset int, src comm.Buf) error {
	return w.Accumulate(ctx, target, offset, src, comm.Replace)
}

func (w *selfWindow) Get(ctx context.Context, dst comm.Buf, target, offset int) error {
	return w.GetAccumulate(ctx, dst, target, offset, comm.Buf{}, comm.NoOp)
}

func (w *selfWindow) Accumulate(ctx context.Context, target, offset int, src comm.Buf, op comm.Op) error {
	if err := comm.CheckWindowOp(op, w.buf.DType, false); err != nil {
		return fmt.Errorf("comm: Accumulate: %w", err)
	}
	to, err := w.targetAddr(ctx, "Accumulate", target, offset, src)
	if err == nil && src.N > 0 {
		comm.ReducerOf(op, src.DType)(to, to, src.Ptr, src.N)
	}
	return err
}

func (w *selfWindow) GetAccumulate(ctx context.Context, dst comm.Buf, target, offset int, src comm.Buf, op comm.Op) error {
	if err := comm.CheckFetch(w.buf, dst, src, op); err != nil {
		return err
	}
	to, err := w.targetAddr(ctx, "GetAccumulate", target, offset, dst)
	if err != nil || dst.N == 0 {
		return err
	}
	comm.Move(dst.Ptr, to, dst.Bytes())
	if op != comm.NoOp {
		comm.ReducerOf(op, src.DType)(to, to, src.Ptr, src.N)
	}
	return nil
}

func (w *selfWindow) Lock(ctx context.Context, target int, _ comm.LockKind) error {
	if err := w.Flush(ctx, target); err != nil {
		return err
	}
	if w.locked {
		return fmt.Errorf("comm: Lock: this rank holds a lock on rank %d already", target)
	}
	w.locked = true
	w.r.w.locks.Add(1)
	return nil
}

func (w *selfWindow) Unlock(ctx context.Context, target int) error {
	if err := w.Flush(ctx, target); err != nil {
		return err
	}
	if !w.locked {
		return fmt.Errorf("comm: Unlock: this rank holds no lock on rank %d", target)
	}
	w.locked = false
	w.r.w.locks.Add(-1)
	return nil
}

func (w *selfWindow) Flush(ctx context.Context, target int) error {
	if target != 0 {
		return fmt.Errorf("comm: target is rank %d, must be 0", target)
	}
	return w.ready(ctx)
}

func (w *selfWindow) LockAll(ctx context.Context) error   { return w.Lock(ctx, 0, comm.Shared) }
func (w *selfWindow) UnlockAll(ctx context.Context) error { return w.Unlock(ctx, 0) }
func (w *selfWindow) Fence(ctx context.Context) error     { return w.ready(ctx) }

func (w *selfWindow) Close(ctx context.Context) error {
	if w.closed {
		return nil
	}
	if w.locked {
		return holdsLock(0)
	}
	w.closed = true
	return w.r.w.ready(ctx)
}
