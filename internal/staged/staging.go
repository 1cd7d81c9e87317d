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

// staging is a destination and a source, and what the host gets for them. Blocks of the
// pool replace GPU memory, one block for both if they share memory.
type staging struct {
	dst, src           driver.Buf
	hostDst, hostSrc   driver.Buf
	dstBlock, srcBlock *block
}

// stage takes blocks for dst and src. It copies nothing.
func (s *shared) stage(dst, src driver.Buf) (t staging, err error) {
	t = staging{dst: dst, src: src, hostDst: dst, hostSrc: src}
	if overlap(&dst, &src) { // one is part of the other
		low := min(dst.Addr(), src.Addr())
		if t.dstBlock, err = s.pool.take(max(dst.Bytes(), src.Bytes()), s); err != nil {
			return t, err
		}
		t.hostDst = t.dstBlock.buf(dst, int(dst.Addr()-low), dst.N)
		t.hostSrc = t.dstBlock.buf(src, int(src.Addr()-low), src.N)
		return t, nil
	}
	if onDevice(&dst) {
		if t.dstBlock, err = s.pool.take(dst.Bytes(), s); err != nil {
			return t, err
		}
		t.hostDst = t.dstBlock.buf(dst, 0, dst.N)
	}
	if onDevice(&src) {
		if t.srcBlock, err = s.pool.take(src.Bytes(), s); err != nil {
			s.pool.give(t.dstBlock)
			return t, err
		}
		t.hostSrc = t.srcBlock.buf(src, 0, src.N)
	}
	return t, nil
}

// release returns the blocks to the pool.
func (s *shared) release(all []staging) {
	for i := range all {
		s.pool.give(all[i].dstBlock)
		s.pool.give(all[i].srcBlock)
	}
}

// fetch copies the sources to the host and waits for the copies.
func (s *shared) fetch(all []staging) error {
	down, up := false, false
	for i := range all {
		down, up = down || onDevice(&all[i].src), up || onDevice(&all[i].dst)
	}
	if err := s.follow(down, up); err != nil || !down {
		return err
	}
	for i := range all {
		if t := &all[i]; onDevice(&t.src) {
			if err := s.down.CopyOut(hostBytes(t.hostSrc), t.src.Addr()); err != nil {
				return err
			}
		}
	}
	mark, err := s.down.Mark()
	if err != nil {
		return err
	}
	return awaitMark(s.down, mark)
}

// deliver starts the copies of the results to the destinations. Kernels launched later
// wait for them, and so do the next users of the blocks.
func (s *shared) deliver(all []staging) error {
	up := false
	for i := range all {
		t := &all[i]
		if !onDevice(&t.dst) {
			continue
		}
		up = true
		if err := s.up.CopyIn(t.dst.Addr(), hostBytes(t.hostDst)); err != nil {
			return err
		}
		if err := s.uploads(t.dstBlock); err != nil {
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
	mark, err := s.down.Mark()
	if err != nil {
		return err
	}
	return awaitMark(s.down, mark)
}
