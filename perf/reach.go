package perf

import (
	"context"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// message returns a function that receives dst from a rank and sends src to another.
func (b *bench[T]) message(from int, dst comm.Buf, to int, src comm.Buf) func(ctx context.Context) error {
	x, err := comm.NewExchange(b.c, []comm.Leg{{Peer: from, Buf: dst}}, []comm.Leg{{Peer: to, Buf: src}})
	return func(ctx context.Context) error {
		if err != nil {
			return err
		}
		return x.Run(ctx)
	}
}

// reach prepares put, get and accumulate, in which ranks form a ring: each reaches the
// memory of the next, or exchanges messages that do the same.
func (b *bench[T]) reach(src, dst []T) job {
	rank, n := b.c.Rank(), b.c.Size()
	next, prev := (rank+1)%n, (rank+n-1)%n
	giver := prev
	d, s := b.buf(dst), b.buf(src)
	j := job{ready: b.c.Barrier}
	if b.win != nil {
		j.ready = b.win.Fence
	}
	switch {
	case b.o.name == "get" && b.win == nil:
		giver = next
		j.call = b.message(next, d, prev, s)
	case b.o.name == "get":
		giver = next
		j.call = b.fenced(func(ctx context.Context) error { return b.win.Get(ctx, d, next, 0) })
	case b.o.name == "accumulate" && b.win == nil:
		arrived := comm.Of(b.arrived[:len(dst)])
		run, add := b.message(prev, arrived, next, s), driver.ReducerOf(comm.Sum, scalar.Of[T]())
		j.call = func(ctx context.Context) error {
			err := run(ctx)
			if err == nil && len(dst) > 0 {
				add(d.Ptr, d.Ptr, arrived.Ptr, len(dst))
			}
			return err
		}
	case b.o.name == "accumulate":
		j.call = b.fenced(func(ctx context.Context) error { return b.win.Accumulate(ctx, next, 0, s, comm.Sum) })
	case b.win == nil:
		j.call = b.message(prev, d, next, s)
	default:
		j.call = b.fenced(func(ctx context.Context) error { return b.win.Put(ctx, next, 0, s) })
	}
	j.fill = func(seed uint32) {
		if b.o.name == "accumulate" {
			b.vals.fillReduced(src, 0, seed)
			b.vals.fillReduced(dst, 1, seed)
			return
		}
		set(dst, b.vals.poison)
		b.vals.fillCopied(src, rank, 0, seed)
	}
	j.wrong = func(seed uint32) int64 {
		if b.o.name == "accumulate" {
			return b.vals.wrongReduced(dst, 0, seed)
		}
		return b.vals.wrongCopied(dst, giver, 0, seed)
	}
	return j
}

// fenced returns a function that runs access and ends the epoch.
func (b *bench[T]) fenced(access func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		if err := access(ctx); err != nil {
			return err
		}
		return b.win.Fence(ctx)
	}
}
