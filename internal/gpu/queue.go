package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/dl"
)

// Queue is a stream beside the stream of kernels.
type Queue struct {
	d          *Device
	stream     uintptr
	orderEvent uintptr // an event for Follow and Lead
	marks      []mark  // not yet seen as reached, in order
	freeEvents []uintptr
	last       uint64 // mark given out
	done       uint64 // mark known to be reached
}

// mark is an event in a queue.
type mark struct {
	number uint64
	event  uintptr
}

var _ device.Queue = (*Queue)(nil)

// NewQueue implements device.Accelerator.
func (d *Device) NewQueue() (device.Queue, error) {
	if err := d.takeErr(); err != nil {
		return nil, err
	}
	d.enter()
	defer d.leave()
	q, h := &Queue{d: d}, new(uintptr)
	if r := d.drv.StreamCreate.Call(dl.Pointer(h), nonBlocking); r != ok {
		return nil, fmt.Errorf("a queue on %v: %w", d, d.drv.fault(r))
	}
	q.stream = *h
	var err error
	if q.orderEvent, err = d.newEvent(); err != nil {
		d.drv.StreamDestroy.Call(q.stream)
		return nil, err
	}
	d.queues = append(d.queues, q)
	return q, nil
}

func (d *Device) newEvent() (uintptr, error) {
	h := new(uintptr)
	if r := d.drv.EventCreate.Call(dl.Pointer(h), noTiming); r != ok {
		return 0, fmt.Errorf("an event on %v: %w", d, d.drv.fault(r))
	}
	return *h, nil
}

// Handle implements device.Queue.
func (q *Queue) Handle() uintptr { return q.stream }

// Follow implements device.Queue.
func (q *Queue) Follow() error { return q.order(q.d.stream, q.stream) }

// Lead implements device.Queue.
func (q *Queue) Lead() error {
	q.d.busy = true
	return q.order(q.stream, q.d.stream)
}

// order makes later work on second wait for the work queued on first.
func (q *Queue) order(first, second uintptr) error {
	d := q.d
	d.enter()
	defer d.leave()
	r := d.drv.EventRecord.Call(q.orderEvent, first)
	if r == ok {
		r = d.drv.StreamWait.Call(second, q.orderEvent, 0)
	}
	return q.fault("put in order", r)
}

// fault returns the error of code r, or the first unreported failure.
func (q *Queue) fault(what string, r int32) error {
	if r != ok {
		return fmt.Errorf("%s: %s a queue: %w", q.d.p.Name, what, q.d.drv.fault(r))
	}
	if q.d.err != nil {
		return q.d.takeErr()
	}
	return nil
}

// CopyOut implements device.Queue.
func (q *Queue) CopyOut(dst []byte, src uintptr) error {
	return q.copy(q.d.drv.CopyOut, addrOf(dst), src, len(dst))
}

// CopyIn implements device.Queue.
func (q *Queue) CopyIn(dst uintptr, src []byte) error {
	return q.copy(q.d.drv.CopyIn, dst, addrOf(src), len(src))
}

// Copy implements device.Queue.
func (q *Queue) Copy(dst, src uintptr, n int) error { return q.copy(q.d.drv.Copy, dst, src, n) }

func (q *Queue) copy(f dl.Func, dst, src uintptr, n int) error {
	if n == 0 {
		return nil
	}
	q.d.enter()
	defer q.d.leave()
	return q.fault("copy on", f.Call(dst, src, uintptr(n), q.stream))
}

// Mark implements device.Queue.
func (q *Queue) Mark() (uint64, error) {
	d := q.d
	d.enter()
	defer d.leave()
	if len(q.freeEvents) == 0 {
		e, err := d.newEvent()
		if err != nil {
			return 0, err
		}
		q.freeEvents = append(q.freeEvents, e)
	}
	e := q.freeEvents[len(q.freeEvents)-1]
	if r := d.drv.EventRecord.Call(e, q.stream); r != ok {
		return 0, q.fault("mark", r)
	}
	q.freeEvents = q.freeEvents[:len(q.freeEvents)-1]
	q.last++
	q.marks = append(q.marks, mark{q.last, e})
	return q.last, nil
}

// Reached implements device.Queue.
func (q *Queue) Reached(number uint64) (bool, error) {
	if number <= q.done {
		return true, nil
	}
	if q.stream == 0 {
		return false, errors.New("gpu: a queue is closed")
	}
	q.d.enter()
	defer q.d.leave()
	n, r := 0, int32(ok)
	for ; n < len(q.marks) && q.marks[n].number <= number; n++ {
		m := q.marks[n]
		if r = q.d.drv.EventQuery.Call(m.event); r != ok {
			break
		}
		q.done = m.number
		q.freeEvents = append(q.freeEvents, m.event)
	}
	q.marks = slices.Delete(q.marks, 0, n)
	if r == codeNotReady {
		r = ok
	}
	return number <= q.done, q.fault("work on", r)
}

// await waits until a mark is reached.
func (q *Queue) await(number uint64) error {
	for _, m := range q.marks {
		if m.number == number {
			return q.d.wait(context.Background(), target{event: m.event})
		}
	}
	return nil
}

// idle reports whether no work is under way. A failed queue is idle.
func (q *Queue) idle() bool {
	q.d.enter()
	defer q.d.leave()
	return q.d.drv.StreamQuery.Call(q.stream) != codeNotReady
}

// Close implements device.Queue.
func (q *Queue) Close() error {
	if q.stream == 0 {
		return nil
	}
	d := q.d
	err := d.wait(context.Background(), target{stream: q.stream})
	d.enter()
	defer d.leave()
	for _, m := range q.marks {
		q.freeEvents = append(q.freeEvents, m.event)
	}
	for _, e := range append(q.freeEvents, q.orderEvent) {
		d.drv.EventDestroy.Call(e)
	}
	d.drv.StreamDestroy.Call(q.stream)
	q.done, q.marks, q.freeEvents, q.stream = q.last, nil, nil, 0
	d.queues = slices.DeleteFunc(d.queues, func(o *Queue) bool { return o == q })
	return err
}

// addrOf returns the address of host memory, 0 for a nil slice.
func addrOf[T any](b []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
