package staged

import (
	"context"

	"github.com/golops/golops/comm/driver"
)

// A large collective is a sequence of small ones on a ring of three blocks of pinned memory.
// While chunk i is exchanged with the other ranks, chunk i+1 is downloaded from the GPU and
// chunk i-1 is uploaded. Chunk i has part i of every rank's block, so each chunk is a
// collective of the same kind. Host memory is limited to three chunks, however large the
// buffers are.

// side is the destination or the source of a collective.
type side struct {
	buf    driver.Buf
	parts  int   // blocks in it: 1, or one for each rank
	counts []int // of the blocks; nil if they are equal

	at          int   // its offset in a block of the ring, in bytes
	chunkCounts []int // counts of the current chunk
}

// reset makes s the side of a new collective.
func (s *side) reset(buf driver.Buf, blocks driver.Side, counts []int, size int) {
	s.buf, s.parts, s.counts, s.at = buf, 1, counts, 0
	if blocks == driver.Blocks {
		s.parts = size
	}
}

// count returns how many elements block r has.
func (s *side) count(r int) int {
	if s.counts == nil {
		return s.buf.N / s.parts
	}
	return s.counts[r]
}

// largest returns how many elements the largest block has.
func (s *side) largest() int {
	n := 0
	for r := range s.parts {
		n = max(n, s.count(r))
	}
	return n
}

// packed reports whether a chunk is copied to the ring: it is in GPU memory, or it consists of
// several pieces in host memory.
func (s *side) packed() bool { return onDevice(&s.buf) || s.buf.N > 0 && s.parts > 1 }

// pipeline is a collective in chunks of per elements of each block.
type pipeline struct {
	s           *shared
	dst, src    side
	chunks, per int
	blocks      [3]*block // nil if nothing is packed
	marks       [3]uint64 // of the downloads
}

// describe notes the sides of a collective.
func (c *Conn) describe(q *driver.Call) {
	s, t := q.Kind.Spec(), &c.pipeline
	dst, src := sides(q)
	t.dst.reset(dst, s.Dst, q.In, c.info.Size)
	t.src.reset(src, s.Src, q.Out, c.info.Size)
}

// open takes the ring for a number of chunks, the same on all ranks: see agree.
func (t *pipeline) open(s *shared, chunks, per int) error {
	t.s, t.chunks, t.per = s, chunks, per
	n := t.ringBytes(&t.dst)
	if t.dst.parts > 1 || t.src.parts > 1 {
		t.src.at = n
		n += t.ringBytes(&t.src)
	} else { // the host works in place
		n = max(n, t.ringBytes(&t.src))
	}
	if n == 0 {
		return nil
	}
	for i := range t.blocks {
		var err error
		if t.blocks[i], err = s.pool.take(n, s); err != nil {
			return err
		}
	}
	return s.follow(onDevice(&t.src.buf), onDevice(&t.dst.buf))
}

// close returns the blocks, unless the program was aborted: other ranks may still use them.
func (t *pipeline) close() {
	for i, b := range t.blocks {
		if !t.s.failed {
			t.s.pool.give(b)
		}
		t.blocks[i] = nil
	}
	t.dst.buf, t.src.buf = driver.Buf{}, driver.Buf{}
}

// ringBytes returns the bytes of a side in a block of the ring. The first chunk is the
// largest.
func (t *pipeline) ringBytes(s *side) int {
	if !s.packed() {
		return 0
	}
	n := 0
	for r := range s.parts {
		n += min(s.count(r), t.per)
	}
	return n * s.buf.DType.Size()
}

// cut returns the range of n elements that is in chunk i.
func (t *pipeline) cut(n, i int) (lo, hi int) { return min(i*t.per, n), min((i+1)*t.per, n) }

// chunk returns chunk i of a side as the host gets it, and its counts if the side has any.
func (t *pipeline) chunk(s *side, i int) (driver.Buf, []int) {
	n := 0
	s.chunkCounts = s.chunkCounts[:0]
	for r := range s.parts {
		lo, hi := t.cut(s.count(r), i)
		s.chunkCounts = append(s.chunkCounts, hi-lo)
		n += hi - lo
	}
	b := driver.Buf{DType: s.buf.DType, Label: s.buf.Label}
	switch {
	case n == 0:
	case s.packed():
		b = t.blocks[i%3].buf(s.buf, s.at, n)
	default:
		b = s.buf.Slice(t.cut(s.buf.N, i))
	}
	if s.counts == nil {
		return b, nil
	}
	return b, s.chunkCounts
}

// pack starts the copies of chunk i of a side to the ring or, with back, from the ring.
func (t *pipeline) pack(s *side, i int, back bool) error {
	at, start := s.at, 0
	for r := range s.parts {
		n := s.count(r)
		lo, hi := t.cut(n, i)
		b := s.buf.Slice(start+lo, start+hi)
		start += n
		if b.N == 0 {
			continue
		}
		mem := t.blocks[i%3].mem[at : at+b.Bytes()]
		at += len(mem)
		var err error
		switch {
		case b.Place == driver.OnHost && back:
			copy(hostBytes(b), mem)
		case b.Place == driver.OnHost:
			copy(mem, hostBytes(b))
		case back:
			err = t.s.up.CopyIn(b.Addr(), mem)
		default:
			err = t.s.down.CopyOut(mem, b.Addr())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load starts the copies of chunk i from the source.
func (t *pipeline) load(i int) error {
	b := t.blocks[i%3]
	if b == nil || i == t.chunks {
		return nil
	}
	if err := t.s.awaitUpload(b); err != nil || !t.src.packed() {
		return err
	}
	err := t.pack(&t.src, i, false)
	if err == nil && onDevice(&t.src.buf) {
		t.marks[i%3], err = t.s.down.Mark()
	}
	return err
}

// loaded waits until chunk i has been copied from the source.
func (t *pipeline) loaded(i int) error {
	if i == t.chunks || !onDevice(&t.src.buf) {
		return nil
	}
	return awaitMark(t.s.down, t.marks[i%3])
}

// store starts the copies of chunk i to the destination.
func (t *pipeline) store(i int) error {
	if !t.dst.packed() {
		return nil
	}
	err := t.pack(&t.dst, i, true)
	if err == nil && onDevice(&t.dst.buf) {
		err = t.s.uploads(t.blocks[i%3])
	}
	return err
}

// inChunks runs a collective chunk by chunk.
func (c *Conn) inChunks(ctx context.Context, q *driver.Call, chunks int) error {
	t := &c.pipeline
	defer t.close()
	if err := t.open(c.s, chunks, c.chunkElements(q)); err != nil {
		return err
	}
	if err := t.load(0); err != nil {
		return err
	}
	for i := range t.chunks {
		if err := t.loaded(i); err != nil {
			return err
		}
		if err := t.load(i + 1); err != nil {
			return err
		}
		if err := c.doChunk(ctx, q, i); err != nil {
			c.s.failed = c.s.failed || c.host.Aborted() != nil
			_ = t.loaded(i + 1) // no copy may use a block that is returned to the pool
			return err
		}
		if err := t.store(i); err != nil {
			return err
		}
	}
	if onDevice(&t.dst.buf) {
		return c.s.up.Lead()
	}
	return nil
}

// doChunk makes the host's call for chunk i.
func (c *Conn) doChunk(ctx context.Context, q *driver.Call, i int) error {
	h, t := &c.call, &c.pipeline
	*h = *q
	var dst, src driver.Buf
	dst, h.In = t.chunk(&t.dst, i)
	src, h.Out = t.chunk(&t.src, i)
	setSides(h, dst, src)
	h.Check(c.info.Rank, c.info.Size, true)
	return c.host.Do(ctx, h)
}
