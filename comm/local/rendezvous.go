package local

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/golops/golops/comm"
)

// args are a rank's arguments of a collective.
type args struct {
	call     comm.Call
	dst, src comm.Buf
	in, out  []int
	color    int
	key      int
	err      error // from checking the arguments
}

// enter shows this rank's arguments to the others, waits until all ranks have
// entered and compares the calls. nil means that all ranks are in the same call. A
// source of up to eager bytes is copied, so that others can read it at any later time.
func (r *rank) enter(ctx context.Context, a *args) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	r.seq++
	s := r.mySlot()
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
	r.wakeWaiters()
	same := true
	for j := range r.n {
		o := r.slotOf(j)
		if err := r.waitFlag(ctx, &o.seq, r.seq, j, &a.call); err != nil {
			return err
		}
		same = same && !o.bad && o.call == a.call && o.iseq == s.iseq
	}
	if !same {
		return r.explainMismatch(a)
	}
	return nil
}

// Barrier implements comm.Comm.
func (r *rank) Barrier(ctx context.Context) error {
	return r.enter(ctx, &args{call: comm.Call{Kind: comm.KindBarrier, Peer: -1}})
}

// mySlot returns this rank's slot of the current collective, slotOf that of rank j.
func (r *rank) mySlot() *callSlot      { return &r.state.slots[r.seq&1] }
func (r *rank) slotOf(j int) *callSlot { return &r.g.states[j].slots[r.seq&1] }

// explainMismatch returns the error of ranks whose calls differ. All ranks read the
// same slots and return the same error, except that a rank whose own arguments are
// invalid returns its own.
func (r *rank) explainMismatch(a *args) error {
	err := a.err
	for j := 0; j < r.n && err == nil; j++ {
		if s := r.slotOf(j); s.bad {
			err = &comm.RankError{Rank: j, Err: s.err}
		}
	}
	zero := r.slotOf(0)
	for j := 1; j < r.n && err == nil; j++ {
		s := r.slotOf(j)
		if s.call != zero.call {
			err = &comm.MismatchError{RankA: 0, CallA: zero.call.String(), RankB: j, CallB: s.call.String()}
		} else if s.iseq != zero.iseq {
			err = &comm.MismatchError{RankA: 0, CallA: zero.call.String(), RankB: j, CallB: s.call.String(),
				Hint: fmt.Sprintf("%d and %d non-blocking collectives were started before", zero.iseq, s.iseq)}
		}
	}
	return err
}

// leave ends a collective. It publishes that this rank no longer uses the others'
// memory and waits until no other rank uses its memory. If any rank found a fault, all
// return it.
func (r *rank) leave(ctx context.Context, call *comm.Call, found error) error {
	if found != nil {
		for f := r.g.fault.Load(); f == nil || f.seq != r.seq; f = r.g.fault.Load() {
			r.g.fault.CompareAndSwap(f, &fault{r.seq, found}) // the first fault wins
		}
	}
	r.state.done.Store(r.seq)
	r.wakeWaiters()
	for j := range r.n {
		if err := r.waitFlag(ctx, &r.g.states[j].done, r.seq, j, call); err != nil {
			return err
		}
	}
	if f := r.g.fault.Load(); f != nil && f.seq == r.seq {
		return f.err
	}
	return nil
}

// countMismatch returns the error that rank j has got elements where this rank
// expects want.
func (r *rank) countMismatch(call *comm.Call, j, got, want int, verb string) error {
	return &comm.MismatchError{RankA: r.me, CallA: call.String(), RankB: j, CallB: r.slotOf(j).call.String(),
		Hint: fmt.Sprintf("rank %d %s %d elements, rank %d expects %d", j, verb, got, r.me, want)}
}
