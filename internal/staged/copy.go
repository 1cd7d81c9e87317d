package staged

import (
	"runtime"
	"unsafe"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/sched"
)

// onDevice reports whether b has elements in GPU memory.
func onDevice(b comm.Buf) bool { return b.Place == comm.OnDevice && b.N > 0 }

// hostBytes returns the host memory of b.
func hostBytes(b comm.Buf) []byte { return unsafe.Slice((*byte)(b.Ptr), b.Bytes()) }

// follow lets copies wait for the kernels launched so far. Kernels may still fill src or read
// dst.
func (s *shared) follow(dst, src comm.Buf) error {
	if onDevice(src) {
		if err := s.down.Follow(); err != nil {
			return err
		}
	}
	if onDevice(dst) {
		return s.up.Follow()
	}
	return nil
}

// download starts the copy of src, on the device, to the host memory of dst.
func (s *shared) download(dst, src comm.Buf) (mark uint64, err error) {
	if err := s.down.CopyOut(hostBytes(dst), src.Addr()); err != nil {
		return 0, err
	}
	return s.down.Mark()
}

// upload starts the copy of src, in block b, to dst on the device.
func (s *shared) upload(dst, src comm.Buf, b *block) error {
	if err := s.up.CopyIn(dst.Addr(), hostBytes(src)); err != nil {
		return err
	}
	return s.uploads(b)
}

// uploads records that uploads from b have been started.
func (s *shared) uploads(b *block) error {
	var err error
	b.mark, err = s.up.Mark()
	b.busy = err == nil
	return err
}

// awaitUpload waits until no upload uses b.
func (s *shared) awaitUpload(b *block) error {
	if !b.busy {
		return nil
	}
	b.busy = false
	return awaitMark(s.up, b.mark)
}

// awaitMark waits for a mark of a queue. Copies end whatever the other ranks do, so only an
// error of the device ends the wait early.
func awaitMark(q device.Queue, mark uint64) error {
	for polls := 0; ; polls++ {
		done, err := q.Reached(mark)
		if done || err != nil {
			return err
		}
		if polls > 100 {
			runtime.Gosched()
			sched.Yield()
		}
	}
}

// awaitKernels waits for the kernels launched so far. A GPU-aware library needs that: it knows
// nothing of queues. It takes the GPU of the current thread.
func (s *shared) awaitKernels() error {
	if err := s.dev.Bind(); err != nil {
		return err
	}
	if err := s.down.Follow(); err != nil {
		return err
	}
	mark, err := s.down.Mark()
	if err != nil {
		return err
	}
	return awaitMark(s.down, mark)
}
