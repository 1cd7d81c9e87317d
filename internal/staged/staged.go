// Package staged sends GPU memory over a communicator that reaches host memory only. It
// copies through pinned host memory.
package staged

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
)

// Conn is a driver built on that of the host. It stages buffers in GPU memory and passes
// calls on host memory to the host's driver. Large collectives are divided into chunks if
// any rank's buffer is in GPU memory, so that copies and messages overlap.
//
// A GPU-aware host gets addresses of GPU memory in the calls that take them, after the
// kernels before the call are done.
//
// Errors are those of the host.
type Conn struct {
	host        driver.Conn
	nonBlocking driver.NonBlocking // the host's, or nil
	oneSided    driver.OneSided    // the host's, or nil
	info        driver.Info
	aware       func(platform string, c *driver.Signature) bool // of the host
	s           *shared

	call     driver.Call // as the host gets it
	whole    request     // of the collective under way
	pending  driver.RequestPool[request]
	counts   [4]int64 // compared by ranks before a collective: see chunkcount.go
	pipeline pipeline
}

// shared is the state that a Conn shares with those split from it. Only the rank's
// goroutine uses it, as the device. Other goroutines may use handles on host buffers.
type shared struct {
	dev      device.Accelerator
	platform string
	down, up device.Queue // copies from and to the device, which run at the same time
	pool     pool
	users    atomic.Int32 // not closed
	chunk    int          // bytes
	above    int          // bytes up to which a call is not divided
	failed   bool         // the program was aborted, and other ranks may still use its blocks
}

const (
	chunkBytes = 1 << 20
	chunkAbove = 4 << 20
)

var (
	_ driver.Conn        = (*Conn)(nil)
	_ driver.NonBlocking = (*Conn)(nil)
	_ driver.OneSided    = (*Conn)(nil)
)

// New returns a communicator for host memory and the memory of dev. It owns host.
func New(host *comm.Comm, dev device.Accelerator) (*comm.Comm, error) {
	c, err := NewConn(host.Conn(), dev)
	if err != nil {
		return nil, err
	}
	return comm.New(c), nil
}

// NewConn is New for a driver that is built on this one.
func NewConn(host driver.Conn, dev device.Accelerator) (*Conn, error) {
	down, err := dev.NewQueue()
	if err != nil {
		return nil, fmt.Errorf("staged: queue of copies from %v: %w", dev, err)
	}
	up, err := dev.NewQueue()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("staged: queue of copies to %v: %w", dev, err), down.Close())
	}
	return wrap(host, &shared{dev: dev, platform: dev.Platform(), down: down, up: up, pool: pool{dev: dev},
		chunk: chunkBytes, above: chunkAbove}), nil
}

func wrap(host driver.Conn, s *shared) *Conn {
	c := &Conn{host: host, info: host.Info(), aware: host.Info().GPUAware, s: s}
	c.nonBlocking, _ = host.(driver.NonBlocking)
	c.oneSided, _ = host.(driver.OneSided)
	how := "staged through pinned host memory"
	switch {
	case c.takes(&driver.Signature{Kind: driver.KindBroadcast}):
		how = "GPU-aware, some reductions " + how
	case c.takes(&driver.Signature{Kind: driver.KindSend}):
		how = "GPU-aware messages, collectives " + how
	}
	c.info.Name += ", " + how
	c.info.GPU, c.info.GPUAware, c.info.SetProgress = true, nil, nil
	s.users.Add(1)
	return c
}

// takes reports whether the host is GPU-aware in a call. All ranks get the same answer.
func (c *Conn) takes(call *driver.Signature) bool {
	return c.aware != nil && c.aware(c.s.platform, call)
}

// Host returns the driver of the host.
func (c *Conn) Host() driver.Conn { return c.host }

// Info implements driver.Conn.
func (c *Conn) Info() driver.Info { return c.info }

// Abort implements driver.Conn.
func (c *Conn) Abort(cause error) { c.host.Abort(cause) }

// Aborted implements driver.Conn.
func (c *Conn) Aborted() error { return c.host.Aborted() }

// Window implements driver.OneSided, in host memory.
func (c *Conn) Window(ctx context.Context, q *driver.Call) (driver.Window, []int, error) {
	if c.oneSided == nil {
		return nil, nil, fmt.Errorf("comm: window over %s: %w", c.info.Name, errors.ErrUnsupported)
	}
	return c.oneSided.Window(ctx, q)
}

// Split makes groups of the host, which share the device.
func (c *Conn) Split(ctx context.Context, q *driver.Call) (driver.Conn, error) {
	g, err := c.host.Split(ctx, q)
	if g == nil || err != nil {
		return nil, err
	}
	return wrap(g, c.s), nil
}

// Close closes the host's driver. The last Close frees the queues and the pinned memory.
func (c *Conn) Close() error {
	err := c.host.Close()
	if c.s.users.Add(-1) > 0 {
		return err
	}
	err = errors.Join(err, c.s.down.Close(), c.s.up.Close())
	if !c.s.failed {
		c.s.pool.close()
	}
	return err
}
