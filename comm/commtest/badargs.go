package commtest

import (
	"fmt"
	"math"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// fault is a way to make valid arguments of a collective invalid.
type fault struct {
	name       string
	of         func(s *driver.Spec) bool // the collectives that can have it
	everywhere bool                      // ranks other than root notice it too
	spoil      func(r *rank, a *args) (text string)
}

// faultNames are the names of all faults, each once.
var faultNames = []string{"op", "length", "counts", "root", "type", "overlap", "buffer"}

// faults are for arguments with 3 float64 in each block. The error of spoiled arguments must
// contain the text that spoil returns.
var faults = func() []fault {
	two := func(s *driver.Spec) bool { return s.Dst != driver.None && s.Src != driver.None }
	all := []fault{
		{"length", func(s *driver.Spec) bool { return two(s) && (s.Dst >= s.Src || s.Counts) }, false, func(r *rank, a *args) string {
			a.dst = r.reals(a.dst.N + 1)
			return fmt.Sprint(a.dst.N)
		}},
		{"length", func(s *driver.Spec) bool { return two(s) && (s.Src == driver.Blocks || s.Counts) }, false, func(r *rank, a *args) string {
			a.src = r.reals(a.src.N + 1)
			return fmt.Sprint(a.src.N)
		}},
		{"counts", func(s *driver.Spec) bool { return s.Counts && s.Dst == s.Src }, false, func(r *rank, a *args) string {
			a.out[r.me]++ // more than the rank expects of itself
			a.src = r.reals(a.src.N + 1)
			return "itself"
		}},
		{"type", two, false, func(r *rank, a *args) string {
			a.dst = r.elements(scalar.Int64, a.dst.N)
			return "int64"
		}},
		{"overlap", two, false, overlap},
	}
	for _, op := range []comm.Op{comm.Min, comm.Max, comm.Replace, comm.NoOp, comm.NoOp + 1} {
		all = append(all, fault{"op", func(s *driver.Spec) bool { return s.Reduces }, true, func(r *rank, a *args) string {
			dt := pick(op == comm.Max, scalar.Complex128, scalar.Complex64)
			a.dst, a.src, a.op = r.elements(dt, a.dst.N), r.elements(dt, a.src.N), op
			return op.String()
		}})
	}
	for _, root := range []func(r *rank) int{func(*rank) int { return -1 }, func(r *rank) int { return r.size }} {
		all = append(all, fault{"root", func(s *driver.Spec) bool { return s.Rooted }, true, func(r *rank, a *args) string {
			a.root = root(r)
			return fmt.Sprint(a.root)
		}})
	}
	for _, counts := range []func(r *rank) (text int, counts []int){
		func(r *rank) (int, []int) { return -3, append(uniform(3, r.size-1), -3) },
		func(r *rank) (int, []int) { return r.size + 1, uniform(3, r.size+1) },
		func(r *rank) (int, []int) { return math.MaxInt, uniform(math.MaxInt, r.size) },
		func(r *rank) (int, []int) { return r.size, nil },
	} {
		all = append(all,
			fault{"counts", func(s *driver.Spec) bool { return s.Counts && s.Dst == driver.Blocks }, false, func(r *rank, a *args) string {
				var text int
				text, a.in = counts(r)
				return fmt.Sprint(text)
			}},
			fault{"counts", func(s *driver.Spec) bool { return s.Counts && s.Src == driver.Blocks }, false, func(r *rank, a *args) string {
				var text int
				text, a.out = counts(r)
				return fmt.Sprint(text)
			}})
	}
	for _, b := range badBuffers {
		all = append(all, fault{"buffer", (*driver.Spec).Moves, true, func(_ *rank, a *args) string {
			bad := b.Buf
			bad.Place = a.dst.Place
			a.dst, a.src = bad, bad
			return b.text
		}})
	}
	return all
}()

// faultsOf returns the faults of a name that a collective can have, with those that only root
// notices if atRoot is set.
func faultsOf(k driver.Kind, name string, atRoot bool) []fault {
	var all []fault
	for _, f := range faults {
		if s := k.Spec(); f.name == name && f.of(s) && (f.everywhere || atRoot || !s.Rooted) {
			all = append(all, f)
		}
	}
	return all
}

// badBuffers are negative, without memory, and without a type.
var badBuffers = []struct {
	comm.Buf
	text string
}{{comm.Buf{DType: scalar.Float32, N: -6}, "-6"}, {comm.Buf{DType: scalar.Float32, N: 6}, "6"}, {comm.Buf{}, "element type"}}

// overlap shifts one buffer by one element from where a call in place has it.
func overlap(r *rank, a *args) string {
	large, small, at := &a.dst, &a.src, 1
	if a.src.N > a.dst.N {
		large, small = small, large
	}
	if s := a.kind.Spec(); s.Dst != s.Src {
		at += 3 * r.me
	}
	m := r.reals(large.N + 1)
	*large, *small = m.Slice(0, large.N), m.Slice(at, at+small.N)
	return "overlap"
}

// fails checks that a call has failed with an error that contains text, and that the group still
// works.
func (r *rank) fails(what, text string, err error) {
	r.checkf(err != nil && strings.Contains(err.Error(), text), "%s: rank %d of %d: got %v, want an error that says %q",
		what, r.me, r.size, err, text)
	r.release()
	r.alive()
}

// badArgumentCases make calls that must fail on every rank.
func badArgumentCases() []Case {
	cases := []Case{on("Bad arguments/peer", badMessages)}
	for _, name := range faultNames {
		cases = append(cases, on("Bad arguments/"+name, func(r *rank) {
			for _, k := range collectiveKinds {
				for i, f := range faultsOf(k, name, false) {
					a := r.arguments(k, scalar.Float64, 3)
					text := f.spoil(r, &a)
					r.fails(fmt.Sprintf("%v: %s, fault %d", k, name, i), text, r.call(a))
				}
			}
		}))
	}
	return cases
}

// oneRankCases make calls with invalid arguments on one rank. Its error must say what is wrong,
// and the others' errors which rank is. Ranks take turns, each with the next fault.
func oneRankCases() []Case {
	cases := []Case{on("Bad on one rank/Split color", func(r *rank) {
		for rank := range r.size {
			_, err := r.c.Split(r.ctx, pick(r.me == rank, -7, 0), 0)
			r.fails("Split", pick(r.me == rank, "-7", fmt.Sprintf("rank %d", rank)), err)
		}
	})}
	for _, k := range collectiveKinds {
		for _, name := range faultNames {
			bad := faultsOf(k, name, true)
			if bad == nil {
				continue
			}
			cases = append(cases, on(fmt.Sprintf("Bad on one rank/%v %s", k, name), func(r *rank) {
				for rank := range r.size {
					a, text := r.arguments(k, scalar.Float64, 3), fmt.Sprintf("rank %d", rank)
					a.root = rank
					if r.me == rank {
						text = bad[rank%len(bad)].spoil(r, &a)
					}
					r.fails(fmt.Sprintf("%v: %s on rank %d", k, name, rank), text, r.call(a))
				}
			}))
		}
	}
	return cases
}

// badMessages are messages with an invalid peer or buffer, and a Split with an invalid color.
func badMessages(r *rank) {
	for _, peer := range []int{-2, r.size} { // -1 is Nobody
		text := fmt.Sprint(peer)
		r.fails("Send", text, r.c.Send(r.ctx, r.reals(3), peer))
		r.fails("Recv", text, r.c.Recv(r.ctx, r.reals(3), peer))
		r.fails("SendRecv to", text, r.c.SendRecv(r.ctx, r.reals(3), comm.Nobody, r.reals(3), peer))
		r.fails("SendRecv from", text, r.c.SendRecv(r.ctx, r.reals(3), peer, r.reals(3), comm.Nobody))
		r.fails("ISend", text, r.finished(r.c.ISend(r.ctx, r.reals(3), peer)))
		r.fails("IRecv", text, r.finished(r.c.IRecv(r.ctx, r.reals(3), peer)))
		r.fails("Group Send", text, r.c.Group(r.ctx, func() error { return r.c.Send(r.ctx, r.reals(3), peer) }))
	}
	for _, b := range badBuffers {
		r.fails("Send", b.text, r.c.Send(r.ctx, b.Buf, 0))
		r.fails("Recv", b.text, r.c.Recv(r.ctx, b.Buf, 0))
	}
	r.fails("Send to Nobody", "-1", r.c.Send(r.ctx, r.reals(3), comm.Nobody))
	r.fails("Recv from Nobody", "-1", r.c.Recv(r.ctx, r.reals(3), comm.Nobody))
	_, err := r.c.Split(r.ctx, -2, 0)
	r.fails("Split", "-2", err)
}
