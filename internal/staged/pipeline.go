package staged

import "github.com/golops/golops/comm"

// A large collective is a sequence of small ones on a ring of three blocks of pinned memory.
// While chunk i is exchanged with the other ranks, chunk i+1 is downloaded from the GPU and
// chunk i-1 is uploaded. Chunk i has part i of every rank's block, so each chunk is a
// collective of the same kind. Host memory is limited to three chunks, however large the
// buffers are.

// side is the destination or the source of a collective.
type side struct {
	buf    comm.Buf
	parts  int   // blocks in it: 1, or one for each rank
	counts []int // of the blocks; nil if they are equal

	at          int   // its offset in a block of the ring, in bytes
	chunkCounts []int // counts of the current chunk
}

func single(b comm.Buf) side                { return side{buf: b, parts: 1} }
func blocks(b comm.Buf, parts int) side     { return side{buf: b, parts: parts} }
func blocksV(b comm.Buf, counts []int) side { return side{buf: b, parts: len(counts), counts: counts} }

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
func (s *side) packed() bool { return onDevice(s.buf) || s.buf.N > 0 && s.parts > 1 }

// pipeline is a collective in chunks of per elements of each block.
type pipeline struct {
	s           *shared
	dst, src    side
	chunks, per int
	blocks      [3]*block // nil if nothing is packed
	marks       [3]uint64 // of the downloads
	plain       [3]block  // used instead of the pool by a rank with host memory only
}

// newPipeline prepares the pipeline of c. All ranks must use the same number of chunks: see
// agree.
func (c *Comm) newPipeline(dst, src side, chunks, per int) (*pipeline, error) {
	t := &c.pipeline
	dst.chunkCounts, src.chunkCounts = t.dst.chunkCounts, t.src.chunkCounts
	t.s, t.dst, t.src, t.chunks, t.per = c.s, dst, src, chunks, per
	n := t.ringBytes(&t.dst)
	if t.dst.parts > 1 || t.src.parts > 1 {
		t.src.at = n
		n += t.ringBytes(&t.src)
	} else { // the host communicator works in place
		n = max(n, t.ringBytes(&t.src))
	}
	if n == 0 {
		return t, nil
	}
	device := onDevice(dst.buf) || onDevice(src.buf)
	for i := range t.blocks {
		if !device {
			t.blocks[i] = t.plain[i].atLeast(n)
			continue
		}
		var err error
		if t.blocks[i], err = c.s.pool.take(n, c.s); err != nil {
			t.close()
			return nil, err
		}
	}
	if err := c.s.follow(dst.buf, src.buf); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *pipeline) close() {
	for i, b := range t.blocks {
		if b != &t.plain[i] {
			t.s.pool.give(b)
		}
		t.blocks[i] = nil
	}
	t.dst, t.src = side{chunkCounts: t.dst.chunkCounts}, side{chunkCounts: t.src.chunkCounts}
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

// chunk returns chunk i of a side as the host communicator gets it.
func (t *pipeline) chunk(s *side, i int) side {
	n := 0
	s.chunkCounts = s.chunkCounts[:0]
	for r := range s.parts {
		lo, hi := t.cut(s.count(r), i)
		s.chunkCounts = append(s.chunkCounts, hi-lo)
		n += hi - lo
	}
	b := comm.Buf{DType: s.buf.DType, Label: s.buf.Label}
	switch {
	case n == 0:
	case s.packed():
		b = t.blocks[i%3].buf(s.buf, s.at, n)
	default:
		b = s.buf.Slice(t.cut(s.buf.N, i))
	}
	return blocksV(b, s.chunkCounts)
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
		case b.Place == comm.OnHost && back:
			copy(hostBytes(b), mem)
		case b.Place == comm.OnHost:
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
	if err == nil && onDevice(t.src.buf) {
		t.marks[i%3], err = t.s.down.Mark()
	}
	return err
}

// loaded waits until chunk i has been copied from the source.
func (t *pipeline) loaded(i int) error {
	if i == t.chunks || !onDevice(t.src.buf) {
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
	if err == nil && onDevice(t.dst.buf) {
		err = t.s.uploads(t.blocks[i%3])
	}
	return err
}

// run calls call with each chunk of dst and src.
func (t *pipeline) run(call func(dst, src side) error) error {
	defer t.close()
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
		if err := call(t.chunk(&t.dst, i), t.chunk(&t.src, i)); err != nil {
			t.s.failed = true
			_ = t.loaded(i + 1) // no copy may use a block that is returned to the pool
			return err
		}
		if err := t.store(i); err != nil {
			return err
		}
	}
	if onDevice(t.dst.buf) {
		return t.s.up.Lead()
	}
	return nil
}
