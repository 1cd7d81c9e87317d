package mpi

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
)

// Config says how ranks communicate over MPI. The zero Config is ready to use.
type Config struct {
	Algo    driver.Algo   // of AllReduce: Auto, Ring, Tree or Native
	Checked bool          // compare the calls of all ranks before each collective
	Timeout time.Duration // the longest that a call may wait for another rank; 0 means no limit

	// Note receives texts about requests, windows and groups that the program left
	// open, and about a process that must exit at once; nil drops them.
	Note func(rank int, text string)

	severalHosts bool // tests: behave as if ranks were on several machines
	maxCount     int  // tests: the largest count of one call
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.Algo == driver.Direct || c.Algo > driver.Native {
		errs = append(errs, fmt.Errorf("mpi: algorithm %v is not for MPI: have auto, ring, tree, native", c.Algo))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("mpi: Timeout is %v, must not be negative", c.Timeout))
	}
	return errors.Join(errs...)
}

// World is this process as one rank of an MPI program.
type World struct {
	Comm     *comm.Comm
	Launcher Launcher
	Library  *Found
	Threads  string // the thread level: "multiple", or a lower one, and then calls are serialized

	w *world
	r *rank
}

// world is the state that all communicators of this process share.
type world struct {
	l              *lib
	cfg            Config
	rank           int
	size           int
	ctrl           uintptr // a communicator for abort messages only
	aborted        atomic.Pointer[driver.AbortError]
	oneHost        bool            // all ranks are on one machine
	oversubscribed bool            // ranks share cores, so they must not spin
	gpuAware       map[string]bool // by platform of GPUs: whether the library takes its memory
	noWindows      error           // why the library cannot make windows
	progress       func() bool     // polled while this rank waits: see driver.Host
	labels         labels
	guardCounts    bool         // see countguard.go
	locks          atomic.Int32 // how many locks of windows this rank holds

	ending atomic.Bool  // the program of this rank has ended
	ended  atomic.Int32 // ranks that wait for the others to end: see checkWait

	mu         sync.Mutex // guards the fields below
	probe      operation
	noticeSent [4]bool      // by tag
	sends      []*operation // notices under way
	goodbyes   map[int]bool // ranks that have ended their program after an abort
	open       []any        // each *rank of Split and each *window that is not closed, in the order in which they were made
}

// setOpen notes that a group or a window has been opened or closed.
func (w *world) setOpen(x any, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = slices.DeleteFunc(w.open, func(o any) bool { return o == x })
	if open {
		w.open = append(w.open, x)
	}
}
