package mpi

import (
	"context"
	"math/bits"
	"runtime"

	"github.com/golops/golops/comm"
)

func (r *rank) AllReduce(ctx context.Context, dst, src comm.Buf, op comm.Op) error {
	call, err := comm.CheckAllReduce(comm.KindAllReduce, dst, src, op)
	if err := r.enter(ctx, &call, err); err != nil {
		return err
	}
	err = r.allReduce(ctx, &call, &dst, &src, op)
	if err == nil && op == comm.Average {
		comm.Divide(dst.Ptr, dst.DType, dst.N, r.n)
	}
	return err
}

func (r *rank) nativeAllReduce(ctx context.Context, call *comm.Call, dst, src comm.Buf, op comm.Op) error {
	if src.N > r.l.maxCount {
		return r.pieces(src.N, func(lo, hi int) error {
			return r.nativeAllReduce(ctx, call, dst.Slice(lo, hi), src.Slice(lo, hi), op)
		})
	}
	if size := src.Bytes(); r.slowInPlace(size) && src.N > 1 && size > farPiece {
		// A rank does not know whether the others work in place, so all divide alike.
		half := src.N / 2
		if err := r.nativeAllReduce(ctx, call, dst.Slice(0, half), src.Slice(0, half), op); err != nil {
			return err
		}
		return r.nativeAllReduce(ctx, call, dst.Slice(half, src.N), src.Slice(half, src.N), op)
	} else if r.slowInPlace(size) {
		src = r.separate(dst, src)
	}
	from := r.from(src)
	if comm.Same(dst, src) {
		from = r.l.inPlace
	}
	code := r.l.call(r.l.fn(&r.l.iallreduce), from, r.to(dst), uintptr(src.N), r.dtype(src), r.l.op(op, src.DType), r.comm,
		addr(&r.blocking.req))
	return r.awaitBufs(ctx, call, code, dst, src)
}

// Over several machines Open MPI's reduction in place took 2.8 times as long as one
// between separate buffers, from about 2 MB up. So it gets a copy of src, in pieces that
// keep the copy small.
const (
	farAbove = 256 << 10
	farPiece = 64 << 20
)

func (r *rank) slowInPlace(bytes int) bool {
	return !r.oneHost && r.l.family == OpenMPI && bytes >= farAbove
}

// small is the size in bytes up to which AllReduce uses recursive doubling.
const small = 32 << 10

// allReduce chooses the algorithm of AllReduce. On one machine a message is a single
// copy between processes. Both algorithms here consist of messages. They are two to
// three times as fast as the libraries' collectives from 64 KB up, and at 8 B they cost
// less than the non-blocking ones (Open MPI 4.1 and MPICH 4.0; docs/benchmarks.md).
// Over a network the library's own algorithm is used.
func (r *rank) allReduce(ctx context.Context, call *comm.Call, dst, src *comm.Buf, op comm.Op) error {
	algo := r.algo
	switch {
	case r.n == 1:
		comm.Move(dst.Ptr, src.Ptr, src.Bytes())
		return nil
	case algo == comm.Auto && !r.oneHost:
		algo = comm.Native
	case algo == comm.Auto && src.Bytes() <= small:
		algo = comm.Tree
	case algo == comm.Auto:
		algo = comm.Ring
	}
	switch algo {
	case comm.Native:
		if err := r.checkCounts(ctx, call, call.N); err != nil {
			return err
		}
		return r.nativeAllReduce(ctx, call, *dst, *src, op)
	case comm.Tree:
		comm.Move(dst.Ptr, src.Ptr, src.Bytes())
		if dst.N <= r.l.maxCount {
			return r.recursiveDoubling(ctx, call, dst, op)
		}
		return r.pieces(dst.N, func(lo, hi int) error {
			part := dst.Slice(lo, hi)
			return r.recursiveDoubling(ctx, call, &part, op)
		})
	}
	return r.ring(ctx, call, *dst, *src, op)
}

// sendRecv sends out to rank to and receives in from rank from, on algoComm. Either
// rank may be Nobody.
func (r *rank) sendRecv(ctx context.Context, call *comm.Call, in *comm.Buf, from int, out *comm.Buf, to int) error {
	err := r.postBoth(ctx, call, in, from, out, to)
	runtime.KeepAlive(in.Ptr)
	runtime.KeepAlive(out.Ptr)
	return err
}

func (r *rank) postBoth(ctx context.Context, call *comm.Call, in *comm.Buf, from int, out *comm.Buf, to int) error {
	if from != comm.Nobody {
		if err := r.post(&r.second, comm.KindRecv, in, from, r.algoComm); err != nil {
			return err
		}
	}
	if to != comm.Nobody {
		if err := r.post(&r.blocking, comm.KindSend, out, to, r.algoComm); err != nil {
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

// recursiveDoubling reduces b in place over all ranks. In step k, ranks whose numbers
// differ in bit k exchange partial results. Ranks beyond the largest power of two send
// theirs to a partner first and receive the result last. Partners reduce in the order
// of their ranks, so that all get the same bits.
func (r *rank) recursiveDoubling(ctx context.Context, call *comm.Call, b *comm.Buf, op comm.Op) error {
	f := comm.ReducerOf(op, b.DType)
	in := comm.Buf{DType: b.DType, N: b.N, Ptr: r.scratchBytes(b.Bytes())}
	full := 1 << (bits.Len(uint(r.n)) - 1)
	extra := r.n - full // ranks 2i+1 with i < extra take no part in the steps; v numbers the others
	v := r.me - extra
	if r.me < 2*extra {
		v = r.me / 2
		if r.me%2 == 1 {
			if err := r.sendRecv(ctx, call, &in, comm.Nobody, b, r.me-1); err != nil {
				return err
			}
			return r.sendRecv(ctx, call, b, r.me-1, &in, comm.Nobody)
		}
		if err := r.sendRecv(ctx, call, &in, r.me+1, b, comm.Nobody); err != nil {
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
		if err := r.sendRecv(ctx, call, &in, peer, b, peer); err != nil {
			return err
		}
		if v&bit == 0 {
			f(b.Ptr, b.Ptr, in.Ptr, b.N)
		} else {
			f(b.Ptr, in.Ptr, b.Ptr, b.N)
		}
	}
	if r.me < 2*extra {
		return r.sendRecv(ctx, call, &in, comm.Nobody, b, r.me+1)
	}
	return nil
}

// ring reduces src into dst. In n-1 steps each share passes all ranks and is reduced
// on the way. In n-1 more steps the results pass all ranks.
func (r *rank) ring(ctx context.Context, call *comm.Call, dst, src comm.Buf, op comm.Op) error {
	f := comm.ReducerOf(op, src.DType)
	left, right := (r.me+r.n-1)%r.n, (r.me+1)%r.n
	share := func(b comm.Buf, i int) comm.Buf {
		i = (i + 2*r.n) % r.n
		return b.Slice(i*b.N/r.n, (i+1)*b.N/r.n)
	}
	in := r.scratchBytes((src.N/r.n + 1) * src.DType.Size())
	send := share(src, r.me-1)
	for s := range r.n - 1 {
		own, to := share(src, r.me-s-2), share(dst, r.me-s-2)
		part := comm.Buf{DType: src.DType, N: own.N, Ptr: in}
		if err := r.sendRecvPieces(ctx, call, part, left, send, right); err != nil {
			return err
		}
		f(to.Ptr, part.Ptr, own.Ptr, own.N)
		send = to
	}
	for s := range r.n - 1 {
		if err := r.sendRecvPieces(ctx, call, share(dst, r.me-s-1), left, share(dst, r.me-s), right); err != nil {
			return err
		}
	}
	return nil
}

// sendRecvPieces is sendRecv for any count. Empty pieces are not sent. So ranks whose
// shares differ by one element need not agree on the number of messages.
func (r *rank) sendRecvPieces(ctx context.Context, call *comm.Call, in comm.Buf, from int, out comm.Buf, to int) error {
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
		if err := r.sendRecv(ctx, call, &i, left, &o, right); err != nil {
			return err
		}
		if limit > max(in.N, out.N) {
			return nil // at+limit could overflow
		}
	}
	return nil
}
