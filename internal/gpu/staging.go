package gpu

import (
	"context"
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// staging is pinned host memory between Go's memory and GPU memory. It has two
// halves: one is filled while the other is copied. The driver's own staging does not
// overlap the two.
type staging struct {
	half  [2][]byte
	event [2]uintptr // end of the last copy from or to that half
	used  [2]bool    // whether the event was recorded
}

// stagingChunk is how much is copied at once: large enough for the bus, small
// enough to begin early.
const stagingChunk = 2 << 20

// openStaging allocates the memory at the first copy.
func (d *Device) openStaging() error {
	if d.staging.half[0] != nil {
		return nil
	}
	b, err := d.Pin(2 * stagingChunk)
	if err != nil {
		return err
	}
	d.staging.half = [2][]byte{b[:stagingChunk:stagingChunk], b[stagingChunk:]}
	for i := range d.staging.event {
		if d.staging.event[i], err = d.newEvent(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) closeStaging() {
	for _, e := range d.staging.event {
		if e != 0 {
			d.drv.EventDestroy.Call(e)
		}
	}
	d.staging = staging{}
}

// queueCopy queues a copy by f between half i and GPU memory and records its end.
func (d *Device) queueCopy(f dl.Func, dst, src uintptr, n, i int) error {
	r := f.Call(dst, src, uintptr(n), d.stream)
	if r == ok {
		r = d.drv.EventRecord.Call(d.staging.event[i], d.stream)
	}
	d.busy, d.staging.used[i] = true, true
	if r != ok {
		return fmt.Errorf("copy %s between the host and %v: %w", device.BytesText(n), d, d.drv.fault(r))
	}
	return nil
}

// waitHalf waits for the last copy from or to half i.
func (d *Device) waitHalf(i int) error {
	if !d.staging.used[i] {
		return nil
	}
	d.staging.used[i] = false
	return d.wait(context.Background(), target{event: d.staging.event[i]})
}

// copyIn copies b to GPU memory and waits.
func (d *Device) copyIn(dst uintptr, b []byte) error {
	if err := d.takeErr(); err != nil || len(b) == 0 {
		return err
	}
	d.enter()
	defer d.leave()
	if err := d.openStaging(); err != nil {
		return err
	}
	for i := 0; len(b) > 0; i ^= 1 {
		if err := d.waitHalf(i); err != nil {
			return err
		}
		n := copy(d.staging.half[i], b)
		if err := d.queueCopy(d.drv.CopyIn, dst, addrOf(d.staging.half[i]), n, i); err != nil {
			return err
		}
		dst, b = dst+uintptr(n), b[n:]
	}
	return d.waitAll()
}

// copyOut copies GPU memory to b and waits.
func (d *Device) copyOut(b []byte, src uintptr) error {
	if err := d.takeErr(); err != nil || len(b) == 0 {
		return err
	}
	d.enter()
	defer d.leave()
	if err := d.openStaging(); err != nil {
		return err
	}
	for i, ahead := 0, 0; len(b) > 0; i ^= 1 {
		for ; ahead < 2*stagingChunk && ahead < len(b); ahead += min(stagingChunk, len(b)-ahead) {
			j := i ^ (ahead / stagingChunk)
			if err := d.waitHalf(j); err != nil {
				return err
			}
			from := src + uintptr(ahead)
			if err := d.queueCopy(d.drv.CopyOut, addrOf(d.staging.half[j]), from, min(stagingChunk, len(b)-ahead), j); err != nil {
				return err
			}
		}
		if err := d.waitHalf(i); err != nil {
			return err
		}
		n := copy(b, d.staging.half[i])
		src, b, ahead = src+uintptr(n), b[n:], ahead-n
	}
	return d.takeErr()
}
