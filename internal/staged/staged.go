// Package staged lets ranks exchange GPU memory over a communicator that
// reaches host memory only, by copying through pinned host memory.
package staged

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
)

// Comm is a communicator over another one, the host's. Buffers on the device
// are copied, those on the host passed on. Large collectives go in chunks on all
// ranks if the memory of any is on the device, so that copies and messages
// overlap, and large messages wherever they are.
//
// A host communicator that is aware of GPUs gets addresses on the device where
// it takes them, as soon as the kernels before the call are done.
//
// Errors are those of the host communicator. Messages of more than a chunk
// whose sender and receiver disagree on the count are an error at the receiver,
// and later messages between the two are then lost.
type Comm struct {
	comm.Messages
	host comm.Comm
	s    *shared

	aware   aware // the host communicator, if it reaches the device; else nil
	pending comm.RequestPool[request]
	coming  []*request // large messages under way to here
	shut    bool       // this rank has closed it
	counts  [4]int64   // what ranks tell each other before a collective
	train   train
}

// aware is a host communicator that takes addresses on a device in some calls:
// TakesGPUMemory says in which, alike on all ranks.
type aware interface {
	GPUAware(platform string) bool
	TakesGPUMemory(call comm.Call) bool
}

// shared is what a communicator and those split from it have in common. It is
// for the goroutine of the rank, as the device is; on host buffers, handles may
// be used by others too.
type shared struct {
	dev      device.Accelerator
	down, up device.Queue // copies from and to the device, which run at the same time
	pool     pool
	users    atomic.Int32 // communicators not closed
	chunk    int          // bytes
	above    int          // bytes that go without chunks
	failed   bool         // the host communicator may still use blocks, of a call that has failed
}

const (
	chunkBytes = 1 << 20
	chunkAbove = 4 << 20
)

var (
	_ comm.Comm     = (*Comm)(nil)
	_ comm.Windower = (*Comm)(nil)
)

// New returns a communicator for host memory and the memory of dev. It takes
// the place of host, which it closes.
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
	if a, ok := host.(aware); ok && a.GPUAware(s.dev.Platform()) {
		c.aware = a
	}
	c.Messages = comm.NewMessages(c, comm.OnDevice)
	s.users.Add(1)
	return c
}

// Rank returns the rank in the host communicator.
func (c *Comm) Rank() int { return c.host.Rank() }

// Size returns the size of the host communicator.
func (c *Comm) Size() int { return c.host.Size() }

// String names the host communicator and the way.
func (c *Comm) String() string {
	how := "staged through pinned host memory"
	switch {
	case c.aware == nil:
	case c.aware.TakesGPUMemory(comm.Call{Kind: comm.KindBroadcast}):
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

// Aborted returns the error that has ended the program, if the host
// communicator tells, or nil.
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

// WithAlgo returns a handle on the same group whose host communicator uses
// another algorithm. It takes the place of c.
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

// Close closes the host communicator and, with the last that uses them, gives
// back the queues and the pinned memory.
func (c *Comm) Close() error {
	if c.shut {
		return nil
	}
	c.shut = true
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
