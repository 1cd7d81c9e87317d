package local

import (
	"context"
	"unsafe"

	"github.com/golops/golops/comm"
)

func (r *rank) Broadcast(ctx context.Context, b comm.Buf, root int) error {
	a := args{dst: b}
	a.call, a.err = comm.CheckBroadcast(r, comm.KindBroadcast, b, root)
	if r.me == root {
		a.src = b
	}
	if err := r.enter(ctx, &a); err != nil {
		return err
	}
	from := r.slotOf(root).src
	switch {
	case r.algo == comm.Ring && r.n > 1:
		if err := r.ringSpread(ctx, &a.call, root, b); err != nil {
			return err
		}
	case r.algo == comm.Tree && r.n > 1:
		if err := r.treeSpread(ctx, &a.call, root, b); err != nil {
			return err
		}
	case b.Bytes() <= eager:
		if r.me != root {
			comm.Move(b.Ptr, from, b.Bytes())
		}
		return nil
	default:
		// Root would idle while the others copy. So root copies the last part of
		// the buffer to each of them, and all ranks copy the same amount.
		cut := b.Bytes() / r.n * (r.n - 1) &^ 63
		if r.me != root {
			comm.Move(b.Ptr, from, cut)
			break
		}
		for j := range r.n {
			if j != root {
				comm.Move(unsafe.Add(r.slotOf(j).dst, cut), unsafe.Add(from, cut), b.Bytes()-cut)
			}
		}
	}
	return r.leave(ctx, &a.call, nil)
}
