package local

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/sched"
)

// A rank waits in three stages. It reads a flag a few hundred times. Then it yields
// the core, to threads and goroutines, between reads. Then it sleeps on a channel. The
// second stage matters on a busy machine and at the start of a program, when the
// system may have put two ranks on one core. A rank that sets a flag looks for
// sleepers afterwards. All flags are sequentially consistent: either the sleeper's
// last read sees the flag, or the setter sees the sleeper. Before a rank sleeps, it
// looks for a deadlock: see deadlock.go.

// cond is a condition that a rank waits for. It is a value, so that waiting allocates
// nothing and other ranks can evaluate it.
type cond struct {
	flag *atomic.Uint64 // must be at least val
	val  uint64
	req  *request // or: must have completed
	lock *lock    // or: must be free for kind
	kind driver.LockKind
}

func (c *cond) ok() bool {
	switch {
	case c.flag != nil:
		return c.flag.Load() >= c.val
	case c.req != nil:
		return c.req.done.Load()
	case c.lock != nil:
		return c.lock.free(c.kind)
	}
	return true
}

// eagerReads is how often a rank reads a flag without a pause. That takes about as
// long as a cache line from core to core. A pause would add to that time.
const eagerReads = 100

// waitFlag waits until rank j has set a flag to at least val.
func (r *rank) waitFlag(ctx context.Context, f *atomic.Uint64, val uint64, j int, call *driver.Signature) error {
	for i := range r.g.w.spins {
		if f.Load() >= val {
			return nil
		}
		if i > eagerReads {
			pause()
		}
	}
	return r.sleep(ctx, cond{flag: f, val: val}, j, call)
}

// wait waits for a condition that rank j makes true, or any rank if j is -1.
func (r *rank) wait(ctx context.Context, c cond, j int, call *driver.Signature) error {
	for range r.g.w.spins {
		if c.ok() {
			return nil
		}
		pause()
	}
	return r.sleep(ctx, c, j, call)
}

func (r *rank) sleep(ctx context.Context, c cond, j int, call *driver.Signature) error {
	r.longWaits++
	for i := range r.g.w.yields {
		switch {
		case c.ok():
			return nil
		case r.g.w.oversubscribed:
			runtime.Gosched()
		case i == 0 && (r.longWaits%64 == 0 || r.longWaits&(r.longWaits-1) == 0):
			sched.Nap() // two ranks may be on one core while another core idles; tried often at first
		default:
			sched.Yield()
		}
	}
	g, w := r.g, r.g.w
	f := w.progress[g.members[r.me]]
	if f != nil {
		if done, err := r.pollProgress(ctx, f, c, j, call); done || err != nil {
			return err
		}
	}
	var timeout <-chan time.Time
	if w.timeout > 0 {
		t := time.NewTimer(w.timeout)
		defer t.Stop()
		timeout = t.C
	}
	for {
		var tick <-chan time.Time
		if f != nil {
			tick = r.progressTick()
		}
		g.mu.Lock()
		r.state.cond, r.state.call = c, *call
		r.state.waitsFor.Store(int32(j))
		r.state.parked.Store(true)
		g.sleepers.Add(1)
		ok := c.ok()
		var err error
		if !ok {
			if err = r.ready(ctx); err == nil { // of an aborted program, the abort is the cause to report
				err = r.checkDeadlock(j, call)
			}
		}
		g.mu.Unlock()
		ticked := false
		if !ok && err == nil {
			select {
			case <-r.state.wake:
			case <-w.done:
				err = w.aborted.Load()
			case <-ctx.Done():
				err = w.abort(g.members[r.me], context.Cause(ctx))
			case <-timeout:
				err = r.timedOut(j, call)
			case <-tick:
				ticked = true
			}
		}
		g.mu.Lock()
		r.state.parked.Store(false)
		g.sleepers.Add(-1)
		g.mu.Unlock()
		if ok || err != nil {
			return err
		}
		if ticked {
			f()
		}
	}
}

// progressTick returns a channel that wakes this rank from sleep to poll its
// progress function.
func (r *rank) progressTick() <-chan time.Time {
	const after = 2 * time.Millisecond
	if r.progressTimer == nil {
		r.progressTimer = time.NewTimer(after)
	} else {
		r.progressTimer.Reset(after)
	}
	return r.progressTimer.C
}

// pollProgress calls f, the progress function of a communicator built on this one,
// until f has nothing to do. A sleeping rank could not serve the ranks that wait for
// it. pollProgress reports whether the condition is true.
func (r *rank) pollProgress(ctx context.Context, f func() bool, c cond, j int, call *driver.Signature) (bool, error) {
	const nap, limit = 50 * time.Microsecond, 10000
	start := time.Now()
	for i := 0; f(); i++ {
		if c.ok() {
			return true, nil
		}
		if err := r.ready(ctx); err != nil {
			return false, err
		}
		if t := r.g.w.timeout; t > 0 && time.Since(start) > t {
			return false, r.timedOut(j, call)
		}
		runtime.Gosched()
		if i < limit {
			sched.Yield()
		} else {
			time.Sleep(nap)
		}
	}
	return c.ok(), nil
}

// timedOut aborts the program because this rank has waited too long for rank j.
func (r *rank) timedOut(j int, call *driver.Signature) error {
	err := fmt.Errorf("comm: rank %d waited %v in %v", r.me, r.g.w.timeout, *call)
	if j >= 0 {
		err = fmt.Errorf("%w for rank %d", err, j)
	}
	return r.g.w.abort(r.g.members[r.me], err)
}

// ready returns an error if the program was aborted or ctx has ended.
func (r *rank) ready(ctx context.Context) error {
	if ae := r.g.w.aborted.Load(); ae != nil {
		return ae
	}
	if ctx.Err() != nil {
		return r.g.w.abort(r.g.members[r.me], context.Cause(ctx))
	}
	return nil
}
