// Package nccl is the communicator between GPUs. NCCL, or RCCL, runs collectives and
// exchanges on GPU memory. A communicator of the host, over goroutines or MPI, does
// everything else. Packages above see one comm.Comm.
package nccl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/staged"
)

// Config says how ranks communicate over NCCL. The zero Config is ready to use.
type Config struct {
	// Checked compares the calls of all ranks before each collective on GPU memory, and
	// both sides of each leg of an exchange. The start of an exchange or of a
	// non-blocking collective then waits for the other ranks.
	Checked bool
	Timeout time.Duration // the longest that a call on GPU memory may wait for another rank; 0 means no limit
	// SharedGPU says that ranks share GPUs. Processes on one GPU take turns of
	// milliseconds, and a group call waits on the GPU for the turn of the other rank. So
	// exchanges are staged through host memory.
	SharedGPU bool
}

// Validate reports what is wrong with c.
func (c Config) Validate() error {
	if c.Timeout < 0 {
		return fmt.Errorf("nccl: Timeout is %v, must not be negative", c.Timeout)
	}
	return nil
}

// world is the state that all groups of this rank share. mu guards it and the channels: a
// rank may have a goroutine for each of its groups, and the host calls progress while it
// waits.
type world struct {
	l       *lib
	dev     device.Accelerator
	host    driver.Conn // of all ranks
	me      int
	cfg     Config
	unwatch func()

	mu            sync.Mutex
	channels      []*channel
	active        []*channel // channels with work to do
	registrations []*registration
	polls         uint64
	aborted       bool // the communicators are aborted
}

// New makes one communicator of the ranks of host, each with its GPU. It is collective. It
// owns host.
func New(ctx context.Context, host *comm.Comm, dev device.Accelerator, cfg Config) (*comm.Comm, error) {
	w, s, err := prepare(host, dev, cfg)
	if err = comm.Agree(ctx, host, err); err != nil {
		return nil, err
	}
	w.host.Info().SetProgress(w.progress)
	w.unwatch = func() {}
	if onWait := dev.Info().OnWait; onWait != nil {
		w.unwatch = onWait(w.watch)
	}
	return comm.New(w.newConn(s, true)), nil
}

// prepare checks the arguments and loads the library. It needs no other rank.
func prepare(host *comm.Comm, dev device.Accelerator, cfg Config) (*world, *staged.Conn, error) {
	if err := cfg.Validate(); err != nil {
		return nil, nil, err
	}
	if host.Conn().Info().SetProgress == nil {
		return nil, nil, fmt.Errorf("nccl: over %v: no other communicator can be built on that one: use goroutines or MPI", host)
	}
	if dev == nil {
		return nil, nil, errors.New("nccl: no device given")
	}
	found, err := Find(dev.Platform())
	if err != nil {
		return nil, nil, err
	}
	l, err := bind(found)
	if err != nil {
		return nil, nil, err
	}
	s, err := staged.NewConn(host.Conn(), dev)
	return &world{l: l, dev: dev, host: host.Conn(), me: host.Rank(), cfg: cfg}, s, err
}

// fail aborts the program on all ranks.
func (w *world) fail(cause error) error {
	w.host.Abort(cause)
	return w.ended(cause)
}
