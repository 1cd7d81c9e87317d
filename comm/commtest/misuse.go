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
		cases = append(cases, on("Failed messages/"+k.name, func(r *rank) error {
			for range 2 {
				tag := r.nextTag()
				in, out := r.vec(scalar.Float32, 4), r.outgoing(message{r.me, r.right(1), scalar.Float32, 4, tag})
				err := k.call(r, whole(in), whole(out))
				r.checkf(err != nil, "%s: rank %d of %d: no error", k.name, r.me, r.size)
				if err := r.alive(); err != nil {
					return err
				}
				if err := r.shift(1, scalar.Float32, 4); err != nil { // with other values
					return err
				}
				err = in.diff(0, 4, r.vec(scalar.Float32, 4))
				r.checkf(err == nil, "%s: rank %d of %d: dst has changed: %w", k.name, r.me, r.size, err)
				r.release()
			}
			return nil
		}))
	}
	return cases
}

// closedWindowCases use closed windows and close them again.
func closedWindowCases() []Case {
	return []Case{on("Closed/window", closedWindow), on("Closed/window of a group", windowOfClosed)}
}

// closedGroup uses a closed group.
func closedGroup(r *rank) error {
	sub, err := r.subgroup(make([]int, r.size), make([]int, r.size))
	if err != nil {
		return err
	}
	if err := sub.alive(); err != nil {
		return err
	}
	if err := sub.c.Close(); err != nil {
		return err
	}
	c, n := sub.c, uniform(2, r.size)
	two, all := func() comm.Buf { return r.reals(2) }, func() comm.Buf { return r.reals(2 * r.size) }
	started := func(_ comm.Request, err error) error { return err }
	for _, k := range []struct {
		name string
		err  error
	}{
		{"Barrier", c.Barrier(r.ctx)},
		{"AllReduce", c.AllReduce(r.ctx, two(), two(), comm.Sum)},
		{"Reduce", c.Reduce(r.ctx, two(), two(), comm.Sum, 0)},
		{"Broadcast", c.Broadcast(r.ctx, two(), 0)},
		{"AllGather", c.AllGather(r.ctx, all(), two())},
		{"AllGatherV", c.AllGatherV(r.ctx, all(), n, two())},
		{"Gather", c.Gather(r.ctx, all(), two(), 0)},
		{"GatherV", c.GatherV(r.ctx, all(), n, two(), 0)},
		{"Scatter", c.Scatter(r.ctx, two(), all(), 0)},
		{"ScatterV", c.ScatterV(r.ctx, two(), all(), n, 0)},
		{"ReduceScatter", c.ReduceScatter(r.ctx, two(), all(), comm.Sum)},
		{"ReduceScatterV", c.ReduceScatterV(r.ctx, two(), all(), n, comm.Sum)},
		{"AllToAll", c.AllToAll(r.ctx, all(), all())},
		{"AllToAllV", c.AllToAllV(r.ctx, all(), n, all(), n)},
		{"Send", c.Send(r.ctx, two(), r.right(1))},
		{"Recv", c.Recv(r.ctx, two(), r.left(1))},
		{"SendRecv", c.SendRecv(r.ctx, two(), r.left(1), two(), r.right(1))},
		{"Group", c.Group(r.ctx, func() error { return c.Send(r.ctx, two(), r.right(1)) })},
		{"ISend", started(c.ISend(r.ctx, two(), r.me))},
		{"IRecv", started(c.IRecv(r.ctx, two(), r.me))},
		{"IAllReduce", started(c.IAllReduce(r.ctx, two(), two(), comm.Sum))},
		{"IBroadcast", started(c.IBroadcast(r.ctx, two(), 0))},
		{"IAllGather", started(c.IAllGather(r.ctx, all(), two()))},
		{"Split", func() error { _, err := c.Split(r.ctx, 0, 0); return err }()},
		{"Window", func() error {
			if !hasWindows(c) {
				return comm.ErrClosed
			}
			_, err := c.Window(r.ctx, comm.Of(make([]float64, 2)))
			return err
		}()},
	} {
		r.checkf(errors.Is(k.err, comm.ErrClosed), "%s of a closed group: rank %d of %d: got %v, want %v", k.name, r.me, r.size, k.err, comm.ErrClosed)
	}
	for range 2 {
		err := c.Close()
		r.checkf(err == nil, "closing a group again: rank %d of %d: %w", r.me, r.size, err)
	}
	r.release()
	return r.alive()
}

// refused checks that every call of a closed window returns an error.
func (r *rank) refused(w *comm.Window) {
	b := comm.Of(make([]float64, 1))
	for _, k := range []struct {
		name string
		err  error
	}{
		{"Put", w.Put(r.ctx, 0, 0, b)},
		{"Get", w.Get(r.ctx, b, 0, 0)},
		{"Accumulate", w.Accumulate(r.ctx, 0, 0, b, comm.Sum)},
		{"GetAccumulate", w.GetAccumulate(r.ctx, b, 0, 0, b, comm.Sum)},
		{"Fence", w.Fence(r.ctx)},
		{"Lock", w.Lock(r.ctx, 0, comm.Shared)},
		{"Unlock", w.Unlock(r.ctx, 0)},
		{"LockAll", w.LockAll(r.ctx)},
		{"UnlockAll", w.UnlockAll(r.ctx)},
		{"Flush", w.Flush(r.ctx, 0)},
	} {
		r.checkf(errors.Is(k.err, comm.ErrClosed), "%s of a closed window: rank %d of %d: got %v, want %v", k.name, r.me, r.size, k.err, comm.ErrClosed)
	}
}

func closedWindow(r *rank) error {
	if !hasWindows(r.c) {
		return nil
	}
	w, err := r.c.Window(r.ctx, comm.Of(make([]float64, 3)))
	if err != nil {
		return err
	}
	if err := w.Close(r.ctx); err != nil {
		return err
	}
	r.refused(w)
	for range 2 {
		err := w.Close(r.ctx)
		r.checkf(err == nil, "closing a window again: rank %d of %d: %w", r.me, r.size, err)
	}
	return r.alive()
}

// windowOfClosed closes the group of a window and does not close the window.
func windowOfClosed(r *rank) error {
	if !hasWindows(r.c) {
		return nil
	}
	sub, err := r.subgroup(make([]int, r.size), make([]int, r.size))
	if err != nil {
		return err
	}
	w, err := sub.c.Window(r.ctx, comm.Of(make([]float64, 3)))
	if err != nil {
		return err
	}
	if err := sub.c.Close(); err != nil {
		return err
	}
	r.refused(w)
	return r.alive()
}
