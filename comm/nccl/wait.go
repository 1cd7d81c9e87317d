package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/sched"
)

// progress is polled while the host's communicator waits for another rank. Without it,
// messages that this rank has started would not advance.
func (w *world) progress() bool {
	if !w.mu.TryLock() {
		return false // another goroutine of this rank makes progress
	}
	busy := len(w.active)+w.news+len(w.grants) > 0
	idle := w.aborted || !busy && len(w.hearing) == 0
	w.mu.Unlock()
	if idle {
		return false
	}
	err := w.await(context.Background(), nil)
	return busy && err == nil
}

// watch is called during a long wait for the GPU. Kernels do not depend on operations of
// the library, but streams share the hardware queues of the GPU, so a kernel may wait for
// such an operation all the same. If a peer has died or the program was aborted, watch
// ends the operation. No call of a communicator would.
func (w *world) watch() error {
	if !w.mu.TryLock() {
		return nil
	}
	defer w.mu.Unlock()
	if w.aborted { // no operation of the library runs any more
		return nil
	}
	return w.inspect()
}

// step advances everything under way as far as possible without waiting.
func (w *world) step() error {
	if w.aborted {
		return w.ended(nil)
	}
	if err := w.grantAll(); err != nil {
		return w.fail(err)
	}
	for i := 0; i < len(w.active); {
		l := w.active[i]
		if err := l.advance(); err != nil {
			return w.fail(err)
		}
		if len(l.todo)+len(l.busy) == 0 {
			l.listed = false
			w.active = slices.Delete(w.active, i, i+1)
		} else {
			i++
		}
	}
	if err := w.hear(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Numbers of polls in a wait. A poll takes about a microsecond.
const (
	inspectEvery = 64
	yieldAfter   = 32
	sleepAfter   = 10000
)

// await polls until o, which may be nil, and all sends that were launched are done.
// Between polls it looks for faults, checks ctx and the timeout, and yields the core. It
// yields early, because the library's threads may need the core.
func (w *world) await(ctx context.Context, o *op) error {
	var since time.Time
	for polls := 1; ; polls++ {
		if done, err := w.poll(ctx, o); done || err != nil {
			return err
		}
		if polls%inspectEvery == 0 && w.cfg.Timeout > 0 {
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) > w.cfg.Timeout {
				return w.timedOut(o)
			}
		}
		pause(polls)
	}
}

// pause yields the core between two polls, depending on how many there were.
func pause(polls int) {
	switch {
	case polls > sleepAfter:
		time.Sleep(50 * time.Microsecond)
	case polls > yieldAfter:
		runtime.Gosched()
		sched.Yield()
	}
}

func (w *world) timedOut(o *op) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o == nil {
		return w.fail(fmt.Errorf("comm: rank %d waited %v for a message to be received", w.me, w.cfg.Timeout))
	}
	place := comm.OnDevice
	if o.onHost {
		place = comm.OnHost
	}
	return w.fail(fmt.Errorf("comm: rank %d waited %v in %v on %v", o.c.me, w.cfg.Timeout, o.call, place))
}

// poll does one step, sometimes looks for faults, and reports whether o and all sends are
// done.
func (w *world) poll(ctx context.Context, o *op) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.step(); err != nil {
		return false, err
	}
	if w.polls++; w.polls%inspectEvery == 0 {
		if err := w.inspect(); err != nil {
			return false, err
		}
		if err := w.cancelled(ctx); err != nil {
			return false, err
		}
	}
	return (o == nil || o.done) && w.sending == 0, nil
}

func (w *world) isDone(o *op) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return o.done
}

// ready returns an error if the program was aborted or ctx has ended.
func (w *world) ready(ctx context.Context) error {
	if w.worldHost.Aborted() != nil {
		return w.ended(nil)
	}
	return w.cancelled(ctx)
}

func (w *world) cancelled(ctx context.Context) error {
	if ctx.Err() != nil {
		return w.fail(context.Cause(ctx))
	}
	return nil
}

// inspect looks for an abort of another rank and for errors that the library
// has found in the background, such as the death of a peer.
func (w *world) inspect() error {
	if w.worldHost.Aborted() != nil {
		return w.ended(nil)
	}
	for _, l := range w.active {
		if err := l.fault(); err != nil {
			return w.fail(err)
		}
	}
	for _, p := range w.hearing { // such a rank may have died
		if err := errors.Join(p.out.fault(), p.in.fault(), w.complain(p)); err != nil {
			return w.fail(err)
		}
	}
	return nil
}
