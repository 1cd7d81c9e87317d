package local

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// enter shows this rank's arguments to the others, waits until all ranks have
// entered and compares the calls. nil means that all ranks are in the same call. A
// source of up to eager bytes is copied, so that others can read it at any later time.
func (r *rank) enter(ctx context.Context, c *driver.Call) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	r.seq++
	s := r.mySlot()
	call := c.Named()
	s.call, s.iseq, s.bad = *call, r.iseq, c.Err != nil
	if size := c.Src.Bytes(); size <= eager && !s.bad {
		driver.Move(unsafe.Pointer(&s.data), c.Src.Ptr, size)
		s.src = unsafe.Pointer(&s.data)
	} else {
		s.src = c.Src.Ptr
	}
	s.dst, s.n, s.m, s.in, s.out, s.err = c.Dst.Ptr, c.Src.N, c.Dst.N, c.In, c.Out, c.Err
	s.color, s.key = c.Color, c.Key
	s.seq.Store(r.seq)
	r.wakeWaiters()
	same := true
	for j := range r.n {
		o := r.slotOf(j)
		if err := r.waitFlag(ctx, &o.seq, r.seq, j, call); err != nil {
			return err
		}
		same = same && !o.bad && o.call == *call && o.iseq == s.iseq
	}
	if !same {
		return r.explainMismatch(c)
	}
	return nil
}

// mySlot returns this rank's slot of the current collective, slotOf that of rank j.
func (r *rank) mySlot() *callSlot      { return &r.state.slots[r.seq&1] }
func (r *rank) slotOf(j int) *callSlot { return &r.g.states[j].slots[r.seq&1] }

// explainMismatch returns the error of ranks whose calls differ. All ranks read the
// same slots and return the same error, except that a rank whose own arguments are
// invalid returns its own.
func (r *rank) explainMismatch(c *driver.Call) error {
	err := c.Err
	for j := 0; j < r.n && err == nil; j++ {
		if s := r.slotOf(j); s.bad {
			err = &driver.RankError{Rank: j, Err: s.err}
		}
	}
	zero := r.slotOf(0)
	for j := 1; j < r.n && err == nil; j++ {
		s := r.slotOf(j)
		if s.call != zero.call {
			err = &driver.MismatchError{RankA: 0, CallA: zero.call.String(), RankB: j, CallB: s.call.String()}
		} else if s.iseq != zero.iseq {
			err = &driver.MismatchError{RankA: 0, CallA: zero.call.String(), RankB: j, CallB: s.call.String(),
				Hint: fmt.Sprintf("%d and %d non-blocking collectives were started before", zero.iseq, s.iseq)}
		}
	}
	return err
}

// leave ends a collective. It publishes that this rank no longer uses the others'
// memory and waits until no other rank uses its memory.
func (r *rank) leave(ctx context.Context, c *driver.Call) error {
	r.state.done.Store(r.seq)
	r.wakeWaiters()
	for j := range r.n {
		if err := r.waitFlag(ctx, &r.g.states[j].done, r.seq, j, c.Named()); err != nil {
			return err
		}
	}
	return nil
}
