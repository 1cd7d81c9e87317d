package commtest_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
)

// ofTheDoor are prefixes of cases about what package comm does before it calls a transport. A wrong
// transport cannot make them fail.
var ofTheDoor = []string{"Request/zero", "Failed messages/", "Closed/", "Exchange/bad arguments", "Bad arguments/message",
	"Bad arguments/Window"}

// TestEveryCaseCanFail runs each case on transports that are wrong. One changes a bit of the
// data that arrives, one returns no errors, one has barriers that do not wait. Each case must fail
// on at least one of them.
func TestEveryCaseCanFail(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the suite three times")
	}
	liars := []liar{{flip: true}, {hush: true}, {noBarrier: true}}
	for _, k := range commtest.Cases(commtest.Config{Sequences: 50}) {
		if isOfTheDoor(k.Name) {
			continue
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

func isOfTheDoor(name string) bool {
	for _, p := range ofTheDoor {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
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

func caught(ctx context.Context, k commtest.Case, liars []liar) bool {
	for _, l := range liars {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := local.Run(ctx, 3, func(ctx context.Context, c *comm.Comm) error {
			return k.Run(ctx, comm.New(l.over(c.Conn())))
		})
		cancel()
		if err != nil {
			return true
		}
	}
	return false
}

// liar is a transport that is wrong.
type liar struct {
	driver.Conn
	flip, hush, noBarrier, sharedLock bool

	dsts map[uint64][]comm.Buf // of requests under way
}

func (l liar) over(c driver.Conn) *liar {
	l.Conn, l.dsts = c, map[uint64][]comm.Buf{}
	return &l
}

// done is the end of a call that filled dsts.
func (l *liar) done(err error, dsts ...comm.Buf) error {
	for _, dst := range dsts {
		if l.flip && dst.N > 0 && dst.Ptr != nil && err == nil {
			*(*byte)(unsafe.Add(dst.Ptr, (dst.N-1)*dst.DType.Size())) ^= 1
		}
	}
	if l.hush {
		return nil
	}
	return err
}

func (l *liar) Do(ctx context.Context, c *driver.Call) error {
	if l.noBarrier && c.Kind == driver.KindBarrier {
		return nil
	}
	dst := c.Dst
	return l.done(l.Conn.Do(ctx, c), dst)
}

func (l *liar) Start(ctx context.Context, c *driver.Call) (uint64, error) {
	dsts := []comm.Buf{c.Dst}
	for _, leg := range c.Recv {
		dsts = append(dsts, leg.Buf)
	}
	id, err := l.Conn.Start(ctx, c)
	return l.started(dsts, id, err)
}

func (l *liar) StartCollective(ctx context.Context, c *driver.Call) (uint64, error) {
	id, err := l.Conn.(driver.NonBlocking).StartCollective(ctx, c)
	return l.started([]comm.Buf{c.Dst}, id, err)
}

func (l *liar) started(dsts []comm.Buf, id uint64, err error) (uint64, error) {
	if err != nil {
		return ^uint64(0), l.done(err)
	}
	l.dsts[id] = dsts
	return id, nil
}

func (l *liar) Wait(ctx context.Context, id uint64) error {
	dsts := l.dsts[id]
	delete(l.dsts, id)
	return l.done(l.Conn.Wait(ctx, id), dsts...)
}

func (l *liar) Test(id uint64) (bool, error) {
	done, err := l.Conn.Test(id)
	if done {
		dsts := l.dsts[id]
		delete(l.dsts, id)
		err = l.done(err, dsts...)
	}
	return done, err
}

func (l *liar) Split(ctx context.Context, c *driver.Call) (driver.Conn, error) {
	sub, err := l.Conn.Split(ctx, c)
	if sub == nil {
		return nil, l.done(err)
	}
	return l.over(sub), l.done(err)
}

func (l *liar) Close() error { return l.done(l.Conn.Close()) }

func (l *liar) Window(ctx context.Context, c *driver.Call) (driver.Window, []int, error) {
	w, counts, err := l.Conn.(driver.OneSided).Window(ctx, c)
	if err != nil && l.hush {
		return lyingWindow{nil, l}, make([]int, l.Info().Size), nil
	}
	return lyingWindow{w, l}, counts, err
}

// lyingWindow is a window that is wrong.
type lyingWindow struct {
	driver.Window
	l *liar
}

// changed returns a copy of src with a bit changed.
func (w lyingWindow) changed(src comm.Buf) comm.Buf {
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

func (w lyingWindow) Access(ctx context.Context, a *driver.Access) error {
	b := *a
	b.Src = w.changed(a.Src)
	return w.l.done(w.Window.Access(ctx, &b), a.Dst) // with goroutine ranks, an access completes at once
}

func (w lyingWindow) Lock(ctx context.Context, target int, kind driver.LockKind) error {
	if w.l.sharedLock {
		kind = driver.Shared
	}
	return w.l.done(w.Window.Lock(ctx, target, kind))
}

func (w lyingWindow) Close(ctx context.Context, fault error) error {
	return w.l.done(w.Window.Close(ctx, fault))
}
