package commtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// mismatch is a call that differs on one rank.
type mismatch struct {
	name string
	call func(r *rank, odd bool) error
}

// mismatchCases have one rank in another call. Every rank must return a *comm.MismatchError,
// and the group must still work.
func mismatchCases(cfg Config) []Case {
	var cases []Case
	for _, m := range mismatches() {
		cases = append(cases, on("Mismatch/"+m.name, func(r *rank) error {
			if r.size == 1 {
				return nil
			}
			for range 2 {
				for _, odd := range []int{r.size - 1, 0} {
					err := m.call(r, r.me == odd)
					r.check(r.isMismatch(m.name, err, odd))
					r.release()
					if err := r.alive(); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	for _, m := range countMismatches() {
		cases = append(cases, on("Mismatch/"+m.name, func(r *rank) error {
			if r.size == 1 {
				return nil
			}
			err := m.call(r, r.me == r.size-1)
			r.checkf(err != nil, "%s: rank %d of %d: no error", m.name, r.me, r.size)
			return r.alive()
		}))
	}
	return append(cases, on("Mismatch/sub-group", subMismatch), on("Mismatch/messages", func(r *rank) error { return messageMismatch(r, cfg) }),
		on("Mismatch/window type", windowMismatch))
}

// isMismatch checks that err names odd and another rank.
func (r *rank) isMismatch(name string, err error, odd int) error {
	var m *comm.MismatchError
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: rank %d of %d, odd rank %d: %s", name, r.me, r.size, odd, fmt.Sprintf(format, args...))
	}
	switch {
	case err == nil:
		return fail("no error")
	case !errors.As(err, &m):
		return fail("got %v, want a *comm.MismatchError", err)
	case m.RankA == m.RankB || m.RankA != odd && m.RankB != odd:
		return fail("got %v, want the odd rank and another", err)
	case min(m.RankA, m.RankB) < 0 || max(m.RankA, m.RankB) >= r.size:
		return fail("got %v, want ranks from 0 to %d", err, r.size-1)
	case m.CallA == "" || m.CallA == m.CallB:
		return fail("got %v, want two different calls", err)
	}
	for _, rank := range []int{m.RankA, m.RankB} {
		if text := fmt.Sprintf("rank %d", rank); !strings.Contains(err.Error(), text) {
			return fail("got %v, want it to name %s", err, text)
		}
	}
	return nil
}

// pick returns a on the odd rank and b on the others.
func pick[T any](odd bool, a, b T) T {
	if odd {
		return a
	}
	return b
}

func mismatches() []mismatch {
	return []mismatch{
		{"Barrier and AllReduce", func(r *rank, odd bool) error {
			if odd {
				return r.c.Barrier(r.ctx)
			}
			return r.c.AllReduce(r.ctx, r.floats(4), r.floats(4), comm.Sum)
		}},
		{"Gather and Scatter", func(r *rank, odd bool) error {
			if odd {
				return r.c.Gather(r.ctx, r.floats(4*r.size), r.floats(4), 0)
			}
			return r.c.Scatter(r.ctx, r.floats(4), r.floats(4*r.size), 0)
		}},
		{"Barrier and Split", func(r *rank, odd bool) error {
			if odd {
				return r.c.Barrier(r.ctx)
			}
			_, err := r.c.Split(r.ctx, 0, 0)
			return err
		}},
		{"IAllReduce and IBroadcast", func(r *rank, odd bool) error {
			if odd {
				return r.finished(r.c.IAllReduce(r.ctx, r.floats(4), r.floats(4), comm.Sum))
			}
			return r.finished(r.c.IBroadcast(r.ctx, r.floats(4), 0))
		}},
		{"AllReduce count", func(r *rank, odd bool) error {
			n := pick(odd, 5, 4)
			return r.c.AllReduce(r.ctx, r.floats(n), r.floats(n), comm.Sum)
		}},
		{"AllReduce large count", func(r *rank, odd bool) error {
			n := pick(odd, 100000, 300000)
			return r.c.AllReduce(r.ctx, r.floats(n), r.floats(n), comm.Sum)
		}},
		{"AllReduce zero count", func(r *rank, odd bool) error {
			n := pick(odd, 0, 4)
			return r.c.AllReduce(r.ctx, r.floats(n), r.floats(n), comm.Sum)
		}},
		{"IAllReduce count", func(r *rank, odd bool) error {
			n := pick(odd, 5, 4)
			return r.finished(r.c.IAllReduce(r.ctx, r.floats(n), r.floats(n), comm.Sum))
		}},
		{"AllReduce op", func(r *rank, odd bool) error {
			return r.c.AllReduce(r.ctx, r.floats(4), r.floats(4), pick(odd, comm.Max, comm.Sum))
		}},
		{"AllReduce type", func(r *rank, odd bool) error {
			b := func() comm.Buf { return pick(odd, r.elements(scalar.Int32, 4), r.floats(4)) }
			return r.c.AllReduce(r.ctx, b(), b(), comm.Sum)
		}},
		{"Broadcast root", func(r *rank, odd bool) error { return r.c.Broadcast(r.ctx, r.floats(4), pick(odd, 1, 0)) }},
		{"Broadcast count", func(r *rank, odd bool) error { return r.c.Broadcast(r.ctx, r.floats(pick(odd, 3, 4)), 0) }},
		{"IBroadcast root", func(r *rank, odd bool) error {
			return r.finished(r.c.IBroadcast(r.ctx, r.floats(4), pick(odd, 1, 0)))
		}},
		{"Reduce root", func(r *rank, odd bool) error {
			return r.c.Reduce(r.ctx, r.floats(4), r.floats(4), comm.Sum, pick(odd, 1, 0))
		}},
		{"AllGather count", func(r *rank, odd bool) error {
			n := pick(odd, 3, 4)
			return r.c.AllGather(r.ctx, r.floats(n*r.size), r.floats(n))
		}},
		{"IAllGather count", func(r *rank, odd bool) error {
			n := pick(odd, 3, 4)
			return r.finished(r.c.IAllGather(r.ctx, r.floats(n*r.size), r.floats(n)))
		}},
		{"Gather count", func(r *rank, odd bool) error {
			n := pick(odd, 3, 4)
			return r.c.Gather(r.ctx, r.floats(n*r.size), r.floats(n), 1)
		}},
		{"Scatter count", func(r *rank, odd bool) error {
			n := pick(odd, 3, 4)
			return r.c.Scatter(r.ctx, r.floats(n), r.floats(n*r.size), 1)
		}},
		{"ReduceScatter op", func(r *rank, odd bool) error {
			return r.c.ReduceScatter(r.ctx, r.floats(4), r.floats(4*r.size), pick(odd, comm.Min, comm.Max))
		}},
		{"AllToAll count", func(r *rank, odd bool) error {
			n := pick(odd, 3, 4) * r.size
			return r.c.AllToAll(r.ctx, r.floats(n), r.floats(n))
		}},
		{"AllGatherV total", func(r *rank, odd bool) error {
			counts := uniform(4, r.size)
			counts[r.me] += pick(odd, 1, 0)
			return r.c.AllGatherV(r.ctx, r.floats(total(counts)), counts, r.floats(counts[r.me]))
		}},
	}
}

// countMismatches have counts that may differ between ranks, so that only a comparison of
// senders with receivers finds the error.
func countMismatches() []mismatch {
	swapped := func(r *rank, odd bool) []int {
		counts := uniform(4, r.size)
		counts[0], counts[1] = pick(odd, 5, 3), pick(odd, 3, 5)
		return counts
	}
	return []mismatch{
		{"AllGatherV counts", func(r *rank, odd bool) error {
			counts := swapped(r, odd)
			return r.c.AllGatherV(r.ctx, r.floats(total(counts)), counts, r.floats(counts[r.me]))
		}},
		{"ReduceScatterV counts", func(r *rank, odd bool) error {
			counts := swapped(r, odd)
			return r.c.ReduceScatterV(r.ctx, r.floats(counts[r.me]), r.floats(total(counts)), counts, comm.Sum)
		}},
		{"GatherV counts", func(r *rank, odd bool) error {
			return r.c.GatherV(r.ctx, r.floats(4*r.size), uniform(4, r.size), r.floats(pick(odd, 3, 4)), 0)
		}},
		{"GatherV more than root expects", func(r *rank, odd bool) error {
			return r.c.GatherV(r.ctx, r.floats(4*r.size), uniform(4, r.size), r.floats(pick(odd, 9, 4)), 0)
		}},
		{"ScatterV counts", func(r *rank, odd bool) error {
			return r.c.ScatterV(r.ctx, r.floats(pick(odd, 3, 4)), r.floats(4*r.size), uniform(4, r.size), 0)
		}},
		{"AllToAllV counts", func(r *rank, odd bool) error {
			recv := uniform(4, r.size)
			recv[0] += pick(odd, 1, 0)
			return r.c.AllToAllV(r.ctx, r.floats(total(recv)), recv, r.floats(4*r.size), uniform(4, r.size))
		}},
	}
}

// subMismatch has a mismatch in a group of reversed ranks. The error must use the rank numbers
// of that group.
func subMismatch(r *rank) error {
	if r.size == 1 {
		return nil
	}
	colors, keys := make([]int, r.size), make([]int, r.size)
	for i := range keys {
		keys[i] = -i
	}
	sub, err := r.subgroup(colors, keys)
	if err != nil {
		return err
	}
	n := pick(sub.me == 0, 4, 5)
	v := r.floats(n)
	err = sub.c.AllReduce(r.ctx, v, v, comm.Sum)
	r.check(sub.isMismatch("count in a sub-group", err, 0))
	if err := sub.alive(); err != nil {
		return err
	}
	if err := r.alive(); err != nil {
		return err
	}
	return sub.c.Close()
}

// messageMismatch sends messages whose receive differs. The receiver must return an error, the
// sender may, and later messages must arrive.
func messageMismatch(r *rank, cfg Config) error {
	if r.size == 1 {
		return nil
	}
	for _, m := range []struct{ sent, asked comm.Buf }{
		{r.floats(4), r.elements(scalar.Int32, 4)},
		{r.floats(4), r.floats(5)},
		{r.floats(4), r.floats(3)},
		{r.floats(4), r.floats(0)},
		{r.floats(0), r.floats(4)},
		{r.reals(200000), r.reals(100000)},
		{r.reals(100000), r.reals(200000)},
	} {
		if cfg.NoTruncation && m.sent.N > m.asked.N && m.sent.N > 1000 {
			continue
		}
		for _, wait := range []bool{false, true} {
			switch r.me {
			case 0:
				if wait {
					_ = r.finished(r.c.ISend(r.ctx, m.sent, r.size-1))
				} else {
					_ = r.c.Send(r.ctx, m.sent, r.size-1)
				}
			case r.size - 1:
				var err error
				if wait {
					err = r.finished(r.c.IRecv(r.ctx, m.asked, 0))
				} else {
					err = r.c.Recv(r.ctx, m.asked, 0)
				}
				r.checkf(err != nil, "%d %v sent, %d %v asked for: the receiver gets no error",
					m.sent.N, m.sent.DType, m.asked.N, m.asked.DType)
			}
			if err := r.transfer(message{0, r.size - 1, scalar.Float64, 6, r.nextTag()}); err != nil {
				return err
			}
			if err := r.alive(); err != nil {
				return err
			}
		}
	}
	return nil
}

func windowMismatch(r *rank) error {
	if !hasWindows(r.c) || r.size == 1 {
		return nil
	}
	_, err := r.c.Window(r.ctx, pick(r.me == 0, comm.Of(make([]int32, 4)), comm.Of(make([]float32, 4))))
	r.checkf(err != nil, "windows of different types: rank %d of %d: no error", r.me, r.size)
	return r.alive()
}
