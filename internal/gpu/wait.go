package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/golops/golops/internal/sched"
)

// target is what a wait waits for: the result of sum seq, or an event, or the end of
// a stream. The zero target is the end of all kernels.
type target struct {
	seq    uint64
	event  uintptr
	stream uintptr // 0: the stream of kernels
}

// OnWait registers a function that long waits call now and then. A communicator uses
// it to end operations whose partner has failed, because kernels may wait for them.
// An error of f ends the wait. stop removes f.
func (d *Device) OnWait(f func() error) (stop func()) {
	h := &f
	d.onWait = append(d.onWait, h)
	return func() { d.onWait = slices.DeleteFunc(d.onWait, func(o *func() error) bool { return o == h }) }
}

// A wait polls memory often, yields the core, asks the driver now and then, and
// naps once it has taken long.
const (
	looksPerYield = 400
	yieldsPerAsk  = 8
	asksPerHook   = 32
	napAfter      = 3 * time.Millisecond
)

// wait waits for the target. It returns the failure of a kernel, a hook or ctx.
func (d *Device) wait(ctx context.Context, to target) error {
	if d.context == 0 {
		return d.err
	}
	if to == (target{}) && !d.busy && ctx.Err() == nil {
		return nil
	}
	d.enter()
	defer d.leave()
	var begin time.Time
	for asks := 1; ; asks++ {
		if to.seq != 0 && d.pollResult(to.seq) {
			return nil
		}
		done, err := d.query(to)
		if done || err != nil {
			if done && to == (target{}) {
				d.busy = false
			}
			return err
		}
		sched.Yield()
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%s: wait for kernels: %w", d.p.Name, context.Cause(ctx))
		}
		if asks%asksPerHook == 0 {
			for _, f := range d.onWait {
				if err := (*f)(); err != nil {
					return err
				}
			}
			if now := time.Now(); begin.IsZero() {
				begin = now
			} else if now.Sub(begin) > napAfter {
				sched.Nap()
			}
		}
	}
}

// pollResult polls the host memory of results for a while. It does not call the
// driver.
func (d *Device) pollResult(seq uint64) bool {
	for range yieldsPerAsk {
		for range looksPerYield {
			if atomic.LoadUint64(&d.sums.host.seq) == seq {
				return true
			}
		}
		sched.Yield()
	}
	return false
}

// errNoResult reports a bug: a sum ended and its result is not in host memory.
var errNoResult = errors.New("a sum ended without a result")

// query asks the driver once whether the target is reached.
func (d *Device) query(to target) (bool, error) {
	var r int32
	switch {
	case to.event != 0:
		r = d.drv.EventQuery.Call(to.event)
	case to.stream != 0:
		r = d.drv.StreamQuery.Call(to.stream)
	default:
		r = d.drv.StreamQuery.Call(d.stream)
	}
	switch {
	case r == codeNotReady:
		return false, nil
	case r != ok:
		return false, fmt.Errorf("%s: a kernel failed: %w; results since the last wait are void", d.p.Name, d.drv.fault(r))
	case to.seq != 0 && atomic.LoadUint64(&d.sums.host.seq) != to.seq:
		return false, fmt.Errorf("%s: %w", d.p.Name, errNoResult)
	}
	return true, nil
}
