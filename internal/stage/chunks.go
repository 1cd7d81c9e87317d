package stage

import (
	"context"

	"github.com/golops/golops/comm"
)

// Large reductions and broadcasts are a row of small ones on a ring of three
// blocks: while chunk i is with the other ranks, chunk i+1 comes from the device
// and chunk i-1 goes to it.

// train is a collective that goes in chunks of per elements.
type train struct {
	s        *shared
	dst, src comm.Buf // as the caller gave them; either may be empty
	n, per   int
	blocks   [3]*block // nil if nothing is on the device
	marks    [3]uint64
}

func (c *Comm) newTrain(dst, src comm.Buf) (*train, error) {
	b := src
	if src.N == 0 {
		b = dst
	}
	t := &c.train
	*t = train{s: c.s, dst: dst, src: src, n: b.N, per: max(1, c.s.chunk/b.DType.Size())}
	if onHost(dst, src) {
		return t, nil
	}
	for i := range t.blocks {
		var err error
		if t.blocks[i], err = c.s.pool.take(t.per*b.DType.Size(), c.s); err != nil {
			t.close()
			return nil, err
		}
	}
	if err := c.s.follow(dst, src); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *train) close() {
	for _, b := range t.blocks {
		t.s.pool.give(b)
	}
	t.dst, t.src = comm.Buf{}, comm.Buf{}
}

// part returns chunk i of b, nothing of what is empty.
func (t *train) part(b comm.Buf, i int) comm.Buf {
	if b.N == 0 {
		return b
	}
	return b.Slice(i*t.per, min((i+1)*t.per, t.n))
}

// load starts the copy of chunk i from the device.
func (t *train) load(i int) error {
	if !onDevice(t.src) || i*t.per >= t.n {
		return nil
	}
	b, src := t.blocks[i%3], t.part(t.src, i)
	if err := t.s.settle(b); err != nil {
		return err
	}
	var err error
	t.marks[i%3], err = t.s.download(b.buf(src, 0, src.N), src)
	return err
}

// staged returns chunk i of b as the host communicator sees it.
func (t *train) staged(b comm.Buf, i int) comm.Buf {
	p := t.part(b, i)
	if onDevice(p) {
		return t.blocks[i%3].buf(p, 0, p.N)
	}
	return p
}

// run calls call with each chunk of dst and src.
func (t *train) run(call func(dst, src comm.Buf) error) error {
	defer t.close()
	if err := t.load(0); err != nil {
		return err
	}
	for i := 0; i*t.per < t.n; i++ {
		if onDevice(t.src) {
			if err := reach(t.s.down, t.marks[i%3]); err != nil {
				return err
			}
		} else if onDevice(t.dst) {
			if err := t.s.settle(t.blocks[i%3]); err != nil {
				return err
			}
		}
		if err := t.load(i + 1); err != nil {
			return err
		}
		dst, src := t.staged(t.dst, i), t.staged(t.src, i)
		if err := call(dst, src); err != nil {
			t.s.failed = true
			return err
		}
		if onDevice(t.dst) {
			if err := t.s.upload(t.part(t.dst, i), dst, t.blocks[i%3]); err != nil {
				return err
			}
		}
	}
	if onDevice(t.dst) {
		return t.s.up.Lead()
	}
	return nil
}

// alike returns an error on all ranks unless all have the same count: chunks
// alone would not show it, as those of different counts may be equal.
func (c *Comm) alike(ctx context.Context, call comm.Call) error {
	if c.Size() == 1 {
		return nil
	}
	c.counts = [2]int64{call.N, -call.N}
	b := comm.Of(c.counts[:])
	if err := c.host.AllReduce(ctx, b, b, comm.Max); err != nil {
		return err
	}
	if c.counts[0] == -c.counts[1] {
		return nil
	}
	all := make([]int64, c.Size())
	if err := c.host.AllGather(ctx, comm.Of(all), comm.Of([]int64{call.N})); err != nil {
		return err
	}
	j := 1
	for all[j] == all[0] {
		j++
	}
	a, o := call, call
	a.N, o.N = all[0], all[j]
	return &comm.MismatchError{RankA: 0, CallA: a.String(), RankB: j, CallB: o.String()}
}

// large begins a collective in chunks: arguments that are wrong become the host
// communicator's error, by way of the call that pass makes with them.
func (c *Comm) large(ctx context.Context, call comm.Call, fault error, pass func() error) error {
	if fault == nil {
		return c.alike(ctx, call)
	}
	if err := pass(); err != nil {
		return err
	}
	return fault
}

func (c *Comm) allReduceChunks(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	call, err := comm.CheckAllReduce(comm.KindAllReduce, dst.Raw(), src.Raw(), op)
	err = c.large(ctx, call, err, func() error { return c.host.AllReduce(ctx, dst.Raw(), src.Raw(), op) })
	if err != nil {
		return err
	}
	t, err := c.newTrain(dst, src)
	if err != nil {
		return err
	}
	return t.run(func(dst, src comm.Buf) error { return c.host.AllReduce(ctx, dst, src, op) })
}

func (c *Comm) reduceChunks(ctx context.Context, dst, src comm.Buf, op comm.Op, root int) error {
	call, err := comm.CheckReduce(c.host, dst.Raw(), src.Raw(), op, root)
	err = c.large(ctx, call, err, func() error { return c.host.Reduce(ctx, dst.Raw(), src.Raw(), op, root) })
	if err != nil {
		return err
	}
	t, err := c.newTrain(c.atRoot(dst, root), src)
	if err != nil {
		return err
	}
	return t.run(func(dst, src comm.Buf) error { return c.host.Reduce(ctx, dst, src, op, root) })
}

func (c *Comm) broadcastChunks(ctx context.Context, b comm.Buf, root int) error {
	call, err := comm.CheckBroadcast(c.host, comm.KindBroadcast, b.Raw(), root)
	err = c.large(ctx, call, err, func() error { return c.host.Broadcast(ctx, b.Raw(), root) })
	if err != nil {
		return err
	}
	t, err := c.newTrain(c.ends(b, root))
	if err != nil {
		return err
	}
	return t.run(func(dst, src comm.Buf) error { return c.host.Broadcast(ctx, c.one(dst, src, root), root) })
}
