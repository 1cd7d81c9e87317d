package mpi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/scalar"
)

// window is a rank's handle on an MPI window. MPI has no non-blocking fence or lock.
// Before a fence, ranks wait in a barrier that can be interrupted. A lock waits inside
// MPI and can be ended only with the process.
type window struct {
	r      *rank
	h      uintptr // 0 in a group of one rank: Open MPI 4.1 cannot make its window
	buf    driver.Buf
	starts []int        // offset in bytes of each rank's buffer in its window
	kept   []keptBuffer // of accesses not yet completed
}

// keptBuffer is memory that an access to target uses.
type keptBuffer struct {
	target int
	mem    unsafe.Pointer
}

// Window implements driver.OneSided.
func (r *rank) Window(ctx context.Context, c *driver.Call) (driver.Window, []int, error) {
	b := c.Dst
	if err := r.enter(ctx, c); err != nil {
		return nil, nil, err
	}
	if r.w.noWindows != nil {
		return nil, nil, r.w.noWindows
	}
	w := &window{r: r, buf: b}
	if r.n == 1 {
		return w, []int{b.N}, nil
	}
	// MPICH 4.0 over UCX rounds the base of a window down to a multiple of 16
	// bytes. So each window starts at a page, and offsets count in bytes from there.
	start := uintptr(b.Ptr) % page
	if b.N == 0 {
		start = 0
	}
	all, err := r.gatherNumbers(ctx, &c.Signature, int64(b.N), int64(b.DType), int64(start))
	if err != nil {
		return nil, nil, err
	}
	var counts []int
	for j := range r.n {
		counts = append(counts, int(all[3*j]))
		w.starts = append(w.starts, int(all[3*j+2]))
		if first, dt := scalar.DType(all[1]), scalar.DType(all[3*j+1]); dt != first {
			return nil, nil, &driver.MismatchError{RankA: 0, CallA: fmt.Sprintf("Window(%v)", first), RankB: j, CallB: fmt.Sprintf("Window(%v)", dt)}
		}
	}
	release, err := r.lockWindows(ctx, &c.Signature)
	if err != nil {
		return nil, nil, err
	}
	h := new(uintptr)
	err = r.w.blockingCall("MPI_Win_create", r.l.winCreate, r.address(&b, &r.blocking)-start, uintptr(b.Bytes())+start, 1, r.l.infoNull, r.algoComm, addr(h))
	release()
	if err != nil {
		// Seen with Open MPI 4.1.6, whose one-sided components all declined. A
		// second attempt may succeed and then transfer no data.
		r.w.noWindows = fmt.Errorf("%w: %s cannot make windows: its one-sided components may not support MPI_THREAD_MULTIPLE (ompi_info | grep osc), or /dev/shm may be full (df /dev/shm): use messages, or another MPI: %w",
			err, r.l.Version, errors.ErrUnsupported)
		return nil, nil, r.w.noWindows
	}
	w.h = r.l.handle(h)
	r.w.setOpen(w, true)
	return w, counts, r.l.errorOf("MPI_Win_set_errhandler", r.l.call(r.l.winSetErrhandler, w.h, r.l.errorsReturn))
}

const page = 4096

// Access implements driver.Window. It calls the library for each piece that fits one
// call.
func (w *window) Access(ctx context.Context, a *driver.Access) error {
	r, l := w.r, w.r.l
	if err := r.w.ready(ctx); err != nil {
		return err
	}
	op, err := l.windowOp(a.Op, w.buf.DType)
	if err != nil {
		return err
	}
	dst, src := a.Dst, a.Src
	if a.Op == driver.NoOp {
		src = dst // not read, but libraries want an address
	}
	n, dt, target := max(dst.N, src.N), l.dtypes[w.buf.DType], uintptr(a.Target)
	switch {
	case n == 0:
		return nil
	case w.h == 0:
		w.accessOwn(dst, src, a)
		return nil
	}
	w.kept = append(w.kept, keptBuffer{a.Target, dst.Ptr}, keptBuffer{a.Target, src.Ptr})
	return pieces(n, min(l.maxCount, math.MaxInt32), func(lo, hi int) error {
		from, to := uintptr(part(src, lo, hi).Ptr), uintptr(part(dst, lo, hi).Ptr)
		n, at := uintptr(hi-lo), uintptr(w.starts[a.Target]+(a.Offset+lo)*w.buf.DType.Size())
		switch {
		case !a.Atomic && a.Op == driver.Replace:
			return l.errorOf("MPI_Put", l.call(l.put, from, n, dt, target, at, n, dt, w.h))
		case !a.Atomic:
			return l.errorOf("MPI_Get", l.call(l.get, to, n, dt, target, at, n, dt, w.h))
		case dst.N == 0:
			return l.errorOf("MPI_Accumulate", l.call(l.accumulate, from, n, dt, target, at, n, dt, op, w.h))
		}
		return l.errorOf("MPI_Get_accumulate", l.call(l.getAccumulate, from, n, dt, to, n, dt, target, at, n, dt, op, w.h))
	})
}

// accessOwn is Access in a group of one rank.
func (w *window) accessOwn(dst, src driver.Buf, a *driver.Access) {
	at := w.buf.Slice(a.Offset, a.Offset+max(dst.N, src.N)).Ptr
	driver.Move(dst.Ptr, at, dst.Bytes())
	if a.Op != driver.NoOp {
		driver.ReducerOf(a.Op, w.buf.DType)(at, at, src.Ptr, src.N)
	}
}

// call calls a function that may wait for other ranks.
func (w *window) call(ctx context.Context, name string, fn dl.Func, args ...uintptr) error {
	if err := w.r.w.ready(ctx); err != nil || w.h == 0 {
		return err
	}
	return w.r.w.blockingCall(name, fn, args...)
}

// complete is call for a function that completes the accesses to target, or to all if it
// is Everyone. Their buffers then belong to the caller again.
func (w *window) complete(ctx context.Context, target int, name string, fn dl.Func, args ...uintptr) error {
	err := w.call(ctx, name, fn, args...)
	w.kept = slices.DeleteFunc(w.kept, func(k keptBuffer) bool { return target == driver.Everyone || k.target == target })
	return err
}

// enter waits until all ranks are in the same call on the window.
func (w *window) enter(ctx context.Context, k driver.Kind, fault error) error {
	call := driver.Call{Signature: driver.Signature{Kind: k, Peer: -1}, Err: fault}
	if err := w.r.enter(ctx, &call); err != nil {
		return err
	}
	return w.r.barrier(ctx, &call.Signature)
}

// Fence implements driver.Window.
func (w *window) Fence(ctx context.Context) error {
	if err := w.enter(ctx, driver.KindFence, nil); err != nil {
		return err
	}
	return w.complete(ctx, driver.Everyone, "MPI_Win_fence", w.r.l.winFence, 0, w.h)
}

// Lock implements driver.Window.
func (w *window) Lock(ctx context.Context, target int, kind driver.LockKind) error {
	l, err := w.r.l, error(nil)
	k := l.shared
	if kind == driver.Exclusive {
		k = l.exclusive
	}
	if target == driver.Everyone {
		err = w.call(ctx, "MPI_Win_lock_all", l.winLockAll, 0, w.h)
	} else {
		err = w.call(ctx, "MPI_Win_lock", l.winLock, uintptr(k), uintptr(target), 0, w.h)
	}
	if err == nil {
		w.r.w.locks.Add(1)
	}
	return err
}

// Unlock implements driver.Window.
func (w *window) Unlock(ctx context.Context, target int) error {
	w.r.w.locks.Add(-1)
	if target == driver.Everyone {
		return w.complete(ctx, target, "MPI_Win_unlock_all", w.r.l.winUnlockAll, w.h)
	}
	return w.complete(ctx, target, "MPI_Win_unlock", w.r.l.winUnlock, uintptr(target), w.h)
}

// Flush implements driver.Window.
func (w *window) Flush(ctx context.Context, target int) error {
	return w.complete(ctx, target, "MPI_Win_flush", w.r.l.winFlush, uintptr(target), w.h)
}

// Sync implements driver.Window.
func (w *window) Sync(ctx context.Context) error {
	return w.call(ctx, "MPI_Win_sync", w.r.l.winSync, w.h)
}

// Close implements driver.Window.
func (w *window) Close(ctx context.Context, fault error) error {
	if err := w.enter(ctx, driver.KindClose, fault); err != nil {
		return err
	}
	return w.free(ctx)
}

// free frees the window. It is collective.
func (w *window) free(ctx context.Context) error {
	w.r.w.setOpen(w, false)
	h := new(uintptr)
	*h = w.h
	return w.complete(ctx, driver.Everyone, "MPI_Win_free", w.r.l.winFree, addr(h))
}
