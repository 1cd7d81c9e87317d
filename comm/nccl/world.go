// Package nccl is the communicator between GPUs. NCCL, or RCCL, sends GPU memory. A
// communicator of the host, over goroutines or MPI, does everything else. Packages above
// see one Comm.
package nccl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
)

// Config says how ranks communicate over NCCL. The zero Config is ready to use.
type Config struct {
	Checked bool          // compare the calls of all ranks before each collective on GPU memory
	Timeout time.Duration // the longest that a call on GPU memory may wait for another rank; 0 means no limit
}

// Validate reports what is wrong with c.
func (c Config) Validate() error {
	if c.Timeout < 0 {
		return fmt.Errorf("nccl: Timeout is %v, must not be negative", c.Timeout)
	}
	return nil
}

// world is the state that all communicators of this rank share. mu guards it and the
// channels: a rank may have a goroutine for each of its groups, and the host's
// communicator calls progress while it waits.
type world struct {
	l         *lib
	dev       device.Accelerator
	worldHost comm.Host
	ctl       comm.Comm // for the notes of messages: see message.go
	cfg       Config
	me        int

	mu            sync.Mutex
	channels      []*channel
	active        []*channel // channels with operations under way
	peers         []peer     // by rank
	hearing       []*peer    // ranks from which a note is to come
	sent          []*note    // on their way
	spare         []*note
	news          int      // notes that are to come, without those of messages in host memory
	grants        []grant  // sends to be launched
	sending       int      // sends launched and not done
	self          *channel // for messages to this rank itself
	registrations []*registration
	groups        int64 // how many groups this rank has joined
	polls         uint64
	unwatch       func()
	aborted       bool // the communicators are aborted
}

// New makes one communicator of the ranks of host, each with its GPU. It is collective.
// The caller must not use host any more, except to close it after Close.
func New(ctx context.Context, host comm.Comm, dev device.Accelerator, cfg Config) (*Comm, error) {
	w, err := prepare(host, dev, cfg)
	if err = comm.Agree(ctx, host, err); err != nil {
		return nil, err
	}
	if w.ctl, err = host.Split(ctx, 0, host.Rank()); err != nil {
		return nil, err
	}
	w.worldHost.SetProgress(w.progress)
	w.unwatch = func() {}
	if onWait := dev.Info().OnWait; onWait != nil {
		w.unwatch = onWait(w.watch)
	}
	return w.newComm(ctx, w.worldHost, true)
}

// prepare checks the arguments and loads the library. It needs no other rank.
func prepare(host comm.Comm, dev device.Accelerator, cfg Config) (*world, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	worldHost, ok := host.(comm.Host)
	if !ok {
		return nil, fmt.Errorf("nccl: over %v: that communicator is no comm.Host: use goroutines or MPI", host)
	}
	if dev == nil {
		return nil, errors.New("nccl: no device given")
	}
	found, err := Find(dev.Platform())
	if err != nil {
		return nil, err
	}
	l, err := bind(found)
	if err != nil {
		return nil, err
	}
	w := &world{l: l, dev: dev, worldHost: worldHost, cfg: cfg, me: host.Rank(), peers: make([]peer, host.Size())}
	for r := range w.peers {
		w.peers[r].rank = r
	}
	return w, nil
}

// fail aborts the program on all ranks.
func (w *world) fail(cause error) error {
	w.worldHost.Abort(cause)
	return w.ended(cause)
}
