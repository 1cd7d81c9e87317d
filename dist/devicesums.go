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
	direct bool
	n      int // sums there
	to     [maxDeviceSums]target
	room   array.Array[complex128]
	host   [maxDeviceSums]complex128
}

// target says where a sum belongs. The real part is added to value at. The imaginary
// part is added to the next one if both is true.
type target struct {
	at   int
	both bool
}

func (s *Sums) add(to target, v complex128) {
	s.v[to.at] += real(v)
	if to.both {
		s.v[to.at+1] += imag(v)
	}
}

// slot returns device memory for a sum that belongs to a term.
func (s *Sums) slot(d device.Device, to target) (m device.Mem[complex128], err error) {
	l := &s.device
	if l.room.Device() != d || l.n == maxDeviceSums {
		if err := s.fetch(); err != nil {
			return m, err
		}
	}
	if l.room.Device() != d {
		if l.room, err = array.New[complex128](d, shape.Of(maxDeviceSums)); err != nil {
			return m, fmt.Errorf("dist: sums: %w", err)
		}
	}
	l.to[l.n] = to
	l.n++
	return l.room.Slice(l.n-1, l.n).Mem(), nil
}

// fetch adds what is on the device to the values.
func (s *Sums) fetch() error {
	l := &s.device
	if l.n == 0 {
		return nil
	}
	n := l.n
	l.n = 0
	if err := l.room.Slice(0, n).CopyOut(l.host[:n]); err != nil {
		return err
	}
	for i, v := range l.host[:n] {
		s.add(l.to[i], v)
	}
	return nil
}
