package nccl

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/sched"
)

// progress is polled while the host waits for another rank. Without it, operations that
// this rank has started would not be launched.
func (w *world) progress() bool {
	if !w.mu.TryLock() {
		return false // another goroutine of this rank makes progress
	}
	defer w.mu.Unlock()
	if w.aborted || len(w.active) == 0 {
		return false
	}
	return w.work(context.Background()) == nil && len(w.active) > 0
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
	return w.inspect(context.Background())
}

// step advances everything under way as far as possible without waiting.
func (w *world) step() error {
	if w.aborted {
		return w.ended(nil)
	}
	for i := 0; i < len(w.active); {
		l := w.active[i]
		if err := l.advance(); err != nil {
			return w.fail(err)
		}
		if l.phase != ready || len(l.todo)+len(l.busy) > 0 {
			i++
		} else {
			w.active = slices.Delete(w.active, i, i+1)
		}
	}
	return nil
}

// Numbers of polls in a wait. A poll takes about a microsecond.
const (
	inspectEvery = 64
	yieldAfter   = 32
	sleepAfter   = 10000
)

// await polls until o is done. Between polls it looks for faults, checks ctx and the
// timeout, and yields the core. It yields early, because the library's threads may need
// the core. only is the channel that it advances, nil for all.
func (w *world) await(ctx context.Context, o *op, only *channel) error {
	var since time.Time
	for polls := 1; ; polls++ {
		if done, err := w.poll(ctx, o, only); done || err != nil {
			return err
		}
		if polls%inspectEvery == 0 && w.cfg.Timeout > 0 {
			if since.IsZero() {
				since = time.Now()
			}
			if time.Since(since) > w.cfg.Timeout {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.fail(fmt.Errorf("comm: rank %d waited %v in %v on %v", w.me, w.cfg.Timeout, o.call.Signature, driver.OnDevice))
			}
		}
		switch {
		case polls > sleepAfter:
			time.Sleep(50 * time.Microsecond) // a long wait leaves the core to others
		case polls > yieldAfter:
			runtime.Gosched()
			sched.Yield()
		}
	}
}

// poll does some work and reports whether o is done.
func (w *world) poll(ctx context.Context, o *op, only *channel) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if only == nil {
		err := w.work(ctx)
		return o.done, err
	}
	err := w.ready(ctx)
	if err == nil {
		if err = only.advance(); err != nil {
			err = w.fail(err)
		}
	}
	return o.done, err
}

// work does one step, and looks for faults now and then.
func (w *world) work(ctx context.Context) error {
	if err := w.step(); err != nil {
		return err
	}
	if w.polls++; w.polls%inspectEvery != 0 {
		return nil
	}
	return w.inspect(ctx)
}

// ready returns an error if the program was aborted or ctx has ended.
func (w *world) ready(ctx context.Context) error {
	switch {
	case w.host.Aborted() != nil:
		return w.ended(nil)
	case ctx.Err() != nil:
		return w.fail(context.Cause(ctx))
	}
	return nil
}

// inspect is ready, and it looks for errors that the library has found in the background,
// such as the death of a peer.
func (w *world) inspect(ctx context.Context) error {
	if err := w.ready(ctx); err != nil {
		return err
	}
	for _, l := range w.active {
		if l.handle == 0 {
			continue
		}
		if _, err := l.poll(); err != nil {
			return w.fail(err)
		}
	}
	return nil
}
