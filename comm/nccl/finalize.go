package nccl

import (
	"fmt"
	"runtime"
	"time"

	"github.com/golops/golops/internal/sched"
)

// finalize ends the communicators of channels. Ending a communicator waits for all its
// ranks, so ncclCommFinalize is called for all before the first is waited for. After an
// abort it returns at once.
func (w *world) finalize(channels []*channel) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.dev.Bind(); err != nil {
		return err
	}
	for _, l := range channels {
		if l.handle != 0 && w.host.Aborted() == nil {
			if err := w.l.errorOf("ncclCommFinalize", w.l.finalize.Call(l.handle), l.handle); err != nil {
				return err
			}
		}
	}
	start := time.Now()
	for _, l := range channels {
		for l.handle != 0 {
			if w.host.Aborted() != nil {
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

// ended returns the error that ended the program. It first stops the library's kernels,
// which would otherwise run forever.
func (w *world) ended(cause error) error {
	if !w.aborted {
		w.aborted = true
		w.abort(w.revoke())
	}
	if err := w.host.Aborted(); err != nil {
		return err
	}
	return cause
}

// revoke stops communicators without freeing their memory, because GPUs of other ranks
// may use it until they see the abort. Close frees it later. revoke does not wait. It
// returns the channels that must be aborted instead: all if the library has no
// ncclCommRevoke, and those that the library is creating or launching on, because there
// revoke uses streams that do not exist yet, or waits twice for one thread.
func (w *world) revoke() []*channel {
	if w.l.revoke == 0 {
		return w.channels
	}
	var left []*channel
	w.inGroup(func() {
		for _, l := range w.channels {
			if l.handle == 0 || l.phase != ready || failed(w.l.revoke.Call(l.handle, 0)) {
				left = append(left, l)
			}
		}
	})
	return left
}

// abort ends communicators and frees their memory. It does so in one group, because
// freeing the memory of one waits for everything on the GPU.
func (w *world) abort(channels []*channel) {
	w.inGroup(func() {
		for _, l := range channels {
			if l.handle != 0 {
				w.l.abort.Call(l.handle)
				l.handle = 0
			}
		}
	})
}

// inGroup runs the library calls of f between ncclGroupStart and ncclGroupEnd.
func (w *world) inGroup(f func()) {
	w.withDevice(func() {
		w.l.groupStart.Call()
		f()
		w.l.groupEnd.Call()
	})
}
