package commtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// windowCases are about one-sided access. They pass if c has no windows. The memory of a window
// is checked after Close, when it belongs to the rank again.
func windowCases() []Case {
	cases := slices.Concat(ofTypes("Window/Put", putRing), ofTypes("Window/Get", getRing), ofTypes("Window/Accumulate", accumulate),
		ofTypes("Window/Accumulate/replace", replace), ofTypes("Window/GetAccumulate", fetch),
		ofTypes("Window/GetAccumulate/tickets", tickets), []Case{
			on("Window/Lock/exclusive", mutex), on("Window/Lock/others", lockOthers), on("Window/LockAll", lockAll), on("Window/Put and tell", putAndTell),
			on("Window/errors", windowErrors), on("Window/zero elements", emptyWindows), on("Window/two", twoWindows),
			on("Window/sub-group", windowsOfGroup), on("Closed/window", closedWindow), on("Closed/window of a group", windowOfClosed),
		})
	for i := range cases {
		body := cases[i].body
		cases[i].body = func(r *rank) {
			if hasWindows(r.c) {
				r.device = nil
				body(r)
			}
		}
	}
	return cases
}

// hasWindows reports whether the transport of c offers windows.
func hasWindows(c *comm.Comm) bool {
	_, ok := c.Conn().(driver.OneSided)
	return ok
}

// windowsOfGroup uses windows of a group of Split.
func windowsOfGroup(r *rank) {
	sub := r.subgroup(parity, reverse)
	for _, f := range []func(*rank, scalar.DType){putRing, getRing, accumulate, fetch, tickets} {
		f(sub, scalar.Float64)
	}
	mutex(sub)
	lockAll(sub)
	must(sub.c.Close())
}

// epoch runs f between two Fences, the second even if f fails.
func (r *rank) epoch(w *comm.Window, f func()) {
	must(w.Fence(r.ctx))
	err := try(f)
	end := w.Fence(r.ctx)
	must(err)
	must(end)
}

// locked runs f under a lock.
func (r *rank) locked(w *comm.Window, target int, kind comm.LockKind, f func()) {
	must(w.Lock(r.ctx, target, kind))
	err := try(f)
	end := w.Unlock(r.ctx, target)
	must(err)
	must(end)
}

// withWindow runs f with a window over v and closes it, even if f fails.
func (r *rank) withWindow(v vec, f func(w *comm.Window)) {
	w, err := r.c.Window(r.ctx, whole(v))
	mustf(err, "window over %d %v", v.len(), v.dtype())
	err = try(func() { f(w) })
	end := w.Close(r.ctx)
	mustf(err, "window over %d %v", v.len(), v.dtype())
	mustf(end, "close window over %d %v", v.len(), v.dtype())
}

// inEpoch runs f between two Fences of a window over v.
func (r *rank) inEpoch(v vec, f func(w *comm.Window)) {
	r.withWindow(v, func(w *comm.Window) { r.epoch(w, func() { f(w) }) })
}

// supported runs f and reports whether the transport offers its accesses: MPI does not accumulate
// 16-bit floats.
func supported(f func()) bool {
	err := try(f)
	if errors.Is(err, errors.ErrUnsupported) {
		return false
	}
	must(err)
	return true
}

// putRing lets each rank put into all others at every distance.
func putRing(r *rank, dt scalar.DType) {
	for _, n := range []int{1, 7, 1000} {
		win, want := r.vec(dt, 1+n*r.size), r.vec(dt, 1+n*r.size)
		tag := r.nextTag()
		r.inEpoch(win, func(w *comm.Window) {
			for d := range r.size {
				to := r.right(d)
				src := r.outgoing(message{r.me, to, dt, n, hash(tag, r.me, to)})
				must(w.Put(r.ctx, to, 1+r.me*n, whole(src)))
			}
		})
		for from := range r.size {
			want.fill(1+from*n, 1+(from+1)*n, message{from: from, tag: hash(tag, from, r.me)}.source())
		}
		r.same("Put", win, want)
		r.release()
	}
}

// getRing lets each rank read all others, twice, with changed values.
func getRing(r *rank, dt scalar.DType) {
	const n = 300
	win := r.vec(dt, n)
	r.withWindow(win, func(w *comm.Window) {
		for range 2 {
			tag := r.nextTag()
			win.fill(0, n, source{tag: tag, op: notReduced, size: 1, rank: r.me})
			got := make([]vec, r.size)
			r.epoch(w, func() {
				for d := range r.size {
					from := r.left(d)
					got[from] = r.vec(dt, n-2*d)
					must(w.Get(r.ctx, whole(got[from]), from, d))
				}
			})
			for d := range r.size {
				want := r.vec(dt, n-2*d)
				want.fill(0, n-2*d, source{tag: tag, op: notReduced, size: 1, rank: r.left(d), off: d})
				r.same(fmt.Sprintf("Get from rank %d", r.left(d)), got[r.left(d)], want)
			}
		}
	})
}

// accumulate lets all ranks accumulate into rank 0 and into all ranks, with each reduction. The
// initial values of the window count as one more contribution.
func accumulate(r *rank, dt scalar.DType) {
	const n = 500
	for _, op := range []comm.Op{comm.Sum, comm.Prod, comm.Min, comm.Max} {
		if driver.CheckWindowOp(op, dt, false) != nil {
			continue
		}
		for _, targets := range []int{1, r.size} {
			s := source{tag: r.nextTag(), op: op, size: r.size + 1, rank: r.size}
			win, src, want := r.vec(dt, n), r.vec(dt, n), r.vec(dt, n)
			win.fill(0, n, s)
			want.fill(0, n, s)
			s.rank = r.me
			src.fill(0, n, s)
			ok := supported(func() {
				r.inEpoch(win, func(w *comm.Window) {
					for to := range targets {
						half := 250 + r.me%7
						must(w.Accumulate(r.ctx, to, half, src.buf(half, n), op))
						must(w.Accumulate(r.ctx, to, 0, src.buf(0, half), op))
					}
				})
			})
			if r.me < targets {
				s.rank = everyone
				want.fill(0, n, s)
			}
			if ok {
				r.same("Accumulate "+op.String(), win, want)
			}
			r.release()
		}
	}
}

// replace lets each rank replace a block of all others.
func replace(r *rank, dt scalar.DType) {
	const n = 20
	win, want, src := r.vec(dt, n*r.size), r.vec(dt, n*r.size), r.vec(dt, n)
	s := source{tag: r.nextTag(), op: notReduced, size: r.size, rank: r.me}
	src.fill(0, n, s)
	r.inEpoch(win, func(w *comm.Window) {
		for to := range r.size {
			must(w.Accumulate(r.ctx, to, r.me*n, whole(src), comm.Replace))
		}
	})
	for from := range r.size {
		s.rank = from
		want.fill(from*n, (from+1)*n, s)
	}
	r.same("Accumulate replace", win, want)
}

// fetch lets each rank change its block of the next rank with every reduction and checks the old
// values.
func fetch(r *rank, dt scalar.DType) {
	const n = 30
	for _, op := range []comm.Op{comm.Sum, comm.Prod, comm.Min, comm.Max, comm.Replace, comm.NoOp} {
		if driver.CheckWindowOp(op, dt, true) != nil {
			continue
		}
		// Contribution 0 is the window's, 1 the neighbour's.
		win, src, dst, old, want := r.vec(dt, n), r.vec(dt, n), r.vec(dt, n), r.vec(dt, n), r.vec(dt, n)
		s := source{tag: r.nextTag(), op: op, size: 2}
		win.fill(0, n, s)
		old.fill(0, n, s)
		s.rank = 1
		src.fill(0, n, s)
		ok := supported(func() {
			r.inEpoch(win, func(w *comm.Window) { must(w.GetAccumulate(r.ctx, whole(dst), r.right(1), 0, whole(src), op)) })
		})
		switch op {
		case comm.Replace:
		case comm.NoOp:
			s.rank = 0
		default:
			s.rank = everyone
		}
		want.fill(0, n, s)
		if ok {
			r.same("GetAccumulate "+op.String()+", old values", dst, old)
			r.same("GetAccumulate "+op.String()+", new values", win, want)
		}
		r.release()
	}
}

// tickets lets all ranks draw numbers from a counter on each rank. Each
// number must be drawn once.
func tickets(r *rank, dt scalar.DType) {
	draws := min(20, 250/r.size) // of each rank; a uint8 must hold them all
	win := r.vec(dt, 3)
	win.set(num{})
	unit := r.vec(dt, 1)
	unit.set(num{re: 1})
	got := make([]vec, r.size*draws)
	for i := range got {
		got[i] = r.vec(dt, 1)
	}
	ok := supported(func() {
		r.withWindow(win, func(w *comm.Window) {
			for i := range got {
				to := i % r.size
				r.locked(w, to, comm.Shared, func() { must(w.GetAccumulate(r.ctx, whole(got[i]), to, 1, whole(unit), comm.Sum)) })
			}
		})
	})
	if !ok {
		return
	}
	all := draws * r.size
	r.check(win.equal(1, num{re: int64(all)}))
	r.check(errors.Join(win.equal(0, num{}), win.equal(2, num{}), win.guards()))
	for to := range r.size {
		mine := make([]int32, draws)
		last := -1
		for k := range mine {
			mine[k] = int32(got[k*r.size+to].number(0, all))
			r.checkf(int(mine[k]) > last, "tickets of %v: rank %d drew %d from rank %d after %d", dt, r.me, mine[k], to, last)
			last = int(mine[k])
		}
		drawn := make([]int32, all)
		must(r.c.AllGather(r.ctx, comm.Of(drawn), comm.Of(mine)))
		slices.Sort(drawn)
		for i, d := range drawn {
			r.checkf(int(d) == i, "tickets of %v from rank %d: place %d: got %d, want %d", dt, to, i, d, i)
		}
	}
	r.release()
}
