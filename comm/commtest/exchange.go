package commtest

import (
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// exchangeCases are about planned exchanges.
func exchangeCases() []Case {
	neighbours := func(r *rank, dt scalar.DType) {
		for _, n := range []int{0, 1, 7, 1000} {
			for legs := 1; legs <= 3; legs++ {
				r.neighbours(dt, n, legs)
				r.release()
			}
		}
	}
	return slices.Concat(ofTypes("Exchange/neighbours", neighbours), []Case{on("Exchange/all pairs", exchangePairs),
		on("Exchange/large", func(r *rank) { r.neighbours(scalar.Float64, 1<<17, 1) }), on("Exchange/again", exchangeAgain),
		on("Exchange/idle ranks", exchangeIdle), on("Exchange/order", exchangeOrder), on("Exchange/bad arguments", exchangeBad)})
}

// planned plans an exchange of sides of messages.
func (r *rank) planned(own []side) *comm.Exchange {
	var recv, send []comm.Leg
	for _, s := range own {
		if s.sends {
			send = append(send, comm.Leg{Peer: s.to, Buf: whole(s.v)})
		} else {
			recv = append(recv, comm.Leg{Peer: s.from, Buf: whole(s.v)})
		}
	}
	x, err := comm.NewExchange(r.c, recv, send)
	must(err)
	return x
}

// exchangeOf runs one exchange of messages that all ranks know, and checks it. Between Start and
// Wait it calls during.
func (r *rank) exchangeOf(ms []message, during func()) {
	own := r.sides(ms...)
	x := r.planned(own)
	mustf(x.Start(r.ctx), "start an exchange of %v", ms)
	during()
	mustf(x.Wait(r.ctx), "exchange of %v", ms)
	r.verify(own...)
}

func nothing() {}

// neighbours exchanges several legs with both neighbours, which may be the same rank or this one.
func (r *rank) neighbours(dt scalar.DType, n, legs int) {
	var ms []message
	for from := range r.size {
		for k := range legs {
			for _, d := range [...]int{1, r.size - 1} {
				ms = append(ms, message{from, (from + d) % r.size, dt, n + k, r.nextTag()})
			}
		}
	}
	r.exchangeOf(ms, nothing)
}

// exchangePairs exchanges between all pairs of ranks, each with itself too. Lengths and types differ.
func exchangePairs(r *rank) {
	for k := range 5 {
		var ms []message
		for from := range r.size {
			for to := range r.size {
				ms = append(ms, message{from, to, scalar.DTypes[(from+to+k)%len(scalar.DTypes)], (3*from + 5*to + k) % 29, r.nextTag()})
			}
		}
		r.exchangeOf(ms, nothing)
		r.release()
	}
}

// exchangeAgain runs one plan several times, with other buffers each time.
func exchangeAgain(r *rank) {
	x := r.planned(r.sides(r.ringMessages(scalar.Float64, 50)...))
	for range 4 {
		own := r.sides(r.ringMessages(scalar.Float64, 50)...)
		y := r.planned(own)
		x.Recv[0].Buf, x.Send[0].Buf = y.Recv[0].Buf, y.Send[0].Buf
		must(x.Run(r.ctx))
		r.verify(own...)
		r.checkf(x.Wait(r.ctx) == nil, "waiting again for an exchange: rank %d", r.me)
	}
}

// exchangeIdle has ranks that only send, only receive, or do nothing.
func exchangeIdle(r *rank) {
	for to := range r.size {
		r.exchangeOf([]message{{0, to, scalar.Int32, 9, r.nextTag()}}, nothing)
	}
	r.release()
	r.alive()
}

// exchangeOrder has collectives and messages around and during an exchange.
func exchangeOrder(r *rank) {
	for k := range 3 {
		r.shift(1, scalar.Float32, 20)
		r.exchangeOf(r.ringMessages(scalar.Float32, 20+k), r.alive)
		r.shift(1, scalar.Float32, 20)
		r.release()
	}
}

// exchangeBad checks that wrong arguments start nothing.
func exchangeBad(r *rank) {
	_, err := comm.NewExchange(r.c, []comm.Leg{{Peer: r.size}}, nil)
	r.checkf(err != nil, "an exchange with rank %d of %d: no error", r.size, r.size)
	own := r.sides(r.ringMessages(scalar.Float64, 4)...)
	x := r.planned(own)
	src := x.Send[0].Buf
	x.Send[0].Buf.Ptr = nil
	err = x.Start(r.ctx)
	r.checkf(err != nil, "an exchange of a buffer without memory: rank %d of %d: no error", r.me, r.size)
	r.checkf(x.Wait(r.ctx) == nil, "waiting for an exchange that did not start: rank %d of %d", r.me, r.size)
	r.alive()
	x.Send[0].Buf = src
	must(x.Start(r.ctx))
	r.checkf(x.Start(r.ctx) != nil, "an exchange started twice: rank %d of %d: no error", r.me, r.size)
	must(x.Wait(r.ctx))
	r.verify(own...)
	r.alive()
}
