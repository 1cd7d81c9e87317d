package commtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// call is one collective with all data from which the buffers of every rank before and after
// it can be computed.
type call struct {
	kind    driver.Kind
	dt      scalar.DType
	op      comm.Op
	root    int
	n       int   // elements, if there are no blocks
	counts  []int // of the block of each rank; of AllToAll, from rank i to rank j at i*size+j
	inPlace bool
	tag     uint64
}

// pairwise reports whether each pair of ranks has a block, as in AllToAll.
func pairwise(k driver.Kind) bool {
	return k.Spec().Dst == driver.Blocks && k.Spec().Src == driver.Blocks
}

// blocksOf returns how many blocks all ranks of a call have together, 0 if its buffers are not
// divided into blocks.
func blocksOf(k driver.Kind, ranks int) int {
	switch s := k.Spec(); {
	case pairwise(k):
		return ranks * ranks
	case s.Dst == driver.Blocks || s.Src == driver.Blocks:
		return ranks
	}
	return 0
}

func (k call) String() string {
	spec := k.kind.Spec()
	s := fmt.Sprintf("%v of %d %v", k.kind, k.n, k.dt)
	if blocksOf(k.kind, 1) > 0 {
		s = fmt.Sprintf("%v of %v %v", k.kind, k.counts, k.dt)
	}
	if spec.Reduces {
		s += ", " + k.op.String()
	}
	if spec.Rooted {
		s += fmt.Sprintf(", root %d", k.root)
	}
	if k.inPlace {
		s += ", in place"
	}
	return s
}

// uniform returns equal counts.
func uniform(n, ranks int) []int { return slices.Repeat([]int{n}, ranks) }

func total(counts []int) int { return driver.Offset(counts, len(counts)) }

// span is a part of a vec that is an argument of a call. It is empty if the argument is not
// used.
type span struct {
	vec
	lo, hi int
}

// arg returns the argument. With noPtr, an empty one has no address.
func (r span) arg(noPtr bool) comm.Buf {
	switch {
	case r.vec == nil:
		return comm.Buf{}
	case r.lo == r.hi && noPtr:
		return comm.Buf{DType: r.dtype()}
	}
	return r.vec.buf(r.lo, r.hi)
}

// job is one rank's part of a call.
type job struct {
	call
	r        *rank
	dst, src span
	in, out  []int // counts to pass; nil on some ranks that do not use them
}

// prepare allocates and fills this rank's buffers.
func (r *rank) prepare(k call) *job {
	j := &job{call: k, r: r}
	s := k.kind.Spec()
	if !s.Reduces {
		j.op = notReduced
	}
	root := !s.Rooted || r.me == k.root
	switch {
	case pairwise(k.kind):
		j.out = k.counts[r.me*r.size : (r.me+1)*r.size]
		j.in = r.column(k.counts, r.me)
		j.layout(total(j.in), total(j.out), 0)
	case s.Dst == driver.Blocks || s.Src == driver.Blocks:
		if root || k.tag%2 == 0 {
			j.in, j.out = k.counts, k.counts
		}
		j.layoutBlocks(root)
	case s.Dst == driver.None: // Barrier
	case s.Src == driver.None: // Broadcast
		j.layout(k.n, -1, 0)
		if root {
			j.dst.fill(0, k.n, j.source(r.me, 0))
		}
	case s.DstAtRoot && !root && !k.inPlace && k.tag%2 == 0:
		j.layout(-1, k.n, 0) // dst is the zero Buf
	default:
		j.layout(k.n, k.n, 0)
	}
	if j.src.vec != nil {
		j.src.fill(j.src.lo, j.src.hi, j.source(r.me, 0))
	}
	return j
}

// layoutBlocks allocates the buffers of a call whose larger buffer has a block for each rank.
func (j *job) layoutBlocks(root bool) {
	me := j.r.me
	small, large, at := j.counts[me], total(j.counts), driver.Offset(j.counts, me)
	if !root {
		large, j.inPlace = -1, false
	}
	if j.kind.Spec().Dst == driver.Blocks {
		j.layout(large, small, at)
	} else {
		j.layout(small, large, at)
	}
}

// layout allocates dst and src with these numbers of elements, none if negative. In place, the
// smaller one starts at element at of the larger one.
func (j *job) layout(dst, src, at int) {
	if !j.inPlace {
		if dst >= 0 {
			j.dst = span{j.r.vec(j.dt, dst), 0, dst}
		}
		if src >= 0 {
			j.src = span{j.r.vec(j.dt, src), 0, src}
		}
		return
	}
	v := j.r.vec(j.dt, max(dst, src))
	j.dst, j.src = span{v, 0, dst}, span{v, 0, src}
	switch {
	case dst < src:
		j.dst = span{v, at, at + dst}
	case src < dst:
		j.src = span{v, at, at + src}
	}
}

// column returns how many elements each rank sends to rank to.
func (r *rank) column(counts []int, to int) []int {
	col := make([]int, r.size)
	for i := range col {
		col[i] = counts[i*r.size+to]
	}
	return col
}

func (j *job) source(rank, off int) source {
	return source{tag: j.tag, op: j.op, size: j.r.size, rank: rank, off: off}
}

// start calls the collective.
func (j *job) start(ctx context.Context, c *comm.Comm) (comm.Request, error) {
	noPtr := j.tag%3 == 0
	return args{j.kind, j.dst.arg(noPtr), j.src.arg(noPtr), j.in, j.out, j.op, j.root}.start(ctx, c)
}

// verify checks all memory of the call once it has completed.
func (j *job) verify() {
	err := j.verifyMemory()
	j.r.checkf(err == nil, "%v: rank %d of %d: %w", j.call, j.r.me, j.r.size, err)
}

func (j *job) verifyMemory() error {
	if j.dst.vec != nil {
		want := j.r.vec(j.dt, j.dst.hi-j.dst.lo)
		j.expect(want)
		if err := errors.Join(j.dst.diff(j.dst.lo, j.dst.hi, want), j.dst.guards()); err != nil {
			return fmt.Errorf("dst: %w", err)
		}
	}
	if j.src.vec == nil {
		return nil
	}
	if err := j.src.guards(); err != nil {
		return fmt.Errorf("src: %w", err)
	}
	if j.inPlace && !j.kind.Spec().SrcAtRoot {
		return nil // src was overwritten, or is undefined outside dst
	}
	want := j.r.vec(j.dt, j.src.hi-j.src.lo)
	want.fill(0, want.len(), j.source(j.r.me, 0))
	if err := j.src.diff(j.src.lo, j.src.hi, want); err != nil {
		return fmt.Errorf("src has changed: %w", err)
	}
	return nil
}

// expect sets want to the expected dst. Elements that must not change keep junk.
func (j *job) expect(want vec) {
	n, me, s := want.len(), j.r.me, j.kind.Spec()
	switch {
	case pairwise(j.kind):
		at := 0
		for r, n := range j.in {
			row := j.counts[r*j.r.size : (r+1)*j.r.size]
			want.fill(at, at+n, j.source(r, driver.Offset(row, me)))
			at += n
		}
	case s.Dst == driver.Blocks: // a gather
		at := 0
		for r, n := range j.counts {
			want.fill(at, at+n, j.source(r, 0))
			at += n
		}
	case s.Src == driver.Blocks && s.Reduces:
		want.fill(0, n, j.source(everyone, driver.Offset(j.counts, me)))
	case s.Src == driver.Blocks: // a scatter
		want.fill(0, n, j.source(j.root, driver.Offset(j.counts, me)))
	case s.Before && me == 0:
		want.set(num{})
	case s.Before:
		want.fill(0, n, j.source(everyone-me, 0))
	case s.Reduces && (!s.Rooted || me == j.root):
		want.fill(0, n, j.source(everyone, 0))
	case s.Reduces && j.inPlace:
		want.fill(0, n, j.source(me, 0))
	case s.Dst == driver.One && !s.Reduces: // Broadcast
		want.fill(0, n, j.source(j.root, 0))
	}
}

// do carries out one call and checks it.
func (r *rank) do(k call) {
	p := r.begin(k)
	r.wait(p)
	p.verify()
	r.release()
}
