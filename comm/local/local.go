// Package local runs the ranks of a program as goroutines of one process,
// which reach each other's buffers through shared memory.
package local

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
)

// Config says how goroutine ranks communicate. The zero Config is ready to use.
type Config struct {
	Algo    driver.Algo   // of the collectives; Auto is Direct: see reduce.go
	Timeout time.Duration // the longest that a call may wait for another rank; 0 means no limit

	// Note receives a text about requests that a rank never waited for; nil drops
	// it. Ranks call Note at the same time.
	Note func(rank int, text string)
}

// Validate reports what is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.Algo > driver.Tree {
		errs = append(errs, fmt.Errorf("local: algorithm %v is not for goroutine ranks: have auto, direct, ring, tree", c.Algo))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("local: Timeout is %v, must not be negative", c.Timeout))
	}
	return errors.Join(errs...)
}

// world is the state that all ranks of one Run share, in all groups.
type world struct {
	size           int
	timeout        time.Duration
	oversubscribed bool // more ranks than cores
	spins          int  // reads of a flag before the first yield
	yields         int  // reads of a flag with a yield between them, before sleep
	aborted        atomic.Pointer[driver.AbortError]
	done           chan struct{} // closed by the abort
	cancel         context.CancelCauseFunc
	ended          []atomic.Bool // ranks whose program has returned
	progress       []func() bool // polled by ranks while they wait: see driver.Info

	mu      sync.Mutex
	groups  []*group       // to be woken when a rank ends; the group of all ranks is first
	handles [][]*rank      // not closed, by rank
	locks   []atomic.Int32 // of windows that a rank holds, by rank
}

// CheckMemory returns an error if this machine has too little memory for n ranks.
// Their message queues grow as n².
func CheckMemory(n int) error {
	for _, bytes := range [][]int{{n, int(unsafe.Sizeof(rankState{}))}, {n, n, int(unsafe.Sizeof(messageQueue{}))}} {
		if err := device.CheckHostMemory(bytes...); err != nil {
			return fmt.Errorf("local: %d goroutine ranks: %w", n, err)
		}
	}
	return nil
}

// Run calls prog once per rank, each in a separate goroutine, and returns when all
// have returned. An error or panic on one rank ends the others' calls. Run joins the
// errors of all ranks and leaves out those that only report the abort by another.
func Run(ctx context.Context, n int, prog func(context.Context, *comm.Comm) error) error {
	return Config{}.Run(ctx, n, prog)
}

// Run is like the function Run, with the options of c.
func (c Config) Run(ctx context.Context, n int, prog func(context.Context, *comm.Comm) error) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("local: %d ranks, must be at least 1", n)
	}
	if err := CheckMemory(n); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &world{size: n, timeout: c.Timeout, done: make(chan struct{}), cancel: cancel, ended: make([]atomic.Bool, n),
		progress: make([]func() bool, n), handles: make([][]*rank, n), locks: make([]atomic.Int32, n)}
	// A spinning rank takes a core from a rank that has work. So ranks spin only
	// if each has a core; otherwise they yield at once.
	w.spins, w.yields = eagerReads+200, 2000
	if w.oversubscribed = n > min(runtime.GOMAXPROCS(0), runtime.NumCPU()); w.oversubscribed {
		w.spins, w.yields = 1, 2*n
	}
	members := make([]int, n)
	for i := range members {
		members[i] = i
	}
	g := newGroup(w, members)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			errs[i] = driver.Exited() // until the program returns
			defer w.rankEnded(i)
			r := g.handle(i, c.Algo)
			errs[i] = driver.Recovered(r.Abort, func() error { return prog(ctx, comm.New(r)) })
			if errs[i] == nil {
				errs[i] = w.checkUnfinished(i, c.Note)
			}
			if errs[i] != nil {
				r.Abort(errs[i])
			}
		})
	}
	wg.Wait()
	return joinErrors(errs)
}

// checkUnfinished is called when a rank's program has returned. Locks that the
// rank still holds are an error, because others could wait for them forever. Requests
// that it never waited for are reported to note.
func (w *world) checkUnfinished(rank int, note func(rank int, text string)) error {
	if k := w.locks[rank].Load(); k > 0 {
		return fmt.Errorf("comm: rank %d ended its program while it held %d locks of windows: call Unlock", rank, k)
	}
	w.mu.Lock()
	handles := w.handles[rank]
	w.mu.Unlock()
	for _, r := range handles {
		if k := r.pending.Len(); k > 0 && note != nil && w.aborted.Load() == nil {
			note(rank, fmt.Sprintf("%d requests were never waited for: call Wait for each", k))
		}
	}
	return nil
}

// addHandle records an open handle of a rank.
func (w *world) addHandle(rank int, r *rank) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handles[rank] = append(w.handles[rank], r)
}

// removeHandle is called when a rank closes a handle.
func (w *world) removeHandle(rank int, r *rank) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.handles[rank], r); i >= 0 {
		w.handles[rank] = slices.Delete(w.handles[rank], i, i+1)
	}
}

// joinErrors joins the errors of all ranks and keeps each cause once. It drops the
// abort errors of ranks that did not abort, and a text that it has already.
func joinErrors(errs []error) error {
	var out []error
	seen := ""
	for i, e := range errs {
		var ae *driver.AbortError
		if e == nil || errors.As(e, &ae) && ae.Rank != i {
			continue
		}
		if text := "\n" + e.Error() + "\n"; !strings.Contains(seen, text) {
			seen += text
			out = append(out, &driver.RankError{Rank: i, Err: e})
		}
	}
	return errors.Join(out...)
}

// abort ends the calls of all ranks. The first cause wins.
func (w *world) abort(rank int, cause error) *driver.AbortError {
	var ae *driver.AbortError
	if !errors.As(cause, &ae) {
		ae = &driver.AbortError{Rank: rank, Err: cause}
	}
	if w.aborted.CompareAndSwap(nil, ae) {
		close(w.done)
		w.cancel(ae)
	}
	return w.aborted.Load()
}

// rankEnded marks a rank whose program has ended and wakes the ranks that may wait
// for it.
func (w *world) rankEnded(rank int) {
	w.ended[rank].Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.groups {
		g.wakeAll()
	}
}
