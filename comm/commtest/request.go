package commtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// pending is an operation under way and how to check it.
type pending struct {
	name   fmt.Stringer
	req    comm.Request
	verify func() error
}

// wait completes p by Wait.
func (r *rank) wait(p pending) error {
	if err := p.req.Wait(r.ctx); err != nil {
		return fmt.Errorf("%v: wait: %w", p.name, err)
	}
	return nil
}

// poll completes p by Test.
func (r *rank) poll(p pending) error {
	for {
		done, err := p.req.Test()
		if err != nil {
			return fmt.Errorf("%v: test: %w", p.name, err)
		}
		if done {
			return nil
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
}

// complete completes all of ps, in their order, by Wait, Test and WaitAll,
// and checks them.
func (r *rank) complete(ps []pending) error {
	var rest []comm.Request
	for k, p := range ps {
		var err error
		switch k % 3 {
		case 0:
			err = r.wait(p)
		case 1:
			err = r.poll(p)
		case 2:
			rest = append(rest, p.req)
		}
		if err != nil {
			return err
		}
	}
	if err := comm.WaitAll(r.ctx, rest...); err != nil {
		return fmt.Errorf("WaitAll of %d requests: %w", len(rest), err)
	}
	for _, p := range ps {
		r.check(p.verify())
	}
	return nil
}

// isend and irecv start one side of a message.
func (r *rank) isend(m message) (pending, error) {
	v := r.outgoing(m)
	q, err := r.c.ISend(r.ctx, whole(v), m.to)
	if err != nil {
		return pending{}, fmt.Errorf("%v: ISend: %w", m, err)
	}
	return pending{m, q, func() error { return r.verify(m, v) }}, nil
}

func (r *rank) irecv(m message) (pending, error) {
	v := r.vec(m.dt, m.n)
	q, err := r.c.IRecv(r.ctx, whole(v), m.from)
	if err != nil {
		return pending{}, fmt.Errorf("%v: IRecv: %w", m, err)
	}
	return pending{m, q, func() error { return r.verify(m, v) }}, nil
}

// launch starts this rank's sides of the messages, in their order.
func (r *rank) launch(ms []message) ([]pending, error) {
	var ps []pending
	for _, m := range ms {
		if m.to == r.me {
			p, err := r.irecv(m)
			if err != nil {
				return nil, err
			}
			ps = append(ps, p)
		}
		if m.from == r.me {
			p, err := r.isend(m)
			if err != nil {
				return nil, err
			}
			ps = append(ps, p)
		}
	}
	return ps, nil
}

// begin starts a collective.
func (r *rank) begin(k call) (pending, error) {
	k.tag = r.nextTag()
	j := r.prepare(k)
	if err := j.start(r.ctx); err != nil {
		return pending{}, err
	}
	return pending{j.call, j.req, j.verify}, nil
}

// ownRand returns random numbers that differ between ranks.
func (r *rank) ownRand() *rand.Rand { return rand.New(rand.NewPCG(uint64(r.me), 7)) }

func shuffle(rng *rand.Rand, ps []pending) {
	rng.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
}

// requestCases are about operations under way.
func requestCases() []Case {
	cases := []Case{on("Request/zero", zeroRequest), on("Request/completed", completedRequest),
		on("Request/many", manyRequests), on("Request/large", largeRequests), on("Request/late", lateRequests)}
	for _, dt := range scalar.DTypes {
		cases = append(cases,
			on("ISend and IRecv/self/"+dt.String(), func(r *rank) error { return toSelf(r, dt) }),
			on("Outstanding collectives/"+dt.String(), func(r *rank) error { return outstanding(r, dt) }))
	}
	return append(cases, on("Outstanding collectives/many", manyCollectives))
}

func zeroRequest(r *rank) error {
	var q comm.Request
	err := q.Wait(r.ctx)
	r.checkf(err == nil, "wait for the zero request: %w", err)
	done, err := q.Test()
	r.checkf(done && err == nil, "test of the zero request: got %v, %v, want true, nil", done, err)
	err = comm.WaitAll(r.ctx, q, q)
	r.checkf(err == nil, "WaitAll of zero requests: %w", err)
	return nil
}

// completedRequest waits for and tests requests that have completed.
func completedRequest(r *rank) error {
	start := []func() (pending, error){
		func() (pending, error) { return r.begin(call{kind: driver.KindIAllReduce, dt: scalar.Int64, n: 3}) },
		func() (pending, error) { return r.begin(call{kind: driver.KindIBroadcast, dt: scalar.Int64, n: 3}) },
		func() (pending, error) {
			return r.begin(call{kind: driver.KindIAllGather, dt: scalar.Int64, counts: uniform(3, r.size)})
		},
		func() (pending, error) {
			ps, err := r.launch([]message{{r.me, r.me, scalar.Float32, 4, 1}})
			if err != nil {
				return pending{}, err
			}
			return ps[1], r.wait(ps[0])
		},
	}
	for _, finish := range []func(pending) error{r.wait, r.poll} {
		for _, f := range start {
			p, err := f()
			if err != nil {
				return err
			}
			if err := finish(p); err != nil {
				return err
			}
			for range 2 {
				err := p.req.Wait(r.ctx)
				r.checkf(err == nil, "%v: rank %d: waiting again: %w", p.name, r.me, err)
				done, err := p.req.Test()
				r.checkf(done && err == nil, "%v: rank %d: test after the end: got %v, %v, want true, nil", p.name, r.me, done, err)
			}
			r.check(p.verify())
		}
	}
	return nil
}

// manyRequests has 64 messages at once from each rank to each rank, including itself.
func manyRequests(r *rank) error {
	for round := range 3 {
		var ms []message
		for k := range 64 {
			for from := range r.size {
				for to := range r.size {
					tag := r.nextTag()
					ms = append(ms, message{from, to, scalar.DTypes[(from+to+k)%len(scalar.DTypes)], int(tag % 40), tag})
				}
			}
		}
		ps, err := r.launch(ms)
		if err != nil {
			return err
		}
		switch round {
		case 1:
			for i, j := 0, len(ps)-1; i < j; i, j = i+1, j-1 {
				ps[i], ps[j] = ps[j], ps[i]
			}
		case 2:
			shuffle(r.ownRand(), ps)
		}
		if err := r.complete(ps); err != nil {
			return err
		}
		r.release()
	}
	return nil
}

// largeRequests has a message of 1 MB from each rank to each rank at once.
func largeRequests(r *rank) error {
	var ms []message
	for from := range r.size {
		for to := range r.size {
			ms = append(ms, message{from, to, scalar.Float32, 1 << 18, r.nextTag()})
		}
	}
	ps, err := r.launch(ms)
	if err != nil {
		return err
	}
	shuffle(r.ownRand(), ps)
	return r.complete(ps)
}

// lateRequests sends before the receive is started. Messages of Send and ISend must keep their
// order.
func lateRequests(r *rank) error {
	var ms []message
	for k := range 20 {
		ms = append(ms, message{0, r.size - 1, scalar.DTypes[k%len(scalar.DTypes)], k, r.nextTag()})
	}
	var ps []pending
	if r.me == 0 {
		for _, m := range ms {
			p, err := r.isend(m)
			if err != nil {
				return err
			}
			ps = append(ps, p)
		}
	}
	if err := r.c.Barrier(r.ctx); err != nil {
		return err
	}
	if r.me == r.size-1 {
		for k, m := range ms {
			v := r.vec(m.dt, m.n)
			var err error
			if k%2 == 0 {
				err = r.c.Recv(r.ctx, whole(v), m.from)
			} else {
				err = r.finished(r.c.IRecv(r.ctx, whole(v), m.from))
			}
			if err != nil {
				return fmt.Errorf("%v: %w", m, err)
			}
			r.check(r.verify(m, v))
		}
	}
	return r.complete(ps)
}

// toSelf starts the send first, then the receive first.
func toSelf(r *rank, dt scalar.DType) error {
	for _, n := range []int{0, 1, 7, 20000} {
		m := message{r.me, r.me, dt, n, r.nextTag()}
		ps, err := r.launch([]message{m})
		if err != nil {
			return err
		}
		s, err1 := r.isend(m)
		t, err2 := r.irecv(m)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if err := r.complete(append(ps, s, t)); err != nil {
			return err
		}
		r.release()
	}
	return nil
}

// outstanding has collectives and messages under way at once, with blocking calls between them.
// It completes them in an order that differs between ranks.
func outstanding(r *rank, dt scalar.DType) error {
	rng := r.ownRand()
	for round := range 6 {
		var calls []call
		for _, op := range driver.Ops {
			if driver.CheckOp(op, dt) == nil {
				calls = append(calls, call{kind: driver.KindIAllReduce, dt: dt, op: op, n: 7 + 100*int(op), inPlace: round%2 == 1})
			}
		}
		for root := range r.size {
			calls = append(calls, call{kind: driver.KindIBroadcast, dt: dt, root: root, n: 300 * root})
		}
		for n := range 3 {
			calls = append(calls, call{kind: driver.KindIAllGather, dt: dt, counts: uniform(40*n, r.size), inPlace: n == 1})
		}
		var ps []pending
		for i, k := range calls {
			p, err := r.begin(k)
			if err != nil {
				return err
			}
			m, err := r.launch(r.ringMessages(dt, i))
			if err != nil {
				return err
			}
			ps = append(append(ps, p), m...)
			if i == 2 && round > 2 {
				if err := r.c.Barrier(r.ctx); err != nil {
					return err
				}
			}
		}
		if round > 3 {
			// Blocking calls complete while requests are under way.
			j := r.prepare(call{kind: driver.KindAllReduce, dt: dt, n: 33, tag: r.nextTag()})
			if err := j.start(r.ctx); err != nil {
				return err
			}
			r.check(j.verify())
		}
		shuffle(rng, ps)
		if err := r.complete(ps); err != nil {
			return err
		}
		r.release()
	}
	return nil
}

// ringMessages is a message from each rank to the next.
func (r *rank) ringMessages(dt scalar.DType, n int) []message {
	ms := make([]message, r.size)
	for from := range ms {
		ms[from] = message{from, (from + 1) % r.size, dt, n, r.nextTag()}
	}
	return ms
}

// manyCollectives has 100 collectives under way at once.
func manyCollectives(r *rank) error {
	kinds := [...]driver.Kind{driver.KindIAllReduce, driver.KindIBroadcast, driver.KindIAllGather}
	var ps []pending
	for i := range 100 {
		p, err := r.begin(call{kind: kinds[i%3], dt: scalar.DTypes[i%len(scalar.DTypes)], root: i % r.size, n: i * 3,
			counts: uniform(i, r.size)})
		if err != nil {
			return err
		}
		ps = append(ps, p)
	}
	shuffle(r.ownRand(), ps)
	return r.complete(ps)
}
