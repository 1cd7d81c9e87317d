package gpu

import (
	"context"
	"time"

	"github.com/golops/golops/internal/dl"
)

// Clock stamps the stream of kernels with events, for traces. A stamp does not wait for
// the GPU.
type Clock struct {
	d       *Device
	pending []uintptr       // events that were recorded, in order; the first is the last one read
	times   []time.Duration // of the stamps read so far
	free    []uintptr
}

// readEvery is how many stamps a Clock collects before it reads those that the GPU has
// reached.
const readEvery = 4096

// NewClock returns a clock for the kernels of d. Close it before d.
func (d *Device) NewClock() *Clock { return &Clock{d: d} }

// Stamp records an event behind the kernels queued so far.
func (c *Clock) Stamp() bool {
	d := c.d
	d.enter()
	defer d.leave()
	if len(c.pending) >= readEvery && len(c.pending)%readEvery == 0 {
		c.read()
	}
	if len(c.free) == 0 {
		h := new(uintptr)
		if d.drv.EventCreate.Call(dl.Pointer(h), 0) != ok {
			return false
		}
		c.free = append(c.free, *h)
	}
	e := c.free[len(c.free)-1]
	if d.drv.EventRecord.Call(e, d.stream) != ok {
		return false
	}
	c.free = c.free[:len(c.free)-1]
	c.pending = append(c.pending, e)
	return true
}

// read turns events that the GPU has reached into times. The driver gives times as
// float32, so only those between neighbours are exact enough.
func (c *Clock) read() {
	if len(c.times) == 0 && len(c.pending) > 0 {
		c.times = append(c.times, 0)
	}
	ms := new(float32)
	k := 0
	for k+1 < len(c.pending) && c.d.drv.EventQuery.Call(c.pending[k+1]) == ok {
		if c.d.drv.EventElapsed.Call(dl.Pointer(ms), c.pending[k], c.pending[k+1]) != ok {
			break
		}
		last := c.times[len(c.times)-1]
		c.times = append(c.times, last+time.Duration(float64(*ms)*1e6))
		k++
	}
	c.free = append(c.free, c.pending[:k]...)
	c.pending = append(c.pending[:0], c.pending[k:]...)
}

// Times waits for the GPU and returns when it reached each stamp, from the first on.
func (c *Clock) Times() []time.Duration {
	if c.d.wait(context.Background(), target{}) != nil {
		return nil // the device keeps a failure until a call that returns errors
	}
	c.d.enter()
	defer c.d.leave()
	c.read()
	return c.times
}

// Close frees the events.
func (c *Clock) Close() {
	c.d.enter()
	defer c.d.leave()
	for _, e := range append(c.free, c.pending...) {
		c.d.drv.EventDestroy.Call(e)
	}
	c.free, c.pending = nil, nil
}
