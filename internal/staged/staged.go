// Package staged sends GPU memory over a communicator that reaches host memory only. It
// copies through pinned host memory.
package staged

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
)

// Comm is a communicator built on another one, the host's. It stages buffers in GPU memory
// and passes buffers in host memory to the host's communicator. Large collectives are divided
// into chunks if any rank's buffer is in GPU memory, so that copies and messages overlap.
// Large messages are always divided.
//
// A GPU-aware host communicator gets addresses of GPU memory in the calls that take them,
// after the kernels before the call are done.
//
// Errors are those of the host communicator. If sender and receiver of a message of several
// chunks disagree on the count, the receiver returns an error, and later messages between the
// two are lost.
type Comm struct {
	comm.Messages
	host comm.Comm
	s    *shared

	gpuAware  gpuAware // the host communicator if it is GPU-aware, else nil
	pending   comm.RequestPool[request]
	receiving []*request // large receives under way
	closed    bool       // this rank has closed it
	counts    [4]int64   // compared by ranks before a collective: see chunkcount.go
	pipeline  pipeline
}

// gpuAware is a host communicator that takes GPU memory. TakesGPUMemory says in which calls,
// the same on all ranks.
type gpuAware interface {
	GPUAware(platform string) bool
	TakesGPUMemory(call comm.Call) bool
}

// shared is the state that a communicator shares with those split from it. Only the rank's
// goroutine uses it, as the device. Other goroutines may use handles on host buffers.
type shared struct {
	dev      device.Accelerator
	down, up device.Queue // copies from and to the device, which run at the same time
	pool     pool
	users    atomic.Int32 // communicators not closed
	chunk    int          // bytes
	above    int          // bytes up to which a call is not divided
	failed   bool         // a call has failed, and the host communicator may still use its blocks
}

const (
	chunkBytes = 1 << 20
	chunkAbove = 4 << 20
)

var (
	_ comm.Comm     = (*Comm)(nil)
	_ comm.Windower = (*Comm)(nil)
)

// New returns a communicator for host memory and the memory of dev. It replaces host, which
// it closes.
func New(host comm.Comm, dev device.Accelerator) (*Comm, error) {
	return newComm(host, dev, chunkBytes, chunkAbove)
}

func newComm(host comm.Comm, dev device.Accelerator, chunk, above int) (*Comm, error) {
	down, err := dev.NewQueue()
	if err != nil {
		return nil, fmt.Errorf("staged: queue of copies from %v: %w", dev, err)
	}
	up, err := dev.NewQueue()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("staged: queue of copies to %v: %w", dev, err), down.Close())
	}
	return wrap(host, &shared{dev: dev, down: down, up: up, pool: pool{dev: dev}, chunk: chunk, above: above}), nil
}

func wrap(host comm.Comm, s *shared) *Comm {
	c := &Comm{host: host, s: s}
	if a, ok := host.(gpuAware); ok && a.GPUAware(s.dev.Platform()) {
		c.gpuAware = a
	}
	c.Messages = comm.NewMessages(c, comm.OnDevice)
	s.users.Add(1)
	return c
}

// Rank returns the rank in the host communicator.
func (c *Comm) Rank() int { return c.host.Rank() }

// Size returns the size of the host communicator.
func (c *Comm) Size() int { return c.host.Size() }

// String names the host communicator and how it sends GPU memory.
func (c *Comm) String() string {
	how := "staged through pinned host memory"
	switch {
	case c.gpuAware == nil:
	case c.gpuAware.TakesGPUMemory(comm.Call{Kind: comm.KindBroadcast}):
		how = "GPU-aware, some reductions " + how
	default:
		how = "GPU-aware messages, collectives " + how
	}
	return c.host.String() + ", " + how
}

// Barrier forwards.
func (c *Comm) Barrier(ctx context.Context) error { return c.host.Barrier(ctx) }

// Abort forwards.
func (c *Comm) Abort(cause error) { c.host.Abort(cause) }

// Aborted returns the error that has ended the program, or nil. It is always nil if host is no
// comm.Host.
func (c *Comm) Aborted() error {
	if g, ok := c.host.(comm.Host); ok {
		return g.Aborted()
	}
	return nil
}

// Window forwards. The host refuses windows over GPU memory.
func (c *Comm) Window(ctx context.Context, b comm.Buf) (comm.Window, error) {
	return comm.NewWindow(ctx, c.host, b)
}

// Split makes groups of the host communicator, which share the device.
func (c *Comm) Split(ctx context.Context, color, key int) (comm.Comm, error) {
	g, err := c.host.Split(ctx, color, key)
	if g == nil || err != nil {
		return nil, err
	}
	return wrap(g, c.s), nil
}

// WithAlgo returns a handle on the same group whose host communicator uses another algorithm.
// It replaces c, which must not be used any more.
func (c *Comm) WithAlgo(a comm.Algo) (comm.Comm, error) {
	h, ok := c.host.(interface {
		WithAlgo(comm.Algo) (comm.Comm, error)
	})
	if !ok {
		return nil, fmt.Errorf("staged: algorithm %v over %v: %w", a, c.host, errors.ErrUnsupported)
	}
	host, err := h.WithAlgo(a)
	if err != nil {
		return nil, err
	}
	c.s.users.Add(-1)
	return wrap(host, c.s), nil
}

// Close closes the host communicator. The last Close frees the queues and the pinned
// memory.
func (c *Comm) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
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
