package mpi

import (
	"context"
	"math"
	"unsafe"

	"github.com/golops/golops/comm/driver"
)

// Open MPI 4 reports a message that is longer than the receiver's buffer. But if both
// ranks are on one machine, it has already written past the end of that buffer.
// Collectives consist of messages, so unequal counts overwrite memory. Two measures
// prevent that, also without checked mode:
//
// Messages of the algorithms here have their count and their number in the tag, and
// the receiver asks for that tag. So a message of another count does not match. A waiting
// receiver looks from time to time for a message with the right number and another
// count.
//
// Before a blocking collective of the library, ranks compare their counts in a small
// reduction. Non-blocking collectives are not protected: their start must not wait for
// other ranks.

const (
	countBits = 22 // of the tag
	orderBits = 8  // of the tag, for the number of the message
)

// overrunsBuffers reports whether the library may write past the end of a buffer and
// its tags are wide enough to prevent that.
func (l *lib) overrunsBuffers() bool {
	if l.family != OpenMPI {
		return false
	}
	limit, flag := new(*int32), new(int32)
	code := l.call(l.commGetAttr, l.world, uintptr(l.tagUB), addr(limit), addr(flag))
	return code == 0 && *flag != 0 && *limit != nil && **limit == math.MaxInt32
}

// exactTag returns the tag of the next message of n elements with peer on algoComm.
func (r *rank) exactTag(k driver.Kind, n, peer int) int32 {
	at := &r.messageNo[k-driver.KindSend][peer]
	tag := int32(*at)<<countBits | int32((n^n>>countBits)&(1<<countBits-1))
	*at++
	return tag
}

// checkIncoming returns an error if the message that o waits for has arrived with
// another count.
func (r *rank) checkIncoming(o *operation, call *driver.Signature) error {
	w, l := r.w, r.l
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.probe
	code := l.call(l.iprobe, uintptr(o.peer), uintptr(l.anyTag), r.algoComm, addr(&p.flag), addr(&p.status))
	tag := int32(l.tag(&p.status))
	if code != 0 || p.flag == 0 || tag == o.tag || tag>>countBits != o.tag>>countBits {
		return nil
	}
	return &driver.MismatchError{RankA: int(o.peer), CallA: call.Kind.String() + " of another count", RankB: r.me, CallB: call.String()}
}

// checkCounts compares the counts of c before a collective of the library, if they must be
// equal on all ranks. All ranks return the same error.
func (r *rank) checkCounts(ctx context.Context, c *driver.Call) error {
	if !r.w.guardCounts || r.w.cfg.Checked || r.n == 1 || c.N < 0 {
		return nil
	}
	call, n := c.Named(), c.N
	if counts := c.Counts(); counts != nil {
		n = digest(counts)
	}
	r.countPair = [2]int64{n, -n}
	b := driver.Buf{DType: driver.Of(r.countPair[:]).DType, N: 2, Ptr: unsafe.Pointer(&r.countPair)}
	if err := r.recursiveDoubling(ctx, call, &b, driver.Max); err != nil {
		return err
	}
	if r.countPair[0] == -r.countPair[1] {
		return nil
	}
	all, err := r.gatherNumbers(ctx, call, c.N)
	if err != nil {
		return err
	}
	first, other := *call, *call
	for j := 1; j < r.n; j++ {
		if first.N, other.N = all[0], all[j]; first.N != other.N {
			return &driver.MismatchError{RankA: 0, CallA: first.String(), RankB: j, CallB: other.String()}
		}
	}
	return &driver.MismatchError{RankA: 0, CallA: call.String(), RankB: r.n - 1, CallB: call.String(), Hint: "they have different counts of blocks"}
}

// digest returns a hash of counts.
func digest(counts []int) int64 {
	h := uint64(len(counts))
	for _, n := range counts {
		h = (h ^ uint64(n)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return int64(h >> 2) // so that -h does not overflow
}
