package dist

import (
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// lateRoom is how many sums wait on the device before they are fetched.
const lateRoom = 16

// late is sums that are still on the device: fetching them together costs one
// wait instead of one for each.
type late struct {
	off  bool
	n    int // sums there
	to   [lateRoom]term
	room array.Array[complex128]
	host [lateRoom]complex128
}

// term says where a sum belongs: the real part is added to value at and, if both,
// the imaginary part to the next.
type term struct {
	at   int
	both bool
}

func (s *Sums) add(to term, v complex128) {
	s.v[to.at] += real(v)
	if to.both {
		s.v[to.at+1] += imag(v)
	}
}

// later returns memory of the device for a sum that belongs to a term.
func (s *Sums) later(d device.Device, to term) (m device.Mem[complex128], err error) {
	l := &s.late
	if l.room.Device() != d || l.n == lateRoom {
		if err := s.fetch(); err != nil {
			return m, err
		}
	}
	if l.room.Device() != d {
		if l.room, err = array.New[complex128](d, shape.Of(lateRoom)); err != nil {
			return m, fmt.Errorf("dist: sums: %w", err)
		}
	}
	l.to[l.n] = to
	l.n++
	return l.room.Slice(l.n-1, l.n).Mem(), nil
}

// fetch adds what is on the device to the values.
func (s *Sums) fetch() error {
	l := &s.late
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
