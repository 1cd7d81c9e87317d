package commtest

import (
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// failedMessageCases let SendRecv and Group fail on all ranks. The calls must start nothing: the
// buffers must not change, and the next message must be the right one.
func failedMessageCases() []Case {
	broken := comm.Buf{DType: scalar.Float32, N: 4} // without memory
	errOwn := errors.New("no more messages")
	var cases []Case
	for _, k := range []struct {
		name string
		call func(r *rank, in, out comm.Buf) error
	}{
		{"SendRecv src", func(r *rank, in, _ comm.Buf) error {
			return r.c.SendRecv(r.ctx, in, r.left(1), broken, r.right(1))
		}},
		{"SendRecv to", func(r *rank, in, out comm.Buf) error {
			return r.c.SendRecv(r.ctx, in, r.left(1), out, r.size)
		}},
		{"SendRecv dst", func(r *rank, _, out comm.Buf) error {
			return r.c.SendRecv(r.ctx, broken, r.left(1), out, r.right(1))
		}},
		{"Group src", func(r *rank, in, out comm.Buf) error {
			return r.c.Group(r.ctx, func() error {
				return errors.Join(r.c.Recv(r.ctx, in, r.left(1)), r.c.Send(r.ctx, out, r.right(1)), r.c.Send(r.ctx, broken, r.right(1)))
			})
		}},
		{"Group error", func(r *rank, in, out comm.Buf) error {
			return r.c.Group(r.ctx, func() error {
				if err := r.c.SendRecv(r.ctx, in, r.left(1), out, r.right(1)); err != nil {
					return fmt.Errorf("SendRecv in a Group: %w", err)
				}
				return errOwn
			})
		}},
		{"Group in a Group", func(r *rank, in, out comm.Buf) error {
			var inner error
			err := r.c.Group(r.ctx, func() error {
				inner = r.c.Group(r.ctx, func() error {
					return errors.Join(r.c.Recv(r.ctx, in, r.left(1)), r.c.Send(r.ctx, out, r.right(1)), errOwn)
				})
				return nil // the outer Group continues without the inner one
			})
			r.checkf(err == nil, "a Group that leaves out a failed one: %v", err)
			return inner
		}},
	} {
		cases = append(cases, on("Failed messages/"+k.name, func(r *rank) {
			for range 2 {
				in, out := r.vec(scalar.Float32, 4), r.outgoing(message{r.me, r.right(1), scalar.Float32, 4, r.nextTag()})
				err := k.call(r, whole(in), whole(out))
				r.checkf(err != nil, "%s: rank %d of %d: no error", k.name, r.me, r.size)
				r.alive()
				r.shift(1, scalar.Float32, 4) // with other values
				r.same("dst after "+k.name, in, r.vec(scalar.Float32, 4))
				r.release()
			}
		}))
	}
	return cases
}

// areClosed checks that calls on what is closed have returned ErrClosed.
func (r *rank) areClosed(what string, calls map[string]error) {
	for name, err := range calls {
		r.checkf(errors.Is(err, comm.ErrClosed), "%s of a closed %s: rank %d of %d: got %v, want %v", name, what, r.me, r.size, err, comm.ErrClosed)
	}
}

// closedGroup uses a closed group and closes it again.
func closedGroup(r *rank) {
	sub := r.subgroup(zero, zero)
	sub.alive()
	must(sub.c.Close())
	c, two := sub.c, func() comm.Buf { return r.reals(2) }
	started := func(_ comm.Request, err error) error { return err }
	calls := map[string]error{
		"Barrier":  c.Barrier(r.ctx),
		"Send":     c.Send(r.ctx, two(), r.right(1)),
		"Recv":     c.Recv(r.ctx, two(), r.left(1)),
		"SendRecv": c.SendRecv(r.ctx, two(), r.left(1), two(), r.right(1)),
		"Group":    c.Group(r.ctx, func() error { return c.Send(r.ctx, two(), r.right(1)) }),
		"ISend":    started(c.ISend(r.ctx, two(), r.me)),
		"IRecv":    started(c.IRecv(r.ctx, two(), r.me)),
	}
	for _, k := range collectiveKinds {
		calls[k.String()] = started(sub.arguments(k, scalar.Float64, 2).start(r.ctx, c))
	}
	_, calls["Split"] = c.Split(r.ctx, 0, 0)
	if hasWindows(c) {
		_, calls["Window"] = c.Window(r.ctx, comm.Of(make([]float64, 2)))
	}
	r.areClosed("group", calls)
	for range 2 {
		mustf(c.Close(), "closing a group again")
	}
	r.release()
	r.alive()
}

// closedWindow uses a closed window and closes it again.
func closedWindow(r *rank) {
	w, err := r.c.Window(r.ctx, comm.Of(make([]float64, 3)))
	must(err)
	must(w.Close(r.ctx))
	r.windowIsClosed(w)
	for range 2 {
		mustf(w.Close(r.ctx), "closing a window again")
	}
	r.alive()
}

// windowOfClosed closes the group of a window and does not close the window.
func windowOfClosed(r *rank) {
	sub := r.subgroup(zero, zero)
	w, err := sub.c.Window(r.ctx, comm.Of(make([]float64, 3)))
	must(err)
	must(sub.c.Close())
	r.windowIsClosed(w)
	r.alive()
}

// windowIsClosed checks that every call of a closed window returns an error.
func (r *rank) windowIsClosed(w *comm.Window) {
	b := comm.Of(make([]float64, 1))
	r.areClosed("window", map[string]error{
		"Put":           w.Put(r.ctx, 0, 0, b),
		"Get":           w.Get(r.ctx, b, 0, 0),
		"Accumulate":    w.Accumulate(r.ctx, 0, 0, b, comm.Sum),
		"GetAccumulate": w.GetAccumulate(r.ctx, b, 0, 0, b, comm.Sum),
		"Fence":         w.Fence(r.ctx),
		"Lock":          w.Lock(r.ctx, 0, comm.Shared),
		"Unlock":        w.Unlock(r.ctx, 0),
		"LockAll":       w.LockAll(r.ctx),
		"UnlockAll":     w.UnlockAll(r.ctx),
		"Flush":         w.Flush(r.ctx, 0),
	})
}
