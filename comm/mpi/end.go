package mpi

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/dl"
)

// left is what this process has open: groups that Split made, and windows.
type left struct {
	mu      sync.Mutex
	groups  []*rank
	windows []*window // in the order in which they were made
}

func (f *left) add(x any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch x := x.(type) {
	case *rank:
		f.groups = append(f.groups, x)
	case *window:
		f.windows = append(f.windows, x)
	}
}

func (f *left) remove(x any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch x := x.(type) {
	case *rank:
		f.groups = slices.DeleteFunc(f.groups, func(r *rank) bool { return r == x })
	case *window:
		f.windows = slices.DeleteFunc(f.windows, func(w *window) bool { return w == x })
	}
}

// Reopen lets the launcher use the communicator of the world at the end, also
// where the program has closed it.
func (c *World) Reopen() { c.rank.shut = false }

// undone looks at what this rank has left undone when its program has returned.
// Locks that it holds are an error: others would wait for them for ever. In checked
// mode so are messages that nobody has asked for, or sent.
func (c *World) undone(ctx context.Context) error {
	c.Reopen()
	w := c.w
	if k := w.locks.Load(); k > 0 {
		return fmt.Errorf("comm: rank %d ended its program while it held %d locks of windows: call Unlock", w.rank, k)
	}
	k := c.rank.pending.Len()
	for _, r := range w.left.groups {
		k += r.pending.Len()
	}
	if k > 0 {
		w.note("%d requests were never waited for: call Wait for each", k)
	}
	if n := len(w.left.windows); n > 0 {
		w.note("%d windows were never closed: call Close on each", n)
	}
	if n := len(w.left.groups); n > 0 {
		w.note("%d groups of Split were never closed: call Close on each", n)
	}
	return c.rank.balance(ctx)
}

func (w *world) note(format string, args ...any) {
	if w.cfg.Note != nil {
		w.cfg.Note(w.rank, fmt.Sprintf(format, args...))
	}
}

// balance compares, in checked mode, the messages that ranks have sent to each
// other with those that they have asked for.
func (r *rank) balance(ctx context.Context) error {
	if r.started[0] == nil || r.n == 1 {
		return nil
	}
	call := comm.Call{Kind: comm.KindClose, Peer: -1}
	if err := r.enter(ctx, &call, nil); err != nil {
		return err
	}
	all, err := r.show(ctx, &call, slices.Concat(r.started[0], r.started[1])...)
	if err != nil {
		return err
	}
	for i := range r.n {
		for j := range r.n {
			sent, asked := all[i*2*r.n+j], all[j*2*r.n+r.n+i]
			if sent != asked {
				return fmt.Errorf("comm: at the end rank %d has sent %d messages to rank %d, which has asked for %d", i, sent, j, asked)
			}
		}
	}
	return nil
}

// closeLeft frees windows that the program has not closed: MPICH 4 fails in
// MPI_Finalize if there are any. All ranks have ended their programs.
func (w *world) closeLeft() error {
	for len(w.left.windows) > 0 {
		if err := w.left.windows[0].free(); err != nil {
			return err
		}
	}
	return nil
}

// grace is how long a call inside MPI may take to end once the program is aborted.
const grace = 3 * time.Second

// inside makes a call that waits in the library for other ranks. Nothing but the
// library ends that wait. So, past the timeout, the others are told, and if the
// call does not end then, the process does.
func (w *world) inside(name string, f dl.Func, args ...uintptr) int32 {
	if w.cfg.Timeout == 0 {
		return w.l.call(f, args...)
	}
	done := make(chan struct{})
	defer close(done)
	go w.watch(name, done)
	return w.l.call(f, args...)
}

func (w *world) watch(name string, done <-chan struct{}) {
	t := time.NewTimer(w.cfg.Timeout)
	defer t.Stop()
	select {
	case <-done:
		return
	case <-t.C:
	}
	err := fmt.Errorf("comm: rank %d waited %v in %s", w.rank, w.cfg.Timeout, name)
	if w.l.serial == nil { // else no other call is possible
		w.abort(w.rank, err)
	}
	t.Reset(grace)
	select {
	case <-done:
		return
	case <-t.C:
	}
	w.note("%v: MPI does not end that wait, so the process ends", err)
	time.AfterFunc(grace, func() { os.Exit(1) }) // should MPI_Abort wait, too
	w.l.abort.Call(w.l.world, 1)
	os.Exit(1)
}
