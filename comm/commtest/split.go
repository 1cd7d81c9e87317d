package commtest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
)

// subgroup splits r's group by the color and key of each rank. It checks the members of this
// rank's new group and returns it, or nil for NoColor.
func (r *rank) subgroup(color, key func(rank int) int) *rank {
	colors, keys := make([]int, r.size), make([]int, r.size)
	for i := range r.size {
		colors[i], keys[i] = color(i), key(i)
	}
	own := colors[r.me]
	c, err := r.c.Split(r.ctx, own, keys[r.me])
	mustf(err, "split by colors %v and keys %v", colors, keys)
	if own == comm.NoColor {
		r.checkf(c == nil, "split: rank %d has no color but got a group", r.me)
		return nil
	}
	want := members(colors, keys, own)
	if c == nil || c.Size() != len(want) {
		must(fmt.Errorf("split by colors %v and keys %v: rank %d: got group %v, want %d ranks", colors, keys, r.me, c, len(want)))
	}
	sub := newRank(r.ctx, c)
	sub.state = r.state
	sub.tag = splitmix.Hash(r.tag + uint64(own))
	got := make([]int32, sub.size)
	must(c.AllGather(r.ctx, comm.Of(got), comm.Of([]int32{int32(r.me)})))
	for i, m := range want {
		r.checkf(int(got[i]) == m, "split by colors %v and keys %v: rank %d of color %d: got old rank %d, want %d",
			colors, keys, i, own, got[i], m)
	}
	return sub
}

// members returns the ranks of a color by key and rank.
func members(colors, keys []int, color int) []int {
	var m []int
	for r, c := range colors {
		if c == color {
			m = append(m, r)
		}
	}
	slices.SortStableFunc(m, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return m
}

// exercise makes all kinds of calls in a group.
func (r *rank) exercise() {
	calls := []call{{kind: driver.KindBarrier}}
	for _, dt := range scalar.DTypes {
		calls = append(calls,
			call{kind: driver.KindAllReduce, dt: dt, n: 9},
			call{kind: driver.KindAllReduce, dt: dt, op: comm.Prod, n: 2000, inPlace: true},
			call{kind: driver.KindReduceScatter, dt: dt, counts: uniform(5, r.size)},
			call{kind: driver.KindAllGatherV, dt: dt, counts: varyingCounts(8, r.size)[0]},
			call{kind: driver.KindAllToAll, dt: dt, counts: uniform(3, r.size*r.size)})
	}
	for root := range r.size {
		calls = append(calls, call{kind: driver.KindBroadcast, dt: scalar.Float32, root: root, n: 11},
			call{kind: driver.KindReduce, dt: scalar.Float32, root: root, n: 11},
			call{kind: driver.KindGatherV, dt: scalar.Int32, root: root, counts: varyingCounts(8, r.size)[1]})
	}
	for _, k := range calls {
		r.do(k)
	}
	for d := range r.size {
		r.shift(d, scalar.Complex64, 6)
	}
	ps := r.launch(r.ringMessages(scalar.Int64, 5)...)
	for _, k := range startedKinds {
		ps = append(ps, r.begin(call{kind: k, dt: scalar.Float64, n: 4, root: r.size - 1, counts: uniform(4, r.size)}))
	}
	slices.Reverse(ps)
	r.complete(ps)
	r.inGroup(scalar.Float32, func(from, to int) int { return from + to })
}

func zero(int) int         { return 0 }
func parity(rank int) int  { return rank % 2 }
func reverse(rank int) int { return -rank }

// splitCases make groups, also of groups.
func splitCases() []Case {
	// divide splits, exercises all new groups at once and closes them.
	divide := func(name string, color, key func(rank int) int) Case {
		return on("Split/"+name, func(r *rank) {
			if sub := r.subgroup(color, key); sub != nil {
				mustf(try(sub.exercise), "group of color %d", color(r.me))
				mustf(sub.c.Close(), "close group of color %d", color(r.me))
			}
			r.do(call{kind: driver.KindAllReduce, dt: scalar.Float64, n: 10})
		})
	}
	return []Case{
		divide("copy", zero, zero),
		divide("parity", parity, zero),
		divide("alone", func(r int) int { return r }, zero),
		divide("reversed", zero, reverse),
		divide("parity reversed", parity, func(r int) int { return 10 - 3*r }),
		divide("equal keys", zero, func(r int) int { return r % 2 * 5 }),
		divide("large colors", func(r int) int { return (r%2 + 1) << 29 }, func(r int) int { return (r % 3) << 29 }),
		divide("no color on odd ranks", func(r int) int { return -(r % 2) }, zero),
		divide("no color anywhere", func(int) int { return comm.NoColor }, zero),
		on("Split/again", splitAgain), on("Split/uneven work", unevenWork), on("Split/side by side", sideBySide),
		on("Split/many", manySplits), on("Split/goroutines", splitGoroutines),
	}
}

// splitAgain splits the halves again, by parity and in reverse, and uses all groups in turn.
func splitAgain(r *rank) {
	sub := r.subgroup(func(i int) int { return 2 * i / r.size }, zero)
	subsub := sub.subgroup(func(i int) int { return pick(i == 2, comm.NoColor, i%2) }, reverse)
	groups := []*rank{r, sub, subsub}
	if subsub == nil {
		groups = groups[:2]
	}
	for range 2 {
		for _, g := range slices.Backward(groups) {
			g.exercise()
		}
	}
	for _, g := range groups[1:] {
		must(g.c.Close())
	}
	r.alive()
}

// unevenWork lets one group do many more collectives than the other.
func unevenWork(r *rank) {
	sub := r.subgroup(func(i int) int { return i % 3 }, zero)
	for i := range 1 + 40*(r.me%3) {
		kind := collectiveKinds[i%len(collectiveKinds)]
		sub.do(call{kind: kind, dt: scalar.Float32, root: i % sub.size, n: i, counts: uniform(i, blocksOf(kind, sub.size))})
	}
	must(sub.c.Close())
	r.alive()
}

// sideBySide has messages and collectives under way in a group and in its copy at the same time.
// They must not mix.
func sideBySide(r *rank) {
	copied := r.subgroup(zero, zero)
	var ps []pending
	order := []*rank{r, copied}
	for range 10 {
		for _, g := range order {
			ps = append(ps, g.launch(g.ringMessages(scalar.Int32, 3)...)...)
			ps = append(ps, g.begin(call{kind: driver.KindIAllReduce, dt: scalar.Float32, n: 20}))
		}
		slices.Reverse(order)
	}
	shuffle(r.ownRand(), ps)
	r.complete(ps)
	must(copied.c.Close())
}

// manySplits makes and closes more groups than can be open at the same time.
func manySplits(r *rank) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		sub := r.subgroup(func(int) int { return rng.IntN(4) - 1 }, func(int) int { return rng.IntN(5) })
		if sub != nil {
			must(sub.c.Close())
		}
	}
}

// splitGoroutines has four goroutines on each rank, each with its own handle.
func splitGoroutines(r *rank) {
	subs := make([]*rank, 4)
	for i := range subs {
		subs[i] = r.subgroup(zero, zero)
		subs[i].state = &state{} // goroutines share no memory
	}
	errs := make([]error, len(subs))
	var wg sync.WaitGroup
	for i, s := range subs {
		wg.Go(func() {
			errs[i] = try(func() {
				for range 5 {
					s.exercise()
				}
			})
		})
	}
	wg.Wait()
	for i, s := range subs {
		r.check(s.bad)
		mustf(errs[i], "goroutine %d", i)
		must(s.c.Close())
	}
	r.alive()
}
