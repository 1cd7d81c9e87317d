package local

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/golops/golops/comm"
)

// windowMemory is the memory of all ranks of one window. An access is complete when
// the call returns, so Flush does nothing.
type windowMemory struct {
	bufs         []comm.Buf
	counts       []int
	locks        []lock
	accumulating []sync.RWMutex // write-locked by Accumulate, read-locked by Put and Get
}

// lock is a reader-writer lock that a rank waits for by cond.
type lock struct {
	state atomic.Int32 // -1 if held exclusively, else how many ranks hold it
}

func (l *lock) free(kind comm.LockKind) bool {
	s := l.state.Load()
	return s == 0 || s > 0 && kind == comm.Shared
}

func (l *lock) try(kind comm.LockKind) bool {
	s := l.state.Load()
	switch {
	case kind == comm.Exclusive:
		return s == 0 && l.state.CompareAndSwap(0, -1)
	default:
		return s >= 0 && l.state.CompareAndSwap(s, s+1)
	}
}

// window is one rank's handle.
type window struct {
	r      *rank
	mem    *windowMemory
	held   []bool
	kind   []comm.LockKind
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
	a := args{dst: b}
	a.call, a.err = comm.CheckWindow(b)
	if err := r.enter(ctx, &a); err != nil {
		return nil, err
	}
	if r.me == 0 {
		x := &windowMemory{locks: make([]lock, r.n), accumulating: make([]sync.RWMutex, r.n)}
		for j := range r.n {
			s := r.slotOf(j)
			x.bufs = append(x.bufs, comm.Buf{DType: b.DType, N: s.m, Ptr: s.dst})
			x.counts = append(x.counts, s.m)
		}
		r.state.obj = x
	}
	if err := r.leave(ctx, &a.call, nil); err != nil {
		return nil, err
	}
	return &window{r: r, mem: r.g.states[0].obj.(*windowMemory), held: make([]bool, r.n), kind: make([]comm.LockKind, r.n)}, nil
}

// targetAddr checks an access and returns its address in the target's memory.
func (w *window) targetAddr(ctx context.Context, name string, target, offset int, b comm.Buf) (unsafe.Pointer, error) {
	if err := w.ready(ctx); err != nil {
		return nil, err
	}
	if err := comm.CheckAccess(name, w.mem.bufs[w.r.me], target, w.mem.counts, offset, b); err != nil {
		return nil, err
	}
	return addrAt(w.mem.bufs[target].Ptr, offset*b.DType.Size(), b.N), nil
}

func (w *window) Put(ctx context.Context, target, offset int, src comm.Buf) error {
	to, err := w.targetAddr(ctx, "Put", target, offset, src)
	if err != nil {
		return err
	}
	w.mem.accumulating[target].RLock()
	comm.Move(to, src.Ptr, src.Bytes())
	w.mem.accumulating[target].RUnlock()
	return nil
}

func (w *window) Get(ctx context.Context, dst comm.Buf, target, offset int) error {
	from, err := w.targetAddr(ctx, "Get", target, offset, dst)
	if err != nil {
		return err
	}
	w.mem.accumulating[target].RLock()
	comm.Move(dst.Ptr, from, dst.Bytes())
	w.mem.accumulating[target].RUnlock()
	return nil
}

func (w *window) Accumulate(ctx context.Context, target, offset int, src comm.Buf, op comm.Op) error {
	to, err := w.targetAddr(ctx, "Accumulate", target, offset, src)
	if err != nil {
		return err
	}
	if err := comm.CheckWindowOp(op, src.DType, false); err != nil {
		return fmt.Errorf("comm: Accumulate: %w", err)
	}
	w.mem.accumulating[target].Lock()
	comm.ReducerOf(op, src.DType)(to, to, src.Ptr, src.N)
	w.mem.accumulating[target].Unlock()
	return nil
}

func (w *window) GetAccumulate(ctx context.Context, dst comm.Buf, target, offset int, src comm.Buf, op comm.Op) error {
	to, err := w.targetAddr(ctx, "GetAccumulate", target, offset, dst)
	if err != nil {
		return err
	}
	if err := comm.CheckFetch(w.mem.bufs[w.r.me], dst, src, op); err != nil {
		return err
	}
	w.mem.accumulating[target].Lock()
	defer w.mem.accumulating[target].Unlock()
	comm.Move(dst.Ptr, to, dst.Bytes())
	if op != comm.NoOp {
		comm.ReducerOf(op, src.DType)(to, to, src.Ptr, src.N)
	}
	return nil
}

func (w *window) Fence(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	return w.r.enter(ctx, &args{call: comm.Call{Kind: comm.KindFence, Peer: -1}})
}

func (w *window) Lock(ctx context.Context, target int, kind comm.LockKind) error {
	if err := w.checkTarget(ctx, "Lock", target); err != nil {
		return err
	}
	if w.held[target] {
		return fmt.Errorf("comm: Lock: this rank holds a lock on rank %d already", target)
	}
	l := &w.mem.locks[target]
	for !l.try(kind) {
		call := comm.Call{Kind: comm.KindLock, Peer: int32(target)}
		if err := w.r.wait(ctx, cond{lock: l, kind: kind}, -1, &call); err != nil {
			return err
		}
	}
	w.held[target], w.kind[target] = true, kind
	w.r.g.w.locks[w.r.g.members[w.r.me]].Add(1)
	return nil
}

func (w *window) checkTarget(ctx context.Context, name string, t int) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if t < 0 || t >= w.r.n {
		return fmt.Errorf("comm: %s: target is rank %d, must be from 0 to %d", name, t, w.r.n-1)
	}
	return nil
}

func (w *window) Unlock(ctx context.Context, target int) error {
	if err := w.checkTarget(ctx, "Unlock", target); err != nil {
		return err
	}
	if !w.held[target] {
		return fmt.Errorf("comm: Unlock: this rank holds no lock on rank %d", target)
	}
	w.held[target] = false
	w.r.g.w.locks[w.r.g.members[w.r.me]].Add(-1)
	if w.kind[target] == comm.Exclusive {
		w.mem.locks[target].state.Store(0)
	} else {
		w.mem.locks[target].state.Add(-1)
	}
	w.r.g.wakeAll()
	return nil
}

func (w *window) LockAll(ctx context.Context) error {
	for t := range w.r.n {
		if err := w.Lock(ctx, t, comm.Shared); err != nil {
			return err
		}
	}
	return nil
}

func (w *window) UnlockAll(ctx context.Context) error {
	for t := range w.r.n {
		if err := w.Unlock(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (w *window) Flush(ctx context.Context, target int) error {
	return w.checkTarget(ctx, "Flush", target)
}

func (w *window) Close(ctx context.Context) error {
	if w.closed {
		return nil
	}
	a := args{call: comm.Call{Kind: comm.KindClose, Peer: -1}}
	if t := slices.Index(w.held, true); t >= 0 {
		a.err = fmt.Errorf("comm: Close: this rank holds a lock on rank %d of the window: call Unlock first", t)
	}
	if err := w.r.enter(ctx, &a); err != nil {
		return err
	}
	w.closed = true
	return nil
}
