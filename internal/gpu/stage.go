package gpu

import (
	"context"
	"fmt"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// stage is pinned host memory through which copies go: the driver would copy
// Go's memory in the same way, but one chunk after the other.
type stage struct {
	half  [2][]byte
	event [2]uintptr // the last copy from or to that half
	used  [2]bool    // the event was recorded
}

// stageChunk is how much is copied at once: large enough for the bus, small
// enough to begin early.
const stageChunk = 2 << 20

// openStage makes the stage when the first copy needs it.
func (d *Device) openStage() error {
	if d.stage.half[0] != nil {
		return nil
	}
	b, err := d.Pin(2 * stageChunk)
	if err != nil {
		return err
	}
	d.stage.half = [2][]byte{b[:stageChunk:stageChunk], b[stageChunk:]}
	for i := range d.stage.event {
		if d.stage.event[i], err = d.newEvent(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) closeStage() {
	for _, e := range d.stage.event {
		if e != 0 {
			d.drv.EventDestroy.Call(e)
		}
	}
	d.stage = stage{}
}

// moved queues one copy by f between half i and the device and marks its end.
func (d *Device) moved(f dl.Func, dst, src uintptr, n, i int) error {
	r := f.Call(dst, src, uintptr(n), d.stream)
	if r == ok {
		r = d.drv.EventRecord.Call(d.stage.event[i], d.stream)
	}
	d.busy, d.stage.used[i] = true, true
	if r != ok {
		return fmt.Errorf("copy %s between the host and %v: %w", device.BytesText(n), d, d.drv.fault(r))
	}
	return nil
}

// half waits until half i is free, or filled.
func (d *Device) half(i int) error {
	if !d.stage.used[i] {
		return nil
	}
	d.stage.used[i] = false
	return d.wait(context.Background(), target{event: d.stage.event[i]})
}

// copyIn copies b to the device and waits.
func (d *Device) copyIn(dst uintptr, b []byte) error {
	if err := d.take(); err != nil || len(b) == 0 {
		return err
	}
	d.enter()
	defer d.leave()
	if err := d.openStage(); err != nil {
		return err
	}
	for i := 0; len(b) > 0; i ^= 1 {
		if err := d.half(i); err != nil {
			return err
		}
		n := copy(d.stage.half[i], b)
		if err := d.moved(d.drv.CopyIn, dst, addrOf(d.stage.half[i]), n, i); err != nil {
			return err
		}
		dst, b = dst+uintptr(n), b[n:]
	}
	return d.waitAll()
}

// copyOut copies memory of the device to b.
func (d *Device) copyOut(b []byte, src uintptr) error {
	if err := d.take(); err != nil || len(b) == 0 {
		return err
	}
	d.enter()
	defer d.leave()
	if err := d.openStage(); err != nil {
		return err
	}
	for i, ahead := 0, 0; len(b) > 0; i ^= 1 {
		for ; ahead < 2*stageChunk && ahead < len(b); ahead += min(stageChunk, len(b)-ahead) {
			j := i ^ (ahead / stageChunk)
			if err := d.half(j); err != nil {
				return err
			}
			from := src + uintptr(ahead)
			if err := d.moved(d.drv.CopyOut, addrOf(d.stage.half[j]), from, min(stageChunk, len(b)-ahead), j); err != nil {
				return err
			}
		}
		if err := d.half(i); err != nil {
			return err
		}
		n := copy(b, d.stage.half[i])
		src, b, ahead = src+uintptr(n), b[n:], ahead-n
	}
	return d.take()
}
