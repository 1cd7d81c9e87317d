package commtest

import (
	"fmt"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// groupCases are about the group itself.
func groupCases() []Case {
	return []Case{on("Rank and Size", rankAndSize), on("Barrier", barrier)}
}

func rankAndSize(r *rank) error {
	r.checkf(r.size > 0, "size is %d, must be positive", r.size)
	r.checkf(r.me >= 0 && r.me < r.size, "rank is %d, must be from 0 to %d", r.me, r.size-1)
	r.checkf(r.c.String() != "", "String is empty, must name the transport")
	all := make([]int32, r.size)
	if err := r.c.AllGather(r.ctx, comm.Of(all), comm.Of([]int32{int32(r.me)})); err != nil {
		return err
	}
	for i, got := range all {
		r.checkf(int(got) == i, "place %d of the ranks: got %d, want %d", i, got, i)
	}
	return nil
}

// barrier lets each rank in turn enter late. The others send it a message when they have left
// the barrier. No message may arrive before it has entered.
func barrier(r *rank) error {
	for late := range r.size {
		if r.me != late {
			if err := r.c.Barrier(r.ctx); err != nil {
				return err
			}
			if err := r.c.Send(r.ctx, comm.Of([]int32{int32(r.me)}), late); err != nil {
				return err
			}
			continue
		}
		reqs := make([]comm.Request, r.size)
		for i := range reqs {
			if i == late {
				continue
			}
			var err error
			if reqs[i], err = r.c.IRecv(r.ctx, comm.Of([]int32{0}), i); err != nil {
				return err
			}
		}
		for end := time.Now().Add(3 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
			for i, q := range reqs {
				done, err := q.Test()
				if err != nil {
					return err
				}
				r.checkf(i == late || !done, "rank %d left the barrier before rank %d had entered", i, late)
			}
		}
		if err := r.c.Barrier(r.ctx); err != nil {
			return err
		}
		if err := comm.WaitAll(r.ctx, reqs...); err != nil {
			return err
		}
	}
	for range 100 {
		if err := r.c.Barrier(r.ctx); err != nil {
			return err
		}
	}
	return nil
}

// collectiveKinds are the collectives that move or reduce elements.
var collectiveKinds = func() (kinds []driver.Kind) {
	for k := range driver.Specs {
		if driver.Specs[k].Moves() {
			kinds = append(kinds, driver.Kind(k))
		}
	}
	return kinds
}()

// collectiveCases are a sweep for each call and type, a case of large buffers for each call,
// and the average of negative integers.
func collectiveCases() []Case {
	var cases []Case
	for _, k := range collectiveKinds {
		for _, dt := range scalar.DTypes {
			cases = append(cases, on(fmt.Sprintf("%v/%v", k, dt), func(r *rank) error { return sweep(r, k, dt) }))
		}
		cases = append(cases, on(k.String()+"/large", func(r *rank) error { return large(r, k) }))
	}
	return append(cases, on("AllReduce/avg cuts towards zero", truncate))
}

// sweep runs a call with every op, root, size and kind of counts, out of place and in place.
func sweep(r *rank, kind driver.Kind, dt scalar.DType) error {
	f := formOf(kind)
	for _, op := range driver.Ops {
		if f.reduces && kind.Spec().CheckOp(op, dt) != nil || !f.reduces && op != comm.Sum {
			continue
		}
		for root := range r.size {
			if root > 0 && !f.rooted {
				break
			}
			for _, k := range r.sizes(kind, root == r.size-1 || !f.rooted) {
				k.dt, k.op, k.root = dt, op, root
				if err := r.outOfAndInPlace(k); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sizes returns calls of all sizes. big adds one so large that other algorithms are used.
func (r *rank) sizes(kind driver.Kind, big bool) []call {
	f := formOf(kind)
	blocks, top := 1, 65537
	switch {
	case f.pairs:
		blocks, top = r.size*r.size, 4099
	case f.blocks:
		blocks, top = r.size, 16411
	}
	ns := []int{0, 1, 2, 7, 1000}
	if big {
		ns = append(ns, top)
	}
	var calls []call
	for _, n := range ns {
		if !f.blocks && !f.pairs {
			calls = append(calls, call{kind: kind, n: n})
			continue
		}
		calls = append(calls, call{kind: kind, counts: uniform(n, blocks)})
		if f.varying && n > 0 {
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
func (r *rank) outOfAndInPlace(k call) error {
	f := formOf(k.kind)
	if err := r.do(k); err != nil || !f.inPlace {
		return err
	}
	k.inPlace = true
	if f.pairs {
		k.counts = symmetric(k.counts, r.size)
	}
	return r.do(k)
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
func large(r *rank, kind driver.Kind) error {
	const n = 300007
	f := formOf(kind)
	k := call{kind: kind, dt: scalar.Float32, root: r.size / 2, n: n}
	switch {
	case f.pairs:
		k.counts = uniform(n/(r.size*r.size), r.size*r.size)
	case f.blocks:
		k.counts = uniform(n/r.size, r.size)
	}
	if f.varying {
		k.counts = varyingCounts(2*k.counts[0], len(k.counts))[0]
	}
	if err := r.outOfAndInPlace(k); err != nil || !f.reduces {
		return err
	}
	k.op = comm.Max
	return r.outOfAndInPlace(k)
}

// truncate averages integers whose sum is negative and not divisible.
func truncate(r *rank) error {
	sum := -(4*r.size - 1) // floor would give -4, and so would rounding
	v := 0
	if r.me == r.size-1 {
		v = sum
	}
	a, b := []int32{int32(v)}, []int64{int64(v)}
	if err := r.c.AllReduce(r.ctx, comm.Of(a), comm.Of(a), comm.Average); err != nil {
		return err
	}
	if err := r.c.AllReduce(r.ctx, comm.Of(b), comm.Of(b), comm.Average); err != nil {
		return err
	}
	want := sum / r.size
	r.checkf(int(a[0]) == want, "rank %d: avg of int32 with sum %d over %d ranks: got %d, want %d", r.me, sum, r.size, a[0], want)
	r.checkf(int(b[0]) == want, "rank %d: avg of int64 with sum %d over %d ranks: got %d, want %d", r.me, sum, r.size, b[0], want)
	return nil
}
