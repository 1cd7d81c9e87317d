package driver

import (
	"errors"
	"fmt"
	"math"
)

func fault(k Kind, format string, args ...any) error {
	return fmt.Errorf("comm: %v: %s", k, fmt.Sprintf(format, args...))
}

// MaxElements is more elements than any memory holds. Multiplied by the size of an
// element or by the number of ranks it does not overflow.
const MaxElements = 1 << 47

// Check completes a call on one of size ranks: it sets what the ranks must agree on,
// empties buffers that only root has, and sets Err to what is wrong with the arguments.
// gpu says whether buffers may be in GPU memory. The caller sets Kind, Op, Peer, the
// buffers and their counts.
func (c *Call) Check(rank, size int, gpu bool) {
	s := c.Kind.Spec()
	if c.Kind == KindAllReduce && c.Op == Sum && c.Src.N > 0 && c.Src.Ptr != nil && c.Src.DType.Valid() &&
		(gpu || c.Src.Place == OnHost) && Same(c.Dst, c.Src) { // a fast path: solvers do this in every step
		c.DType, c.N, c.Label, c.Err = c.Src.DType, int64(c.Src.N), c.Src.Label, nil
		return
	}
	if s.Dst == None && s.Src == None { // Barrier
		c.DType, c.N, c.Label, c.Err = 0, 0, 0, nil
		return
	}
	c.sign(s)
	c.Err = c.check(s, rank, size, gpu)
	if s.Rooted && rank != c.Root() {
		switch {
		case s.DstAtRoot:
			c.Dst, c.In = Buf{DType: c.DType}, nil
		case s.SrcAtRoot:
			c.Src, c.Out = Buf{DType: c.DType}, nil
		case s.Src == None: // Broadcast
			c.Src = Buf{DType: c.DType}
		}
	}
}

// sign sets what ranks must agree on.
func (c *Call) sign(s *Spec) {
	main := &c.Src
	if s.Src == None || s.SrcAtRoot {
		main = &c.Dst
	}
	c.DType, c.Label, c.N = main.DType, main.Label, int64(main.N)
	switch {
	case s.Counts && (s.Rooted || s.Dst == s.Src):
		c.N = -1
	case s.Counts && s.Dst == Blocks:
		c.N = int64(c.Dst.N)
	}
}

func (c *Call) check(s *Spec, rank, size int, gpu bool) error {
	k := c.Kind
	if s.Rooted || s.Message {
		name := "root"
		if s.Message {
			name = "peer"
		}
		if err := checkRank(k, name, int(c.Peer), size); err != nil {
			return err
		}
	}
	switch {
	case s.Src == None:
		return checkBuf(k, "buf", &c.Dst, gpu)
	case s.Dst == None:
		return checkBuf(k, "buf", &c.Src, gpu)
	case s.SrcAtRoot && rank != c.Root():
		return checkBuf(k, "dst", &c.Dst, gpu)
	case s.DstAtRoot && rank != c.Root():
		if err := checkBuf(k, "src", &c.Src, gpu); err != nil {
			return err
		}
	default:
		if err := c.checkPair(s, rank, size, gpu); err != nil {
			return err
		}
	}
	if s.Reduces {
		if err := s.CheckOp(c.Op, c.DType); err != nil {
			return fault(k, "%v", err)
		}
	}
	return nil
}

// checkPair checks a destination and a source: their sizes, and that they share no
// memory unless the call is in place.
func (c *Call) checkPair(s *Spec, rank, size int, gpu bool) error {
	k, dst, src := c.Kind, &c.Dst, &c.Src
	wantDst, wantSrc, inPlace, err := c.sizes(s, rank, size)
	if err != nil {
		return err
	}
	if err := checkBuf(k, "src", src, gpu); err != nil {
		return err
	}
	if err := checkBuf(k, "dst", dst, gpu); err != nil {
		return err
	}
	switch {
	case dst.DType != src.DType:
		return fault(k, "dst is %v, src is %v: element types must be equal", dst.DType, src.DType)
	case dst.N != wantDst:
		return fault(k, "dst has %d elements, must have %d", dst.N, wantDst)
	case src.N != wantSrc:
		return fault(k, "src has %d elements, must have %d", src.N, wantSrc)
	case !(inPlace && s.InPlace) && overlap(*dst, *src):
		if !s.InPlace {
			return fault(k, "dst and src overlap: pass separate memory")
		}
		return fault(k, "dst and src overlap: pass this rank's block to work in place, or separate memory")
	case k == KindAllToAllV:
		return c.checkPairCounts(rank, inPlace)
	}
	return nil
}

// sizes returns how many elements both buffers must have, and whether they are the
// same memory in the way that a call in place wants.
func (c *Call) sizes(s *Spec, rank, size int) (dst, src int, inPlace bool, err error) {
	k := c.Kind
	switch {
	case s.Dst == One && s.Src == One:
		return c.Src.N, c.Src.N, Same(c.Dst, c.Src), nil
	case s.Dst == Blocks && s.Src == Blocks && !s.Counts:
		if c.Src.N%size != 0 {
			err = fault(k, "src has %d elements, must be a multiple of %d ranks", c.Src.N, size)
		}
		return c.Src.N, c.Src.N, Same(c.Dst, c.Src), err
	case s.Dst == Blocks && s.Src == Blocks:
		if dst, err = checkCounts(k, "recvCounts", c.In, size); err != nil {
			return 0, 0, false, err
		}
		src, err = checkCounts(k, "sendCounts", c.Out, size)
		return dst, src, Same(c.Dst, c.Src), err
	}
	small, large, counts := c.Src, c.Dst, c.In
	if s.Src == Blocks {
		small, large, counts = c.Dst, c.Src, c.Out
	}
	total, own, at := small.N*size, small.N, rank*small.N
	if s.Counts {
		if total, err = checkCounts(k, "counts", counts, size); err != nil {
			return 0, 0, false, err
		}
		own, at = counts[rank], Offset(counts, rank)
	}
	if s.Src == Blocks {
		return own, total, inBlock(small, large, at), nil
	}
	return total, own, inBlock(small, large, at), nil
}

// inBlock reports whether small is the block of large that starts at element at.
func inBlock(small, large Buf, at int) bool {
	return small.N > 0 && at >= 0 && at <= large.N-small.N && Same(small, large.Slice(at, at+small.N))
}

// checkPairCounts checks the counts of AllToAllV.
func (c *Call) checkPairCounts(rank int, inPlace bool) error {
	if c.In[rank] != c.Out[rank] {
		return fault(c.Kind, "this rank sends itself %d elements but expects %d", c.Out[rank], c.In[rank])
	}
	for r := range c.In {
		if inPlace && c.Src.N > 0 && c.In[r] != c.Out[r] {
			return fault(c.Kind, "in place, but %d elements go to rank %d and %d come from it: counts must be equal, or use separate memory",
				c.Out[r], r, c.In[r])
		}
	}
	return nil
}

func checkBuf(k Kind, name string, b *Buf, gpu bool) error {
	switch {
	case b.N < 0:
		return fault(k, "%s has %d elements, must not be negative", name, b.N)
	case b.N > MaxElements:
		return fault(k, "%s has %d elements, more than any memory holds", name, b.N)
	case !b.DType.Valid():
		return fault(k, "%s has no element type: wrap a slice with comm.Of", name)
	case b.N > 0 && b.Ptr == nil:
		return fault(k, "%s has %d elements but no memory", name, b.N)
	case b.N > 0 && b.Place != OnHost && !gpu:
		return fault(k, "%s is in %v, which these ranks cannot reach: launch them on GPUs, or copy the buffer to the host", name, b.Place)
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

// CheckLegs checks the buffers of legs of an exchange.
func CheckLegs(legs []Leg, gpu bool) error {
	for i := range legs {
		if err := checkBuf(KindExchange, "a buffer", &legs[i].Buf, gpu); err != nil {
			return err
		}
	}
	return nil
}

// CheckSplit completes the call of a Split.
func (c *Call) CheckSplit() {
	c.Signature, c.Err = Signature{Kind: KindSplit, Peer: -1, N: -1}, nil
	if c.Color < NoColor {
		c.Err = fault(KindSplit, "color is %d, must not be negative, or NoColor to join no group", c.Color)
	}
}

// CheckWindow completes the call of a new window over c.Dst.
func (c *Call) CheckWindow() {
	b := &c.Dst
	c.Signature, c.Err = Signature{Kind: KindWindow, DType: b.DType, Peer: -1, N: -1}, nil
	switch {
	case !b.DType.Valid() || b.N < 0 || b.N > MaxElements:
		c.Err = fault(KindWindow, "buffer of %d %v: wrap a slice with comm.Of", b.N, b.DType)
	case b.N > 0 && b.Place != OnHost:
		c.Err = fmt.Errorf("comm: %v: buffer is in %v: windows are over host memory: %w", KindWindow, b.Place, errors.ErrUnsupported)
	}
}

// Check checks an access called name to a window over win. counts are the sizes of all
// ranks' buffers.
func (a *Access) Check(name string, win Buf, counts []int) error {
	b := &a.Src
	if name == "Get" || name == "GetAccumulate" {
		b = &a.Dst
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("comm: %s: %s", name, fmt.Sprintf(format, args...))
	}
	if name == "Accumulate" || name == "GetAccumulate" {
		if err := CheckWindowOp(a.Op, win.DType, name == "GetAccumulate"); err != nil {
			return wrong("%v", err)
		}
	}
	switch {
	case a.Target < 0 || a.Target >= len(counts):
		return wrong("target is rank %d, must be from 0 to %d", a.Target, len(counts)-1)
	case b.N > 0 && b.DType != win.DType:
		return wrong("buffer is %v, window is %v: element types must be equal", b.DType, win.DType)
	case b.N > 0 && b.Place != OnHost:
		return wrong("buffer is in %v: windows take host memory", b.Place)
	case a.Offset < 0 || b.N < 0 || a.Offset > counts[a.Target]-b.N:
		return wrong("%d elements at %d of rank %d: its window has %d", b.N, a.Offset, a.Target, counts[a.Target])
	}
	if name == "GetAccumulate" && a.Op != NoOp {
		switch src, dst := &a.Src, &a.Dst; {
		case src.Place != OnHost && src.N > 0:
			return wrong("src is in %v: windows take host memory", src.Place)
		case src.N != dst.N || src.DType != dst.DType:
			return wrong("src is %d %v, dst is %d %v: must be equal", src.N, src.DType, dst.N, dst.DType)
		}
	}
	return nil
}
