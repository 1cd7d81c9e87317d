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
	windows := func(name string, f func(r *rank) error) Case {
		return on("Window/"+name, func(r *rank) error {
			if !hasWindows(r.c) {
				return nil
			}
			r.device = nil
			return f(r)
		})
	}
	var cases []Case
	for _, dt := range scalar.DTypes {
		cases = append(cases,
			windows("Put/"+dt.String(), func(r *rank) error { return putRing(r, dt) }),
			windows("Get/"+dt.String(), func(r *rank) error { return getRing(r, dt) }),
			windows("Accumulate/"+dt.String(), func(r *rank) error { return accumulate(r, dt) }),
			windows("Accumulate/replace/"+dt.String(), func(r *rank) error { return replace(r, dt) }),
			windows("GetAccumulate/"+dt.String(), func(r *rank) error { return fetch(r, dt) }),
			windows("GetAccumulate/tickets/"+dt.String(), func(r *rank) error { return tickets(r, dt) }))
	}
	return append(cases,
		windows("Lock/exclusive", mutex), windows("Lock/others", lockOthers), windows("LockAll", lockAll),
		windows("errors", windowErrors), windows("zero elements", emptyWindows), windows("two", twoWindows),
		windows("sub-group", func(r *rank) error {
			colors, keys := make([]int, r.size), make([]int, r.size)
			for i := range colors {
				colors[i], keys[i] = i%2, -i
			}
			sub, err := r.subgroup(colors, keys)
			if err != nil {
				return err
			}
			for _, f := range []func(*rank, scalar.DType) error{putRing, getRing, accumulate, fetch, tickets} {
				if err := f(sub, scalar.Float64); err != nil {
					return err
				}
			}
			for _, f := range []func(*rank) error{mutex, lockAll} {
				if err := f(sub); err != nil {
					return err
				}
			}
			return sub.c.Close()
		}))
}

// epoch runs f between two Fences.
func (r *rank) epoch(w *comm.Window, f func() error) error {
	if err := w.Fence(r.ctx); err != nil {
		return err
	}
	err := f()
	if e := w.Fence(r.ctx); err == nil {
		err = e
	}
	return err
}

// withWindow runs f with a window over v and closes it.
func (r *rank) withWindow(v vec, f func(w *comm.Window) error) error {
	w, err := r.c.Window(r.ctx, whole(v))
	if err != nil {
		return fmt.Errorf("window over %d %v: %w", v.len(), v.dtype(), err)
	}
	err = f(w)
	if e := w.Close(r.ctx); err == nil && e != nil {
		return fmt.Errorf("close window over %d %v: %w", v.len(), v.dtype(), e)
	}
	if err != nil {
		return fmt.Errorf("window over %d %v: %w", v.len(), v.dtype(), err)
	}
	return nil
}

// same checks that v equals want and that its guards have not changed.
func (r *rank) same(what string, v, want vec) {
	err := v.diff(0, v.len(), want)
	if err == nil {
		err = v.guards()
	}
	r.checkf(err == nil, "%s: rank %d of %d: %w", what, r.me, r.size, err)
}

// putRing lets each rank put into all others at every distance.
func putRing(r *rank, dt scalar.DType) error {
	for _, n := range []int{1, 7, 1000} {
		win, want := r.vec(dt, 1+n*r.size), r.vec(dt, 1+n*r.size)
		tag := r.nextTag()
		err := r.withWindow(win, func(w *comm.Window) error {
			return r.epoch(w, func() error {
				for d := range r.size {
					to := r.right(d)
					src := r.outgoing(message{r.me, to, dt, n, hash(tag, r.me, to)})
					if err := w.Put(r.ctx, to, 1+r.me*n, whole(src)); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
		for from := range r.size {
			want.fill(1+from*n, 1+(from+1)*n, message{from: from, tag: hash(tag, from, r.me)}.source())
		}
		r.same("Put", win, want)
		r.release()
	}
	return nil
}

// getRing lets each rank read all others, twice, with changed values.
func getRing(r *rank, dt scalar.DType) error {
	const n = 300
	win := r.vec(dt, n)
	return r.withWindow(win, func(w *comm.Window) error {
		for range 2 {
			tag := r.nextTag()
			win.fill(0, n, source{tag: tag, op: notReduced, size: 1, rank: r.me})
			got := make([]vec, r.size)
			err := r.epoch(w, func() error {
				for d := range r.size {
					from := r.left(d)
					got[from] = r.vec(dt, n-2*d)
					if err := w.Get(r.ctx, whole(got[from]), from, d); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			for d := range r.size {
				want := r.vec(dt, n-2*d)
				want.fill(0, n-2*d, source{tag: tag, op: notReduced, size: 1, rank: r.left(d), off: d})
				r.same(fmt.Sprintf("Get from rank %d", r.left(d)), got[r.left(d)], want)
			}
		}
		return nil
	})
}

// accumulate lets all ranks accumulate into rank 0 and into all ranks, with each reduction. The
// initial values of the window count as one more contribution.
func accumulate(r *rank, dt scalar.DType) error {
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
			err := r.withWindow(win, func(w *comm.Window) error {
				return r.epoch(w, func() error {
					for to := range targets {
						half := 250 + r.me%7
						if err := w.Accumulate(r.ctx, to, half, src.buf(half, n), op); err != nil {
							return err
						}
						if err := w.Accumulate(r.ctx, to, 0, src.buf(0, half), op); err != nil {
							return err
						}
					}
					return nil
				})
			})
			if errors.Is(err, errors.ErrUnsupported) {
				r.release()
				break // the communicator returns ErrUnsupported
			}
			if err != nil {
				return err
			}
			if r.me < targets {
				s.rank = everyone
				want.fill(0, n, s)
			}
			r.same("Accumulate "+op.String(), win, want)
			r.release()
		}
	}
	return nil
}

// replace lets each rank replace a block of all others.
func replace(r *rank, dt scalar.DType) error {
	const n = 20
	win, want, src := r.vec(dt, n*r.size), r.vec(dt, n*r.size), r.vec(dt, n)
	s := source{tag: r.nextTag(), op: notReduced, size: r.size, rank: r.me}
	src.fill(0, n, s)
	err := r.withWindow(win, func(w *comm.Window) error {
		return r.epoch(w, func() error {
			for to := range r.size {
				if err := w.Accumulate(r.ctx, to, r.me*n, whole(src), comm.Replace); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for from := range r.size {
		s.rank = from
		want.fill(from*n, (from+1)*n, s)
	}
	r.same("Accumulate replace", win, want)
	return err
}

// fetch lets each rank change its block of the next rank with every reduction and checks the old
// values.
func fetch(r *rank, dt scalar.DType) error {
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
		err := r.withWindow(win, func(w *comm.Window) error {
			return r.epoch(w, func() error { return w.GetAccumulate(r.ctx, whole(dst), r.right(1), 0, whole(src), op) })
		})
		if errors.Is(err, errors.ErrUnsupported) {
			r.release()
			continue // the communicator returns ErrUnsupported
		}
		if err != nil {
			return err
		}
		switch op {
		case comm.Replace:
		case comm.NoOp:
			s.rank = 0
		default:
			s.rank = everyone
		}
		want.fill(0, n, s)
		r.same("GetAccumulate "+op.String()+", old values", dst, old)
		r.same("GetAccumulate "+op.String()+", new values", win, want)
		r.release()
	}
	return nil
}

// tickets lets all ranks draw numbers from a counter on each rank. Each
// number must be drawn once.
func tickets(r *rank, dt scalar.DType) error {
	draws := min(20, 250/r.size) // of each rank; a uint8 must hold them all
	win := r.vec(dt, 3)
	win.set(num{})
	unit := r.vec(dt, 1)
	unit.set(num{re: 1})
	got := make([]vec, r.size*draws)
	for i := range got {
		got[i] = r.vec(dt, 1)
	}
	err := r.withWindow(win, func(w *comm.Window) error {
		for i := range got {
			to := i % r.size
			if err := w.Lock(r.ctx, to, comm.Shared); err != nil {
				return err
			}
			if err := w.GetAccumulate(r.ctx, whole(got[i]), to, 1, whole(unit), comm.Sum); err != nil {
				return errors.Join(err, w.Unlock(r.ctx, to))
			}
			if err := w.Unlock(r.ctx, to); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return nil // 16-bit floats over MPI
	}
	if err != nil {
		return err
	}
	all := draws * r.size
	r.check(win.equal(1, num{re: int64(all)}))
	r.check(errors.Join(win.equal(0, num{}), win.equal(2, num{}), win.guards()))
	for to := range r.size {
		mine := make([]int32, draws)
		last := -1
		for k := range mine {
			mine[k] = int32(got[k*r.size+to].number(0))
			r.checkf(int(mine[k]) > last, "tickets of %v: rank %d drew %d from rank %d after %d", dt, r.me, mine[k], to, last)
			last = int(mine[k])
		}
		drawn := make([]int32, all)
		if err := r.c.AllGather(r.ctx, comm.Of(drawn), comm.Of(mine)); err != nil {
			return err
		}
		slices.Sort(drawn)
		for i, d := range drawn {
			r.checkf(int(d) == i, "tickets of %v from rank %d: place %d: got %d, want %d", dt, to, i, d, i)
		}
	}
	r.release()
	return nil
}

// hasWindows reports whether the transport of c offers windows.
func hasWindows(c *comm.Comm) bool {
	_, ok := c.Conn().(driver.OneSided)
	return ok
}
