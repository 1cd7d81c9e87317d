package nccl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
)

// Comm is one rank's handle on a group of ranks with GPUs.
//
// Buffers in host memory are passed to the host's communicator. Both sides of a message
// must be in the same kind of memory, and so must the buffers of all ranks in a
// collective. Otherwise a message ends the program with a *comm.MismatchError; a
// collective does so in checked mode.
type Comm struct {
	comm.Messages
	w       *world
	host    comm.Host
	world   bool  // made by New, not by Split
	closed  bool  // this rank has closed it
	groupID int64 // the same on all ranks of the group, unique in the world
	members []int // ranks in the world
	me, n   int

	channel        *channel // for collectives; nil before the first
	staged         comm.Comm
	pending        comm.RequestPool[op]
	alone          []lone  // messages to this rank itself, sent or received but not both
	sent, received []int64 // messages, by rank
	scratch        uintptr
	scratchBytes   int // bytes
	flag           [2]int64
}

var (
	_ comm.Comm     = (*Comm)(nil)
	_ comm.Windower = (*Comm)(nil)
)

// newComm makes the handle on the group of host. It is collective.
func (w *world) newComm(ctx context.Context, host comm.Host, world bool) (*Comm, error) {
	c := &Comm{w: w, host: host, world: world, me: host.Rank(), n: host.Size()}
	c.sent, c.received = make([]int64, c.n), make([]int64, c.n)
	c.Messages = comm.NewMessages(c, comm.OnDevice)
	w.mu.Lock()
	w.groups++
	own, all := []int64{int64(w.me), w.groups}, make([]int64, 2*c.n)
	w.mu.Unlock()
	if err := host.AllGather(ctx, comm.Of(all), comm.Of(own)); err != nil {
		return nil, err
	}
	for r := range c.n {
		c.members = append(c.members, int(all[2*r]))
	}
	c.groupID = all[1]*int64(len(w.peers)) + all[0] // unique: (the first rank's count of groups, the first rank's world rank)
	return c, nil
}

// Rank implements comm.Comm.
func (c *Comm) Rank() int { return c.me }

// Size implements comm.Comm.
func (c *Comm) Size() int { return c.n }

// String names the library and the host's communicator.
func (c *Comm) String() string {
	return fmt.Sprintf("%s %s over %v", c.w.l.Name, c.w.l.Version, c.host)
}

// Library returns the library in use.
func (c *Comm) Library() *Found { return c.w.l.Found }

// Barrier implements comm.Comm. It does not wait for GPUs.
func (c *Comm) Barrier(ctx context.Context) error {
	if c.closed {
		return comm.ErrClosed
	}
	return c.host.Barrier(ctx)
}

// Split implements comm.Comm. The NCCL communicator of the new group is created by its
// first collective on GPU memory.
func (c *Comm) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	if c.closed {
		return nil, comm.ErrClosed
	}
	sub, err := c.host.Split(ctx, color, key)
	if err != nil || sub == nil {
		return nil, err
	}
	s, err := c.w.newComm(ctx, sub.(comm.Host), false)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Window implements comm.Windower, in host memory.
func (c *Comm) Window(ctx context.Context, buf comm.Buf) (comm.Window, error) {
	if c.closed {
		return nil, comm.ErrClosed
	}
	dev, err := c.onAnyRank(ctx, onDevice(buf))
	if err != nil {
		return nil, err
	}
	if dev {
		return nil, fmt.Errorf("comm: window over GPU memory on %v: expose host memory, or use messages: %w", c, errors.ErrUnsupported)
	}
	return comm.NewWindow(ctx, c.host, buf)
}

// Abort implements comm.Comm. If another goroutine of this rank is in a call, that call
// ends the NCCL communicators; otherwise Abort does.
func (c *Comm) Abort(cause error) {
	c.w.worldHost.Abort(cause)
	if c.w.mu.TryLock() {
		defer c.w.mu.Unlock()
		c.w.ended(cause)
	}
}

// Close implements comm.Comm. On the communicator of New it also frees the channels of
// messages. It does not close the host's communicator.
func (c *Comm) Close() error {
	if c.closed {
		return nil
	}
	w := c.w
	errs := c.closeRegistrations()
	c.closed = true
	w.mu.Lock()
	defer w.mu.Unlock()
	channels := w.channels
	if !c.world {
		channels = slices.DeleteFunc(slices.Clone(channels), func(l *channel) bool { return l != c.channel })
	}
	if err := w.finalize(channels); err != nil {
		errs = append(errs, w.fail(err))
	}
	if w.aborted {
		w.abort(channels)
	}
	for _, l := range channels {
		errs = append(errs, l.close())
	}
	w.channels = slices.DeleteFunc(w.channels, func(l *channel) bool { return slices.Contains(channels, l) })
	w.active = slices.DeleteFunc(w.active, func(l *channel) bool { return slices.Contains(channels, l) })
	c.channel = nil
	for _, r := range c.registrations() { // left by an abort
		errs = append(errs, r.free())
	}
	if c.scratch != 0 {
		w.dev.FreeBytes(c.scratch)
		c.scratch, c.scratchBytes = 0, 0
	}
	if c.staged != nil {
		errs = append(errs, c.staged.Close())
	}
	toClose := comm.Comm(c.host)
	if c.world {
		toClose = w.ctl
		w.worldHost.SetProgress(nil)
		w.unwatch()
	}
	return errors.Join(append(errs, toClose.Close())...)
}
