package staged

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device"
)

// block is pinned host memory of the pool.
type block struct {
	mem   []byte
	class int
	busy  bool   // an upload from it may be under way until mark
	mark  uint64 // of the queue of uploads
}

// buf returns n elements of the type of b, at offset bytes of the block.
func (k *block) buf(b driver.Buf, offset, n int) driver.Buf {
	return driver.Buf{DType: b.DType, N: n, Ptr: unsafe.Pointer(&k.mem[offset]), Label: b.Label}
}

// pool keeps pinned memory, because pinning takes far longer than copying. It only grows: the
// memory of a program's first step serves all later ones.
type pool struct {
	dev    device.Accelerator
	free   [classes][]*block
	slab   []byte   // unused rest of the last slab
	pinned [][]byte // all pinned memory
	bytes  int      // pinned
}

// Sizes of blocks. Up to half a slab they are powers of two, and many are cut from one slab.
// Larger ones have four sizes per doubling and are pinned one by one.
const (
	smallest = 8  // bits: 256 bytes, an alignment for fast copies
	slabBits = 20 // bits: 1 MiB
	steps    = 4
	small    = slabBits - smallest // classes cut from slabs
	classes  = small + steps*24
)

// classOf returns the class of n bytes and the size of its blocks.
func classOf(n int) (class, size int) {
	if n <= 1<<(slabBits-1) {
		class = max(bits.Len(uint(max(n, 1)-1))-smallest, 0)
		return class, 1 << (class + smallest)
	}
	top := bits.Len(uint(n-1)) - 1 // 2^top < n <= 2^(top+1)
	step := 1 << (top - 2)
	k := (n - 1<<top + step - 1) / step // 1 to 4
	return small + steps*(top-slabBits+1) + k - 1, 1<<top + k*step
}

// take returns a block of at least n bytes from which no upload is under way.
func (p *pool) take(n int, s *shared) (*block, error) {
	class, size := classOf(n)
	if class >= classes {
		return nil, fmt.Errorf("staged: %d bytes are too many to stage through host memory at once", n)
	}
	last := class
	if class >= small { // a block up to twice as large is better than pinning another
		last = min(class+steps, classes-1)
	}
	for c := class; c <= last; c++ {
		if k := len(p.free[c]); k > 0 {
			b := p.free[c][0] // free for the longest time
			copy(p.free[c], p.free[c][1:])
			p.free[c] = p.free[c][:k-1]
			err := s.awaitUpload(b)
			if err != nil {
				p.give(b)
			}
			return b, err
		}
	}
	mem, err := p.cut(size)
	if err != nil {
		return nil, err
	}
	return &block{mem: mem, class: class}, nil
}

// give returns a block to the pool.
func (p *pool) give(b *block) {
	if b != nil {
		p.free[b.class] = append(p.free[b.class], b)
	}
}

// cut returns new memory of the size of a class.
func (p *pool) cut(size int) ([]byte, error) {
	if size > 1<<(slabBits-1) {
		return p.pin(size)
	}
	if len(p.slab) < size {
		slab, err := p.pin(1 << slabBits)
		if err != nil {
			return nil, err
		}
		p.slab = slab
	}
	mem := p.slab[:size:size]
	p.slab = p.slab[size:]
	return mem, nil
}

func (p *pool) pin(n int) ([]byte, error) {
	mem, err := p.dev.Pin(n)
	if err != nil {
		return nil, fmt.Errorf("staged: pin %d bytes of host memory beside %d: %w", n, p.bytes, err)
	}
	p.pinned, p.bytes = append(p.pinned, mem), p.bytes+n
	return mem, nil
}

// close frees all memory.
func (p *pool) close() {
	for _, m := range p.pinned {
		p.dev.Unpin(m)
	}
	*p = pool{dev: p.dev}
}
