package mpi

import (
	"context"
	"math/bits"
	"runtime"

	"github.com/golops/golops/comm"
)

// small is up to how many bytes AllReduce goes by recursive doubling.
const small = 32 << 10

// reduceAll chooses the algorithm of AllReduce. On one machine, messages move
// by a single copy between processes, and both algorithms here, which use
// nothing else, beat the libraries' own collectives by two to three times from
// 64 KB up and cost less at 8 B than their non-blocking form (measured with
// Open MPI 4.1 and MPICH 4.0; docs/benchmarks.md). Over a network the library
// knows best.
func (r *rank) reduceAll(ctx context.Context, call *comm.Call, dst, src *comm.Buf, op comm.Op) error {
	algo := r.algo
	switch {
	case r.n == 1:
		comm.Move(dst.Ptr, src.Ptr, src.Bytes())
		return nil
	case algo == comm.Auto && !r.near:
		algo = comm.Native
	case algo == comm.Auto && src.Bytes() <= small:
		algo = comm.Tree
	case algo == comm.Auto:
		algo = comm.Ring
	}
	switch algo {
	case comm.Native:
		if err := r.alike(ctx, call, call.N); err != nil {
			return err
		}
		return r.nativeAllReduce(ctx, call, *dst, *src, op)
	case comm.Tree:
		comm.Move(dst.Ptr, src.Ptr, src.Bytes())
		if dst.N <= r.l.maxCount {
			return r.doubling(ctx, call, dst, op)
		}
		return r.pieces(dst.N, func(lo, hi int) error {
			part := dst.Slice(lo, hi)
			return r.doubling(ctx, call, &part, op)
		})
	}
	return r.ring(ctx, call, *dst, *src, op)
}

// swap exchanges messages with two ranks, or one, on the communicator of the
// algorithms. Nobody is a rank here too.
func (r *rank) swap(ctx context.Context, call *comm.Call, in *comm.Buf, from int, out *comm.Buf, to int) error {
	err := r.swapped(ctx, call, in, from, out, to)
	runtime.KeepAlive(in.Ptr)
	runtime.KeepAlive(out.Ptr)
	return err
}

func (r *rank) swapped(ctx context.Context, call *comm.Call, in *comm.Buf, from int, out *comm.Buf, to int) error {
	if from != comm.Nobody {
		if err := r.post(&r.second, comm.KindRecv, in, from, r.own); err != nil {
			return err
		}
	}
	if to != comm.Nobody {
		if err := r.post(&r.blocking, comm.KindSend, out, to, r.own); err != nil {
			return err
		}
	}
	if from != comm.Nobody {
		if err := r.w.await(ctx, &r.second, call); err != nil {
			return err
		}
	}
	if to != comm.Nobody {
		return r.w.await(ctx, &r.blocking, call)
	}
	return nil
}

// doubling reduces b in place over all ranks: in step k ranks whose numbers
// differ in bit k exchange what they have. Ranks beyond the largest power of
// two hand theirs to a partner first and get the result last. Partners fold in
// the order of their ranks, so that all have the same bits.
func (r *rank) doubling(ctx context.Context, call *comm.Call, b *comm.Buf, op comm.Op) error {
	f := comm.ReducerOf(op, b.DType)
	in := comm.Buf{DType: b.DType, N: b.N, Ptr: r.room(b.Bytes())}
	full := 1 << (bits.Len(uint(r.n)) - 1)
	extra := r.n - full // ranks 2i+1 with i < extra sit out; v numbers the others
	v := r.me - extra
	if r.me < 2*extra {
		v = r.me / 2
		if r.me%2 == 1 {
			if err := r.swap(ctx, call, &in, comm.Nobody, b, r.me-1); err != nil {
				return err
			}
			return r.swap(ctx, call, b, r.me-1, &in, comm.Nobody)
		}
		if err := r.swap(ctx, call, &in, r.me+1, b, comm.Nobody); err != nil {
			return err
		}
		f(b.Ptr, b.Ptr, in.Ptr, b.N)
	}
	for bit := 1; bit < full; bit <<= 1 {
		peer := v ^ bit
		if peer < extra {
			peer *= 2
		} else {
			peer += extra
		}
		if err := r.swap(ctx, call, &in, peer, b, peer); err != nil {
			return err
		}
		if v&bit == 0 {
			f(b.Ptr, b.Ptr, in.Ptr, b.N)
		} else {
			f(b.Ptr, in.Ptr, b.Ptr, b.N)
		}
	}
	if r.me < 2*extra {
		return r.swap(ctx, call, &in, comm.Nobody, b, r.me+1)
	}
	return nil
}

// ring reduces src into dst: in n-1 steps each rank's share collects all
// ranks' parts on its way around, in n-1 more it is passed on to all.
func (r *rank) ring(ctx context.Context, call *comm.Call, dst, src comm.Buf, op comm.Op) error {
	f := comm.ReducerOf(op, src.DType)
	left, right := (r.me+r.n-1)%r.n, (r.me+1)%r.n
	share := func(b comm.Buf, i int) comm.Buf {
		i = (i + 2*r.n) % r.n
		return b.Slice(i*b.N/r.n, (i+1)*b.N/r.n)
	}
	in := r.room((src.N/r.n + 1) * src.DType.Size())
	send := share(src, r.me-1)
	for s := range r.n - 1 {
		mine, to := share(src, r.me-s-2), share(dst, r.me-s-2)
		part := comm.Buf{DType: src.DType, N: mine.N, Ptr: in}
		if err := r.pass(ctx, call, part, left, send, right); err != nil {
			return err
		}
		f(to.Ptr, part.Ptr, mine.Ptr, mine.N)
		send = to
	}
	for s := range r.n - 1 {
		if err := r.pass(ctx, call, share(dst, r.me-s-1), left, share(dst, r.me-s), right); err != nil {
			return err
		}
	}
	return nil
}

// pass is swap for any count. What has no elements is not sent: then ranks
// whose shares differ by one need not agree on how many messages there are, as
// each message has the same count on both sides.
func (r *rank) pass(ctx context.Context, call *comm.Call, in comm.Buf, from int, out comm.Buf, to int) error {
	limit := r.l.maxCount
	for at := 0; at < max(in.N, out.N); at += limit {
		i := in.Slice(min(at, in.N), min(at+limit, in.N))
		o := out.Slice(min(at, out.N), min(at+limit, out.N))
		left, right := from, to
		if i.N == 0 {
			left = comm.Nobody
		}
		if o.N == 0 {
			right = comm.Nobody
		}
		if err := r.swap(ctx, call, &i, left, &o, right); err != nil {
			return err
		}
		if limit > max(in.N, out.N) {
			return nil // at+limit could overflow
		}
	}
	return nil
}
