package commtest

import (
	"fmt"
	"math"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// mutex lets all ranks add to a counter on rank 0 by reading and writing it
// under an exclusive lock.
func mutex(r *rank) {
	const rounds = 20
	win := r.vec(scalar.Int64, 2)
	win.set(num{})
	r.withWindow(win, func(w *comm.Window) {
		for range rounds {
			r.locked(w, 0, comm.Exclusive, func() {
				x := []int64{-1, -1}
				must(w.Get(r.ctx, comm.Of(x), 0, 0))
				must(w.Flush(r.ctx, 0))
				time.Sleep(20 * time.Microsecond) // time for others to interfere if the lock fails
				x[0]++
				x[1] += int64(r.me)
				must(w.Put(r.ctx, 0, 0, comm.Of(x)))
			})
		}
	})
	if r.me == 0 {
		r.check(win.equal(0, num{re: int64(rounds * r.size)}))
		r.check(win.equal(1, num{re: int64(rounds * r.size * (r.size - 1) / 2)}))
		r.check(win.guards())
	}
	r.release()
}

// lockOthers lets each rank put into each other rank under a lock whose kind depends on the
// rank, and read it back after a Barrier.
func lockOthers(r *rank) {
	const n = 10
	win := r.vec(scalar.Float32, n*r.size)
	tag := r.nextTag()
	from := func(rank int) message { return message{from: rank, dt: scalar.Float32, n: n, tag: tag} }
	r.withWindow(win, func(w *comm.Window) {
		src := r.outgoing(from(r.me))
		for to := range r.size {
			kind := pick((r.me+to)%2 == 1, comm.Exclusive, comm.Shared)
			r.locked(w, to, kind, func() { must(w.Put(r.ctx, to, r.me*n, whole(src))) })
		}
		must(r.c.Barrier(r.ctx))
		for at := range r.size {
			r.locked(w, at, comm.Shared, func() {
				for owner := range r.size {
					got := r.vec(scalar.Float32, n)
					must(w.Get(r.ctx, whole(got), at, owner*n))
					must(w.Flush(r.ctx, at))
					r.verify(side{from(owner), got, false})
				}
			})
		}
	})
	r.check(win.guards())
}

// lockAll puts into all ranks, reads it back within the epoch and counts the ranks.
func lockAll(r *rank) {
	win := r.vec(scalar.Int32, r.size+1)
	win.set(num{})
	r.withWindow(win, func(w *comm.Window) {
		for round := range 3 {
			must(w.LockAll(r.ctx))
			for to := range r.size {
				x, back := []int32{int32(100*round + 10*r.me + to)}, []int32{-1}
				must(w.Put(r.ctx, to, r.me, comm.Of(x)))
				must(w.Accumulate(r.ctx, to, r.size, comm.Of([]int32{1}), comm.Sum))
				must(w.Flush(r.ctx, to))
				must(w.Get(r.ctx, comm.Of(back), to, r.me))
				must(w.Flush(r.ctx, to))
				r.checkf(back[0] == x[0], "LockAll: rank %d: reading back from rank %d: got %d, want %d", r.me, to, back[0], x[0])
			}
			must(w.UnlockAll(r.ctx))
		}
	})
	for from := range r.size {
		r.check(win.equal(from, num{re: int64(200 + 10*from + r.me)}))
	}
	r.check(win.equal(r.size, num{re: int64(3 * r.size)}))
	r.check(win.guards())
	r.release()
}

// putAndTell lets each rank put into its neighbours and tell them by a message. They then
// read their own memory within the epoch. Two places take turns, so the next round may put
// before all have read.
func putAndTell(r *rank) {
	const n, rounds = 70, 20
	win := r.vec(scalar.Float64, 4*n) // of each neighbour, by turns
	tag := r.nextTag()
	r.withWindow(win, func(w *comm.Window) {
		must(w.LockAll(r.ctx))
		err := try(func() {
			bell, heard := comm.Of([]uint8{1, 1}), comm.Of(make([]uint8, 2))
			peers := [2]int{r.left(1), r.right(1)}
			x, err := comm.NewExchange(r.c, []comm.Leg{{Peer: peers[0], Buf: heard.Slice(0, 1)}, {Peer: peers[1], Buf: heard.Slice(1, 2)}},
				[]comm.Leg{{Peer: peers[1], Buf: bell.Slice(0, 1)}, {Peer: peers[0], Buf: bell.Slice(1, 2)}})
			must(err)
			for round := range rounds {
				at := 2 * n * (round % 2)
				for side, to := range peers { // to the right I am the left neighbour
					src := r.outgoing(message{from: r.me, dt: scalar.Float64, n: n, tag: hash(tag, round, side)})
					must(w.Put(r.ctx, to, at+(1-side)*n, whole(src)))
					must(w.Flush(r.ctx, to))
				}
				must(x.Run(r.ctx))
				must(w.Sync(r.ctx))
				for side, from := range peers {
					want := r.vec(scalar.Float64, n)
					want.fill(0, n, message{from: from, tag: hash(tag, round, 1-side)}.source())
					got := r.vec(scalar.Float64, n)
					copy(comm.As[float64](whole(got)), comm.As[float64](win.buf(at+side*n, at+(side+1)*n)))
					r.same(fmt.Sprintf("Put and tell, round %d, from rank %d", round, from), got, want)
				}
			}
		})
		end := w.UnlockAll(r.ctx)
		must(err)
		must(end)
	})
	r.check(win.guards())
	r.release()
}

// windowErrors makes accesses that must fail at once, and some that must work.
func windowErrors(r *rank) {
	const n = 8
	win := r.vec(scalar.Complex64, n)
	x := func(n int) comm.Buf { return comm.Of(make([]complex64, n)) }
	r.inEpoch(win, func(w *comm.Window) {
		next := r.right(1)
		for _, bad := range []struct {
			name string
			err  error
		}{
			{"Put past the end", w.Put(r.ctx, next, n-1, x(2))},
			{"Put at a negative offset", w.Put(r.ctx, next, -1, x(1))},
			{"Put at an offset that overflows", w.Put(r.ctx, next, math.MaxInt-2, x(5))},
			{"Put at the largest offset", w.Put(r.ctx, next, math.MaxInt, x(1))},
			{"Get at an offset that overflows", w.Get(r.ctx, x(5), next, math.MaxInt-2)},
			{"Accumulate at an offset that overflows", w.Accumulate(r.ctx, next, math.MaxInt-1, x(3), comm.Sum)},
			{"GetAccumulate at an offset that overflows", w.GetAccumulate(r.ctx, x(3), next, math.MaxInt-1, x(3), comm.Sum)},
			{"Put to a negative rank", w.Put(r.ctx, -1, 0, x(1))},
			{"Put to a rank past the last", w.Put(r.ctx, r.size, 0, x(1))},
			{"Put of another type", w.Put(r.ctx, next, 0, comm.Of(make([]float64, 1)))},
			{"Get past the end", w.Get(r.ctx, x(n+1), next, 0)},
			{"Get at an offset past the end", w.Get(r.ctx, x(1), next, n)},
			{"Get from a rank past the last", w.Get(r.ctx, x(1), r.size, 0)},
			{"Get of another type", w.Get(r.ctx, comm.Of(make([]complex128, 1)), next, 0)},
			{"Accumulate past the end", w.Accumulate(r.ctx, next, n, x(1), comm.Sum)},
			{"Accumulate avg", w.Accumulate(r.ctx, next, 0, x(1), comm.Average)},
			{"Accumulate noop", w.Accumulate(r.ctx, next, 0, x(1), comm.NoOp)},
			{"Accumulate max of complex64", w.Accumulate(r.ctx, next, 0, x(1), comm.Max)},
			{"Accumulate of another type", w.Accumulate(r.ctx, next, 0, comm.Of(make([]int32, 1)), comm.Sum)},
			{"GetAccumulate past the end", w.GetAccumulate(r.ctx, x(2), next, n-1, x(2), comm.Sum)},
			{"GetAccumulate avg", w.GetAccumulate(r.ctx, x(1), next, 0, x(1), comm.Average)},
			{"GetAccumulate min of complex64", w.GetAccumulate(r.ctx, x(1), next, 0, x(1), comm.Min)},
			{"GetAccumulate to a negative rank", w.GetAccumulate(r.ctx, x(1), -1, 0, x(1), comm.Sum)},
		} {
			r.checkf(bad.err != nil, "%s: rank %d of %d: no error", bad.name, r.me, r.size)
		}
	})
	r.same("a window after accesses that failed", win, r.vec(scalar.Complex64, n))
	r.release()
	r.withWindow(r.vec(scalar.Complex64, n), func(w *comm.Window) {
		for _, target := range []int{-1, r.size} {
			err := w.Lock(r.ctx, target, comm.Shared)
			r.checkf(err != nil, "Lock of rank %d: rank %d of %d: no error", target, r.me, r.size)
		}
	})
	putRing(r, scalar.Complex64)
}

// emptyWindows exposes nothing on odd ranks.
func emptyWindows(r *rank) {
	length := func(rank int) int { return (rank + 1) % 2 * 3 }
	win, want := r.vec(scalar.Int32, length(r.me)), r.vec(scalar.Int32, length(r.me))
	if length(r.me) > 0 {
		want.set(num{re: 4})
	}
	r.inEpoch(win, func(w *comm.Window) {
		for to := range r.size {
			n := length(to)
			src := r.vec(scalar.Int32, n)
			src.set(num{re: 4})
			if r.left(1) == to {
				mustf(w.Put(r.ctx, to, 0, whole(src)), "put %d elements to rank %d, which has as many", n, to)
			}
			err := w.Put(r.ctx, to, 0, comm.Of(make([]int32, n+1)))
			r.checkf(err != nil, "Put of %d elements to rank %d, which has %d: rank %d: no error", n+1, to, n, r.me)
		}
	})
	r.same("window with zero elements on odd ranks", win, want)
}

// twoWindows uses two windows at once.
func twoWindows(r *rank) {
	a, b := r.vec(scalar.Float64, 1), r.vec(scalar.Float64, 1)
	r.inEpoch(a, func(wa *comm.Window) {
		r.inEpoch(b, func(wb *comm.Window) {
			must(wa.Put(r.ctx, r.right(1), 0, comm.Of([]float64{float64(r.me)})))
			must(wb.Put(r.ctx, r.left(1), 0, comm.Of([]float64{float64(-r.me)})))
		})
	})
	r.check(a.equal(0, num{re: int64(r.left(1))}))
	r.check(b.equal(0, num{re: -int64(r.right(1))}))
}
