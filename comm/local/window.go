package local

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/golops/golops/comm/driver"
)

// windowMemory is the memory of all ranks of one window. An access is complete when
// the call returns, so Flush and Sync do nothing.
type windowMemory struct {
	bufs   []driver.Buf
	counts []int
	locks  []lock
	guards []sync.RWMutex // write-locked by atomic accesses, read-locked by others
}

// lock is a reader-writer lock that a rank waits for by cond.
type lock struct {
	state atomic.Int32 // -1 if held exclusively, else how many ranks hold it
}

func (l *lock) free(kind driver.LockKind) bool {
	s := l.state.Load()
	return s == 0 || s > 0 && kind == driver.Shared
}

func (l *lock) try(kind driver.LockKind) bool {
	s := l.state.Load()
	switch {
	case kind == driver.Exclusive:
		return s == 0 && l.state.CompareAndSwap(0, -1)
	default:
		return s >= 0 && l.state.CompareAndSwap(s, s+1)
	}
}

// window is one rank's handle.
type window struct {
	r   *rank
	mem *windowMemory
}

// Window implements driver.OneSided.
func (r *rank) Window(ctx context.Context, c *driver.Call) (driver.Window, []int, error) {
	if err := r.enter(ctx, c); err != nil {
		return nil, nil, err
	}
	if r.me == 0 {
		x := &windowMemory{locks: make([]lock, r.n), guards: make([]sync.RWMutex, r.n)}
		for j := range r.n {
			s := r.slotOf(j)
			x.bufs = append(x.bufs, driver.Buf{DType: c.DType, N: s.m, Ptr: s.dst})
			x.counts = append(x.counts, s.m)
		}
		r.state.obj = x
	}
	if err := r.leave(ctx, c); err != nil {
		return nil, nil, err
	}
	mem := r.g.states[0].obj.(*windowMemory)
	return &window{r, mem}, mem.counts, nil
}

// Access implements driver.Window.
func (w *window) Access(ctx context.Context, a *driver.Access) error {
	if err := w.r.ready(ctx); err != nil {
		return err
	}
	n := a.Src.N
	if a.Op == driver.NoOp {
		n = a.Dst.N
	}
	if n == 0 {
		return nil
	}
	at := w.mem.bufs[a.Target].Slice(a.Offset, a.Offset+n)
	if l := &w.mem.guards[a.Target]; a.Atomic {
		l.Lock()
		defer l.Unlock()
	} else {
		l.RLock()
		defer l.RUnlock()
	}
	if a.Dst.N > 0 {
		driver.Move(a.Dst.Ptr, at.Ptr, at.Bytes())
	}
	if a.Op != driver.NoOp {
		driver.ReducerOf(a.Op, at.DType)(at.Ptr, at.Ptr, a.Src.Ptr, n)
	}
	return nil
}

// Fence implements driver.Window.
func (w *window) Fence(ctx context.Context) error {
	return w.r.enter(ctx, &driver.Call{Signature: driver.Signature{Kind: driver.KindFence, Peer: -1}})
}

// Lock implements driver.Window.
func (w *window) Lock(ctx context.Context, target int, kind driver.LockKind) error {
	if err := w.r.ready(ctx); err != nil {
		return err
	}
	lo, hi := w.targets(target)
	for t := lo; t < hi; t++ {
		l := &w.mem.locks[t]
		for !l.try(kind) {
			call := driver.Signature{Kind: driver.KindLock, Peer: int32(t)}
			if err := w.r.wait(ctx, cond{lock: l, kind: kind}, -1, &call); err != nil {
				return err
			}
		}
		w.r.g.w.locks[w.r.g.members[w.r.me]].Add(1)
	}
	return nil
}

// Unlock implements driver.Window.
func (w *window) Unlock(ctx context.Context, target int) error {
	if err := w.r.ready(ctx); err != nil {
		return err
	}
	lo, hi := w.targets(target)
	for t := lo; t < hi; t++ {
		w.r.g.w.locks[w.r.g.members[w.r.me]].Add(-1)
		if l := &w.mem.locks[t]; !l.state.CompareAndSwap(-1, 0) {
			l.state.Add(-1)
		}
	}
	w.r.g.wakeAll()
	return nil
}

// targets returns the first target and the one after the last.
func (w *window) targets(target int) (lo, hi int) {
	if target == driver.Everyone {
		return 0, w.r.n
	}
	return target, target + 1
}

// Flush implements driver.Window.
func (w *window) Flush(ctx context.Context, _ int) error { return w.r.ready(ctx) }

// Sync implements driver.Window.
func (w *window) Sync(ctx context.Context) error { return w.r.ready(ctx) }

// Close implements driver.Window.
func (w *window) Close(ctx context.Context, fault error) error {
	return w.r.enter(ctx, &driver.Call{Signature: driver.Signature{Kind: driver.KindClose, Peer: -1}, Err: fault})
}
