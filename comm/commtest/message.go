package commtest

import (
	"errors"
	"fmt"
	"slices"

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

func whole(v vec) comm.Buf { return v.buf(0, v.len()) }

// same checks that v equals want and that its guards have not changed.
func (r *rank) same(what any, v, want vec) {
	err := v.diff(0, v.len(), want)
	if err == nil {
		err = v.guards()
	}
	r.checkf(err == nil, "%v: rank %d of %d: %w", what, r.me, r.size, err)
}

// side is one side of a message: this rank sends or receives v.
type side struct {
	message
	v     vec
	sends bool
}

// sides returns this rank's sides of messages that all ranks know, in their order. A message to
// itself is received first.
func (r *rank) sides(ms ...message) []side {
	var own []side
	for _, m := range ms {
		if m.to == r.me {
			own = append(own, side{m, r.vec(m.dt, m.n), false})
		}
		if m.from == r.me {
			own = append(own, side{m, r.outgoing(m), true})
		}
	}
	return own
}

// run is Send or Recv of a side.
func (r *rank) run(s side) error {
	if s.sends {
		return r.c.Send(r.ctx, whole(s.v), s.to)
	}
	return r.c.Recv(r.ctx, whole(s.v), s.from)
}

// verify checks the buffers of messages that have completed.
func (r *rank) verify(own ...side) {
	for _, s := range own {
		r.same(s.message, s.v, r.outgoing(s.message))
	}
}

// transfer sends a message with Send and Recv, none to the rank itself. Once Send has returned,
// the sender overwrites its buffer.
func (r *rank) transfer(m message) {
	if m.from == m.to {
		return
	}
	for _, s := range r.sides(m) {
		mustf(r.run(s), "%v", m)
		r.verify(s)
		s.v.set(junk)
	}
}

// transfers sends messages from each rank to each other one by one.
func (r *rank) transfers(n int, make func(k, from, to int) message) {
	for from := range r.size {
		for to := range r.size {
			for k := range n {
				r.transfer(make(k, from, to))
				r.release()
			}
		}
	}
}

// exchange is SendRecv of in and out. Either peer may be Nobody.
func (r *rank) exchange(in, out message) {
	src, dst := r.outgoing(out), r.vec(in.dt, in.n)
	mustf(r.c.SendRecv(r.ctx, whole(dst), in.from, whole(src), out.to), "SendRecv of %v and %v", out, in)
	r.verify(side{out, src, true})
	if in.from == comm.Nobody {
		r.same("dst of SendRecv from Nobody", dst, r.vec(in.dt, in.n))
		return
	}
	r.verify(side{in, dst, false})
}

// shift is exchange with the neighbours at a distance in the ring.
func (r *rank) shift(d int, dt scalar.DType, n int) {
	tag := r.nextTag()
	r.exchange(message{r.left(d), r.me, dt, n, tag}, message{r.me, r.right(d), dt, n, tag})
}

// messageCases are about messages that are complete when the call returns.
func messageCases() []Case {
	return slices.Concat(ofTypes("Send and Recv", allPairs), ofTypes("SendRecv/ring", rings), ofTypes("SendRecv/Nobody", nobody),
		ofTypes("Group/all pairs", groupPairs), []Case{on("Send and Recv/order", inOrder), on("Send and Recv/large", largeMessages),
			on("SendRecv/types differ", mixedRing), on("Group/SendRecv", groupSendRecv), on("Group/large", groupLarge),
			on("Group/empty", groupEmpty), on("Group/error", groupError)})
}

func allPairs(r *rank, dt scalar.DType) {
	ns := [...]int{0, 1, 7, 1000}
	r.transfers(len(ns), func(k, from, to int) message { return message{from, to, dt, ns[k], r.nextTag()} })
}

// inOrder sends many messages of different lengths between each two ranks.
func inOrder(r *rank) {
	r.transfers(50, func(k, from, to int) message {
		return message{from, to, scalar.DTypes[k%len(scalar.DTypes)], k * k % 97, r.nextTag()}
	})
}

// largeMessages sends 1 MB from each rank to the next, first by turns, then
// around the ring at once.
func largeMessages(r *rank) {
	const n = 1 << 17
	for from := range r.size {
		r.transfer(message{from, (from + 1) % r.size, scalar.Float64, n, r.nextTag()})
		r.release()
	}
	r.shift(1, scalar.Complex64, n)
}

// rings shifts by every distance. Distance 0 is to the rank itself.
func rings(r *rank, dt scalar.DType) {
	for d := range r.size {
		for _, n := range []int{0, 1, 7, 1000, 20000} {
			r.shift(d, dt, n)
			r.release()
		}
	}
}

// nobody shifts without closing the ring, and with nobody on either side.
func nobody(r *rank, dt scalar.DType) {
	for _, n := range []int{0, 1, 7, 1000} {
		tag := r.nextTag()
		in, out := message{r.me - 1, r.me, dt, n, tag}, message{r.me, r.me + 1, dt, n, tag}
		if r.me == 0 {
			in.from = comm.Nobody
		}
		if r.me == r.size-1 {
			out.to = comm.Nobody
		}
		r.exchange(in, out)
		in.from, out.to = comm.Nobody, comm.Nobody
		r.exchange(in, out)
		r.release()
	}
	mustf(r.c.SendRecv(r.ctx, comm.Buf{}, comm.Nobody, comm.Buf{}, comm.Nobody), "SendRecv of the zero Buf with Nobody")
}

// mixedRing sends another type and length than it receives.
func mixedRing(r *rank) {
	at := func(k, from, to int) message {
		return message{from, to, scalar.DTypes[(from+k)%len(scalar.DTypes)], (from*5 + k) % 23, splitmix.Hash(uint64(k))}
	}
	for k := range 21 {
		r.exchange(at(k, r.left(1), r.me), at(k, r.me, r.right(1)))
		r.release()
	}
}

// group runs sides of messages in one Group.
func (r *rank) group(own []side) {
	mustf(r.c.Group(r.ctx, func() error {
		for _, s := range own {
			if err := r.run(s); err != nil {
				return err
			}
		}
		return nil
	}), "group of %d messages", len(own))
	r.verify(own...)
}

// inGroup sends from each rank to each rank, including itself, in one Group. Lengths differ. The
// order of sends and receives depends on the rank.
func (r *rank) inGroup(dt scalar.DType, n func(from, to int) int) {
	tag := r.nextTag()
	var ms []message
	for d := range r.size {
		for from := range r.size {
			to := (from + d) % r.size
			ms = append(ms, message{from, to, dt, n(from, to), hash(tag, from, to)})
		}
	}
	own := r.sides(ms...)
	order := func(s side) int { return pick(s.sends == (r.me%3 != 2), 0, 1) }
	slices.SortStableFunc(own, func(a, b side) int { return order(a) - order(b) })
	r.group(own)
	r.release()
}

func groupPairs(r *rank, dt scalar.DType) {
	for _, n := range []int{0, 1, 13, 1000} {
		r.inGroup(dt, func(from, to int) int { return n * (1 + (from+2*to)%3) })
	}
}

func groupLarge(r *rank) { r.inGroup(scalar.Float64, func(int, int) int { return 1 << 17 }) }

// groupSendRecv shifts by every distance in one Group.
func groupSendRecv(r *rank) {
	in, out := make([]side, r.size), make([]side, r.size)
	for d := range r.size {
		msg := func(from int) message {
			return message{from, (from + d) % r.size, scalar.Float32, 50, hash(r.tag, from, d)}
		}
		in[d] = side{msg(r.left(d)), r.vec(scalar.Float32, 50), false}
		out[d] = side{msg(r.me), r.outgoing(msg(r.me)), true}
	}
	mustf(r.c.Group(r.ctx, func() error {
		for d := range in {
			if err := r.c.SendRecv(r.ctx, whole(in[d].v), in[d].from, whole(out[d].v), out[d].to); err != nil {
				return err
			}
		}
		return r.c.SendRecv(r.ctx, comm.Buf{}, comm.Nobody, comm.Buf{}, comm.Nobody)
	}), "group of SendRecv")
	r.verify(in...)
}

func groupEmpty(r *rank) {
	called := 0
	must(r.c.Group(r.ctx, func() error { called++; return nil }))
	r.checkf(called == 1, "group called its function %d times, want 1", called)
	r.shift(1, scalar.Float32, 5) // after the Group, calls wait again
}

func groupError(r *rank) {
	cause := errors.New("no messages today")
	err := r.c.Group(r.ctx, func() error { return cause })
	r.checkf(errors.Is(err, cause), "group whose function fails with %q: got %v", cause, err)
	r.alive()
	r.shift(1, scalar.Float32, 5)
}
