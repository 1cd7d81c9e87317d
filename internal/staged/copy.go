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

// raw returns the host memory of b.
func raw(b comm.Buf) []byte { return unsafe.Slice((*byte)(b.Ptr), b.Bytes()) }

// follow lets copies wait for the kernels that have been launched: those from
// src for what fills it, those to dst for what reads what was there before.
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
	if err := s.down.CopyOut(raw(dst), src.Addr()); err != nil {
		return 0, err
	}
	return s.down.Mark()
}

// upload starts the copy of src, in block b, to dst on the device.
func (s *shared) upload(dst, src comm.Buf, b *block) error {
	if err := s.up.CopyIn(dst.Addr(), raw(src)); err != nil {
		return err
	}
	return s.uploads(b)
}

// uploads takes note of uploads from b that have been started.
func (s *shared) uploads(b *block) error {
	var err error
	b.mark, err = s.up.Mark()
	b.busy = err == nil
	return err
}

// settle waits until no upload uses b.
func (s *shared) settle(b *block) error {
	if !b.busy {
		return nil
	}
	b.busy = false
	return reach(s.up, b.mark)
}

// reach waits for a mark. Copies take as long as they take, whatever becomes
// of the other ranks, so nothing ends the wait early but an error of the device.
func reach(q device.Queue, mark uint64) error {
	for turn := 0; ; turn++ {
		done, err := q.Reached(mark)
		if done || err != nil {
			return err
		}
		if turn > 100 {
			runtime.Gosched()
			sched.Yield()
		}
	}
}

// idle waits for the kernels that have been launched, for a library that
// reaches GPU memory, knows nothing of queues, and asks the thread for the
// device.
func (s *shared) idle() error {
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
	return reach(s.down, mark)
}

// overlap reports whether two buffers on the device share memory.
func overlap(a, b comm.Buf) bool {
	return onDevice(a) && onDevice(b) && a.Addr() < b.Addr()+uintptr(b.Bytes()) && b.Addr() < a.Addr()+uintptr(a.Bytes())
}

// pair is a destination and a source of a call as the host communicator sees
// them. GPU memory is replaced by blocks of the pool, or one block for both
// where they share memory.
type pair struct {
	dst, src           comm.Buf
	dstBlock, srcBlock *block
}

// borrow makes the pair of dst and src, with nothing copied yet.
func (s *shared) borrow(dst, src comm.Buf) (p pair, err error) {
	p = pair{dst: dst, src: src}
	inPlace := overlap(dst, src)
	if onDevice(dst) {
		low, n := dst.Addr(), dst.Bytes()
		if inPlace { // one lies in the other
			low, n = min(low, src.Addr()), max(n, src.Bytes())
		}
		if p.dstBlock, err = s.pool.take(n, s); err != nil {
			return p, err
		}
		p.dst = p.dstBlock.buf(dst, int(dst.Addr()-low), dst.N)
		if inPlace {
			p.src = p.dstBlock.buf(src, int(src.Addr()-low), src.N)
			return p, nil
		}
	}
	if onDevice(src) {
		if p.srcBlock, err = s.pool.take(src.Bytes(), s); err != nil {
			s.pool.give(p.dstBlock)
			return p, err
		}
		p.src = p.srcBlock.buf(src, 0, src.N)
	}
	p.dst, p.src = p.dst.IgnorePlace(), p.src.IgnorePlace() // those without elements
	return p, nil
}

// giveBack returns the blocks.
func (s *shared) giveBack(p pair) {
	s.pool.give(p.dstBlock)
	s.pool.give(p.srcBlock)
}

// fetch copies src to the host and waits for it.
func (s *shared) fetch(p pair, dst, src comm.Buf) error {
	if err := s.follow(dst, src); err != nil || !onDevice(src) {
		return err
	}
	mark, err := s.download(p.src, src)
	if err != nil {
		return err
	}
	return reach(s.down, mark)
}

// deliver starts the copy of what has come to dst. Kernels launched after it
// wait for it, and so does whoever takes the block next.
func (s *shared) deliver(p pair, dst comm.Buf) error {
	if !onDevice(dst) {
		return nil
	}
	if err := s.upload(dst, p.dst, p.dstBlock); err != nil {
		return err
	}
	return s.up.Lead()
}
