package commtest

import (
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// exchangeCases are about planned exchanges.
func exchangeCases() []Case {
	var cases []Case
	for _, dt := range scalar.DTypes {
		cases = append(cases, on("Exchange/neighbours/"+dt.String(), func(r *rank) error {
			for _, n := range []int{0, 1, 7, 1000} {
				for legs := 1; legs <= 3; legs++ {
					if err := r.neighbours(dt, n, legs); err != nil {
						return err
					}
					r.release()
				}
			}
			return nil
		}))
	}
	return append(cases, on("Exchange/all pairs", exchangePairs), on("Exchange/large", exchangeLarge),
		on("Exchange/again", exchangeAgain), on("Exchange/idle ranks", exchangeIdle), on("Exchange/order", exchangeOrder),
		on("Exchange/bad arguments", exchangeBad))
}

// exchangeOf runs one exchange of messages that all ranks know, and checks it. Between Start and
// Wait it calls during, which may be nil.
func (r *rank) exchangeOf(ms []message, during func() error) error {
	x, vecs, own, err := r.planned(ms)
	if err != nil {
		return err
	}
	if err := x.Start(r.ctx); err != nil {
		return fmt.Errorf("start an exchange of %v: %w", own, err)
	}
	if during != nil {
		if err := during(); err != nil {
			return err
		}
	}
	if err := x.Wait(r.ctx); err != nil {
		return fmt.Errorf("exchange of %v: %w", own, err)
	}
	for i, m := range own {
		r.check(r.verify(m, vecs[i]))
	}
	return nil
}

// planned plans the legs of this rank.
func (r *rank) planned(ms []message) (x *comm.Exchange, vecs []vec, own []message, err error) {
	var recv, send []comm.Leg
	for _, m := range ms {
		if m.from == r.me {
			v := r.outgoing(m)
			vecs, own = append(vecs, v), append(own, m)
			send = append(send, comm.Leg{Peer: m.to, Buf: whole(v)})
		}
		if m.to == r.me {
			v := r.vec(m.dt, m.n)
			vecs, own = append(vecs, v), append(own, m)
			recv = append(recv, comm.Leg{Peer: m.from, Buf: whole(v)})
		}
	}
	x, err = comm.NewExchange(r.c, recv, send)
	return x, vecs, own, err
}

// neighbours exchanges several legs with both neighbours, which may be the same rank or this one.
func (r *rank) neighbours(dt scalar.DType, n, legs int) error {
	var ms []message
	for from := range r.size {
		for k := range legs {
			for _, d := range [...]int{1, r.size - 1} {
				ms = append(ms, message{from, (from + d) % r.size, dt, n + k, r.nextTag()})
			}
		}
	}
	return r.exchangeOf(ms, nil)
}

// exchangePairs exchanges between all pairs of ranks, each with itself too. Lengths and types differ.
func exchangePairs(r *rank) error {
	for k := range 5 {
		var ms []message
		for from := range r.size {
			for to := range r.size {
				ms = append(ms, message{from, to, scalar.DTypes[(from+to+k)%len(scalar.DTypes)], (3*from + 5*to + k) % 29, r.nextTag()})
			}
		}
		if err := r.exchangeOf(ms, nil); err != nil {
			return err
		}
		r.release()
	}
	return nil
}

func exchangeLarge(r *rank) error {
	defer r.release()
	return r.neighbours(scalar.Float64, 1<<17, 1)
}

// exchangeAgain runs one plan several times, with other buffers each time.
func exchangeAgain(r *rank) error {
	const n = 50
	in, out := comm.Leg{Peer: r.left(1), Buf: r.reals(n)}, comm.Leg{Peer: r.right(1), Buf: r.reals(n)}
	x, err := comm.NewExchange(r.c, []comm.Leg{in}, []comm.Leg{out})
	if err != nil {
		return err
	}
	for range 4 {
		tag := r.nextTag()
		m := message{r.me, r.right(1), scalar.Float64, n, tag}
		dst, src := r.vec(scalar.Float64, n), r.outgoing(m)
		x.Recv[0].Buf, x.Send[0].Buf = whole(dst), whole(src)
		if err := x.Run(r.ctx); err != nil {
			return err
		}
		r.check(r.verify(message{r.left(1), r.me, scalar.Float64, n, tag}, dst))
		r.check(r.verify(m, src))
		r.checkf(x.Wait(r.ctx) == nil, "waiting again for an exchange: rank %d", r.me)
	}
	r.release()
	return nil
}

// exchangeIdle has ranks that only send, only receive, or do nothing.
func exchangeIdle(r *rank) error {
	for to := range r.size {
		if err := r.exchangeOf([]message{{0, to, scalar.Int32, 9, r.nextTag()}}, nil); err != nil {
			return err
		}
	}
	r.release()
	return r.alive()
}

// exchangeOrder has collectives and messages around and during an exchange.
func exchangeOrder(r *rank) error {
	for k := range 3 {
		if err := r.shift(1, scalar.Float32, 20); err != nil {
			return err
		}
		var ms []message
		for from := range r.size {
			ms = append(ms, message{from, (from + 1) % r.size, scalar.Float32, 20 + k, r.nextTag()})
		}
		if err := r.exchangeOf(ms, r.alive); err != nil {
			return err
		}
		if err := r.shift(1, scalar.Float32, 20); err != nil {
			return err
		}
		r.release()
	}
	return nil
}

// exchangeBad checks that wrong arguments start nothing.
func exchangeBad(r *rank) error {
	const n = 4
	if _, err := comm.NewExchange(r.c, []comm.Leg{{Peer: r.size}}, nil); err == nil {
		r.checkf(false, "an exchange with rank %d of %d: no error", r.size, r.size)
	}
	tag := r.nextTag()
	dst, src := r.vec(scalar.Float64, n), r.outgoing(message{r.me, r.right(1), scalar.Float64, n, tag})
	broken := comm.Buf{DType: scalar.Float64, N: n} // without memory
	x, err := comm.NewExchange(r.c, []comm.Leg{{Peer: r.left(1), Buf: whole(dst)}}, []comm.Leg{{Peer: r.right(1), Buf: broken}})
	if err != nil {
		return err
	}
	err = x.Start(r.ctx)
	r.checkf(err != nil, "an exchange of a buffer without memory: rank %d of %d: no error", r.me, r.size)
	r.checkf(x.Wait(r.ctx) == nil, "waiting for an exchange that did not start: rank %d of %d", r.me, r.size)
	if err := r.alive(); err != nil {
		return err
	}
	x.Send[0].Buf = whole(src)
	if err := x.Start(r.ctx); err != nil {
		return err
	}
	r.checkf(x.Start(r.ctx) != nil, "an exchange started twice: rank %d of %d: no error", r.me, r.size)
	err = x.Wait(r.ctx)
	r.check(r.verify(message{r.left(1), r.me, scalar.Float64, n, tag}, dst))
	r.release()
	return errors.Join(err, r.alive())
}
