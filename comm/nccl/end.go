package nccl

import (
	"fmt"
	"runtime"
	"time"

	"github.com/golops/golops/internal/sched"
)

// finish ends what lines have under way. To end a communicator takes all its
// ranks, so all are told before the first is waited for. After an abort there
// is nothing to wait for.
func (w *world) finish(lines []*line) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.dev.Bind(); err != nil {
		return err
	}
	for _, l := range lines {
		if l.handle != 0 && w.ground.Aborted() == nil {
			if err := w.l.errorOf("ncclCommFinalize", w.l.finalize.Call(l.handle), l.handle); err != nil {
				return err
			}
		}
	}
	start := time.Now()
	for _, l := range lines {
		for l.handle != 0 {
			if w.ground.Aborted() != nil {
				w.ended(nil)
				return nil
			}
			code, err := l.poll()
			if err != nil {
				return err
			}
			if code == success {
				break
			}
			if w.cfg.Timeout > 0 && time.Since(start) > w.cfg.Timeout {
				return fmt.Errorf("comm: rank %d waited %v in Close", w.me, w.cfg.Timeout)
			}
			runtime.Gosched()
			sched.Yield()
		}
	}
	return nil
}

// ended returns the error that ended the program, after stopping what runs on
// the device for the library's communicators: it would run for ever.
func (w *world) ended(cause error) error {
	if !w.dead {
		w.dead = true
		w.abort(w.revoke())
	}
	if err := w.ground.Aborted(); err != nil {
		return err
	}
	return cause
}

// revoke stops communicators without giving anything back, which Close does
// later: until the other ranks have heard of the end, too, their devices may
// read and write memory of this one. It does not wait, and returns the lines
// that are still to be aborted: all those of a library without ncclCommRevoke,
// and those that it is making or launching on, because it would then use
// streams that are not there yet, or wait twice for one thread.
func (w *world) revoke() []*line {
	if w.l.revoke == 0 {
		return w.lines
	}
	var left []*line
	w.together(func() {
		for _, l := range w.lines {
			if l.handle == 0 || l.phase != ready || failed(w.l.revoke.Call(l.handle, 0)) {
				left = append(left, l)
			}
		}
	})
	return left
}

// abort ends communicators and gives back what they have, as one group, because
// giving back the memory of one waits for everything on the device.
func (w *world) abort(lines []*line) {
	w.together(func() {
		for _, l := range lines {
			if l.handle != 0 {
				w.l.abort.Call(l.handle)
				l.handle = 0
			}
		}
	})
}

// together makes the calls of f a group of the library's.
func (w *world) together(f func()) {
	w.bound(func() {
		w.l.groupStart.Call()
		f()
		w.l.groupEnd.Call()
	})
}
