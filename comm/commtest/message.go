package commtest

import (
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/splitmix"
	"github.com/golops/golops/scalar"
)

// message is one message with all data that both sides need.
type message struct {
	from, to int
	dt       scalar.DType
	n        int
	tag      uint64
}

func (m message) String() string {
	return fmt.Sprintf("message of %d %v from rank %d to %d", m.n, m.dt, m.from, m.to)
}

func (m message) source() source { return source{tag: m.tag, op: notReduced, size: 1, rank: m.from} }

// outgoing returns the filled buffer of a sender.
func (r *rank) outgoing(m message) vec {
	v := r.vec(m.dt, m.n)
	v.fill(0, m.n, m.source())
	return v
}

// verify checks the buffer of the sender or of the receiver.
func (r *rank) verify(m message, v vec) error {
	want := r.outgoing(m)
	err := v.diff(0, m.n, want)
	if err == nil {
		err = v.guards()
	}
	if err != nil {
		return fmt.Errorf("%v: rank %d of %d: %w", m, r.me, r.size, err)
	}
	return nil
}

func whole(v vec) comm.Buf { return v.buf(0, v.len()) }

// transfer sends a message with Send and Recv. Once Send has returned, the sender overwrites its
// buffer.
func (r *rank) transfer(m message) error {
	switch r.me {
	case m.from:
		v := r.outgoing(m)
		if err := r.c.Send(r.ctx, whole(v), m.to); err != nil {
			return fmt.Errorf("%v: send: %w", m, err)
		}
		r.check(r.verify(m, v))
		v.set(junk)
	case m.to:
		v := r.vec(m.dt, m.n)
		if err := r.c.Recv(r.ctx, whole(v), m.from); err != nil {
			return fmt.Errorf("%v: receive: %w", m, err)
		}
		r.check(r.verify(m, v))
	}
	return nil
}

// exchange is SendRecv of in and out. Either peer may be Nobody.
func (r *rank) exchange(in, out message) error {
	src, dst := r.outgoing(out), r.vec(in.dt, in.n)
	if err := r.c.SendRecv(r.ctx, whole(dst), in.from, whole(src), out.to); err != nil {
		return fmt.Errorf("SendRecv of %v and %v: %w", out, in, err)
	}
	r.check(r.verify(out, src))
	if in.from == comm.Nobody {
		want := r.vec(in.dt, in.n)
		err := dst.diff(0, in.n, want)
		r.checkf(err == nil, "SendRecv from Nobody: rank %d: dst has changed: %w", r.me, err)
		return nil
	}
	r.check(r.verify(in, dst))
	return nil
}

// shift is exchange with the neighbours at a distance in the ring.
func (r *rank) shift(d int, dt scalar.DType, n int) error {
	tag := r.nextTag()
	return r.exchange(message{r.left(d), r.me, dt, n, tag}, message{r.me, r.right(d), dt, n, tag})
}

// messageCases are about messages that are complete when the call returns.
func messageCases() []Case {
	var cases []Case
	for _, dt := range scalar.DTypes {
		cases = append(cases,
			on("Send and Recv/"+dt.String(), func(r *rank) error { return allPairs(r, dt) }),
			on("SendRecv/ring/"+dt.String(), func(r *rank) error { return rings(r, dt) }),
			on("SendRecv/Nobody/"+dt.String(), func(r *rank) error { return nobody(r, dt) }),
			on("Group/all pairs/"+dt.String(), func(r *rank) error { return groupPairs(r, dt) }))
	}
	return append(cases, on("Send and Recv/order", inOrder), on("Send and Recv/large", largeMessages),
		on("SendRecv/types differ", mixedRing), on("Group/SendRecv", groupSendRecv), on("Group/large", groupLarge),
		on("Group/empty", groupEmpty), on("Group/error", groupError))
}

func allPairs(r *rank, dt scalar.DType) error {
	for from := range r.size {
		for to := range r.size {
			for _, n := range []int{0, 1, 7, 1000} {
				m := message{from, to, dt, n, r.nextTag()}
				if from == to {
					continue
				}
				if err := r.transfer(m); err != nil {
					return err
				}
				r.release()
			}
		}
	}
	return nil
}

// inOrder sends many messages of different lengths between each two ranks.
func inOrder(r *rank) error {
	for from := range r.size {
		for to := range r.size {
			for k := range 50 {
				m := message{from, to, scalar.DTypes[k%len(scalar.DTypes)], k * k % 97, r.nextTag()}
				if from == to {
					continue
				}
				if err := r.transfer(m); err != nil {
					return fmt.Errorf("number %d: %w", k, err)
				}
				r.release()
			}
		}
	}
	return nil
}

// largeMessages sends 1 MB from each rank to the next, first by turns, then
// around the ring at once.
func largeMessages(r *rank) error {
	const n = 1 << 17
	for from := range r.size {
		if to := (from + 1) % r.size; to != from {
			if err := r.transfer(message{from, to, scalar.Float64, n, r.nextTag()}); err != nil {
				return err
			}
			r.release()
		}
	}
	return r.shift(1, scalar.Complex64, n)
}

// rings shifts by every distance. Distance 0 is to the rank itself.
func rings(r *rank, dt scalar.DType) error {
	for d := range r.size {
		for _, n := range []int{0, 1, 7, 1000, 20000} {
			if err := r.shift(d, dt, n); err != nil {
				return err
			}
			r.release()
		}
	}
	return nil
}

// nobody shifts without closing the ring, and with nobody on either side.
func nobody(r *rank, dt scalar.DType) error {
	for _, n := range []int{0, 1, 7, 1000} {
		tag := r.nextTag()
		in, out := message{r.me - 1, r.me, dt, n, tag}, message{r.me, r.me + 1, dt, n, tag}
		if r.me == 0 {
			in.from = comm.Nobody
		}
		if r.me == r.size-1 {
			out.to = comm.Nobody
		}
		if err := r.exchange(in, out); err != nil {
			return err
		}
		in.from, out.to = comm.Nobody, comm.Nobody
		if err := r.exchange(in, out); err != nil {
			return err
		}
		r.release()
	}
	if err := r.c.SendRecv(r.ctx, comm.Buf{}, comm.Nobody, comm.Buf{}, comm.Nobody); err != nil {
		return fmt.Errorf("SendRecv of the zero Buf with Nobody: %w", err)
	}
	return nil
}

// mixedRing sends another type and length than it receives.
func mixedRing(r *rank) error {
	at := func(k, tag int, from, to int) message {
		return message{from, to, scalar.DTypes[(from+k)%len(scalar.DTypes)], (from*5 + k) % 23, splitmix.Hash(uint64(tag))}
	}
	for k := range 21 {
		if err := r.exchange(at(k, k, r.left(1), r.me), at(k, k, r.me, r.right(1))); err != nil {
			return err
		}
		r.release()
	}
	return nil
}

// inGroup sends from each rank to each rank, including itself, in one Group. Lengths differ. The
// order of sends and receives depends on the rank.
func (r *rank) inGroup(dt scalar.DType, n func(from, to int) int) error {
	tag := r.nextTag()
	in, out := make([]vec, r.size), make([]vec, r.size)
	msg := func(from, to int) message { return message{from, to, dt, n(from, to), hash(tag, from, to)} }
	for i := range r.size {
		in[i], out[i] = r.vec(dt, n(i, r.me)), r.outgoing(msg(r.me, i))
	}
	send := func() error {
		for d := range r.size {
			to := r.right(d)
			if err := r.c.Send(r.ctx, whole(out[to]), to); err != nil {
				return err
			}
		}
		return nil
	}
	recv := func() error {
		for d := range r.size {
			from := r.left(d)
			if err := r.c.Recv(r.ctx, whole(in[from]), from); err != nil {
				return err
			}
		}
		return nil
	}
	err := r.c.Group(r.ctx, func() error {
		first, second := send, recv
		if r.me%3 == 2 {
			first, second = recv, send
		}
		if err := first(); err != nil {
			return err
		}
		return second()
	})
	if err != nil {
		return fmt.Errorf("group of %v messages between all ranks: %w", dt, err)
	}
	for i := range r.size {
		r.check(r.verify(msg(i, r.me), in[i]))
		r.check(r.verify(msg(r.me, i), out[i]))
	}
	r.release()
	return nil
}

func groupPairs(r *rank, dt scalar.DType) error {
	for _, n := range []int{0, 1, 13, 1000} {
		err := r.inGroup(dt, func(from, to int) int { return n * (1 + (from+2*to)%3) })
		if err != nil {
			return err
		}
	}
	return nil
}

func groupLarge(r *rank) error {
	return r.inGroup(scalar.Float64, func(int, int) int { return 1 << 17 })
}

// groupSendRecv shifts by every distance in one Group.
func groupSendRecv(r *rank) error {
	const n = 50
	in, out := make([]vec, r.size), make([]vec, r.size)
	msg := func(d, from int) message {
		return message{from, (from + d) % r.size, scalar.Float32, n, hash(r.tag, from, d)}
	}
	for d := range r.size {
		in[d], out[d] = r.vec(scalar.Float32, n), r.outgoing(msg(d, r.me))
	}
	err := r.c.Group(r.ctx, func() error {
		for d := range r.size {
			if err := r.c.SendRecv(r.ctx, whole(in[d]), r.left(d), whole(out[d]), r.right(d)); err != nil {
				return err
			}
		}
		return r.c.SendRecv(r.ctx, comm.Buf{}, comm.Nobody, comm.Buf{}, comm.Nobody)
	})
	if err != nil {
		return fmt.Errorf("group of SendRecv: %w", err)
	}
	for d := range r.size {
		r.check(r.verify(msg(d, r.left(d)), in[d]))
	}
	return nil
}

func groupEmpty(r *rank) error {
	called := 0
	if err := r.c.Group(r.ctx, func() error { called++; return nil }); err != nil {
		return err
	}
	r.checkf(called == 1, "group called its function %d times, want 1", called)
	return r.shift(1, scalar.Float32, 5) // after the Group, calls wait again
}

func groupError(r *rank) error {
	cause := errors.New("no messages today")
	err := r.c.Group(r.ctx, func() error { return cause })
	r.checkf(errors.Is(err, cause), "group whose function fails with %q: got %v", cause, err)
	if err := r.alive(); err != nil {
		return err
	}
	return r.shift(1, scalar.Float32, 5)
}
