package commtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
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
	cases := []Case{
		several("sub-group", subMismatch), several("messages", func(r *rank) { messageMismatch(r, cfg) }),
		several("window type", windowMismatch), several("label of a message", messageLabels),
		several("label of AllReduce of much", func(r *rank) { labels(r, driver.KindAllReduce, 300000) }),
	}
	for _, m := range mismatches() {
		cases = append(cases, several(m.name, func(r *rank) {
			for range 2 {
				for _, odd := range []int{r.size - 1, 0} {
					r.isMismatch(m.name, m.call(r, r.me == odd), odd)
					r.release()
					r.alive()
				}
			}
		}))
	}
	for _, m := range countMismatches() {
		cases = append(cases, several(m.name, func(r *rank) { r.fails(m.name, "", m.call(r, r.me == r.size-1)) }))
	}
	for _, k := range collectiveKinds {
		cases = append(cases, several("label of "+k.String(), func(r *rank) { labels(r, k, 4) }))
	}
	return cases
}

// several returns a case that runs on two ranks or more.
func several(name string, f func(r *rank)) Case {
	return on("Mismatch/"+name, func(r *rank) {
		if r.size > 1 {
			f(r)
		}
	})
}

// isMismatch checks that err names odd and another rank.
func (r *rank) isMismatch(name string, err error, odd int) {
	want := func(ok bool, what string) {
		r.checkf(ok, "%s: rank %d of %d, odd rank %d: got %v, want %s", name, r.me, r.size, odd, err, what)
	}
	var m *comm.MismatchError
	if !errors.As(err, &m) {
		want(false, "a *comm.MismatchError")
		return
	}
	want(m.RankA != m.RankB && (m.RankA == odd || m.RankB == odd), "the odd rank and another")
	want(m.CallA != "" && m.CallA != m.CallB, "two different calls")
	for _, rank := range []int{m.RankA, m.RankB} {
		want(rank >= 0 && rank < r.size, "ranks of the group")
		want(strings.Contains(err.Error(), fmt.Sprintf("rank %d", rank)), "the text to name both ranks")
	}
}

// pick returns a on the odd rank and b on the others.
func pick[T any](odd bool, a, b T) T {
	if odd {
		return a
	}
	return b
}

// mismatches have a row for everything that ranks of a collective must agree on.
func mismatches() []mismatch {
	// between has calls of two kinds, with other lengths.
	between := func(name string, odd, others driver.Kind, oddN, n int) mismatch {
		return mismatch{name, func(r *rank, isOdd bool) error {
			return r.call(r.arguments(pick(isOdd, odd, others), scalar.Float32, pick(isOdd, oddN, n)))
		}}
	}
	ms := []mismatch{
		between("Barrier and AllReduce", driver.KindBarrier, driver.KindAllReduce, 4, 4),
		between("Gather and Scatter", driver.KindGather, driver.KindScatter, 4, 4),
		between("IAllReduce and IBroadcast", driver.KindIAllReduce, driver.KindIBroadcast, 4, 4),
		between("AllReduce large count", driver.KindAllReduce, driver.KindAllReduce, 100000, 300000),
		between("AllReduce zero count", driver.KindAllReduce, driver.KindAllReduce, 0, 4),
		{"Barrier and Split", func(r *rank, odd bool) error {
			if odd {
				return r.c.Barrier(r.ctx)
			}
			_, err := r.c.Split(r.ctx, 0, 0)
			return err
		}},
		{"AllGatherV total", func(r *rank, odd bool) error {
			counts := uniform(4, r.size)
			counts[r.me] += pick(odd, 1, 0)
			return r.c.AllGatherV(r.ctx, r.floats(total(counts)), counts, r.floats(counts[r.me]))
		}},
	}
	for _, k := range collectiveKinds {
		s := k.Spec()
		// differ has a call whose arguments change sets on the odd rank.
		differ := func(what string, dt scalar.DType, change func(a *args)) {
			ms = append(ms, mismatch{k.String() + " " + what, func(r *rank, odd bool) error {
				a := r.arguments(k, pick(odd, dt, scalar.Float32), 4)
				if odd {
					change(&a)
				}
				return r.call(a)
			}})
		}
		differ("type", scalar.Int32, func(*args) {})
		if !s.Counts {
			ms = append(ms, between(k.String()+" count", k, k, 3, 4))
		}
		if s.Reduces {
			differ("op", scalar.Float32, func(a *args) { a.op = comm.Max })
		}
		if s.Rooted {
			differ("root", scalar.Float32, func(a *args) { a.root = 1 })
		}
	}
	return ms
}

// countMismatches have counts that may differ between ranks, so that only a comparison of
// senders with receivers finds the error.
func countMismatches() []mismatch {
	of := func(name string, k driver.Kind, change func(r *rank, a *args, odd bool)) mismatch {
		return mismatch{name, func(r *rank, odd bool) error {
			a := r.arguments(k, scalar.Float32, 4)
			change(r, &a, odd)
			return r.call(a)
		}}
	}
	swap := func(r *rank, counts []int, own *comm.Buf, odd bool) {
		counts[0], counts[1] = pick(odd, 5, 3), pick(odd, 3, 5)
		*own = r.floats(counts[r.me])
	}
	return []mismatch{
		of("AllGatherV counts", driver.KindAllGatherV, func(r *rank, a *args, odd bool) { swap(r, a.in, &a.src, odd) }),
		of("ReduceScatterV counts", driver.KindReduceScatterV, func(r *rank, a *args, odd bool) { swap(r, a.out, &a.dst, odd) }),
		of("GatherV counts", driver.KindGatherV, func(r *rank, a *args, odd bool) { a.src = r.floats(pick(odd, 3, 4)) }),
		of("GatherV more than root expects", driver.KindGatherV, func(r *rank, a *args, odd bool) { a.src = r.floats(pick(odd, 9, 4)) }),
		of("ScatterV counts", driver.KindScatterV, func(r *rank, a *args, odd bool) { a.dst = r.floats(pick(odd, 3, 4)) }),
		of("AllToAllV counts", driver.KindAllToAllV, func(r *rank, a *args, odd bool) {
			a.in[0] += pick(odd, 1, 0)
			a.dst = r.floats(total(a.in))
		}),
	}
}

// subMismatch has a mismatch in a group of reversed ranks. The error must use the rank numbers
// of that group.
func subMismatch(r *rank) {
	sub := r.subgroup(zero, func(rank int) int { return -rank })
	n := pick(sub.me == 0, 4, 5)
	v := r.floats(n)
	sub.isMismatch("count in a sub-group", sub.c.AllReduce(r.ctx, v, v, comm.Sum), 0)
	sub.alive()
	r.alive()
	must(sub.c.Close())
}

// messageMismatch sends messages whose receive differs. The receiver must return an error, the
// sender may, and later messages must arrive.
func messageMismatch(r *rank, cfg Config) {
	last := r.size - 1
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
		for _, started := range []bool{false, true} {
			var err error
			switch {
			case r.me == 0 && started:
				_ = r.finished(r.c.ISend(r.ctx, m.sent, last))
			case r.me == 0:
				_ = r.c.Send(r.ctx, m.sent, last)
			case r.me == last && started:
				err = r.finished(r.c.IRecv(r.ctx, m.asked, 0))
			case r.me == last:
				err = r.c.Recv(r.ctx, m.asked, 0)
			}
			r.checkf(err != nil || r.me != last, "%d %v sent, %d %v asked for: the receiver gets no error",
				m.sent.N, m.sent.DType, m.asked.N, m.asked.DType)
			r.transfer(message{0, last, scalar.Float64, 6, r.nextTag()})
			r.alive()
		}
	}
}

func windowMismatch(r *rank) {
	if hasWindows(r.c) {
		_, err := r.c.Window(r.ctx, pick(r.me == 0, comm.Of(make([]int32, 4)), comm.Of(make([]float32, 4))))
		r.fails("windows of different types", "", err)
	}
}
