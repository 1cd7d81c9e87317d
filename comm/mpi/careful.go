package mpi

import (
	"context"
	"math"
	"unsafe"

	"github.com/golops/golops/comm"
)

// Open MPI 4 reports a message that is longer than its receiver asked for, but
// where ranks share a machine it has then written all of it, past the end of the
// receiver's buffer. Collectives are made of messages, so ranks with unequal counts
// overwrite each other's memory. Two measures keep that from happening, also
// without the checked mode:
//
// Messages of the algorithms here have their count and their number in the tag,
// and the receiver asks for that very tag. So what does not fit matches nothing. A
// receiver that waits looks now and then for a message of the number that it waits
// for but of another count.
//
// Before a collective of the library that waits, ranks compare their counts in a
// small reduction of their own. Calls that only start a collective cannot: the
// start would wait for the other ranks.

const (
	countBits = 22 // of a tag, for the count
	orderBits = 8  // for the number
)

// needsCare reports whether the library is one that writes past the end, and has
// tags that are wide enough for the cure.
func (l *lib) needsCare() bool {
	if l.family != OpenMPI {
		return false
	}
	limit, flag := new(*int32), new(int32)
	code := l.call(l.commGetAttr, l.world, uintptr(l.tagUB), addr(limit), addr(flag))
	return code == 0 && *flag != 0 && *limit != nil && **limit == math.MaxInt32
}

// exactTag returns the tag of the next message of the algorithms, of n elements
// with peer.
func (r *rank) exactTag(k comm.Kind, n, peer int) int32 {
	at := &r.order[k-comm.KindSend][peer]
	tag := int32(*at)<<countBits | int32((n^n>>countBits)&(1<<countBits-1))
	*at++
	return tag
}

// intruder ends the program if the message that o waits for has come with another
// count.
func (w *world) intruder(o *operation, call *comm.Call) error {
	l := w.l
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.probe
	code := l.call(l.iprobe, uintptr(o.peer), uintptr(l.anyTag), o.comm, addr(&p.flag), addr(&p.status))
	tag := int32(l.tag(&p.status))
	if code != 0 || p.flag == 0 || tag == o.tag || tag>>countBits != o.tag>>countBits {
		return nil
	}
	return &comm.MismatchError{RankA: int(o.peer), CallA: call.Kind.String() + " of another count", RankB: int(o.me), CallB: call.String()}
}

// alike compares n, which ranks must have equal, before a collective of the library.
// All ranks come to the same verdict.
func (r *rank) alike(ctx context.Context, call *comm.Call, n int64) error {
	if !r.w.careful || r.w.cfg.Checked || r.n == 1 {
		return nil
	}
	r.counted = [2]int64{n, -n}
	b := comm.Buf{DType: comm.Of(r.counted[:]).DType, N: 2, Ptr: unsafe.Pointer(&r.counted)}
	if err := r.doubling(ctx, call, &b, comm.Max); err != nil {
		return err
	}
	if r.counted[0] == -r.counted[1] {
		return nil
	}
	all, err := r.show(ctx, call, call.N)
	if err != nil {
		return err
	}
	first, other := *call, *call
	for j := 1; j < r.n; j++ {
		if first.N, other.N = all[0], all[j]; first.N != other.N {
			return &comm.MismatchError{RankA: 0, CallA: first.String(), RankB: j, CallB: other.String()}
		}
	}
	return &comm.MismatchError{RankA: 0, CallA: call.String(), RankB: r.n - 1, CallB: call.String(), Hint: "they have different counts of blocks"}
}

// digest is a number that equal counts have in common.
func digest(counts []int) int64 {
	h := uint64(len(counts))
	for _, n := range counts {
		h = (h ^ uint64(n)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return int64(h >> 2) // its negative is a number too
}
