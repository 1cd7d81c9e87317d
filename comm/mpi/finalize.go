package mpi

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/sched"
)

// End ends MPI in this process. If err is nil, it waits for all ranks and finalizes
// MPI; it returns an error if another rank has failed. If err is not nil, it notifies
// the other ranks and waits at most a few seconds for them. It does not finalize MPI
// then, because that would wait for messages that never come. The caller must exit with
// a code other than 0, which makes the launcher end the other processes.
func (c *World) End(ctx context.Context, err error) error {
	w := c.w
	if err == nil {
		w.ending.Store(true)
		err = c.checkUnfinished(ctx)
	}
	if err == nil {
		err = c.r.awaitEnds(ctx)
	}
	if err == nil {
		err = w.closeWindows(ctx)
	}
	if err == nil {
		if err := w.l.errorOf("MPI_Finalize", w.l.call(w.l.finalize)); err != nil || w.l.family == OpenMPI {
			return err
		}
		// MPICH reports to its launcher in a handler of C's exit, which Go's exit
		// does not run. Without that report, the launcher takes the first rank that
		// exits for dead and kills the others.
		return w.l.lib.Close()
	}
	// Each rank sends all others a last notice. A rank that exited before all have
	// ended their programs would make the launcher kill them.
	w.sendNotice(w.abort(w.rank, err), tagBye)
	grace := time.Now().Add(3 * time.Second)
	for time.Now().Before(grace) { // the others may be dead
		w.pollNotices()
		w.mu.Lock()
		left := w.size - 1 - len(w.goodbyes)
		for _, o := range w.sends {
			if o.flag == 0 {
				w.l.call(w.l.test, addr(&o.req), addr(&o.flag), addr(&o.status))
			}
			if o.flag == 0 {
				left = max(left, 1)
			}
		}
		w.mu.Unlock()
		if left <= 0 {
			break
		}
		runtime.Gosched()
		sched.Yield()
	}
	if w.rank != 0 && !w.goodbyes[0] {
		return &driver.UnheardError{Err: err}
	}
	return err
}

// checkUnfinished is called when this rank's program has returned. Locks that the rank
// still holds are an error, because others could wait for them forever. In checked mode,
// messages that were sent but not received, or the reverse, are an error too. Requests,
// windows and groups that are still open are reported to Note.
func (c *World) checkUnfinished(ctx context.Context) error {
	w := c.w
	if k := w.locks.Load(); k > 0 {
		return fmt.Errorf("comm: rank %d ended its program while it held %d locks of windows: call Unlock", w.rank, k)
	}
	requests, groups, windows := c.r.pending.Len(), 0, 0
	for _, x := range w.open {
		if r, ok := x.(*rank); ok {
			groups++
			requests += r.pending.Len()
		} else {
			windows++
		}
	}
	if requests > 0 {
		w.note("%d requests were never waited for: call Wait for each", requests)
	}
	if windows > 0 {
		w.note("%d windows were never closed: call Close on each", windows)
	}
	if groups > 0 {
		w.note("%d groups of Split were never closed: call Close on each", groups)
	}
	return c.r.compareMessageCounts(ctx)
}

// awaitEnds waits until all ranks have ended their programs. It has a communicator of its
// own, so that it matches no barrier of a program. Then it receives all notices, because
// none may be left when MPI ends.
func (r *rank) awaitEnds(ctx context.Context) error {
	w, call := r.w, driver.Signature{Kind: driver.KindClose, Peer: -1}
	if err := r.await(ctx, &call, r.l.call(r.l.ibarrier, w.ctrl, addr(&r.blocking.req))); err != nil {
		return err
	}
	sent := int64(0)
	if w.noticeSent[tagEnded] {
		sent = 1
	}
	all, err := r.gatherNumbers(ctx, &call, sent)
	want := -sent
	for _, k := range all {
		want += k
	}
	for err == nil && int64(w.ended.Load()) < want {
		w.pollNotices()
		err = w.ready(ctx)
	}
	return err
}

func (w *world) note(format string, args ...any) {
	if w.cfg.Note != nil {
		w.cfg.Note(w.rank, fmt.Sprintf(format, args...))
	}
}

// compareMessageCounts compares, in checked mode, how many messages each rank has sent
// to each other rank with how many that rank has received.
func (r *rank) compareMessageCounts(ctx context.Context) error {
	if r.started[0] == nil || r.n == 1 {
		return nil
	}
	call := driver.Call{Signature: driver.Signature{Kind: driver.KindClose, Peer: -1}}
	if err := r.enter(ctx, &call); err != nil {
		return err
	}
	all, err := r.gatherNumbers(ctx, &call.Signature, slices.Concat(r.started[0], r.started[1])...)
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

// closeWindows frees windows that the program has not closed, because MPICH 4 fails in
// MPI_Finalize if there are any. All ranks have ended their programs.
func (w *world) closeWindows(ctx context.Context) error {
	for _, x := range slices.Clone(w.open) {
		if win, ok := x.(*window); ok {
			if err := win.free(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
