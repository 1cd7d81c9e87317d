package nccl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/staged"
)

// conn is one rank's connection to a group of ranks with GPUs. The library runs collectives
// and exchanges on GPU memory. Messages, and reductions that the library cannot do, are
// staged through host memory. Calls on host memory go to the host.
//
// In a collective or an exchange the buffers of all ranks must be in the same kind of memory.
// Checked mode compares that.
type conn struct {
	w      *world
	host   driver.Conn  // closed by staged
	door   *comm.Comm   // to host
	staged *staged.Conn // over host
	info   driver.Info
	world  bool // made by New, not by Split
	me, n  int

	channel      *channel // nil before the first operation
	pending      driver.RequestPool[op]
	scratch      uintptr
	scratchBytes int         // bytes
	step         driver.Call // on the host, before a call of the user
	flag         [2]int64
}

var (
	_ driver.Conn        = (*conn)(nil)
	_ driver.NonBlocking = (*conn)(nil)
	_ driver.OneSided    = (*conn)(nil)
	_ driver.Registrar   = (*conn)(nil)
)

func (w *world) newConn(s *staged.Conn, world bool) *conn {
	h := s.Host().Info()
	return &conn{w: w, host: s.Host(), door: comm.New(s.Host()), staged: s, world: world, me: h.Rank, n: h.Size,
		info: driver.Info{Rank: h.Rank, Size: h.Size, GPU: true, NoPut: w.l.noPut(), Name: fmt.Sprintf("%s %s over %s", w.l.Name, w.l.Version, h.Name)}}
}

// Info implements driver.Conn.
func (c *conn) Info() driver.Info { return c.info }

// Split implements driver.Conn. The NCCL communicator of the new group is created by its
// first operation.
func (c *conn) Split(ctx context.Context, q *driver.Call) (driver.Conn, error) {
	sub, err := c.staged.Split(ctx, q)
	if err != nil || sub == nil {
		return nil, err
	}
	return c.w.newConn(sub.(*staged.Conn), false), nil
}

// Window implements driver.OneSided, in host memory.
func (c *conn) Window(ctx context.Context, q *driver.Call) (driver.Window, []int, error) {
	return c.staged.Window(ctx, q)
}

// Abort implements driver.Conn. If another goroutine of this rank is in a call, that call
// ends the NCCL communicators; otherwise Abort does.
func (c *conn) Abort(cause error) {
	c.w.host.Abort(cause)
	if c.w.mu.TryLock() {
		defer c.w.mu.Unlock()
		c.w.ended(cause)
	}
}

// Aborted implements driver.Conn.
func (c *conn) Aborted() error { return c.host.Aborted() }

// Close implements driver.Conn. On the communicator of New it also ends what groups have
// left open.
func (c *conn) Close() error {
	w := c.w
	var errs []error
	aborted := w.host.Aborted() != nil
	w.mu.Lock()
	open := c.registrations()
	w.mu.Unlock()
	for _, r := range open {
		if !aborted {
			errs = append(errs, r.Close(context.Background()))
		}
	}
	channels := []*channel{c.channel}
	if c.world {
		channels = slices.Clone(w.channels)
	}
	channels = slices.DeleteFunc(channels, func(l *channel) bool { return l == nil })
	if err := w.finalize(channels); err != nil && !aborted {
		errs = append(errs, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.aborted {
		w.abort(channels)
	}
	for _, l := range channels {
		errs = append(errs, w.drop(l))
	}
	c.channel = nil
	for _, r := range c.registrations() { // left by an abort
		errs = append(errs, r.free())
	}
	if c.scratch != 0 {
		w.dev.FreeBytes(c.scratch)
	}
	if c.world {
		w.host.Info().SetProgress(nil)
		w.unwatch()
	}
	return errors.Join(append(errs, c.staged.Close())...)
}

// drop forgets a channel that has nothing under way.
func (w *world) drop(l *channel) error {
	other := func(o *channel) bool { return o == l }
	w.channels, w.active = slices.DeleteFunc(w.channels, other), slices.DeleteFunc(w.active, other)
	return l.close()
}
