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

// exposed is the memory of all ranks behind one window. Accesses are done when
// the call returns, so Flush has nothing to do.
type exposed struct {
	bufs   []comm.Buf
	counts []int
	locks  []lock
	atomic []sync.RWMutex // held by writers for accumulates, by readers for the rest
}

// lock is a reader-writer lock that a rank can wait for like for anything else.
type lock struct {
	state atomic.Int32 // -1: held exclusively; n: by n ranks
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
	r    *rank
	x    *exposed
	held []bool
	kind []comm.LockKind
	shut bool // this rank has closed it
}

// ready returns an error if the window or its group is closed, or the program at
// its end.
func (w *window) ready(ctx context.Context) error {
	if w.shut {
		return comm.ErrClosed
	}
	return w.r.ready(ctx)
}

func (r *rank) Window(ctx context.Context, b comm.Buf) (comm.Window, error) {
	a := args{dst: b}
	a.call, a.err = comm.CheckWindow(b)
	if err := r.meet(ctx, &a); err != nil {
		return nil, err
	}
	if r.me == 0 {
		x := &exposed{locks: make([]lock, r.n), atomic: make([]sync.RWMutex, r.n)}
		for j := range r.n {
			s := r.slot(j)
			x.bufs = append(x.bufs, comm.Buf{DType: b.DType, N: s.m, Ptr: s.dst})
			x.counts = append(x.counts, s.m)
		}
		r.cell.obj = x
	}
	if err := r.part(ctx, &a.call, nil); err != nil {
		return nil, err
	}
	return &window{r: r, x: r.g.cells[0].obj.(*exposed), held: make([]bool, r.n), kind: make([]comm.LockKind, r.n)}, nil
}

// reach returns the target memory of an access after checking it.
func (w *window) reach(ctx context.Context, name string, target, offset int, b comm.Buf) (unsafe.Pointer, error) {
	if err := w.ready(ctx); err != nil {
		return nil, err
	}
	if err := comm.CheckAccess(name, w.x.bufs[w.r.me], target, w.x.counts, offset, b); err != nil {
		return nil, err
	}
	return at(w.x.bufs[target].Ptr, offset*b.DType.Size(), b.N), nil
}

func (w *window) Put(ctx context.Context, target, offset int, src comm.Buf) error {
	to, err := w.reach(ctx, "Put", target, offset, src)
	if err != nil {
		return err
	}
	w.x.atomic[target].RLock()
	comm.Move(to, src.Ptr, src.Bytes())
	w.x.atomic[target].RUnlock()
	return nil
}

func (w *window) Get(ctx context.Context, dst comm.Buf, target, offset int) error {
	from, err := w.reach(ctx, "Get", target, offset, dst)
	if err != nil {
		return err
	}
	w.x.atomic[target].RLock()
	comm.Move(dst.Ptr, from, dst.Bytes())
	w.x.atomic[target].RUnlock()
	return nil
}

func (w *window) Accumulate(ctx context.Context, target, offset int, src comm.Buf, op comm.Op) error {
	to, err := w.reach(ctx, "Accumulate", target, offset, src)
	if err != nil {
		return err
	}
	if err := comm.CheckWindowOp(op, src.DType, false); err != nil {
		return fmt.Errorf("comm: Accumulate: %w", err)
	}
	w.x.atomic[target].Lock()
	comm.ReducerOf(op, src.DType)(to, to, src.Ptr, src.N)
	w.x.atomic[target].Unlock()
	return nil
}

func (w *window) GetAccumulate(ctx context.Context, dst comm.Buf, target, offset int, src comm.Buf, op comm.Op) error {
	to, err := w.reach(ctx, "GetAccumulate", target, offset, dst)
	if err != nil {
		return err
	}
	if err := comm.CheckFetch(w.x.bufs[w.r.me], dst, src, op); err != nil {
		return err
	}
	w.x.atomic[target].Lock()
	defer w.x.atomic[target].Unlock()
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
	return w.r.meet(ctx, &args{call: comm.Call{Kind: comm.KindFence, Peer: -1}})
}

func (w *window) Lock(ctx context.Context, target int, kind comm.LockKind) error {
	if err := w.target(ctx, "Lock", target); err != nil {
		return err
	}
	if w.held[target] {
		return fmt.Errorf("comm: Lock: this rank holds a lock on rank %d already", target)
	}
	l := &w.x.locks[target]
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

func (w *window) target(ctx context.Context, name string, t int) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	if t < 0 || t >= w.r.n {
		return fmt.Errorf("comm: %s: target is rank %d, must be from 0 to %d", name, t, w.r.n-1)
	}
	return nil
}

func (w *window) Unlock(ctx context.Context, target int) error {
	if err := w.target(ctx, "Unlock", target); err != nil {
		return err
	}
	if !w.held[target] {
		return fmt.Errorf("comm: Unlock: this rank holds no lock on rank %d", target)
	}
	w.held[target] = false
	w.r.g.w.locks[w.r.g.members[w.r.me]].Add(-1)
	if w.kind[target] == comm.Exclusive {
		w.x.locks[target].state.Store(0)
	} else {
		w.x.locks[target].state.Add(-1)
	}
	w.r.g.roused()
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

func (w *window) Flush(ctx context.Context, target int) error { return w.target(ctx, "Flush", target) }

func (w *window) Close(ctx context.Context) error {
	if w.shut {
		return nil
	}
	a := args{call: comm.Call{Kind: comm.KindClose, Peer: -1}}
	if t := slices.Index(w.held, true); t >= 0 {
		a.err = fmt.Errorf("comm: Close: this rank holds a lock on rank %d of the window: call Unlock first", t)
	}
	if err := w.r.meet(ctx, &a); err != nil {
		return err
	}
	w.shut = true
	return nil
}
