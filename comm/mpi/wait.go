package mpi

import (
	"context"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/sched"
)

// operation is an MPI call under way. It must be on the heap, because C writes to it.
type operation struct {
	req    uintptr
	flag   int32
	status status

	// Of a receive that asks for one tag: see countguard.go.
	exact *rank // that receives, or nil
	tag   int32
	peer  int32

	// Of an operation of a request.
	call driver.Signature
	n    int            // elements of this piece of a message
	nth  int            // number of a message to this rank itself, among those of its kind
	mem  unsafe.Pointer // keeps the buffer of a message alive
}

// waitState records how long a wait has lasted.
type waitState struct {
	polls int
	since time.Time
}

// await polls until MPI has completed o. Between polls it looks for an abort by
// another rank, checks ctx and the timeout, and yields the core: at once if ranks share
// cores, otherwise after a while.
func (w *world) await(ctx context.Context, o *operation, call *driver.Signature) error {
	o.flag = 0
	var p waitState
	for {
		if code := w.l.call(w.l.test, addr(&o.req), addr(&o.flag), addr(&o.status)); code != 0 {
			return w.l.errorOf(call.Kind.String(), code)
		}
		if o.flag != 0 {
			return nil
		}
		if err := w.backOff(ctx, &p, call); err != nil {
			return err
		}
		if o.exact != nil && p.polls%checkEvery == 0 {
			if err := o.exact.checkIncoming(o, call); err != nil {
				return w.abort(w.rank, err)
			}
		}
	}
}

// Numbers of polls in a wait. A poll takes about 0.1 us.
const (
	checkEvery = 256   // aborts, ctx and the timeout
	yieldAfter = 20000 // about 2 ms if each rank has a core
	sleepAfter = 60000
)

// backOff is called between two polls.
func (w *world) backOff(ctx context.Context, p *waitState, call *driver.Signature) error {
	p.polls++
	if w.progress != nil {
		w.progress()
	}
	if p.polls%checkEvery == 0 {
		w.pollNotices()
		if err := w.ready(ctx); err != nil {
			return err
		}
		if err := w.checkWait(p, call); err != nil {
			return err
		}
	}
	switch {
	case p.polls > sleepAfter:
		time.Sleep(50 * time.Microsecond)
	case p.polls > yieldAfter || w.oversubscribed && p.polls > 8:
		runtime.Gosched()
		sched.Yield()
	}
	return nil
}

// checkWait aborts the program if a wait exceeds the timeout, or if it can never end
// because all other ranks have ended their programs. The clock starts at its first call,
// some microseconds after the start of the wait.
func (w *world) checkWait(p *waitState, call *driver.Signature) error {
	if p.since.IsZero() {
		p.since = time.Now()
	}
	waited, limit := time.Since(p.since), w.cfg.Timeout
	switch {
	case limit > 0 && waited > limit:
		return w.abort(w.rank, fmt.Errorf("comm: rank %d waited %v in %v", w.rank, limit, *call))
	case waited < endedAfter || w.size == 1:
	case w.ending.Load():
		w.send([]byte{0}, tagEnded)
	case int(w.ended.Load()) == w.size-1:
		other := (w.rank + 1) % w.size
		return w.abort(w.rank, &driver.MismatchError{RankA: w.rank, CallA: call.String(), RankB: other, CallB: "no call",
			Hint: fmt.Sprintf("the program of rank %d has ended", other)})
	}
	return nil
}

// endedAfter is how long a rank whose program has ended waits for the others before it
// tells them so, and how long a rank then goes on with its wait. That is enough for
// messages that ranks sent before they ended.
const endedAfter = time.Second

// ready returns an error if the program was aborted or ctx has ended.
func (w *world) ready(ctx context.Context) error {
	if ae := w.aborted.Load(); ae != nil {
		return ae
	}
	if ctx.Err() != nil {
		return w.abort(w.rank, context.Cause(ctx))
	}
	return nil
}

// await waits for the call that has just been started in r.blocking. If the wait ends
// early, the program has been aborted and MPI may still write to r.blocking.
func (r *rank) await(ctx context.Context, call *driver.Signature, code int32) error {
	if code != 0 {
		return r.l.errorOf(call.Kind.String(), code)
	}
	return r.w.await(ctx, &r.blocking, call)
}
