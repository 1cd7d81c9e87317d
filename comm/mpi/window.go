package mpi

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// window is a rank's handle on an MPI window. MPI has no non-blocking fence or lock.
// Before a fence, ranks wait in a barrier that can be interrupted. A lock waits inside
// MPI and can be ended only with the process.
type window struct {
	r      *rank
	h      uintptr
	buf    comm.Buf
	counts []int
	starts []int            // offset in bytes of each rank's buffer in its window
	kept   []unsafe.Pointer // buffers of accesses not yet completed
	locked map[int]bool
	all    bool // LockAll
	closed bool // this rank has closed it
}

// ready returns an error if the window or its group is closed, or the program was
// aborted.
func (w *window) ready(ctx context.Context) error {
	if w.closed {
		return comm.ErrClosed
	}
	return w.r.ready(ctx)
}

func (r *rank) Window(ctx context.Context, b comm.Buf) (comm.Window, error) {
	call, err := comm.CheckWindow(b)
	if err := r.enter(ctx, &call, err); err != nil {
		return nil, err
	}
	if r.w.noWindows != nil {
		return nil, r.w.noWindows
	}
	if r.n == 1 {
		return &selfWindow{r: r, buf: b}, nil // Open MPI 4.1 cannot make a window for one rank
	}
	// MPICH 4.0 over UCX rounds the base of a window down to a multiple of 16
	// bytes. So each window starts at a page, and offsets count in bytes from there.
	start := uintptr(b.Ptr) % page
	if b.N == 0 {
		start = 0
	}
	all, err := r.gatherNumbers(ctx, &call, int64(b.N), int64(b.DType), int64(start))
	if err != nil {
		return nil, err
	}
	w := &window{r: r, buf: b, locked: map[int]bool{}}
	for j := range r.n {
		w.counts = append(w.counts, int(all[3*j]))
		w.starts = append(w.starts, int(all[3*j+2]))
		if first, dt := scalar.DType(all[1]), scalar.DType(all[3*j+1]); dt != first {
			return nil, &comm.MismatchError{RankA: 0, CallA: fmt.Sprintf("Window(%v)", first), RankB: j, CallB: fmt.Sprintf("Window(%v)", dt)}
		}
	}
	release, err := r.lockWindows(ctx, &call)
	if err != nil {
		return nil, err
	}
	h := new(uintptr)
	code := r.w.blockingCall("Window", r.l.winCreate, r.from(b)-start, uintptr(b.Bytes())+start, 1, r.l.infoNull, r.algoComm, addr(h))
	release()
	if err := r.l.errorOf("MPI_Win_create", code); err != nil {
		// Seen with Open MPI 4.1.6, whose one-sided components all declined. A
		// second attempt may succeed and then transfer no data.
		r.w.noWindows = fmt.Errorf("%w: %s cannot make windows: its one-sided components may not support MPI_THREAD_MULTIPLE (ompi_info | grep osc), or /dev/shm may be full (df /dev/shm): %w",
			err, r.l.Version, errors.ErrUnsupported)
		return nil, r.w.noWindows
	}
	w.h = r.l.handle(h)
	r.w.open.add(w)
	return w, r.l.errorOf("MPI_Win_set_errhandler", r.l.call(r.l.winSetErrhandler, w.h, r.l.errorsReturn))
}

const page = 4096

// access checks an access and calls f for each piece that fits one call. lo is the
// offset of the piece in b in elements, at its offset in the target's window in bytes.
func (w *window) access(ctx context.Context, name string, target, offset int, b comm.Buf, f func(piece comm.Buf, lo, at int) int32) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if err := comm.CheckAccess(name, w.buf, target, w.counts, offset, b); err != nil {
		return err
	}
	w.kept = append(w.kept, b.Ptr)
	limit := min(w.r.l.maxCount, 1<<31-1)
	for lo := 0; lo < b.N; lo += limit {
		if err := w.r.l.errorOf("MPI_"+name, f(b.Slice(lo, min(lo+limit, b.N)), lo, w.starts[target]+(offset+lo)*b.DType.Size())); err != nil {
			return err
		}
	}
	return nil
}

func (w *window) Put(ctx context.Context, target, offset int, src comm.Buf) error {
	return w.move(ctx, "Put", w.r.l.put, target, offset, src)
}

func (w *window) Get(ctx context.Context, dst comm.Buf, target, offset int) error {
	return w.move(ctx, "Get", w.r.l.get, target, offset, dst)
}

func (w *window) move(ctx context.Context, name string, fn dl.Func, target, offset int, b comm.Buf) error {
	l := w.r.l
	return w.access(ctx, name, target, offset, b, func(p comm.Buf, _, at int) int32 {
		n, dt := uintptr(p.N), w.r.dtype(p)
		return l.call(fn, uintptr(p.Ptr), n, dt, uintptr(target), uintptr(at), n, dt, w.h)
	})
}

func (w *window) Accumulate(ctx context.Context, target, offset int, src comm.Buf, op comm.Op) error {
	l := w.r.l
	if err := comm.CheckWindowOp(op, w.buf.DType, false); err != nil {
		return fmt.Errorf("comm: Accumulate: %w", err)
	}
	h, err := l.windowOp(op, w.buf.DType)
	if err != nil {
		return err
	}
	return w.access(ctx, "Accumulate", target, offset, src, func(p comm.Buf, _, at int) int32 {
		n, dt := uintptr(p.N), w.r.dtype(p)
		return l.call(l.accumulate, uintptr(p.Ptr), n, dt, uintptr(target), uintptr(at), n, dt, h, w.h)
	})
}

func (w *window) GetAccumulate(ctx context.Context, dst comm.Buf, target, offset int, src comm.Buf, op comm.Op) error {
	l := w.r.l
	if err := comm.CheckFetch(w.buf, dst, src, op); err != nil {
		return err
	}
	h, err := l.windowOp(op, w.buf.DType)
	if err != nil {
		return err
	}
	if op == comm.NoOp {
		src = dst // not read, but libraries want an address
	}
	w.kept = append(w.kept, src.Ptr)
	return w.access(ctx, "GetAccumulate", target, offset, dst, func(p comm.Buf, lo, at int) int32 {
		n, dt := uintptr(p.N), w.r.dtype(p)
		s := src.Slice(lo, lo+p.N)
		return l.call(l.getAccumulate, uintptr(s.Ptr), n, dt, uintptr(p.Ptr), n, dt, uintptr(target), uintptr(at), n, dt, h, w.h)
	})
}

// complete calls a function that completes accesses. Their buffers then belong to the
// caller again.
func (w *window) complete(name string, fn dl.Func, args ...uintptr) error {
	err := w.r.l.errorOf(name, w.r.w.blockingCall(name, fn, args...))
	w.kept = w.kept[:0]
	return err
}

func (w *window) Fence(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	call := comm.Call{Kind: comm.KindFence, Peer: -1}
	if err := w.r.enter(ctx, &call, nil); err != nil {
		return err
	}
	if err := w.r.barrier(ctx, &call); err != nil {
		return err
	}
	return w.complete("MPI_Win_fence", w.r.l.winFence, 0, w.h)
}

func (w *window) checkTarget(ctx context.Context, name string, t int) error {
	if t < 0 || t >= w.r.n {
		return fmt.Errorf("comm: %s: target is rank %d, must be from 0 to %d", name, t, w.r.n-1)
	}
	return w.ready(ctx)
}

func (w *window) Lock(ctx context.Context, target int, kind comm.LockKind) error {
	if err := w.checkTarget(ctx, "Lock", target); err != nil {
		return err
	}
	if w.locked[target] {
		return fmt.Errorf("comm: Lock: this rank holds a lock on rank %d already", target)
	}
	k := w.r.l.shared
	if kind == comm.Exclusive {
		k = w.r.l.exclusive
	}
	if err := w.r.l.errorOf("MPI_Win_lock", w.r.w.blockingCall("Lock", w.r.l.winLock, uintptr(k), uintptr(target), 0, w.h)); err != nil {
		return err
	}
	w.locked[target] = true
	w.r.w.locks.Add(1)
	return nil
}

func (w *window) Unlock(ctx context.Context, target int) error {
	if err := w.checkTarget(ctx, "Unlock", target); err != nil {
		return err
	}
	if !w.locked[target] {
		return fmt.Errorf("comm: Unlock: this rank holds no lock on rank %d", target)
	}
	delete(w.locked, target)
	w.r.w.locks.Add(-1)
	return w.complete("MPI_Win_unlock", w.r.l.winUnlock, uintptr(target), w.h)
}

func (w *window) LockAll(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if w.all {
		return errors.New("comm: LockAll: this rank holds a lock on all ranks already")
	}
	if err := w.r.l.errorOf("MPI_Win_lock_all", w.r.w.blockingCall("LockAll", w.r.l.winLockAll, 0, w.h)); err != nil {
		return err
	}
	w.all = true
	w.r.w.locks.Add(1)
	return nil
}

func (w *window) UnlockAll(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if !w.all {
		return errors.New("comm: UnlockAll: this rank holds no lock on all ranks")
	}
	w.all = false
	w.r.w.locks.Add(-1)
	return w.complete("MPI_Win_unlock_all", w.r.l.winUnlockAll, w.h)
}

func (w *window) Flush(ctx context.Context, target int) error {
	if err := w.checkTarget(ctx, "Flush", target); err != nil {
		return err
	}
	return w.r.l.errorOf("MPI_Win_flush", w.r.w.blockingCall("Flush", w.r.l.winFlush, uintptr(target), w.h))
}

func (w *window) Close(ctx context.Context) error {
	if w.closed {
		return nil
	}
	var fault error
	for t := range w.locked {
		fault = holdsLock(t)
	}
	if w.all {
		fault = holdsLock(0)
	}
	call := comm.Call{Kind: comm.KindClose, Peer: -1}
	if err := w.r.enter(ctx, &call, fault); err != nil {
		return err
	}
	if err := w.r.barrier(ctx, &call); err != nil {
		return err
	}
	return w.free()
}

// free frees the window. It is collective.
func (w *window) free() error {
	w.closed = true
	w.r.w.open.remove(w)
	h := new(uintptr)
	*h = w.h
	return w.complete("MPI_Win_free", w.r.l.winFree, addr(h))
}

func holdsLock(target int) error {
	return fmt.Errorf("comm: Close: this rank holds a lock on rank %d of the window: call Unlock first", target)
}
