package mpi

import (
	"context"
	"math"
	"runtime"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// collectives names the library's functions. They are the non-blocking ones, which are
// polled, so that a cancelled context or another rank's failure ends the wait.
// startNative knows their arguments from driver.Specs.
var collectives = [...]string{
	driver.KindAllReduce:      "Iallreduce",
	driver.KindReduce:         "Ireduce",
	driver.KindExScan:         "Iexscan",
	driver.KindBroadcast:      "Ibcast",
	driver.KindAllGather:      "Iallgather",
	driver.KindAllGatherV:     "Iallgatherv",
	driver.KindGather:         "Igather",
	driver.KindGatherV:        "Igatherv",
	driver.KindScatter:        "Iscatter",
	driver.KindScatterV:       "Iscatterv",
	driver.KindReduceScatter:  "Ireduce_scatter_block",
	driver.KindReduceScatterV: "Ireduce_scatter",
	driver.KindAllToAll:       "Ialltoall",
	driver.KindAllToAllV:      "Ialltoallv",
}

// Do implements driver.Conn.
func (r *rank) Do(ctx context.Context, c *driver.Call) error {
	if err := r.enter(ctx, c); err != nil {
		return err
	}
	var err error
	switch c.Kind {
	case driver.KindBarrier:
		return r.barrier(ctx, &c.Signature)
	case driver.KindAllReduce:
		err = r.allReduce(ctx, c)
	default:
		err = r.native(ctx, c)
	}
	if err == nil && c.Kind.Spec().Before && r.me == 0 && c.Dst.N > 0 {
		clear(unsafe.Slice((*byte)(c.Dst.Ptr), c.Dst.Bytes())) // MPI leaves it undefined
	}
	if err == nil && c.Op == driver.Average {
		driver.Divide(c.Dst.Ptr, c.Dst.DType, c.Dst.N, r.n)
	}
	runtime.KeepAlive(c) // the garbage collector does not know that MPI uses the buffers
	return err
}

// enter starts a collective. It returns c.Err. In checked mode it also returns the error
// of another rank, or a mismatch. Without checked mode a step goes on, because the other
// ranks wait for it.
func (r *rank) enter(ctx context.Context, c *driver.Call) error {
	if err := r.w.ready(ctx); err != nil {
		return err
	}
	switch {
	case r.w.cfg.Checked && r.n > 1:
		return r.compare(ctx, c)
	case c.StepOf != nil:
		return nil
	}
	return c.Err
}

// barrier waits until all ranks of the group have called it.
func (r *rank) barrier(ctx context.Context, call *driver.Signature) error {
	code := r.l.call(r.l.ibarrier, r.algoComm, addr(&r.blocking.req))
	return r.await(ctx, call, code)
}

// native runs a collective by calls of the library.
func (r *rank) native(ctx context.Context, c *driver.Call) error {
	if err := r.checkCounts(ctx, c); err != nil {
		return err
	}
	s, dst := c.Kind.Spec(), c.Dst
	switch {
	case s.Dst == driver.Blocks && s.Src == driver.Blocks:
		c.Src = r.separate(c.Dst, c.Src)
	case s.Reduces && s.Src == driver.Blocks && r.inPlace(c, c.Dst, c.Src):
		// In MPI either all ranks work in place or none, but a rank whose block is
		// empty cannot know. So none does: the result goes through scratch memory.
		c.Dst.Ptr = r.scratchBytes(dst.Bytes())
	case c.Kind == driver.KindAllReduce && r.slowInPlace(c.Src.Bytes()):
		return r.farAllReduce(ctx, c)
	}
	q := &r.messages
	q.reset()
	if err := r.start(q, c); err != nil {
		return r.checkStarted(q, err)
	}
	err := r.awaitAll(ctx, q)
	if err == nil {
		err = q.err
	}
	if err == nil {
		driver.Move(dst.Ptr, c.Dst.Ptr, dst.Bytes())
	}
	c.Dst = dst
	return err
}

// start starts a collective as operations of q. Counts that exceed one call are divided:
// reductions and broadcasts into pieces, the others into messages. Calls in which a rank
// knows only some of the counts consist of messages if counts might exceed a call on
// another rank, or if the library does not bear wrong ones: see countguard.go.
func (r *rank) start(q *request, c *driver.Call) error {
	s, limit := c.Kind.Spec(), r.l.maxCount
	one := func(dst, src driver.Buf) error {
		return r.l.errorOf(c.Kind.String(), r.startNative(q.addTo(c), c, dst, src))
	}
	switch {
	case c.N < 0 && (r.w.guardCounts || limit <= math.MaxInt32):
		return r.postBlocks(q, c)
	case c.N <= int64(limit):
		return one(c.Dst, c.Src)
	case s.Dst != driver.Blocks && s.Src != driver.Blocks:
		return pieces(int(c.N), limit, func(lo, hi int) error { return one(part(c.Dst, lo, hi), part(c.Src, lo, hi)) })
	case s.Reduces:
		return r.reduceBlocks(q, c)
	}
	return r.postBlocks(q, c)
}

// pieces calls f for consecutive pieces of at most limit of n elements, at least once.
func pieces(n, limit int, f func(lo, hi int) error) error {
	for lo, hi := 0, 0; ; lo = hi {
		hi = lo + min(n-lo, limit)
		if err := f(lo, hi); err != nil || hi == n {
			return err
		}
	}
}

// part returns elements lo to hi of b, or b if this rank has no elements.
func part(b driver.Buf, lo, hi int) driver.Buf {
	if b.N == 0 {
		return b
	}
	return b.Slice(lo, hi)
}

// separate returns a copy of src if src is dst. MPI works in place only if all ranks
// do, and it makes a copy too.
func (r *rank) separate(dst, src driver.Buf) driver.Buf {
	if src.N == 0 || !driver.Same(dst, src) {
		return src
	}
	c := driver.Buf{DType: src.DType, N: src.N, Ptr: r.scratchBytes(src.Bytes())}
	driver.Move(c.Ptr, src.Ptr, src.Bytes())
	return c
}

// reduceBlocks is ReduceScatter by one reduction for each block.
func (r *rank) reduceBlocks(q *request, c *driver.Call) error {
	for root := range r.n {
		b := driver.Call{Signature: c.Signature, Src: c.SrcBlock(root, r.n), Dst: driver.Buf{DType: c.DType}}
		if b.Kind, b.Peer, b.N = driver.KindReduce, int32(root), int64(b.Src.N); root == r.me {
			b.Dst = c.Dst
		}
		if err := r.start(q, &b); err != nil {
			return err
		}
	}
	return nil
}

// inPlace reports whether dst and src are the same memory, or one is this rank's block of
// the other.
func (r *rank) inPlace(c *driver.Call, dst, src driver.Buf) bool {
	s := c.Kind.Spec()
	switch {
	case dst.N == 0 || src.N == 0:
		return false
	case s.Dst == driver.Blocks && s.Src == driver.One:
		dst = c.DstBlock(r.me, r.n)
	case s.Src == driver.Blocks && s.Dst == driver.One:
		src = c.SrcBlock(r.me, r.n)
	}
	return driver.Same(dst, src)
}

// startNative starts the library's call of c, on dst and src, as operation o.
func (r *rank) startNative(o *operation, c *driver.Call, dst, src driver.Buf) int32 {
	l, k := r.l, c.Kind
	s := k.Spec()
	if s.Starts != 0 {
		k = s.Starts
	}
	from, to, dt := r.address(&src, &r.blocking), r.address(&dst, &r.second), l.dtypes[c.DType]
	switch {
	case !r.inPlace(c, dst, src):
	case s.Src == driver.Blocks:
		to = l.inPlace
	default:
		from = l.inPlace
	}
	n := dst.N // of a block
	switch {
	case s.Dst == driver.Blocks && s.Src == driver.Blocks:
		n /= r.n
	case s.Src == driver.One:
		n = src.N
	}
	a := r.args[:0]
	side := func(a []uintptr, b uintptr, side driver.Side, counts []int, arrays *countArrays) []uintptr {
		if !s.Counts || side != driver.Blocks {
			return append(a, b, uintptr(n), dt)
		}
		at, offsets := arrays.set(l, counts)
		return append(a, b, at, offsets, dt)
	}
	switch {
	case s.Reduces && s.Counts:
		counts, _ := r.counts.set(l, c.Out)
		a = append(a, from, to, counts, dt, l.op(c.Op, c.DType))
	case s.Reduces:
		a = append(a, from, to, uintptr(n), dt, l.op(c.Op, c.DType))
	default:
		if s.Src != driver.None {
			a = side(a, from, s.Src, c.Out, &r.counts)
		}
		a = side(a, to, s.Dst, c.In, &r.counts2)
	}
	if s.Rooted {
		a = append(a, uintptr(c.Peer))
	}
	return l.call(l.fn(&l.collective[k]), append(a, r.comm, addr(&o.req))...)
}

// postBlocks starts the messages that move the blocks of c.
func (r *rank) postBlocks(q *request, c *driver.Call) error {
	if to := c.From(r.me, r.n); to.N > 0 {
		driver.Move(to.Ptr, c.To(r.me, r.n).Ptr, to.Bytes())
	}
	post := func(k driver.Kind, b driver.Buf, peer int) error {
		if b.N == 0 {
			return nil
		}
		return pieces(b.N, r.l.maxCount, func(lo, hi int) error {
			piece := b.Slice(lo, hi)
			return r.post(q.addTo(c), k, &piece, peer, r.algoComm)
		})
	}
	var err error
	for d := 1; d < r.n && err == nil; d++ {
		from := (r.me + r.n - d) % r.n
		err = post(driver.KindRecv, c.From(from, r.n), from)
	}
	for d := 1; d < r.n && err == nil; d++ {
		to := (r.me + d) % r.n
		err = post(driver.KindSend, c.To(to, r.n), to)
	}
	return err
}

// StartCollective implements driver.NonBlocking.
func (r *rank) StartCollective(ctx context.Context, c *driver.Call) (uint64, error) {
	if c.Err == nil {
		c.Err = r.pending.CheckLimit(c.Kind)
	}
	if err := r.enter(ctx, c); err != nil {
		return 0, err
	}
	q := r.newRequest(c.Kind)
	q.dst, q.src, q.average = c.Dst, c.Src, c.Op == driver.Average
	return q.id, r.checkStarted(q, r.start(q, c))
}

// countArrays are C arrays of counts and displacements: int, or 64-bit if the library
// has calls with 64-bit counts.
type countArrays struct {
	small, smallAt []int32
	at             []int
}

// set fills the arrays for consecutive blocks of counts elements and returns their
// addresses, 0 if this rank knows no counts. 64-bit counts are passed without a copy.
func (a *countArrays) set(l *lib, counts []int) (c, at uintptr) {
	if len(counts) == 0 {
		return 0, 0
	}
	a.small, a.smallAt, a.at = a.small[:0], a.smallAt[:0], a.at[:0]
	sum := 0
	for _, n := range counts {
		a.small, a.smallAt, a.at = append(a.small, int32(n)), append(a.smallAt, int32(sum)), append(a.at, sum)
		sum += n
	}
	if l.maxCount > math.MaxInt32 {
		return addr(&counts[0]), addr(&a.at[0])
	}
	return addr(&a.small[0]), addr(&a.smallAt[0])
}
