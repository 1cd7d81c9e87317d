package commtest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// badCall is a call with invalid arguments on every rank.
type badCall struct {
	name string
	text func(r *rank) string // the error must contain it; nil means the name of the call
	call func(r *rank) error
}

// badArgumentCases make calls that must fail on every rank. The group must still work
// afterwards.
func badArgumentCases() []Case {
	var cases []Case
	for _, set := range []struct {
		name  string
		calls []badCall
	}{
		{"op", badOps()}, {"length", badLengths()}, {"counts", badCounts()}, {"root", badRoots()},
		{"type", badTypes()}, {"overlap", overlaps()}, {"buffer", badBuffers()}, {"peer", badPeers()},
	} {
		cases = append(cases, on("Bad arguments/"+set.name, func(r *rank) error {
			for _, b := range set.calls {
				if err := b.run(r); err != nil {
					return fmt.Errorf("%s: %w", b.name, err)
				}
			}
			return nil
		}))
	}
	return cases
}

func (b badCall) run(r *rank) error {
	err := b.call(r)
	want := strings.Fields(b.name)[0]
	if b.text != nil {
		want = b.text(r)
	}
	switch {
	case err == nil:
		r.checkf(false, "%s: rank %d of %d: no error", b.name, r.me, r.size)
	case !strings.Contains(err.Error(), want):
		r.checkf(false, "%s: rank %d of %d: error does not say %q: %w", b.name, r.me, r.size, want, err)
	}
	r.release()
	return r.alive()
}

func says(s string) func(*rank) string { return func(*rank) string { return s } }

// finished waits for a request and returns the error of its start or end.
func (r *rank) finished(q comm.Request, err error) error {
	if err != nil {
		return err
	}
	return q.Wait(r.ctx)
}

func badOps() []badCall {
	var calls []badCall
	for _, op := range []comm.Op{comm.Min, comm.Max, comm.Replace, comm.NoOp, comm.NoOp + 1} {
		dt := scalar.Complex64
		if op == comm.Max {
			dt = scalar.Complex128
		}
		calls = append(calls,
			badCall{"AllReduce " + op.String(), says(op.String()), func(r *rank) error {
				return r.c.AllReduce(r.ctx, r.elements(dt, 1), r.elements(dt, 1), op)
			}},
			badCall{"IAllReduce " + op.String(), says(op.String()), func(r *rank) error {
				return r.finished(r.c.IAllReduce(r.ctx, r.elements(dt, 1), r.elements(dt, 1), op))
			}},
			badCall{"Reduce " + op.String(), says(op.String()), func(r *rank) error {
				return r.c.Reduce(r.ctx, r.elements(dt, 1), r.elements(dt, 1), op, 0)
			}},
			badCall{"ReduceScatter " + op.String(), says(op.String()), func(r *rank) error {
				return r.c.ReduceScatter(r.ctx, r.elements(dt, 1), r.elements(dt, r.size), op)
			}},
			badCall{"ReduceScatterV " + op.String(), says(op.String()), func(r *rank) error {
				return r.c.ReduceScatterV(r.ctx, r.elements(dt, 1), r.elements(dt, r.size), uniform(1, r.size), op)
			}})
	}
	return calls
}

func badLengths() []badCall {
	plus := func(k int) func(*rank) string {
		return func(r *rank) string { return fmt.Sprint(3*r.size + k) }
	}
	return []badCall{
		{"AllReduce", says("7"), func(r *rank) error { return r.c.AllReduce(r.ctx, r.reals(7), r.reals(5), comm.Sum) }},
		{"IAllReduce", says("7"), func(r *rank) error {
			return r.finished(r.c.IAllReduce(r.ctx, r.reals(7), r.reals(5), comm.Sum))
		}},
		{"AllGather", plus(1), func(r *rank) error { return r.c.AllGather(r.ctx, r.reals(3*r.size+1), r.reals(3)) }},
		{"IAllGather", plus(1), func(r *rank) error {
			return r.finished(r.c.IAllGather(r.ctx, r.reals(3*r.size+1), r.reals(3)))
		}},
		{"AllGatherV dst", plus(2), func(r *rank) error {
			return r.c.AllGatherV(r.ctx, r.reals(3*r.size+2), uniform(3, r.size), r.reals(3))
		}},
		{"AllGatherV src", says("4"), func(r *rank) error {
			return r.c.AllGatherV(r.ctx, r.reals(3*r.size), uniform(3, r.size), r.reals(4))
		}},
		{"ReduceScatter", plus(1), func(r *rank) error {
			return r.c.ReduceScatter(r.ctx, r.reals(3), r.reals(3*r.size+1), comm.Sum)
		}},
		{"ReduceScatterV src", plus(1), func(r *rank) error {
			return r.c.ReduceScatterV(r.ctx, r.reals(3), r.reals(3*r.size+1), uniform(3, r.size), comm.Sum)
		}},
		{"ReduceScatterV dst", says("2"), func(r *rank) error {
			return r.c.ReduceScatterV(r.ctx, r.reals(2), r.reals(3*r.size), uniform(3, r.size), comm.Sum)
		}},
		{"AllToAll", plus(1), func(r *rank) error { return r.c.AllToAll(r.ctx, r.reals(3*r.size+1), r.reals(3*r.size)) }},
		{"AllToAll not a multiple", nil, func(r *rank) error {
			n := 3*r.size + 1
			if r.size == 1 {
				return errors.New("AllToAll: every length is a multiple of one rank")
			}
			return r.c.AllToAll(r.ctx, r.reals(n), r.reals(n))
		}},
		{"AllToAllV dst", plus(1), func(r *rank) error {
			return r.c.AllToAllV(r.ctx, r.reals(3*r.size+1), uniform(3, r.size), r.reals(3*r.size), uniform(3, r.size))
		}},
		{"AllToAllV src", plus(-1), func(r *rank) error {
			return r.c.AllToAllV(r.ctx, r.reals(3*r.size), uniform(3, r.size), r.reals(3*r.size-1), uniform(3, r.size))
		}},
	}
}

func badCounts() []badCall {
	// Invalid counts, and what the error must say.
	forms := []struct {
		name string
		text func(r *rank) string
		make func(r *rank) []int
	}{
		{"negative", says("-3"), func(r *rank) []int {
			counts := uniform(3, r.size)
			counts[r.size-1] = -3
			return counts
		}},
		{"too many", func(r *rank) string { return fmt.Sprint(r.size + 1) },
			func(r *rank) []int { return uniform(3, r.size+1) }},
		{"too large", says(fmt.Sprint(math.MaxInt)), func(r *rank) []int { return uniform(math.MaxInt, r.size) }},
		{"nil", func(r *rank) string { return fmt.Sprint(r.size) }, func(*rank) []int { return nil }},
	}
	var calls []badCall
	for _, f := range forms {
		calls = append(calls,
			badCall{"AllGatherV " + f.name, f.text, func(r *rank) error {
				return r.c.AllGatherV(r.ctx, r.reals(3*r.size), f.make(r), r.reals(3))
			}},
			badCall{"ReduceScatterV " + f.name, f.text, func(r *rank) error {
				return r.c.ReduceScatterV(r.ctx, r.reals(3), r.reals(3*r.size), f.make(r), comm.Sum)
			}},
			badCall{"AllToAllV recvCounts " + f.name, f.text, func(r *rank) error {
				return r.c.AllToAllV(r.ctx, r.reals(3*r.size), f.make(r), r.reals(3*r.size), uniform(3, r.size))
			}},
			badCall{"AllToAllV sendCounts " + f.name, f.text, func(r *rank) error {
				return r.c.AllToAllV(r.ctx, r.reals(3*r.size), uniform(3, r.size), r.reals(3*r.size), f.make(r))
			}})
	}
	return append(calls, badCall{"AllToAllV own block", nil, func(r *rank) error {
		send, recv := uniform(3, r.size), uniform(3, r.size)
		send[r.me]++
		return r.c.AllToAllV(r.ctx, r.reals(3*r.size), recv, r.reals(3*r.size+1), send)
	}})
}

func badRoots() []badCall {
	var calls []badCall
	for _, past := range []bool{false, true} {
		root := func(r *rank) int {
			if past {
				return r.size
			}
			return -1
		}
		text := func(r *rank) string { return fmt.Sprint(root(r)) }
		calls = append(calls,
			badCall{"Reduce", text, func(r *rank) error { return r.c.Reduce(r.ctx, r.reals(3), r.reals(3), comm.Sum, root(r)) }},
			badCall{"Broadcast", text, func(r *rank) error { return r.c.Broadcast(r.ctx, r.reals(3), root(r)) }},
			badCall{"IBroadcast", text, func(r *rank) error {
				return r.finished(r.c.IBroadcast(r.ctx, r.reals(3), root(r)))
			}},
			badCall{"Gather", text, func(r *rank) error { return r.c.Gather(r.ctx, r.reals(3*r.size), r.reals(3), root(r)) }},
			badCall{"GatherV", text, func(r *rank) error {
				return r.c.GatherV(r.ctx, r.reals(3*r.size), uniform(3, r.size), r.reals(3), root(r))
			}},
			badCall{"Scatter", text, func(r *rank) error { return r.c.Scatter(r.ctx, r.reals(3), r.reals(3*r.size), root(r)) }},
			badCall{"ScatterV", text, func(r *rank) error {
				return r.c.ScatterV(r.ctx, r.reals(3), r.reals(3*r.size), uniform(3, r.size), root(r))
			}})
	}
	return calls
}

func badTypes() []badCall {
	text := says("int64")
	return []badCall{
		{"AllReduce", text, func(r *rank) error { return r.c.AllReduce(r.ctx, r.ints(3), r.reals(3), comm.Sum) }},
		{"IAllReduce", text, func(r *rank) error {
			return r.finished(r.c.IAllReduce(r.ctx, r.ints(3), r.reals(3), comm.Sum))
		}},
		{"AllGather", text, func(r *rank) error { return r.c.AllGather(r.ctx, r.ints(3*r.size), r.reals(3)) }},
		{"IAllGather", text, func(r *rank) error {
			return r.finished(r.c.IAllGather(r.ctx, r.ints(3*r.size), r.reals(3)))
		}},
		{"AllGatherV", text, func(r *rank) error {
			return r.c.AllGatherV(r.ctx, r.ints(3*r.size), uniform(3, r.size), r.reals(3))
		}},
		{"ReduceScatter", text, func(r *rank) error {
			return r.c.ReduceScatter(r.ctx, r.ints(3), r.reals(3*r.size), comm.Sum)
		}},
		{"ReduceScatterV", text, func(r *rank) error {
			return r.c.ReduceScatterV(r.ctx, r.ints(3), r.reals(3*r.size), uniform(3, r.size), comm.Sum)
		}},
		{"AllToAll", text, func(r *rank) error { return r.c.AllToAll(r.ctx, r.ints(3*r.size), r.reals(3*r.size)) }},
		{"AllToAllV", text, func(r *rank) error {
			return r.c.AllToAllV(r.ctx, r.ints(3*r.size), uniform(3, r.size), r.reals(3*r.size), uniform(3, r.size))
		}},
	}
}

// overlaps are calls whose buffers overlap without being in place: one is shifted by one
// element.
func overlaps() []badCall {
	// all is a buffer with a block for each rank, own is this rank's block.
	blocks := func(r *rank) (all, own comm.Buf) {
		m, at := r.reals(3*r.size+1), 3*r.me+1
		return m.Slice(0, 3*r.size), m.Slice(at, at+3)
	}
	pair := func(r *rank) (a, b comm.Buf) {
		m := r.reals(3*r.size + 1)
		return m.Slice(0, 3*r.size), m.Slice(1, 3*r.size+1)
	}
	return []badCall{
		{"AllReduce", nil, func(r *rank) error { a, b := pair(r); return r.c.AllReduce(r.ctx, a, b, comm.Sum) }},
		{"IAllReduce", nil, func(r *rank) error {
			a, b := pair(r)
			return r.finished(r.c.IAllReduce(r.ctx, a, b, comm.Sum))
		}},
		{"AllGather", nil, func(r *rank) error { all, own := blocks(r); return r.c.AllGather(r.ctx, all, own) }},
		{"IAllGather", nil, func(r *rank) error {
			all, own := blocks(r)
			return r.finished(r.c.IAllGather(r.ctx, all, own))
		}},
		{"AllGatherV", nil, func(r *rank) error {
			all, own := blocks(r)
			return r.c.AllGatherV(r.ctx, all, uniform(3, r.size), own)
		}},
		{"ReduceScatter", nil, func(r *rank) error {
			all, own := blocks(r)
			return r.c.ReduceScatter(r.ctx, own, all, comm.Sum)
		}},
		{"ReduceScatterV", nil, func(r *rank) error {
			all, own := blocks(r)
			return r.c.ReduceScatterV(r.ctx, own, all, uniform(3, r.size), comm.Sum)
		}},
		{"AllToAll", nil, func(r *rank) error { a, b := pair(r); return r.c.AllToAll(r.ctx, a, b) }},
		{"AllToAllV", nil, func(r *rank) error {
			a, b := pair(r)
			return r.c.AllToAllV(r.ctx, a, uniform(3, r.size), b, uniform(3, r.size))
		}},
	}
}

func badBuffers() []badCall {
	negative := comm.Buf{DType: scalar.Float32, N: -6}
	empty := comm.Buf{DType: scalar.Float32, N: 6}
	return []badCall{
		{"AllReduce negative", says("-6"), func(r *rank) error { return r.c.AllReduce(r.ctx, negative, negative, comm.Sum) }},
		{"AllReduce no memory", says("6"), func(r *rank) error { return r.c.AllReduce(r.ctx, empty, empty, comm.Sum) }},
		{"AllReduce zero Buf", nil, func(r *rank) error { return r.c.AllReduce(r.ctx, comm.Buf{}, comm.Buf{}, comm.Sum) }},
		{"Broadcast negative", says("-6"), func(r *rank) error { return r.c.Broadcast(r.ctx, negative, 0) }},
		{"Broadcast no memory", says("6"), func(r *rank) error { return r.c.Broadcast(r.ctx, empty, 0) }},
		{"Broadcast zero Buf", nil, func(r *rank) error { return r.c.Broadcast(r.ctx, comm.Buf{}, 0) }},
		{"Send negative", says("-6"), func(r *rank) error { return r.c.Send(r.ctx, negative, 0) }},
		{"Recv no memory", says("6"), func(r *rank) error { return r.c.Recv(r.ctx, empty, 0) }},
		{"Send zero Buf", nil, func(r *rank) error { return r.c.Send(r.ctx, comm.Buf{}, 0) }},
	}
}

// badPeers are messages with an invalid peer and a Split with an invalid color.
func badPeers() []badCall {
	var calls []badCall
	for _, past := range []bool{false, true} {
		peer := func(r *rank) int {
			if past {
				return r.size
			}
			return -2 // -1 is Nobody
		}
		text := func(r *rank) string { return fmt.Sprint(peer(r)) }
		calls = append(calls,
			badCall{"Send", text, func(r *rank) error { return r.c.Send(r.ctx, r.reals(3), peer(r)) }},
			badCall{"Recv", text, func(r *rank) error { return r.c.Recv(r.ctx, r.reals(3), peer(r)) }},
			badCall{"SendRecv to", text, func(r *rank) error {
				return r.c.SendRecv(r.ctx, r.reals(3), comm.Nobody, r.reals(3), peer(r))
			}},
			badCall{"SendRecv from", text, func(r *rank) error {
				return r.c.SendRecv(r.ctx, r.reals(3), peer(r), r.reals(3), comm.Nobody)
			}},
			badCall{"ISend", text, func(r *rank) error { return r.finished(r.c.ISend(r.ctx, r.reals(3), peer(r))) }},
			badCall{"IRecv", text, func(r *rank) error { return r.finished(r.c.IRecv(r.ctx, r.reals(3), peer(r))) }},
			badCall{"Group Send", text, func(r *rank) error {
				return r.c.Group(r.ctx, func() error { return r.c.Send(r.ctx, r.reals(3), peer(r)) })
			}})
	}
	return append(calls,
		badCall{"Send to Nobody", says("-1"), func(r *rank) error { return r.c.Send(r.ctx, r.reals(3), comm.Nobody) }},
		badCall{"Recv from Nobody", says("-1"), func(r *rank) error { return r.c.Recv(r.ctx, r.reals(3), comm.Nobody) }},
		badCall{"Split", says("-2"), func(r *rank) error {
			_, err := r.c.Split(r.ctx, -2, 0)
			return err
		}})
}
