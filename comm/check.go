package comm

import (
	"fmt"
	"math"
)

// The Check functions are for communicators. Each checks one rank's arguments of
// one call. It returns the Call that the ranks must agree on, and an error that names
// the value and what is expected.

func fault(k Kind, format string, args ...any) error {
	return fmt.Errorf("comm: %v: %s", k, fmt.Sprintf(format, args...))
}

// maxElements is more elements than any memory holds. Multiplied by the size of an
// element or by the number of ranks it does not overflow.
const maxElements = 1 << 47

func checkBuf(k Kind, name string, b Buf) error {
	switch {
	case b.N < 0:
		return fault(k, "%s has %d elements, must not be negative", name, b.N)
	case b.N > maxElements:
		return fault(k, "%s has %d elements, more than any memory holds", name, b.N)
	case !b.DType.Valid():
		return fault(k, "%s has no element type: wrap a slice with comm.Of", name)
	case b.N > 0 && b.Ptr == nil:
		return fault(k, "%s has %d elements but no memory", name, b.N)
	case b.N > 0 && b.Place != OnHost:
		return fault(k, "%s is in %v, which these ranks cannot reach: launch them on GPUs, or copy the buffer to the host", name, b.Place)
	}
	return nil
}

// checkPair checks the sizes of a destination and a source and that they
// share no memory unless the call is in place.
func checkPair(k Kind, dst, src Buf, wantDst, wantSrc int, inPlace bool) error {
	if err := checkBuf(k, "src", src); err != nil {
		return err
	}
	if err := checkBuf(k, "dst", dst); err != nil {
		return err
	}
	switch {
	case dst.DType != src.DType:
		return fault(k, "dst is %v, src is %v: element types must be equal", dst.DType, src.DType)
	case dst.N != wantDst:
		return fault(k, "dst has %d elements, must have %d", dst.N, wantDst)
	case src.N != wantSrc:
		return fault(k, "src has %d elements, must have %d", src.N, wantSrc)
	case !inPlace && overlap(dst, src):
		return fault(k, "dst and src overlap: pass this rank's block to work in place, or separate memory")
	}
	return nil
}

func checkRank(k Kind, name string, r, size int) error {
	if r < 0 || r >= size {
		return fault(k, "%s is %d, must be from 0 to %d", name, r, size-1)
	}
	return nil
}

func checkCounts(k Kind, name string, counts []int, size int) (total int, err error) {
	if len(counts) != size {
		return 0, fault(k, "%s has %d entries, must have one for each of %d ranks", name, len(counts), size)
	}
	for r, n := range counts {
		if n < 0 {
			return 0, fault(k, "%s of rank %d is %d, must not be negative", name, r, n)
		}
		if total > math.MaxInt-n {
			return 0, fault(k, "%s add up to more than %d, the largest number of elements", name, math.MaxInt)
		}
		total += n
	}
	return total, nil
}

// Offset returns where the block of rank r starts.
func Offset(counts []int, r int) int {
	at := 0
	for _, n := range counts[:r] {
		at += n
	}
	return at
}

// Block returns the block of rank r when b holds size equal blocks.
func Block(b Buf, r, size int) Buf {
	n := b.N / size
	return b.Slice(r*n, (r+1)*n)
}

// BlockV returns the block of rank r when b holds blocks of counts elements.
func BlockV(b Buf, counts []int, r int) Buf {
	at := Offset(counts, r)
	return b.Slice(at, at+counts[r])
}

// InBlock reports whether small is the block of large that starts at element at.
func InBlock(small, large Buf, at int) bool {
	return small.N > 0 && at >= 0 && at <= large.N-small.N && Same(small, large.Slice(at, at+small.N))
}

// CheckAllReduce checks AllReduce and, with its kind, IAllReduce.
func CheckAllReduce(k Kind, dst, src Buf, op Op) (Call, error) {
	call := Call{Kind: k, DType: src.DType, Op: op, Peer: -1, N: int64(src.N), Label: src.Label}
	if src.N > 0 && src.Ptr != nil && src.Place == OnHost && src.DType.Valid() && Same(dst, src) && op == Sum {
		return call, nil // a fast path: solvers do this in every step
	}
	if err := checkPair(k, dst, src, src.N, src.N, Same(dst, src)); err != nil {
		return call, err
	}
	return call, reducible(k, op, src)
}

func reducible(k Kind, op Op, b Buf) error {
	if err := CheckOp(op, b.DType); err != nil {
		return fault(k, "%v", err)
	}
	return nil
}

// CheckReduce checks Reduce.
func CheckReduce(c Comm, dst, src Buf, op Op, root int) (Call, error) {
	k := KindReduce
	call := Call{Kind: k, DType: src.DType, Op: op, Peer: int32(root), N: int64(src.N), Label: src.Label}
	if err := checkRank(k, "root", root, c.Size()); err != nil {
		return call, err
	}
	err := checkBuf(k, "src", src)
	if c.Rank() == root {
		err = checkPair(k, dst, src, src.N, src.N, Same(dst, src))
	}
	if err != nil {
		return call, err
	}
	return call, reducible(k, op, src)
}

// CheckBroadcast checks Broadcast and, with its kind, IBroadcast.
func CheckBroadcast(c Comm, k Kind, b Buf, root int) (Call, error) {
	call := Call{Kind: k, DType: b.DType, Peer: int32(root), N: int64(b.N), Label: b.Label}
	if err := checkRank(k, "root", root, c.Size()); err != nil {
		return call, err
	}
	return call, checkBuf(k, "buf", b)
}

// CheckAllGather checks AllGather and, with its kind, IAllGather.
func CheckAllGather(c Comm, k Kind, dst, src Buf) (Call, error) {
	call := Call{Kind: k, DType: src.DType, Peer: -1, N: int64(src.N), Label: src.Label}
	return call, checkPair(k, dst, src, src.N*c.Size(), src.N, InBlock(src, dst, c.Rank()*src.N))
}

// CheckAllGatherV checks AllGatherV.
func CheckAllGatherV(c Comm, dst Buf, counts []int, src Buf) (Call, error) {
	k := KindAllGatherV
	call := Call{Kind: k, DType: src.DType, Peer: -1, N: int64(dst.N), Label: src.Label}
	total, err := checkCounts(k, "counts", counts, c.Size())
	if err != nil {
		return call, err
	}
	return call, checkPair(k, dst, src, total, counts[c.Rank()], InBlock(src, dst, Offset(counts, c.Rank())))
}

// CheckGather checks Gather and, with counts, GatherV.
func CheckGather(c Comm, k Kind, dst Buf, counts []int, src Buf, root int) (Call, error) {
	call := Call{Kind: k, DType: src.DType, Peer: int32(root), N: int64(src.N), Label: src.Label}
	if k == KindGatherV {
		call.N = -1
	}
	return call, checkRooted(c, k, dst, src, counts, src, dst, root)
}

// CheckScatter checks Scatter and, with counts, ScatterV.
func CheckScatter(c Comm, k Kind, dst, src Buf, counts []int, root int) (Call, error) {
	call := Call{Kind: k, DType: dst.DType, Peer: int32(root), N: int64(dst.N), Label: dst.Label}
	if k == KindScatterV {
		call.N = -1
	}
	return call, checkRooted(c, k, dst, src, counts, dst, src, root)
}

// checkRooted checks a call in which each rank has a small buffer and root
// the large one that holds them all.
func checkRooted(c Comm, k Kind, dst, src Buf, counts []int, small, large Buf, root int) error {
	if err := checkRank(k, "root", root, c.Size()); err != nil {
		return err
	}
	if c.Rank() != root {
		name := "src"
		if k == KindScatter || k == KindScatterV {
			name = "dst"
		}
		return checkBuf(k, name, small)
	}
	total, own, at := small.N*c.Size(), small.N, c.Rank()*small.N
	if k == KindGatherV || k == KindScatterV {
		var err error
		if total, err = checkCounts(k, "counts", counts, c.Size()); err != nil {
			return err
		}
		own, at = counts[c.Rank()], Offset(counts, c.Rank())
	}
	wantDst, wantSrc := total, own
	if k == KindScatter || k == KindScatterV {
		wantDst, wantSrc = own, total
	}
	return checkPair(k, dst, src, wantDst, wantSrc, InBlock(small, large, at))
}

// CheckReduceScatter checks ReduceScatter and, with counts, ReduceScatterV.
func CheckReduceScatter(c Comm, k Kind, dst, src Buf, counts []int, op Op) (Call, error) {
	call := Call{Kind: k, DType: src.DType, Op: op, Peer: -1, N: int64(src.N), Label: src.Label}
	total, own, at := dst.N*c.Size(), dst.N, c.Rank()*dst.N
	if k == KindReduceScatterV {
		var err error
		if total, err = checkCounts(k, "counts", counts, c.Size()); err != nil {
			return call, err
		}
		own, at = counts[c.Rank()], Offset(counts, c.Rank())
	}
	if err := checkPair(k, dst, src, own, total, InBlock(dst, src, at)); err != nil {
		return call, err
	}
	return call, reducible(k, op, src)
}

// CheckAllToAll checks AllToAll.
func CheckAllToAll(c Comm, dst, src Buf) (Call, error) {
	k := KindAllToAll
	call := Call{Kind: k, DType: src.DType, Peer: -1, N: int64(src.N), Label: src.Label}
	if src.N%c.Size() != 0 {
		return call, fault(k, "src has %d elements, must be a multiple of %d ranks", src.N, c.Size())
	}
	return call, checkPair(k, dst, src, src.N, src.N, Same(dst, src))
}

// CheckAllToAllV checks AllToAllV.
func CheckAllToAllV(c Comm, dst Buf, recvCounts []int, src Buf, sendCounts []int) (Call, error) {
	k := KindAllToAllV
	call := Call{Kind: k, DType: src.DType, Peer: -1, N: -1, Label: src.Label}
	in, err := checkCounts(k, "recvCounts", recvCounts, c.Size())
	if err != nil {
		return call, err
	}
	out, err := checkCounts(k, "sendCounts", sendCounts, c.Size())
	if err != nil {
		return call, err
	}
	inPlace := Same(dst, src)
	if err := checkPair(k, dst, src, in, out, inPlace); err != nil {
		return call, err
	}
	if recvCounts[c.Rank()] != sendCounts[c.Rank()] {
		return call, fault(k, "this rank sends itself %d elements but expects %d", sendCounts[c.Rank()], recvCounts[c.Rank()])
	}
	for r := range recvCounts {
		if inPlace && src.N > 0 && recvCounts[r] != sendCounts[r] {
			return call, fault(k, "in place, but %d elements go to rank %d and %d come from it: counts must be equal, or use separate memory",
				sendCounts[r], r, recvCounts[r])
		}
	}
	return call, nil
}

// CheckMessage checks one side of a message.
func CheckMessage(c Comm, k Kind, b Buf, peer int) (Call, error) {
	call := Call{Kind: k, DType: b.DType, Peer: int32(peer), N: int64(b.N), Label: b.Label}
	if err := checkRank(k, "peer", peer, c.Size()); err != nil {
		return call, err
	}
	return call, checkBuf(k, "buf", b)
}

// CheckSplit checks Split.
func CheckSplit(color int) (Call, error) {
	call := Call{Kind: KindSplit, Peer: -1, N: -1}
	if color < NoColor {
		return call, fault(KindSplit, "color is %d, must not be negative, or NoColor to join no group", color)
	}
	return call, nil
}

// CheckWindow checks Window.
func CheckWindow(b Buf) (Call, error) {
	call := Call{Kind: KindWindow, DType: b.DType, Peer: -1, N: -1}
	switch {
	case !b.DType.Valid() || b.N < 0 || b.N > maxElements:
		return call, fault(KindWindow, "buffer of %d %v: wrap a slice with comm.Of", b.N, b.DType)
	case b.N > 0 && b.Place != OnHost:
		return call, fault(KindWindow, "buffer is in %v: windows are over host memory", b.Place)
	}
	return call, nil
}

// CheckAccess checks an access of b to target's buffer of a window. win is this
// rank's buffer, and counts are the sizes of all.
func CheckAccess(name string, win Buf, target int, counts []int, offset int, b Buf) error {
	switch {
	case target < 0 || target >= len(counts):
		return fmt.Errorf("comm: %s: target is rank %d, must be from 0 to %d", name, target, len(counts)-1)
	case b.N > 0 && b.DType != win.DType:
		return fmt.Errorf("comm: %s: buffer is %v, window is %v: element types must be equal", name, b.DType, win.DType)
	case b.N > 0 && b.Place != OnHost:
		return fmt.Errorf("comm: %s: buffer is in %v: windows take host memory", name, b.Place)
	case offset < 0 || b.N < 0 || offset > counts[target]-b.N:
		return fmt.Errorf("comm: %s: %d elements at %d of rank %d: its window has %d", name, b.N, offset, target, counts[target])
	}
	return nil
}

// CheckFetch checks the operation and the buffers of GetAccumulate on a window over win.
func CheckFetch(win, dst, src Buf, op Op) error {
	if err := CheckWindowOp(op, win.DType, true); err != nil {
		return fmt.Errorf("comm: GetAccumulate: %w", err)
	}
	if op != NoOp && src.Place != OnHost && src.N > 0 {
		return fmt.Errorf("comm: GetAccumulate: src is in %v: windows take host memory", src.Place)
	}
	if op != NoOp && (src.N != dst.N || src.DType != dst.DType) {
		return fmt.Errorf("comm: GetAccumulate: src is %d %v, dst is %d %v: must be equal", src.N, src.DType, dst.N, dst.DType)
	}
	return nil
}
