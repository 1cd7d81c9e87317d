package local

import (
	"context"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// piece is the size in bytes of a piece of a non-blocking collective.
const piece = 64 << 10

// icoll is a non-blocking collective under way. Once all ranks have started it, its
// work is divided into pieces. Ranks that wait or test do pieces until none is left. So
// no rank waits for one that has started the collective and computes.
type icoll struct {
	seq        uint32
	calls      []driver.Signature
	srcs, dsts []unsafe.Pointer
	started    []atomic.Uint64 // 1 for each rank that has started it
	arrived    int             // guarded by group.mu, as are err and users
	users      int
	err        error

	ready      atomic.Bool   // all ranks have started
	taken      atomic.Int64  // pieces handed out
	unfinished atomic.Int64  // pieces not finished
	ended      atomic.Uint64 // 1 when none is left
	pieces     int64
}

// StartCollective implements driver.NonBlocking. If this rank's arguments are invalid,
// the others get its error when they wait.
func (r *rank) StartCollective(ctx context.Context, c *driver.Call) (uint64, error) {
	if err := r.ready(ctx); err != nil {
		return 0, err
	}
	bad := c.Err
	if bad == nil {
		bad = r.pending.CheckLimit(c.Kind)
	}
	g := r.g
	r.iseq++
	g.mu.Lock()
	var x *icoll
	for _, o := range g.colls {
		if o.seq == r.iseq {
			x = o
		}
	}
	if x == nil {
		x = g.newColl(r.iseq)
	}
	x.calls[r.me], x.srcs[r.me], x.dsts[r.me] = c.Signature, c.Src.Ptr, c.Dst.Ptr
	if bad != nil && x.err == nil {
		x.err = &driver.RankError{Rank: r.me, Err: bad}
	}
	x.arrived++
	if x.arrived == r.n {
		x.prepare()
	}
	g.mu.Unlock()
	x.started[r.me].Store(1)
	r.wakeWaiters()
	if bad != nil {
		g.leaveColl(x)
		return 0, bad
	}
	q := r.newRequest(&c.Signature)
	q.coll = x
	return q.id, nil
}

// newColl makes a collective, or reuses one. The caller holds group.mu.
func (g *group) newColl(seq uint32) *icoll {
	n := len(g.members)
	var c *icoll
	if k := len(g.spare); k > 0 {
		c, g.spare = g.spare[k-1], g.spare[:k-1]
	} else {
		c = &icoll{calls: make([]driver.Signature, n), srcs: make([]unsafe.Pointer, n), dsts: make([]unsafe.Pointer, n),
			started: make([]atomic.Uint64, n)}
	}
	c.seq, c.arrived, c.users, c.err = seq, 0, n, nil
	c.ready.Store(false)
	c.ended.Store(0)
	for i := range c.started {
		c.started[i].Store(0)
	}
	g.colls = append(g.colls, c)
	return c
}

// prepare compares the calls of all ranks and counts the pieces. The last rank to
// arrive calls it with group.mu held.
func (c *icoll) prepare() {
	call := c.calls[0]
	for j, o := range c.calls {
		if o != call && c.err == nil {
			c.err = &driver.MismatchError{RankA: 0, CallA: call.String(), RankB: j, CallB: o.String()}
		}
	}
	bytes := call.N * int64(call.DType.Size())
	c.pieces = (bytes + piece - 1) / piece
	if call.Kind == driver.KindIAllGather {
		c.pieces *= int64(len(c.calls))
	}
	if c.err != nil {
		c.pieces = 0
	}
	c.taken.Store(0)
	c.unfinished.Store(c.pieces)
	if c.pieces == 0 {
		c.ended.Store(1)
	}
	c.ready.Store(true)
}

// doPieces does pieces of a ready collective until none is left to take.
func (r *rank) doPieces(c *icoll) {
	call := c.calls[0]
	for k := c.taken.Add(1) - 1; k < c.pieces; k = c.taken.Add(1) - 1 {
		r.doPiece(c, call, int(k))
		if c.unfinished.Add(-1) == 0 {
			c.ended.Store(1)
			r.g.wakeAll()
		}
	}
}

func (r *rank) doPiece(c *icoll, call driver.Signature, k int) {
	n, size := int(call.N), call.DType.Size()
	per := piece / size
	from, at := 0, k*per
	switch call.Kind {
	case driver.KindIAllReduce:
		r.reduceRange(call.Op, call.DType, at, min(at+per, n), c.dsts, c.srcs)
		return
	case driver.KindIReduce:
		root := int(call.Peer)
		r.reduceRange(call.Op, call.DType, at, min(at+per, n), c.dsts[root:root+1], c.srcs)
		return
	case driver.KindIBroadcast:
		from = int(call.Peer)
	case driver.KindIAllGather: // pieces of rank 0 first, then of rank 1, ...
		each := (n + per - 1) / per
		from, at = k/each, k%each*per
	}
	bytes := (min(at+per, n) - at) * size
	to := at * size
	if call.Kind == driver.KindIAllGather {
		to += from * n * size
	}
	for _, d := range c.dsts {
		driver.Move(unsafe.Add(d, to), unsafe.Add(c.srcs[from], at*size), bytes)
	}
}

func (r *rank) waitColl(ctx context.Context, q *request) error {
	c := q.coll
	if err := r.ready(ctx); err != nil {
		return err
	}
	for j := range c.started {
		if err := r.waitFlag(ctx, &c.started[j], 1, j, &q.call); err != nil {
			return err
		}
	}
	r.doPieces(c)
	if err := r.waitFlag(ctx, &c.ended, 1, -1, &q.call); err != nil {
		return err
	}
	return r.endColl(q)
}

func (r *rank) testColl(q *request) (bool, error) {
	c := q.coll
	if ae := r.g.w.aborted.Load(); ae != nil {
		return true, ae
	}
	if !c.ready.Load() {
		return false, nil
	}
	r.doPieces(c)
	if c.ended.Load() == 0 {
		return false, nil
	}
	return true, r.endColl(q)
}

func (r *rank) endColl(q *request) error {
	err := q.coll.err
	r.g.leaveColl(q.coll)
	r.release(q)
	return err
}

// leaveColl returns the collective to the spare ones after the last rank has left it.
func (g *group) leaveColl(c *icoll) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.users--
	if c.users == 0 {
		i := slices.Index(g.colls, c)
		g.colls = slices.Delete(g.colls, i, i+1)
		clear(c.srcs)
		clear(c.dsts)
		g.spare = append(g.spare, c)
	}
}
