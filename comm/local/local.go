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
	"github.com/golops/golops/device"
)

// Config says how goroutine ranks talk. The zero Config is ready to use.
type Config struct {
	Algo    comm.Algo     // of AllReduce and its friends; Auto is Direct, in two forms by size: see collectives.go
	Timeout time.Duration // the longest that a call may wait for another rank; 0 means for ever

	// Note is told what a rank has left undone at its end; nil means that nobody
	// wants to know. Ranks call it at the same time.
	Note func(rank int, text string)
}

// Validate reports what is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.Algo > comm.Tree {
		errs = append(errs, fmt.Errorf("local: algorithm %v is not for goroutine ranks: have auto, direct, ring, tree", c.Algo))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("local: Timeout is %v, must not be negative", c.Timeout))
	}
	return errors.Join(errs...)
}

// world is what all ranks of one Run share, whatever groups they split into.
type world struct {
	size    int
	timeout time.Duration
	crowded bool // more ranks than cores
	spins   int  // looks at a flag before giving the core away
	yields  int  // looks with a yield between them before going to sleep
	aborted atomic.Pointer[comm.AbortError]
	done    chan struct{} // closed by the abort
	cancel  context.CancelCauseFunc
	left    []atomic.Bool // ranks whose program has returned
	idle    []func() bool // what ranks do while they wait: see comm.Host

	mu      sync.Mutex
	groups  []*group       // those that a leaving rank must wake, that of all ranks first
	handles [][]*rank      // not closed, by rank
	locks   []atomic.Int32 // of windows that a rank holds, by rank
}

// Room returns an error if this machine has no memory for n ranks: what they
// share grows as the square of their number.
func Room(n int) error {
	var c cell
	var p pair
	if err := device.CheckHostMemory(n, int(unsafe.Sizeof(c))); err != nil {
		return fmt.Errorf("local: %d goroutine ranks: %w", n, err)
	}
	if err := device.CheckHostMemory(n, n, int(unsafe.Sizeof(p))); err != nil {
		return fmt.Errorf("local: %d goroutine ranks: %w", n, err)
	}
	return nil
}

// Run calls prog once per rank, each on a goroutine of its own, and returns
// when all have returned. An error or panic on one rank ends the others' calls.
// The errors of all ranks come back joined, without the echoes of the first.
func Run(ctx context.Context, n int, prog func(context.Context, comm.Comm) error) error {
	return Config{}.Run(ctx, n, prog)
}

// Run is like the function Run, with the choices of c.
func (c Config) Run(ctx context.Context, n int, prog func(context.Context, comm.Comm) error) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("local: %d ranks, must be at least 1", n)
	}
	if err := Room(n); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &world{size: n, timeout: c.Timeout, done: make(chan struct{}), cancel: cancel, left: make([]atomic.Bool, n),
		idle: make([]func() bool, n), handles: make([][]*rank, n), locks: make([]atomic.Int32, n)}
	// A rank that spins keeps a core from a rank that has work, so ranks spin
	// only where each has a core; elsewhere they pass the core on at once.
	w.spins, w.yields = eagerLooks+200, 2000
	if w.crowded = n > min(runtime.GOMAXPROCS(0), runtime.NumCPU()); w.crowded {
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
			errs[i] = comm.Exited() // until the program returns
			defer w.leave(i)
			r := g.handle(i, c.Algo)
			errs[i] = comm.Recovered(ctx, r, prog)
			if errs[i] == nil {
				errs[i] = w.undone(i, c.Note)
			}
			if errs[i] != nil {
				r.Abort(errs[i])
			}
		})
	}
	wg.Wait()
	return join(errs)
}

// undone looks at what a rank has left undone whose program has returned. Locks
// that it holds are an error: others would wait for them for ever.
func (w *world) undone(rank int, note func(rank int, text string)) error {
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

// open notes a handle of a rank, forget that it is closed.
func (w *world) open(who int, r *rank) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handles[who] = append(w.handles[who], r)
}

func (w *world) forget(who int, r *rank) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.handles[who], r); i >= 0 {
		w.handles[who] = slices.Delete(w.handles[who], i, i+1)
	}
}

// join keeps each cause once: not the echoes on ranks that were told of an
// abort, nor a mismatch again that every rank reports in the same words.
func join(errs []error) error {
	var out []error
	seen := ""
	for i, e := range errs {
		var ae *comm.AbortError
		if e == nil || errors.As(e, &ae) && ae.Rank != i {
			continue
		}
		if text := "\n" + e.Error() + "\n"; !strings.Contains(seen, text) {
			seen += text
			out = append(out, &comm.RankError{Rank: i, Err: e})
		}
	}
	return errors.Join(out...)
}

func (w *world) abort(rank int, cause error) *comm.AbortError {
	var ae *comm.AbortError
	if !errors.As(cause, &ae) {
		ae = &comm.AbortError{Rank: rank, Err: cause}
	}
	if w.aborted.CompareAndSwap(nil, ae) {
		close(w.done)
		w.cancel(ae)
	}
	return w.aborted.Load()
}

// leave marks a rank whose program has ended and wakes those that might wait for it.
func (w *world) leave(rank int) {
	w.left[rank].Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.groups {
		g.wakeAll()
	}
}
