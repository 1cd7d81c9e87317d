package commtest

import (
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// groupCases are about the group itself.
func groupCases() []Case {
	return []Case{on("Rank and Size", rankAndSize), on("Barrier", barrier)}
}

func rankAndSize(r *rank) {
	r.checkf(r.size > 0, "size is %d, must be positive", r.size)
	r.checkf(r.me >= 0 && r.me < r.size, "rank is %d, must be from 0 to %d", r.me, r.size-1)
	r.checkf(r.c.String() != "", "String is empty, must name the transport")
	all := make([]int32, r.size)
	must(r.c.AllGather(r.ctx, comm.Of(all), comm.Of([]int32{int32(r.me)})))
	for i, got := range all {
		r.checkf(int(got) == i, "place %d of the ranks: got %d, want %d", i, got, i)
	}
}

// barrier lets each rank in turn enter late. The others send it a message when they have left
// the barrier. No message may arrive before it has entered.
func barrier(r *rank) {
	for late := range r.size {
		if r.me != late {
			must(r.c.Barrier(r.ctx))
			must(r.c.Send(r.ctx, comm.Of([]int32{int32(r.me)}), late))
			continue
		}
		reqs := make([]comm.Request, r.size)
		for i := range reqs {
			if i == late {
				continue
			}
			var err error
			reqs[i], err = r.c.IRecv(r.ctx, comm.Of([]int32{0}), i)
			must(err)
		}
		for end := time.Now().Add(3 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
			for i, q := range reqs {
				done, err := q.Test()
				must(err)
				r.checkf(i == late || !done, "rank %d left the barrier before rank %d had entered", i, late)
			}
		}
		must(r.c.Barrier(r.ctx))
		must(comm.WaitAll(r.ctx, reqs...))
	}
	for range 100 {
		must(r.c.Barrier(r.ctx))
	}
}

// collectiveCases are a sweep for each call and type, a case of large buffers for each call,
// and the average of negative integers.
func collectiveCases() []Case {
	cases := []Case{on("AllReduce/avg cuts towards zero", truncate)}
	for _, k := range collectiveKinds {
		cases = append(cases, on(k.String()+"/large", func(r *rank) { large(r, k) }))
		cases = append(cases, ofTypes(k.String(), func(r *rank, dt scalar.DType) { sweep(r, k, dt) })...)
	}
	return cases
}

// sweep runs a call with every op, root, size and kind of counts, out of place and in place.
func sweep(r *rank, kind driver.Kind, dt scalar.DType) {
	s := kind.Spec()
	for _, op := range driver.Ops {
		if s.Reduces && s.CheckOp(op, dt) != nil || !s.Reduces && op != comm.Sum {
			continue
		}
		for root := range r.size {
			if root > 0 && !s.Rooted {
				break
			}
			for _, k := range r.sizes(kind, root == r.size-1 || !s.Rooted) {
				k.dt, k.op, k.root = dt, op, root
				r.outOfAndInPlace(k)
			}
		}
	}
}

// sizes returns calls of all sizes. big adds one so large that other algorithms are used.
func (r *rank) sizes(kind driver.Kind, big bool) []call {
	blocks, top := blocksOf(kind, r.size), 65537
	switch {
	case pairwise(kind):
		top = 4099
	case blocks > 0:
		top = 16411
	}
	ns := []int{0, 1, 2, 7, 1000}
	if big {
		ns = append(ns, top)
	}
	var calls []call
	for _, n := range ns {
		calls = append(calls, call{kind: kind, n: n, counts: uniform(n, blocks)})
		if kind.Spec().Counts && n > 0 {
			for _, counts := range varyingCounts(n, blocks) {
				calls = append(calls, call{kind: kind, counts: counts})
			}
		}
	}
	return calls
}

// varyingCounts returns counts that differ, all about n: increasing from zero, zero at every
// other rank, and all elements at one rank.
func varyingCounts(n, blocks int) [][]int {
	stairs, holes, single := make([]int, blocks), make([]int, blocks), make([]int, blocks)
	for i := range blocks {
		stairs[i] = (i * 3 % 5) * n / 4
		holes[i] = i % 2 * n
	}
	single[blocks/2] = n
	return [][]int{stairs, holes, single}
}

// outOfAndInPlace runs k out of place and, if possible, in place.
func (r *rank) outOfAndInPlace(k call) {
	r.do(k)
	if !k.kind.Spec().InPlace {
		return
	}
	k.inPlace = true
	if pairwise(k.kind) {
		k.counts = symmetric(k.counts, r.size)
	}
	r.do(k)
}

// symmetric returns counts with which any two ranks exchange equal blocks.
func symmetric(counts []int, size int) []int {
	s := make([]int, len(counts))
	for i := range size {
		for j := range size {
			s[i*size+j] = counts[min(i, j)*size+max(i, j)]
		}
	}
	return s
}

// large runs a call on about 300,000 float32.
func large(r *rank, kind driver.Kind) {
	const n = 300007
	blocks := blocksOf(kind, r.size)
	k := call{kind: kind, dt: scalar.Float32, root: r.size / 2, n: n, counts: uniform(n/max(blocks, 1), blocks)}
	if kind.Spec().Counts {
		k.counts = varyingCounts(2*k.counts[0], blocks)[0]
	}
	r.outOfAndInPlace(k)
	if kind.Spec().Reduces {
		k.op = comm.Max
		r.outOfAndInPlace(k)
	}
}

// truncate averages integers whose sum is negative and not divisible.
func truncate(r *rank) {
	sum := -(4*r.size - 1) // floor would give -4, and so would rounding
	v := pick(r.me == r.size-1, sum, 0)
	a, b := []int32{int32(v)}, []int64{int64(v)}
	for _, buf := range []comm.Buf{comm.Of(a), comm.Of(b)} {
		must(r.c.AllReduce(r.ctx, buf, buf, comm.Average))
	}
	want := sum / r.size
	r.checkf(int(a[0]) == want && int(b[0]) == want, "rank %d: avg of int32 and int64 with sum %d over %d ranks: got %d and %d, want %d",
		r.me, sum, r.size, a[0], b[0], want)
}
