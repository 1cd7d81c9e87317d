package commtest

import (
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
)

// oneRank is a call whose arguments are invalid on one rank only.
type oneRank struct {
	name string
	text string // the bad rank's error must contain it
	call func(r *rank, bad int) error
}

// oneRankCases make such calls. The bad rank's error must say what is wrong, the others' errors
// which rank is, and the group must still work.
func oneRankCases() []Case {
	var cases []Case
	for _, o := range oneRanks() {
		cases = append(cases, on("Bad on one rank/"+o.name, func(r *rank) error {
			for bad := range r.size {
				err := o.call(r, bad)
				name := fmt.Sprintf("%s: rank %d of %d, bad rank %d", o.name, r.me, r.size, bad)
				want := o.text
				if r.me != bad {
					want = fmt.Sprintf("rank %d", bad)
				}
				if err == nil {
					r.checkf(false, "%s: no error", name)
				} else {
					r.checkf(strings.Contains(err.Error(), want), "%s: error does not say %q: %w", name, want, err)
				}
				r.release()
				if err := r.alive(); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return cases
}

func oneRanks() []oneRank {
	// n is a on the bad rank and b on the others.
	n := func(r *rank, bad, a, b int) int { return pick(r.me == bad, a, b) }
	counts := func(r *rank, bad int) []int {
		c := uniform(3, r.size)
		if r.me == bad {
			c[0] = -3
		}
		return c
	}
	return []oneRank{
		{"AllReduce length", "5", func(r *rank, bad int) error {
			return r.c.AllReduce(r.ctx, r.reals(n(r, bad, 5, 4)), r.reals(4), comm.Sum)
		}},
		{"AllReduce op", "replace", func(r *rank, bad int) error {
			return r.c.AllReduce(r.ctx, r.reals(4), r.reals(4), pick(r.me == bad, comm.Replace, comm.Sum))
		}},
		{"AllReduce memory", "4", func(r *rank, bad int) error {
			b := r.reals(4)
			if r.me == bad {
				b.Ptr = nil
			}
			return r.c.AllReduce(r.ctx, b, b, comm.Sum)
		}},
		{"AllReduce overlap", "overlap", func(r *rank, bad int) error {
			m := r.reals(9)
			at := n(r, bad, 2, 5)
			return r.c.AllReduce(r.ctx, m.Slice(0, 4), m.Slice(at, at+4), comm.Sum)
		}},
		{"IAllReduce length", "5", func(r *rank, bad int) error {
			return r.finished(r.c.IAllReduce(r.ctx, r.reals(n(r, bad, 5, 4)), r.reals(4), comm.Sum))
		}},
		{"Broadcast root", "-1", func(r *rank, bad int) error {
			return r.c.Broadcast(r.ctx, r.reals(4), n(r, bad, -1, 0))
		}},
		{"IBroadcast root", "-1", func(r *rank, bad int) error {
			return r.finished(r.c.IBroadcast(r.ctx, r.reals(4), n(r, bad, -1, 0)))
		}},
		{"AllGather type", "float32", func(r *rank, bad int) error {
			dst := pick(r.me == bad, r.floats(4*r.size), r.reals(4*r.size))
			return r.c.AllGather(r.ctx, dst, r.reals(4))
		}},
		{"AllGatherV counts", "-3", func(r *rank, bad int) error {
			return r.c.AllGatherV(r.ctx, r.reals(3*r.size), counts(r, bad), r.reals(3))
		}},
		{"IAllGather length", "", func(r *rank, bad int) error {
			return r.finished(r.c.IAllGather(r.ctx, r.reals(n(r, bad, 1, 0)+4*r.size), r.reals(4)))
		}},
		{"ReduceScatter length", "", func(r *rank, bad int) error {
			return r.c.ReduceScatter(r.ctx, r.reals(4), r.reals(n(r, bad, 1, 0)+4*r.size), comm.Sum)
		}},
		{"ReduceScatterV counts", "-3", func(r *rank, bad int) error {
			return r.c.ReduceScatterV(r.ctx, r.reals(3), r.reals(3*r.size), counts(r, bad), comm.Sum)
		}},
		{"AllToAll length", "", func(r *rank, bad int) error {
			return r.c.AllToAll(r.ctx, r.reals(n(r, bad, 1, 0)+4*r.size), r.reals(4*r.size))
		}},
		{"AllToAllV counts", "-3", func(r *rank, bad int) error {
			return r.c.AllToAllV(r.ctx, r.reals(3*r.size), uniform(3, r.size), r.reals(3*r.size), counts(r, bad))
		}},
		{"Split color", "-7", func(r *rank, bad int) error {
			_, err := r.c.Split(r.ctx, n(r, bad, -7, 0), 0)
			return err
		}},
		{"Reduce dst on root", "5", func(r *rank, bad int) error {
			return r.c.Reduce(r.ctx, r.reals(5), r.reals(4), comm.Sum, bad)
		}},
		{"Gather dst on root", "", func(r *rank, bad int) error {
			return r.c.Gather(r.ctx, r.reals(4*r.size+1), r.reals(4), bad)
		}},
		{"GatherV counts on root", "-3", func(r *rank, bad int) error {
			return r.c.GatherV(r.ctx, r.reals(3*r.size), counts(r, bad), r.reals(3), bad)
		}},
		{"Scatter src on root", "", func(r *rank, bad int) error {
			return r.c.Scatter(r.ctx, r.reals(4), r.reals(4*r.size+1), bad)
		}},
		{"ScatterV counts on root", "-3", func(r *rank, bad int) error {
			return r.c.ScatterV(r.ctx, r.reals(3), r.reals(3*r.size), counts(r, bad), bad)
		}},
	}
}
