package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

func (r *rank) Scatter(ctx context.Context, dst, src comm.Buf, root int) error {
	a := args{dst: dst}
	if r.me == root {
		a.src = src
	}
	a.call, a.err = comm.CheckScatter(r, comm.KindScatter, dst, src, nil, root)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	comm.Move(dst.Ptr, unsafe.Add(r.slotOf(root).src, r.me*dst.Bytes()), dst.Bytes())
	if dst.Bytes()*r.n <= eager {
		return nil
	}
	return r.leave(ctx, &a.call, nil)
}

func (r *rank) ScatterV(ctx context.Context, dst, src comm.Buf, counts []int, root int) error {
	a := args{dst: dst}
	if r.me == root {
		a.src, a.in = src, counts
	}
	a.call, a.err = comm.CheckScatter(r, comm.KindScatterV, dst, src, counts, root)
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	from := r.slotOf(root)
	if n := from.in[r.me]; n != dst.N {
		return r.leave(ctx, &a.call, r.countMismatch(&a.call, root, n, dst.N, "sends"))
	}
	comm.Move(dst.Ptr, addrAt(from.src, comm.Offset(from.in, r.me)*dst.DType.Size(), dst.N), dst.Bytes())
	return r.leave(ctx, &a.call, nil)
}
