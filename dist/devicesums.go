package dist

import (
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// maxDeviceSums is the most sums that stay on the device before they are fetched.
const maxDeviceSums = 16

// deviceSums are sums that are still on the device. Fetching them together takes one
// wait instead of one for each.
type deviceSums struct {
	direct bool // wait for each: one sum is faster without the room on the device
	dev    device.Device
	async  bool // dev leaves sums in its memory
	n      int  // sums there
	to     [maxDeviceSums]Slot
	room   array.Array[complex128]
	host   [maxDeviceSums]complex128
}

// deviceRoom returns memory of a device for a sum that belongs to s. It returns false
// where the host waits for each sum.
func (r *Reduction) deviceRoom(d device.Device, s Slot) (room array.Array[complex128], ok bool) {
	l := &r.device
	if l.dev != d {
		l.dev, l.async = d, d.Info().AsyncSums
	}
	if !l.async || l.direct {
		return room, false
	}
	if l.room.Device() != d || l.n == maxDeviceSums {
		r.fail(r.fetch())
	}
	if l.room.Device() != d {
		var err error
		if l.room, err = array.New[complex128](d, shape.Of(maxDeviceSums)); err != nil {
			r.fail(fmt.Errorf("dist: reduction: %w", err))
			return room, false
		}
	}
	l.to[l.n] = s
	l.n++
	return l.room.Slice(l.n-1, l.n), true
}

// fetch adds what is on the device to the slots.
func (r *Reduction) fetch() error {
	l := &r.device
	if l.n == 0 {
		return nil
	}
	n := l.n
	l.n = 0
	err := l.room.Slice(0, n).CopyOut(l.host[:n])
	for i, v := range l.host[:n] {
		l.to[i].add(v, nil)
	}
	return err
}

// Free gives back the room on the device, which the next slot makes anew. Where
// nobody calls it, the garbage collector gives it back.
func (r *Reduction) Free() {
	r.device.room.Free()
	r.device.room = array.Array[complex128]{}
}
