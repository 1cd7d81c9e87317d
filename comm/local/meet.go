package local

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/golops/golops/comm"
)

// args is what a rank brings to a collective.
type args struct {
	call     comm.Call
	dst, src comm.Buf
	in, out  []int
	color    int
	key      int
	err      error // from checking the arguments
}

// meet shows this rank's arguments to the others, waits until all have come
// and compares: nil means that all ranks are in the same call. A source of up
// to eager bytes is copied, so that others may read it at any time later.
func (r *rank) meet(ctx context.Context, a *args) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	r.seq++
	s := r.own()
	s.call, s.iseq, s.bad = a.call, r.iseq, a.err != nil
	if size := a.src.Bytes(); size <= eager && !s.bad {
		comm.Move(unsafe.Pointer(&s.data), a.src.Ptr, size)
		s.src = unsafe.Pointer(&s.data)
	} else {
		s.src = a.src.Ptr
	}
	s.dst, s.n, s.m, s.in, s.out, s.err = a.dst.Ptr, a.src.N, a.dst.N, a.in, a.out, a.err
	s.color, s.key = a.color, a.key
	s.seq.Store(r.seq)
	r.published()
	same := true
	for j := range r.n {
		o := r.slot(j)
		if err := r.waitFlag(ctx, &o.seq, r.seq, j, &a.call); err != nil {
			return err
		}
		same = same && !o.bad && o.call == a.call && o.iseq == s.iseq
	}
	if !same {
		return r.disagreement(a)
	}
	return nil
}

// own is this rank's slot of the current collective, slot(j) rank j's.
func (r *rank) own() *slot       { return &r.cell.slots[r.seq&1] }
func (r *rank) slot(j int) *slot { return &r.g.cells[j].slots[r.seq&1] }

// disagreement says why the ranks cannot go on. All ranks see the same slots
// and name the same two ranks, save that one with a fault of its own names it.
func (r *rank) disagreement(a *args) error {
	err := a.err
	for j := 0; j < r.n && err == nil; j++ {
		if s := r.slot(j); s.bad {
			err = &comm.RankError{Rank: j, Err: s.err}
		}
	}
	zero := r.slot(0)
	for j := 1; j < r.n && err == nil; j++ {
		s := r.slot(j)
		if s.call != zero.call {
			err = &comm.MismatchError{RankA: 0, CallA: zero.call.String(), RankB: j, CallB: s.call.String()}
		} else if s.iseq != zero.iseq {
			err = &comm.MismatchError{RankA: 0, CallA: zero.call.String(), RankB: j, CallB: s.call.String(),
				Hint: fmt.Sprintf("%d and %d non-blocking collectives were started before", zero.iseq, s.iseq)}
		}
	}
	return err
}

// part says that this rank no longer uses the others' memory and waits until
// no other uses its own. A fault that any rank found ends the call on all.
func (r *rank) part(ctx context.Context, call *comm.Call, found error) error {
	if found != nil {
		for f := r.g.fault.Load(); f == nil || f.seq != r.seq; f = r.g.fault.Load() {
			r.g.fault.CompareAndSwap(f, &fault{r.seq, found}) // the first to find one decides
		}
	}
	r.cell.done.Store(r.seq)
	r.published()
	for j := range r.n {
		if err := r.waitFlag(ctx, &r.g.cells[j].done, r.seq, j, call); err != nil {
			return err
		}
	}
	if f := r.g.fault.Load(); f != nil && f.seq == r.seq {
		return f.err
	}
	return nil
}

// ragged reports that rank j brings got elements where this rank expects want.
func (r *rank) ragged(call *comm.Call, j, got, want int, verb string) error {
	return &comm.MismatchError{RankA: r.me, CallA: call.String(), RankB: j, CallB: r.slot(j).call.String(),
		Hint: fmt.Sprintf("rank %d %s %d elements, rank %d expects %d", j, verb, got, r.me, want)}
}
