package commtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/local"
)

// TestEveryCaseCanFail runs each case on communicators that are wrong. One changes a bit of the
// data that arrives, one returns no errors, one has barriers that do not wait. Each case must fail
// on at least one of them.
func TestEveryCaseCanFail(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the suite three times")
	}
	liars := []liar{{flip: true}, {hush: true}, {noBarrier: true}}
	for _, k := range commtest.Cases(commtest.Config{Sequences: 50}) {
		if k.Name == "Request/zero" {
			continue // tests package comm only
		}
		wrong := liars
		if strings.HasPrefix(k.Name, "Bad") || strings.HasPrefix(k.Name, "Mismatch") {
			wrong = []liar{{hush: true}}
		}
		if !caught(t.Context(), k, wrong) {
			t.Errorf("%s: passes on every wrong communicator", k.Name)
		}
	}
}

// TestLockCaseCanFail has locks that are shared when they should be exclusive.
func TestLockCaseCanFail(t *testing.T) {
	if raceEnabled {
		t.Skip("is a race")
	}
	for _, k := range commtest.Cases(commtest.Defaults()) {
		if k.Name == "Window/Lock/exclusive" && !caught(t.Context(), k, []liar{{sharedLock: true}}) {
			t.Errorf("%s: passes without exclusive locks", k.Name)
		}
	}
}

// TestFailedMessagesCanFail has messages that start before all arguments are checked.
func TestFailedMessagesCanFail(t *testing.T) {
	for _, k := range commtest.Cases(commtest.Defaults()) {
		// The types of both sides are checked before the first message starts in any case.
		if strings.HasPrefix(k.Name, "Failed messages/") && k.Name != "Failed messages/SendRecv dst" && !caught(t.Context(), k, []liar{{early: true}}) {
			t.Errorf("%s: passes although messages are left behind", k.Name)
		}
	}
}

// TestClosedCasesCanFail has groups and windows that can be used after Close.
func TestClosedCasesCanFail(t *testing.T) {
	for _, k := range commtest.Cases(commtest.Defaults()) {
		if strings.HasPrefix(k.Name, "Closed/") && !caught(t.Context(), k, []liar{{neverClosed: true}}) {
			t.Errorf("%s: passes although nothing is ever closed", k.Name)
		}
	}
}

func caught(ctx context.Context, k commtest.Case, liars []liar) bool {
	for _, l := range liars {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := local.Run(ctx, 3, func(ctx context.Context, c *comm.Comm) error {
			l := l
			l.Comm, l.left = c, map[uint64]left{}
			return k.Run(ctx, &l)
		})
		cancel()
		if err != nil {
			return true
		}
	}
	return false
}

// liar is a communicator that is wrong.
type liar struct {
	*comm.Comm
	flip, hush, noBarrier, sharedLock bool
	early                             bool // messages start before all arguments are checked
	neverClosed                       bool

	grouped bool
	begun   []comm.Request
	later   []comm.Buf // buffers that are filled at the end of a Group
	left    map[uint64]left
	next    uint64
}

// left is a request under way and its destination.
type left struct {
	req comm.Request
	dst comm.Buf
}

// done is the end of a call that filled dst.
func (l *liar) done(dst comm.Buf, err error) error {
	if l.flip && dst.N > 0 && dst.Ptr != nil && err == nil {
		*(*byte)(unsafe.Add(dst.Ptr, (dst.N-1)*dst.DType.Size())) ^= 1
	}
	if l.hush {
		return nil
	}
	return err
}

func (l *liar) started(dst comm.Buf, req comm.Request, err error) (comm.Request, error) {
	if err != nil {
		return comm.Request{}, l.done(comm.Buf{}, err)
	}
	l.next++
	l.left[l.next] = left{req, dst}
	return comm.NewRequest(l, l.next), nil
}

func (l *liar) WaitRequest(ctx context.Context, id uint64) error {
	q, ok := l.left[id]
	if !ok {
		return nil
	}
	delete(l.left, id)
	return l.done(q.dst, q.req.Wait(ctx))
}

func (l *liar) TestRequest(id uint64) (bool, error) {
	q, ok := l.left[id]
	if !ok {
		return true, nil
	}
	done, err := q.req.Test()
	if done {
		delete(l.left, id)
		err = l.done(q.dst, err)
	}
	return done, err
}

func (l *liar) Barrier(ctx context.Context) error {
	if l.noBarrier {
		return nil
	}
	return l.done(comm.Buf{}, l.Comm.Barrier(ctx))
}

func (l *liar) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	return l.done(dst, l.Comm.AllReduce(ctx, dst, src, op))
}

func (l *liar) Reduce(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	return l.done(dst, l.Comm.Reduce(ctx, dst, src, op, root))
}

func (l *liar) Broadcast(ctx context.Context, buf comm.Buf, root int) error {
	return l.done(buf, l.Comm.Broadcast(ctx, buf, root))
}

func (l *liar) AllGather(ctx context.Context, dst, src comm.Buf) error {
	return l.done(dst, l.Comm.AllGather(ctx, dst, src))
}

func (l *liar) AllGatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf) error {
	return l.done(dst, l.Comm.AllGatherV(ctx, dst, counts, src))
}

func (l *liar) Gather(ctx context.Context, dst, src comm.Buf, root int) error {
	return l.done(dst, l.Comm.Gather(ctx, dst, src, root))
}

func (l *liar) GatherV(ctx context.Context, dst comm.Buf, counts []int, src comm.Buf, root int) error {
	return l.done(dst, l.Comm.GatherV(ctx, dst, counts, src, root))
}

func (l *liar) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	return l.done(dst, l.Comm.Scatter(ctx, dst, src, root))
}

func (l *liar) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	return l.done(dst, l.Comm.ScatterV(ctx, dst, src, counts, root))
}

func (l *liar) ReduceScatter(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	return l.done(dst, l.Comm.ReduceScatter(ctx, dst, src, op))
}

func (l *liar) ReduceScatterV(ctx context.Context, dst, src comm.Buf, counts []int, op comm.Op) error {
	return l.done(dst, l.Comm.ReduceScatterV(ctx, dst, src, counts, op))
}

func (l *liar) AllToAll(ctx context.Context, dst, src comm.Buf) error {
	return l.done(dst, l.Comm.AllToAll(ctx, dst, src))
}

func (l *liar) AllToAllV(ctx context.Context, dst comm.Buf, recv []int, src comm.Buf, send []int) error {
	return l.done(dst, l.Comm.AllToAllV(ctx, dst, recv, src, send))
}

func (l *liar) Close() error {
	if l.neverClosed {
		return nil
	}
	return l.done(comm.Buf{}, l.Comm.Close())
}

func (l *liar) Send(ctx context.Context, src comm.Buf, to int) error {
	if l.early && l.grouped {
		q, err := l.Comm.ISend(ctx, src, to)
		l.begun = append(l.begun, q)
		return err
	}
	return l.done(comm.Buf{}, l.Comm.Send(ctx, src, to))
}

// arrived is done for messages, which in a Group arrive later.
func (l *liar) arrived(dst comm.Buf, err error) error {
	if l.grouped {
		l.later = append(l.later, dst)
		return err
	}
	return l.done(dst, err)
}

func (l *liar) Recv(ctx context.Context, dst comm.Buf, from int) error {
	if l.early && l.grouped {
		q, err := l.Comm.IRecv(ctx, dst, from)
		l.begun = append(l.begun, q)
		return err
	}
	return l.arrived(dst, l.Comm.Recv(ctx, dst, from))
}

func (l *liar) SendRecv(ctx context.Context, dst comm.Buf, from int, src comm.Buf, to int) error {
	if l.early && l.grouped {
		return errors.Join(l.Recv(ctx, dst, from), l.Send(ctx, src, to))
	}
	if l.early {
		q, err := l.Comm.IRecv(ctx, dst, from)
		if err == nil {
			err = l.Comm.Send(ctx, src, to)
		}
		if err != nil {
			return err
		}
		return q.Wait(ctx)
	}
	return l.arrived(dst, l.Comm.SendRecv(ctx, dst, from, src, to))
}

func (l *liar) Group(ctx context.Context, f func() error) error {
	if l.early {
		l.grouped = true
		err := f()
		l.grouped = false
		if err == nil {
			err = comm.WaitAll(ctx, l.begun...)
		}
		l.begun = nil
		return err
	}
	l.grouped = true
	err := l.Comm.Group(ctx, f)
	l.grouped = false
	for _, dst := range l.later {
		_ = l.done(dst, err)
	}
	l.later = nil
	return l.done(comm.Buf{}, err)
}

func (l *liar) ISend(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	req, err := l.Comm.ISend(ctx, src, to)
	return l.started(comm.Buf{}, req, err)
}

func (l *liar) IRecv(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	req, err := l.Comm.IRecv(ctx, dst, from)
	return l.started(dst, req, err)
}

func (l *liar) IAllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) (comm.Request, error) {
	req, err := l.Comm.IAllReduce(ctx, dst, src, op)
	return l.started(dst, req, err)
}

func (l *liar) IBroadcast(ctx context.Context, buf comm.Buf, root int) (comm.Request, error) {
	req, err := l.Comm.IBroadcast(ctx, buf, root)
	return l.started(buf, req, err)
}

func (l *liar) IAllGather(ctx context.Context, dst, src comm.Buf) (comm.Request, error) {
	req, err := l.Comm.IAllGather(ctx, dst, src)
	return l.started(dst, req, err)
}

func (l *liar) Split(ctx context.Context, color, key int) (*comm.Comm, error) {
	c, err := l.Comm.Split(ctx, color, key)
	if c == nil {
		return nil, l.done(comm.Buf{}, err)
	}
	sub := *l
	sub.Comm, sub.left = c, map[uint64]left{}
	return &sub, l.done(comm.Buf{}, err)
}

func (l *liar) Window(ctx context.Context, buf comm.Buf) (*comm.Window, error) {
	w, err := l.Comm.Window(ctx, buf)
	if err != nil {
		return nil, l.done(comm.Buf{}, err)
	}
	return &lyingWindow{w, l}, nil
}

func (w *lyingWindow) Close(ctx context.Context) error {
	if w.l.neverClosed {
		return nil
	}
	return w.l.done(comm.Buf{}, w.Window.Close(ctx))
}

// lyingWindow is a window that is wrong.
type lyingWindow struct {
	*comm.Window
	l *liar
}

// changed returns a copy of src with a bit changed.
func (w *lyingWindow) changed(src comm.Buf) comm.Buf {
	if !w.l.flip || src.N == 0 {
		return src
	}
	b := src
	mem := make([]complex128, src.N) // as wide as any type
	b.Ptr = unsafe.Pointer(unsafe.SliceData(mem))
	copy(unsafe.Slice((*byte)(b.Ptr), b.Bytes()), unsafe.Slice((*byte)(src.Ptr), src.Bytes()))
	*(*byte)(b.Ptr) ^= 2 // another bit than done changes
	return b
}

func (w *lyingWindow) Put(ctx context.Context, target, offset int, src comm.Buf) error {
	return w.l.done(comm.Buf{}, w.Window.Put(ctx, target, offset, w.changed(src)))
}

func (w *lyingWindow) Get(ctx context.Context, dst comm.Buf, target, offset int) error {
	return w.l.done(dst, w.Window.Get(ctx, dst, target, offset)) // with goroutine ranks, Get completes at once
}

func (w *lyingWindow) Lock(ctx context.Context, target int, kind comm.LockKind) error {
	if w.l.sharedLock {
		kind = comm.Shared
	}
	return w.l.done(comm.Buf{}, w.Window.Lock(ctx, target, kind))
}

func (w *lyingWindow) Accumulate(ctx context.Context, target, offset int, src comm.Buf, op comm.Op) error {
	return w.l.done(comm.Buf{}, w.Window.Accumulate(ctx, target, offset, w.changed(src), op))
}

func (w *lyingWindow) GetAccumulate(ctx context.Context, dst comm.Buf, target, offset int, src comm.Buf, op comm.Op) error {
	return w.l.done(dst, w.Window.GetAccumulate(ctx, dst, target, offset, w.changed(src), op))
}
