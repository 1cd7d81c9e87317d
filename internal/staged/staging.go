package staged

import (
	"runtime"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/sched"
)

// onDevice reports whether b has elements in GPU memory.
func onDevice(b *driver.Buf) bool { return b.Place == driver.OnDevice && b.N > 0 }

// overlap reports whether two buffers on the device share memory.
func overlap(a, b *driver.Buf) bool {
	return onDevice(a) && onDevice(b) && a.Addr() < b.Addr()+uintptr(b.Bytes()) && b.Addr() < a.Addr()+uintptr(a.Bytes())
}

// hostBytes returns the host memory of b.
func hostBytes(b driver.Buf) []byte { return unsafe.Slice((*byte)(b.Ptr), b.Bytes()) }

// staging is a buffer in GPU memory and the part of a block that the host gets for it.
type staging struct {
	gpu, host driver.Buf
	block     *block // nil if it is the block of another staging
	read      bool   // by the call, which otherwise fills it
}

// stage adds a staging of b to r and returns what the host gets for it: b itself if it is
// in host memory. It copies nothing.
func (s *shared) stage(r *request, b driver.Buf, read bool) (driver.Buf, error) {
	if !onDevice(&b) {
		return b, nil
	}
	k, err := s.pool.take(b.Bytes(), s)
	if err != nil {
		return b, err
	}
	host := k.buf(b, 0, b.N)
	r.staged = append(r.staged, staging{b, host, k, read})
	return host, nil
}

// stagePair is stage for a destination and a source. They get one block if one is part of
// the other.
func (s *shared) stagePair(r *request, dst, src driver.Buf) (hostDst, hostSrc driver.Buf, err error) {
	if !overlap(&dst, &src) {
		if hostDst, err = s.stage(r, dst, false); err == nil {
			hostSrc, err = s.stage(r, src, true)
		}
		return hostDst, hostSrc, err
	}
	k, err := s.pool.take(max(dst.Bytes(), src.Bytes()), s)
	if err != nil {
		return dst, src, err
	}
	low := min(dst.Addr(), src.Addr())
	hostDst, hostSrc = k.buf(dst, int(dst.Addr()-low), dst.N), k.buf(src, int(src.Addr()-low), src.N)
	r.staged = append(r.staged, staging{dst, hostDst, k, false}, staging{src, hostSrc, nil, true})
	return hostDst, hostSrc, nil
}

// fetch copies the sources to the host and waits for the copies.
func (s *shared) fetch(all []staging) error {
	down, up := false, false
	for i := range all {
		down, up = down || all[i].read, up || !all[i].read
	}
	if err := s.follow(down, up); err != nil || !down {
		return err
	}
	for i := range all {
		if t := &all[i]; t.read {
			if err := s.down.CopyOut(hostBytes(t.host), t.gpu.Addr()); err != nil {
				return err
			}
		}
	}
	return s.awaitDown()
}

// deliver starts the copies of the results to the destinations. Kernels launched later
// wait for them, and so do the next users of the blocks.
func (s *shared) deliver(all []staging) error {
	up := false
	for i := range all {
		t := &all[i]
		if t.read {
			continue
		}
		up = true
		if err := s.up.CopyIn(t.gpu.Addr(), hostBytes(t.host)); err != nil {
			return err
		}
		if err := s.uploads(t.block); err != nil {
			return err
		}
	}
	if !up {
		return nil
	}
	return s.up.Lead()
}

// follow lets copies wait for the kernels launched so far. Kernels may still fill a source
// or read a destination.
func (s *shared) follow(down, up bool) error {
	if down {
		if err := s.down.Follow(); err != nil {
			return err
		}
	}
	if up {
		return s.up.Follow()
	}
	return nil
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
	return s.awaitDown()
}

// awaitDown waits for everything in the queue of copies from the device.
func (s *shared) awaitDown() error {
	mark, err := s.down.Mark()
	if err != nil {
		return err
	}
	return awaitMark(s.down, mark)
}
