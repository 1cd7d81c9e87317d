package staged

import "github.com/golops/golops/comm"

// overlap reports whether two buffers on the device share memory.
func overlap(a, b comm.Buf) bool {
	return onDevice(a) && onDevice(b) && a.Addr() < b.Addr()+uintptr(b.Bytes()) && b.Addr() < a.Addr()+uintptr(a.Bytes())
}

// staging holds destination and source of a call as the host communicator gets them. Blocks of
// the pool replace GPU memory, one block for both if they share memory.
type staging struct {
	dst, src           comm.Buf
	dstBlock, srcBlock *block
}

// stage takes blocks for dst and src. It copies nothing.
func (s *shared) stage(dst, src comm.Buf) (p staging, err error) {
	p = staging{dst: dst, src: src}
	inPlace := overlap(dst, src)
	if onDevice(dst) {
		low, n := dst.Addr(), dst.Bytes()
		if inPlace { // one is part of the other
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
	p.dst, p.src = p.dst.IgnorePlace(), p.src.IgnorePlace() // also of empty buffers
	return p, nil
}

// release returns the blocks to the pool.
func (s *shared) release(p staging) {
	s.pool.give(p.dstBlock)
	s.pool.give(p.srcBlock)
}

// fetch copies src to the host and waits for the copy.
func (s *shared) fetch(p staging, dst, src comm.Buf) error {
	if err := s.follow(dst, src); err != nil || !onDevice(src) {
		return err
	}
	mark, err := s.download(p.src, src)
	if err != nil {
		return err
	}
	return awaitMark(s.down, mark)
}

// deliver starts the copy of the result to dst. Kernels launched later wait for it, and so does
// the next user of the block.
func (s *shared) deliver(p staging, dst comm.Buf) error {
	if !onDevice(dst) {
		return nil
	}
	if err := s.upload(dst, p.dst, p.dstBlock); err != nil {
		return err
	}
	return s.up.Lead()
}
