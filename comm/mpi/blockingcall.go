package mpi

import (
	"fmt"
	"os"
	"time"

	"github.com/golops/golops/internal/dl"
)

// grace is how long a blocking MPI call may take to end once the program is aborted.
const grace = 3 * time.Second

// blockingCall makes a call that waits inside the library for other ranks. It cannot
// be interrupted. So after the timeout, watch aborts the program; if the call still does
// not end, watch ends the process.
func (w *world) blockingCall(name string, f dl.Func, args ...uintptr) error {
	if w.cfg.Timeout > 0 {
		done := make(chan struct{})
		defer close(done)
		go w.watch(name, done)
	}
	return w.l.errorOf(name, w.l.call(f, args...))
}

// watch ends a blocking call that exceeds the timeout.
func (w *world) watch(name string, done <-chan struct{}) {
	ends := func(limit time.Duration) bool {
		select {
		case <-done:
			return true
		case <-time.After(limit):
			return false
		}
	}
	if ends(w.cfg.Timeout) {
		return
	}
	err := fmt.Errorf("comm: rank %d waited %v in %s", w.rank, w.cfg.Timeout, name)
	if w.l.serial == nil { // otherwise the blocking call holds the only thread
		w.abort(w.rank, err)
	}
	if ends(grace) {
		return
	}
	w.note("%v: MPI does not end that wait, so the process ends", err)
	time.AfterFunc(grace, func() { os.Exit(1) }) // in case MPI_Abort waits too
	w.l.abort.Call(w.l.world, 1)
	os.Exit(1)
}
