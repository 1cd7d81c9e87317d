package local

import (
	"fmt"

	"github.com/golops/golops/comm/driver"
)

// A sleeping rank does nothing for its group, because one goroutine uses a handle.
// So ranks of one group that wait for each other in a circle never wake, nor does a
// rank that waits for one whose program has ended. Both are found before a rank
// sleeps, and the program ends with an error.

// checkDeadlock aborts the program and returns the error if rank j, for which this
// rank waits, can never serve it. The caller holds group.mu and has marked this rank as
// asleep.
func (r *rank) checkDeadlock(j int, call *driver.Signature) error {
	g := r.g
	for k, steps := j, 0; k >= 0 && steps <= r.n; steps++ {
		if g.w.ended[g.members[k]].Load() {
			// It may have set the flag just before it ended: read it again.
			if r.state.cond.ok() {
				return nil
			}
			if k == j {
				return g.w.abort(g.members[r.me], &driver.MismatchError{RankA: r.me, CallA: call.String(), RankB: j,
					CallB: "no call", Hint: fmt.Sprintf("the program of rank %d has ended", j)})
			}
			return nil // the rank that waits for k reports it
		}
		c := &g.states[k]
		if !c.parked.Load() || c.cond.ok() {
			return nil
		}
		if k == r.me {
			if j == r.me {
				return g.w.abort(g.members[r.me], driver.SelfWaitError(r.me, *call))
			}
			return g.w.abort(g.members[r.me], &driver.MismatchError{RankA: r.me, CallA: call.String(), RankB: j,
				CallB: g.states[j].call.String(), Hint: "each waits for the other"})
		}
		k = int(c.waitsFor.Load())
	}
	return nil
}
