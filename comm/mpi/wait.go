package mpi

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/sched"
)

// operation is a call that MPI has under way. It is heap memory, which C writes to.
type operation struct {
	req    uintptr
	flag   int32
	status status

	// Of a receive that asks for one tag: see careful.go.
	exact    bool
	tag      int32
	peer, me int32
	comm     uintptr
}

// patience is how long a wait has lasted.
type patience struct {
	turns int
	since time.Time
}

// await polls until MPI has completed o. Between looks it listens for an
// abort, watches ctx and the timeout, and gives the core away: at once where
// ranks share cores, after a while where they do not.
func (w *world) await(ctx context.Context, o *operation, call *comm.Call) error {
	o.flag = 0
	var p patience
	for {
		if code := w.l.call(w.l.test, addr(&o.req), addr(&o.flag), addr(&o.status)); code != 0 {
			return w.l.errorOf(call.Kind.String(), code)
		}
		if o.flag != 0 {
			return nil
		}
		if err := w.idle(ctx, &p, call); err != nil {
			return err
		}
		if o.exact && p.turns%listenEvery == 0 {
			if err := w.intruder(o, call); err != nil {
				return w.abort(w.rank, err)
			}
		}
	}
}

// Turns of a wait: a turn is a look at MPI and takes some 0.1 us.
const (
	listenEvery = 256
	yieldAfter  = 20000 // about 2 ms with a core of one's own
	sleepAfter  = 60000 // long waits sleep
)

func (w *world) idle(ctx context.Context, p *patience, call *comm.Call) error {
	p.turns++
	if w.work != nil {
		w.work()
	}
	if p.turns%listenEvery == 0 {
		w.listen()
		if err := w.ready(ctx); err != nil {
			return err
		}
		if err := w.late(p, call); err != nil {
			return err
		}
	}
	switch {
	case p.turns > sleepAfter:
		time.Sleep(50 * time.Microsecond) // a wait this long leaves the core to others
	case p.turns > yieldAfter || w.crowded && p.turns > 8:
		runtime.Gosched()
		sched.Yield()
	}
	return nil
}

// late ends a wait that has lasted too long. The clock starts at the first
// look, some microseconds into the wait.
func (w *world) late(p *patience, call *comm.Call) error {
	limit := w.cfg.Timeout
	if limit == 0 {
		return nil
	}
	if p.since.IsZero() {
		p.since = time.Now()
	}
	if time.Since(p.since) > limit {
		return w.abort(w.rank, fmt.Errorf("comm: rank %d waited %v in %v", w.rank, limit, *call))
	}
	return nil
}

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
