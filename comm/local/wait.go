package local

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/sched"
)

// Waiting goes in three stages: look at a flag a few hundred times, then yield
// the core between looks, to threads and to goroutines, then sleep on a
// channel. The second matters on a busy machine and in the first moments of a
// program, when the system may have put two ranks on one core. Whoever sets a flag
// looks for sleepers afterwards. All flags are sequentially consistent: either
// the sleeper's last look sees the flag, or the setter sees the sleeper.
//
// Because a handle is used by one goroutine, a sleeping rank can do nothing for
// its group. So ranks of one group that sleep in a circle, each waiting for the
// next, will never wake, and a rank that waits for one whose program has ended waits in
// vain: both are found before going to sleep and end all ranks with an error.

// cond is a condition that a rank waits for, as a value so that waiting
// allocates nothing and other ranks can judge it.
type cond struct {
	flag *atomic.Uint64 // at least val
	val  uint64
	req  *request // or completed
	lock *lock    // or free for kind
	kind comm.LockKind
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

// eagerLooks is how often a rank looks at a flag without a pause: about as long
// as a line takes from core to core, which a pause would add to.
const eagerLooks = 100

// waitFlag waits until rank j has set a flag to at least val.
func (r *rank) waitFlag(ctx context.Context, f *atomic.Uint64, val uint64, j int, call *comm.Call) error {
	for i := range r.g.w.spins {
		if f.Load() >= val {
			return nil
		}
		if i > eagerLooks {
			pause()
		}
	}
	return r.sleep(ctx, cond{flag: f, val: val}, j, call)
}

// wait waits for a condition that rank j, or -1 for any, brings about.
func (r *rank) wait(ctx context.Context, c cond, j int, call *comm.Call) error {
	for range r.g.w.spins {
		if c.ok() {
			return nil
		}
		pause()
	}
	return r.sleep(ctx, c, j, call)
}

func (r *rank) sleep(ctx context.Context, c cond, j int, call *comm.Call) error {
	r.long++
	for i := range r.g.w.yields {
		switch {
		case c.ok():
			return nil
		case r.g.w.crowded:
			runtime.Gosched()
		case i == 0 && (r.long%64 == 0 || r.long&(r.long-1) == 0):
			sched.Nap() // after long waits, often at first: two ranks may sit on one core while another idles
		default:
			sched.Yield()
		}
	}
	g, w := r.g, r.g.w
	f := w.idle[g.members[r.me]]
	if f != nil {
		if done, err := r.workOn(ctx, f, c, j, call); done || err != nil {
			return err
		}
	}
	var late <-chan time.Time
	if w.timeout > 0 {
		t := time.NewTimer(w.timeout)
		defer t.Stop()
		late = t.C
	}
	for {
		var tick <-chan time.Time
		if f != nil {
			tick = r.ticks()
		}
		g.mu.Lock()
		r.cell.cond, r.cell.call = c, *call
		r.cell.on.Store(int32(j))
		r.cell.parked.Store(true)
		g.sleepers.Add(1)
		ok := c.ok()
		var err error
		if !ok {
			if err = r.ready(ctx); err == nil { // a cancelled program ends in many ways: that is the cause
				err = r.hopeless(j, call)
			}
		}
		g.mu.Unlock()
		awake := false
		if !ok && err == nil {
			select {
			case <-r.cell.wake:
			case <-w.done:
				err = w.aborted.Load()
			case <-ctx.Done():
				err = w.abort(g.members[r.me], context.Cause(ctx))
			case <-late:
				err = r.late(j, call)
			case <-tick:
				awake = true
			}
		}
		g.mu.Lock()
		r.cell.parked.Store(false)
		g.sleepers.Add(-1)
		g.mu.Unlock()
		if ok || err != nil {
			return err
		}
		if awake {
			f()
		}
	}
}

// ticks returns a channel that wakes this rank from its sleep for a moment.
func (r *rank) ticks() <-chan time.Time {
	const after = 2 * time.Millisecond
	if r.tick == nil {
		r.tick = time.NewTimer(after)
	} else {
		r.tick.Reset(after)
	}
	return r.tick.C
}

// workOn calls f, the work of a communicator on top of this one, for as long as
// it has any: asleep, this rank could do nothing for those that wait for it. It
// reports whether the condition has come true.
func (r *rank) workOn(ctx context.Context, f func() bool, c cond, j int, call *comm.Call) (bool, error) {
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
			return false, r.late(j, call)
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

// late aborts because this rank has waited too long for rank j.
func (r *rank) late(j int, call *comm.Call) error {
	err := fmt.Errorf("comm: rank %d waited %v in %v", r.me, r.g.w.timeout, *call)
	if j >= 0 {
		err = fmt.Errorf("%w for rank %d", err, j)
	}
	return r.g.w.abort(r.g.members[r.me], err)
}

// hopeless returns the error, and aborts with it, if what this rank waits for
// can never come. It is called with group.mu held and this rank marked asleep.
func (r *rank) hopeless(j int, call *comm.Call) error {
	g := r.g
	for k, steps := j, 0; k >= 0 && steps <= r.n; steps++ {
		if g.w.left[g.members[k]].Load() {
			// Its last acts came before it left, so look once more.
			if r.cell.cond.ok() {
				return nil
			}
			if k == j {
				return g.w.abort(g.members[r.me], &comm.MismatchError{RankA: r.me, CallA: call.String(), RankB: j,
					CallB: "no call", Hint: fmt.Sprintf("the program of rank %d has ended", j)})
			}
			return nil // the rank that waits for k will say so
		}
		c := &g.cells[k]
		if !c.parked.Load() || c.cond.ok() {
			return nil
		}
		if k == r.me {
			if j == r.me {
				return g.w.abort(g.members[r.me], comm.WithItself(r.me, *call))
			}
			return g.w.abort(g.members[r.me], &comm.MismatchError{RankA: r.me, CallA: call.String(), RankB: j,
				CallB: g.cells[j].call.String(), Hint: "each waits for the other"})
		}
		k = int(c.on.Load())
	}
	return nil
}

// published wakes the ranks that sleep for this one. It is called after each
// change of a flag of this rank's cell.
func (r *rank) published() {
	if r.g.sleepers.Load() == 0 {
		return
	}
	for k := range r.g.cells {
		if c := &r.g.cells[k]; c.parked.Load() && int(c.on.Load()) == r.me {
			c.rouse()
		}
	}
}

// roused wakes all who sleep, for a change that concerns no one in particular.
func (g *group) roused() {
	if g.sleepers.Load() > 0 {
		g.wakeAll()
	}
}

func (c *cell) rouse() {
	select {
	case c.wake <- struct{}{}:
	default: // it has a wake-up waiting already
	}
}

func (g *group) wakeAll() {
	for k := range g.cells {
		g.cells[k].rouse()
	}
}

// ready returns an error if the program was aborted, ctx has ended or this rank
// has closed the group.
func (r *rank) ready(ctx context.Context) error {
	if ae := r.g.w.aborted.Load(); ae != nil {
		return ae
	}
	if ctx.Err() != nil {
		return r.g.w.abort(r.g.members[r.me], context.Cause(ctx))
	}
	if r.shut {
		return comm.ErrClosed
	}
	return nil
}
