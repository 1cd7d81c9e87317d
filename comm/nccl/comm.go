package nccl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
)

// Comm is one rank's handle on a group of ranks with devices.
//
// Buffers in host memory go to the host's communicator as they are. Both sides
// of a message must be in the same kind of memory, and so must all ranks' parts
// of a collective. A message for which they differ ends the program with a
// *comm.MismatchError; a collective does so in checked mode.
type Comm struct {
	comm.Messages
	w       *world
	host    comm.Host
	world   bool  // made by New, not by Split
	shut    bool  // this rank has closed it
	number  int64 // of the group, the same on all its ranks and of no other group
	members []int // ranks in the world
	me, n   int

	line           *line // of collectives; nil before the first
	staged         comm.Comm
	pending        comm.RequestPool[op]
	alone          []lone  // messages to this rank itself, sent or received but not both
	sent, received []int64 // messages, by rank
	room           uintptr
	roomFor        int // bytes
	flag           [2]int64
}

var (
	_ comm.Comm     = (*Comm)(nil)
	_ comm.Windower = (*Comm)(nil)
)

// join makes the handle on the group of host. It is collective.
func (w *world) join(ctx context.Context, host comm.Host, world bool) (*Comm, error) {
	c := &Comm{w: w, host: host, world: world, me: host.Rank(), n: host.Size()}
	c.sent, c.received = make([]int64, c.n), make([]int64, c.n)
	c.Messages = comm.NewMessages(c, comm.OnDevice)
	w.mu.Lock()
	w.groups++
	mine, all := []int64{int64(w.me), w.groups}, make([]int64, 2*c.n)
	w.mu.Unlock()
	if err := host.AllGather(ctx, comm.Of(all), comm.Of(mine)); err != nil {
		return nil, err
	}
	for r := range c.n {
		c.members = append(c.members, int(all[2*r]))
	}
	c.number = all[1]*int64(len(w.peers)) + all[0] // of the groups that the first rank leads, no two have the same
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

// Library is what was found.
func (c *Comm) Library() *Found { return c.w.l.Found }

// Barrier implements comm.Comm. It does not wait for devices.
func (c *Comm) Barrier(ctx context.Context) error {
	if c.shut {
		return comm.ErrClosed
	}
	return c.host.Barrier(ctx)
}

// Split implements comm.Comm. The library's communicator of the new group is
// made when its first collective on GPU memory needs it.
func (c *Comm) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	if c.shut {
		return nil, comm.ErrClosed
	}
	sub, err := c.host.Split(ctx, color, key)
	if err != nil || sub == nil {
		return nil, err
	}
	s, err := c.w.join(ctx, sub.(comm.Host), false)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Window implements comm.Windower, in host memory.
func (c *Comm) Window(ctx context.Context, buf comm.Buf) (comm.Window, error) {
	if c.shut {
		return nil, comm.ErrClosed
	}
	dev, err := c.anywhere(ctx, onDevice(buf))
	if err != nil {
		return nil, err
	}
	if dev {
		return nil, fmt.Errorf("comm: window over GPU memory on %v: expose host memory, or use messages: %w", c, errors.ErrUnsupported)
	}
	return comm.NewWindow(ctx, c.host, buf)
}

// Abort implements comm.Comm. A call that another goroutine of this rank has
// under way ends the library's communicators; otherwise Abort does.
func (c *Comm) Abort(cause error) {
	c.w.ground.Abort(cause)
	if c.w.mu.TryLock() {
		defer c.w.mu.Unlock()
		c.w.ended(cause)
	}
}

// Close implements comm.Comm. On the communicator that New made, it also gives
// back what messages took; the host's communicator stays.
func (c *Comm) Close() error {
	if c.shut {
		return nil
	}
	w := c.w
	errs := c.closeRegions()
	c.shut = true
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	if !c.world {
		lines = slices.DeleteFunc(slices.Clone(lines), func(l *line) bool { return l != c.line })
	}
	if err := w.finish(lines); err != nil {
		errs = append(errs, w.fail(err))
	}
	if w.dead {
		w.abort(lines)
	}
	for _, l := range lines {
		errs = append(errs, l.close())
	}
	w.lines = slices.DeleteFunc(w.lines, func(l *line) bool { return slices.Contains(lines, l) })
	w.active = slices.DeleteFunc(w.active, func(l *line) bool { return slices.Contains(lines, l) })
	c.line = nil
	for _, r := range c.regions() { // left by an abort
		errs = append(errs, r.free())
	}
	if c.room != 0 {
		w.dev.FreeBytes(c.room)
		c.room, c.roomFor = 0, 0
	}
	if c.staged != nil {
		errs = append(errs, c.staged.Close())
	}
	own := comm.Comm(c.host)
	if c.world {
		own = w.ctl
		w.ground.SetProgress(nil)
		w.unwatch()
	}
	return errors.Join(append(errs, own.Close())...)
}
