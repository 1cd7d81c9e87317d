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

// subgroup splits r's group by the colors and keys of all ranks. It checks the members of this
// rank's new group and returns it, or nil for NoColor.
func (r *rank) subgroup(colors, keys []int) (*rank, error) {
	c, err := r.c.Split(r.ctx, colors[r.me], keys[r.me])
	if err != nil {
		return nil, fmt.Errorf("split by colors %v and keys %v: %w", colors, keys, err)
	}
	if colors[r.me] == comm.NoColor {
		r.checkf(c == nil, "split: rank %d has no color but got a group", r.me)
		return nil, nil
	}
	if c == nil {
		return nil, fmt.Errorf("split: rank %d has color %d but got no group", r.me, colors[r.me])
	}
	want := members(colors, keys, colors[r.me])
	if c.Size() != len(want) {
		return nil, fmt.Errorf("split by colors %v and keys %v: rank %d: group has %d ranks, want %d",
			colors, keys, r.me, c.Size(), len(want))
	}
	sub := newRank(r.ctx, c)
	sub.state = r.state
	sub.tag = splitmix.Hash(r.tag + uint64(colors[r.me]))
	got := make([]int32, sub.size)
	if err := c.AllGather(r.ctx, comm.Of(got), comm.Of([]int32{int32(r.me)})); err != nil {
		return nil, err
	}
	for i, m := range want {
		r.checkf(int(got[i]) == m, "split by colors %v and keys %v: rank %d of color %d: got old rank %d, want %d",
			colors, keys, i, colors[r.me], got[i], m)
	}
	return sub, nil
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
func (r *rank) exercise() error {
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
		if err := r.do(k); err != nil {
			return err
		}
	}
	for d := range r.size {
		if err := r.shift(d, scalar.Complex64, 6); err != nil {
			return err
		}
	}
	ps, err := r.launch(r.ringMessages(scalar.Int64, 5))
	if err != nil {
		return err
	}
	for _, k := range []call{{kind: driver.KindIAllReduce, dt: scalar.Float64, n: 4},
		{kind: driver.KindIBroadcast, dt: scalar.Float64, n: 4, root: r.size - 1},
		{kind: driver.KindIAllGather, dt: scalar.Float64, counts: uniform(4, r.size)}} {
		p, err := r.begin(k)
		if err != nil {
			return err
		}
		ps = append(ps, p)
	}
	slices.Reverse(ps)
	if err := r.complete(ps); err != nil {
		return err
	}
	r.release()
	return r.inGroup(scalar.Float32, func(from, to int) int { return from + to })
}

// divide splits, exercises all new groups at once and closes them.
func (r *rank) divide(color, key func(rank int) int) error {
	colors, keys := make([]int, r.size), make([]int, r.size)
	for i := range r.size {
		colors[i], keys[i] = color(i), key(i)
	}
	sub, err := r.subgroup(colors, keys)
	if err != nil {
		return err
	}
	if sub != nil {
		if err := sub.exercise(); err != nil {
			return fmt.Errorf("group of color %d: %w", colors[r.me], err)
		}
		if err := sub.c.Close(); err != nil {
			return fmt.Errorf("close group of color %d: %w", colors[r.me], err)
		}
	}
	return r.do(call{kind: driver.KindAllReduce, dt: scalar.Float64, n: 10})
}

func zero(int) int     { return 0 }
func parity(r int) int { return r % 2 }

// splitCases make groups, also of groups.
func splitCases() []Case {
	divide := func(name string, color, key func(rank int) int) Case {
		return on("Split/"+name, func(r *rank) error { return r.divide(color, key) })
	}
	return []Case{
		divide("copy", zero, zero),
		divide("parity", parity, zero),
		divide("alone", func(r int) int { return r }, zero),
		divide("reversed", zero, func(r int) int { return -r }),
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
func splitAgain(r *rank) error {
	half := make([]int, r.size)
	for i := range half {
		half[i] = 2 * i / r.size
	}
	sub, err := r.subgroup(half, make([]int, r.size))
	if err != nil {
		return err
	}
	colors, keys := make([]int, sub.size), make([]int, sub.size)
	for i := range colors {
		colors[i], keys[i] = i%2, -i
		if i == 2 {
			colors[i] = comm.NoColor
		}
	}
	subsub, err := sub.subgroup(colors, keys)
	if err != nil {
		return err
	}
	groups := []*rank{r, sub, subsub}
	if subsub == nil {
		groups = groups[:2]
	}
	for range 2 {
		for _, g := range slices.Backward(groups) {
			if err := g.exercise(); err != nil {
				return err
			}
		}
	}
	for _, g := range groups[1:] {
		if err := g.c.Close(); err != nil {
			return err
		}
	}
	return r.alive()
}

// unevenWork lets one group do many more collectives than the other.
func unevenWork(r *rank) error {
	colors := make([]int, r.size)
	for i := range colors {
		colors[i] = i % 3
	}
	sub, err := r.subgroup(colors, make([]int, r.size))
	if err != nil {
		return err
	}
	for i := range 1 + 40*colors[r.me] {
		kind := collectiveKinds[i%len(collectiveKinds)]
		f := formOf(kind)
		k := call{kind: kind, dt: scalar.Float32, root: i % sub.size, n: i, counts: uniform(i, sub.size)}
		if f.pairs {
			k.counts = uniform(i, sub.size*sub.size)
		}
		if err := sub.do(k); err != nil {
			return err
		}
	}
	if err := sub.c.Close(); err != nil {
		return err
	}
	return r.alive()
}

// sideBySide has messages and collectives under way in a group and in its copy at the same time.
// They must not mix.
func sideBySide(r *rank) error {
	copied, err := r.subgroup(make([]int, r.size), make([]int, r.size))
	if err != nil {
		return err
	}
	var ps []pending
	for i := range 10 {
		order := []*rank{r, copied}
		if i%2 == 1 {
			order = []*rank{copied, r}
		}
		for _, g := range order {
			m, err := g.launch(g.ringMessages(scalar.Int32, 3))
			if err != nil {
				return err
			}
			p, err := g.begin(call{kind: driver.KindIAllReduce, dt: scalar.Float32, n: 20})
			if err != nil {
				return err
			}
			ps = append(append(ps, m...), p)
		}
	}
	shuffle(r.ownRand(), ps)
	if err := r.complete(ps); err != nil {
		return err
	}
	return copied.c.Close()
}

// manySplits makes and closes more groups than can be open at the same time.
func manySplits(r *rank) error {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		colors, keys := make([]int, r.size), make([]int, r.size)
		for i := range colors {
			colors[i], keys[i] = rng.IntN(4)-1, rng.IntN(5)
		}
		sub, err := r.subgroup(colors, keys)
		if err != nil {
			return err
		}
		if sub != nil {
			if err := sub.c.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// splitGoroutines has four goroutines on each rank, each with its own handle.
func splitGoroutines(r *rank) error {
	subs := make([]*rank, 4)
	for i := range subs {
		var err error
		if subs[i], err = r.subgroup(make([]int, r.size), make([]int, r.size)); err != nil {
			return err
		}
		subs[i].state = &state{} // goroutines share no memory
	}
	errs := make([]error, len(subs))
	var wg sync.WaitGroup
	for i, s := range subs {
		wg.Go(func() {
			for range 5 {
				if errs[i] = s.exercise(); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for i, s := range subs {
		r.check(s.bad)
		if errs[i] != nil {
			return fmt.Errorf("goroutine %d: %w", i, errs[i])
		}
		if err := s.c.Close(); err != nil {
			return err
		}
	}
	return r.alive()
}
