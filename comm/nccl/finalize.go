package nccl

import (
	"context"
	"runtime"

	"github.com/golops/golops/comm/driver"
)

// finalize waits until channels have nothing to do, and ends their communicators. Ending a
// communicator takes its turn among the operations of its channel, and it waits for all
// ranks. So it is started on all channels before the first is waited for.
func (w *world) finalize(channels []*channel) error {
	ends := make([]op, len(channels))
	w.mu.Lock()
	for i, l := range channels {
		ends[i].call.Signature = driver.Signature{Kind: driver.KindClose, Peer: -1, N: -1}
		l.add(&ends[i])
	}
	w.mu.Unlock()
	for i := range ends {
		if err := w.await(context.Background(), &ends[i], nil); err != nil {
			return err
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
	_ = w.withDevice("ncclGroupEnd", func() int32 { // the program has failed already
		w.l.groupStart.Call()
		f()
		return w.l.groupEnd.Call()
	})
}

// withDevice makes a call of the library on a thread on which the GPU is current.
func (w *world) withDevice(name string, call func() int32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.dev.Bind(); err != nil {
		return err
	}
	return w.l.errorOf(name, call(), 0)
}
