package mpi

import (
	"context"
	"math/bits"

	"github.com/golops/golops/comm/driver"
)

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

// farAllReduce is the library's AllReduce in pieces between separate buffers. All ranks do
// that, because a rank does not know whether others work in place.
func (r *rank) farAllReduce(ctx context.Context, c *driver.Call) error {
	return pieces(c.Src.N, min(r.l.maxCount, farPiece/c.DType.Size()), func(lo, hi int) error {
		dst, src := c.Dst.Slice(lo, hi), c.Src.Slice(lo, hi)
		return r.await(ctx, c.Named(), r.startNative(&r.blocking, c, dst, r.separate(dst, src)))
	})
}

// small is the size in bytes up to which AllReduce uses recursive doubling.
const small = 32 << 10

// allReduce chooses the algorithm of AllReduce. On one machine a message is a single
// copy between processes. Both algorithms here consist of messages. They are two to
// three times as fast as the libraries' collectives from 64 KB up, and at 8 B they cost
// less than the non-blocking ones (Open MPI 4.1 and MPICH 4.0; docs/benchmarks.md).
// Over a network and in GPU memory the library's own algorithm is used.
func (r *rank) allReduce(ctx context.Context, c *driver.Call) error {
	algo := c.Algo
	if algo == driver.Auto {
		algo = r.w.cfg.Algo
	}
	dst, src := &c.Dst, &c.Src
	switch {
	case r.n == 1:
		driver.Move(dst.Ptr, src.Ptr, src.Bytes())
		return nil
	case algo == driver.Native, algo == driver.Auto && !r.oneHost, src.Place == driver.OnDevice:
		return r.native(ctx, c)
	case algo == driver.Ring, algo == driver.Auto && src.Bytes() > small:
		return r.ring(ctx, c)
	}
	driver.Move(dst.Ptr, src.Ptr, src.Bytes())
	if dst.N <= r.l.maxCount {
		return r.recursiveDoubling(ctx, c.Named(), dst, c.Op)
	}
	return pieces(dst.N, r.l.maxCount, func(lo, hi int) error {
		piece := dst.Slice(lo, hi)
		return r.recursiveDoubling(ctx, c.Named(), &piece, c.Op)
	})
}

// sendRecv sends out to rank to and receives in from rank from, on algoComm. Either
// rank may be Nobody.
func (r *rank) sendRecv(ctx context.Context, call *driver.Signature, in *driver.Buf, from int, out *driver.Buf, to int) error {
	if from != driver.Nobody {
		if err := r.post(&r.second, driver.KindRecv, in, from, r.algoComm); err != nil {
			return err
		}
	}
	if to != driver.Nobody {
		if err := r.post(&r.blocking, driver.KindSend, out, to, r.algoComm); err != nil {
			return err
		}
	}
	if from != driver.Nobody {
		if err := r.w.await(ctx, &r.second, call); err != nil {
			return err
		}
	}
	if to != driver.Nobody {
		return r.w.await(ctx, &r.blocking, call)
	}
	return nil
}

// recursiveDoubling reduces b in place over all ranks. In step k, ranks whose numbers
// differ in bit k exchange partial results. Ranks beyond the largest power of two send
// theirs to a partner first and receive the result last. Partners reduce in the order
// of their ranks, so that all get the same bits.
func (r *rank) recursiveDoubling(ctx context.Context, call *driver.Signature, b *driver.Buf, op driver.Op) error {
	f := driver.ReducerOf(op, b.DType)
	in := driver.Buf{DType: b.DType, N: b.N, Ptr: r.scratchBytes(b.Bytes())}
	full := 1 << (bits.Len(uint(r.n)) - 1)
	extra := r.n - full // ranks 2i+1 with i < extra take no part in the steps; v numbers the others
	v := r.me - extra
	if r.me < 2*extra {
		v = r.me / 2
		if r.me%2 == 1 {
			if err := r.sendRecv(ctx, call, &in, driver.Nobody, b, r.me-1); err != nil {
				return err
			}
			return r.sendRecv(ctx, call, b, r.me-1, &in, driver.Nobody)
		}
		if err := r.sendRecv(ctx, call, &in, r.me+1, b, driver.Nobody); err != nil {
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
		return r.sendRecv(ctx, call, &in, driver.Nobody, b, r.me+1)
	}
	return nil
}

// ring reduces src into dst. In n-1 steps each share passes all ranks and is reduced
// on the way. In n-1 more steps the results pass all ranks.
func (r *rank) ring(ctx context.Context, c *driver.Call) error {
	call, dst, src := c.Named(), c.Dst, c.Src
	f := driver.ReducerOf(c.Op, src.DType)
	left, right := (r.me+r.n-1)%r.n, (r.me+1)%r.n
	share := func(b driver.Buf, i int) driver.Buf {
		i = (i + 2*r.n) % r.n
		return b.Slice(i*b.N/r.n, (i+1)*b.N/r.n)
	}
	in := r.scratchBytes((src.N/r.n + 1) * src.DType.Size())
	send := share(src, r.me-1)
	for s := range r.n - 1 {
		own, to := share(src, r.me-s-2), share(dst, r.me-s-2)
		part := driver.Buf{DType: src.DType, N: own.N, Ptr: in}
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
func (r *rank) sendRecvPieces(ctx context.Context, call *driver.Signature, in driver.Buf, from int, out driver.Buf, to int) error {
	return pieces(max(in.N, out.N), r.l.maxCount, func(lo, hi int) error {
		i := in.Slice(min(lo, in.N), min(hi, in.N))
		o := out.Slice(min(lo, out.N), min(hi, out.N))
		left, right := from, to
		if i.N == 0 {
			left = driver.Nobody
		}
		if o.N == 0 {
			right = driver.Nobody
		}
		return r.sendRecv(ctx, call, &i, left, &o, right)
	})
}
