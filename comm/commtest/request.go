package commtest

import (
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// pending is an operation under way and how to check it.
type pending struct {
	name   any
	req    comm.Request
	verify func()
}

// wait completes p by Wait.
func (r *rank) wait(p pending) { mustf(p.req.Wait(r.ctx), "%v: wait", p.name) }

// poll completes p by Test.
func (r *rank) poll(p pending) {
	for {
		done, err := p.req.Test()
		mustf(err, "%v: test", p.name)
		if done {
			return
		}
		must(r.ctx.Err())
		runtime.Gosched()
	}
}

// complete completes all of ps, in their order, by Wait, Test and WaitAll, and checks them.
func (r *rank) complete(ps []pending) {
	var rest []comm.Request
	for k, p := range ps {
		switch k % 3 {
		case 0:
			r.wait(p)
		case 1:
			r.poll(p)
		case 2:
			rest = append(rest, p.req)
		}
	}
	mustf(comm.WaitAll(r.ctx, rest...), "WaitAll of %d requests", len(rest))
	for _, p := range ps {
		p.verify()
	}
	r.release()
}

// finished waits for a request and returns the error of its start or end.
func (r *rank) finished(q comm.Request, err error) error {
	if err != nil {
		return err
	}
	return q.Wait(r.ctx)
}

// start is ISend or IRecv of a side.
func (r *rank) start(s side) pending {
	start, peer := r.c.IRecv, s.from
	if s.sends {
		start, peer = r.c.ISend, s.to
	}
	q, err := start(r.ctx, whole(s.v), peer)
	mustf(err, "start %v", s.message)
	return pending{s.message, q, func() { r.verify(s) }}
}

// launch starts this rank's sides of the messages, in their order.
func (r *rank) launch(ms ...message) []pending {
	var ps []pending
	for _, s := range r.sides(ms...) {
		ps = append(ps, r.start(s))
	}
	return ps
}

// begin starts a collective.
func (r *rank) begin(k call) pending {
	k.tag = r.nextTag()
	j := r.prepare(k)
	q, err := j.start(r.ctx, r.c)
	mustf(err, "%v", k)
	return pending{k, q, j.verify}
}

// ownRand returns random numbers that differ between ranks.
func (r *rank) ownRand() *rand.Rand { return rand.New(rand.NewPCG(uint64(r.me), 7)) }

func shuffle(rng *rand.Rand, ps []pending) {
	rng.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
}

// requestCases are about operations under way.
func requestCases() []Case {
	return slices.Concat(ofTypes("ISend and IRecv/self", toSelf), ofTypes("Outstanding collectives", outstanding),
		[]Case{on("Request/zero", zeroRequest), on("Request/completed", completedRequest), on("Request/many", manyRequests),
			on("Request/large", largeRequests), on("Request/late", lateRequests), on("Outstanding collectives/many", manyCollectives)})
}

// hasCompleted checks that waiting for and testing q again changes nothing.
func (r *rank) hasCompleted(what any, q comm.Request) {
	err := comm.WaitAll(r.ctx, q, q)
	r.checkf(err == nil, "%v: rank %d: waiting again: %w", what, r.me, err)
	done, err := q.Test()
	r.checkf(done && err == nil, "%v: rank %d: test after the end: got %v, %v, want true, nil", what, r.me, done, err)
}

func zeroRequest(r *rank) { r.hasCompleted("the zero request", comm.Request{}) }

// completedRequest waits for and tests requests that have completed.
func completedRequest(r *rank) {
	for _, finish := range []func(pending){r.wait, r.poll} {
		for _, k := range startedKinds {
			p := r.begin(call{kind: k, dt: scalar.Int64, n: 3, counts: uniform(3, r.size)})
			finish(p)
			r.hasCompleted(p.name, p.req)
			p.verify()
		}
		for _, p := range r.launch(message{r.me, r.me, scalar.Float32, 4, 1}) {
			finish(p)
			r.hasCompleted(p.name, p.req)
			p.verify()
		}
	}
}

// manyRequests has 64 messages at once from each rank to each rank, including itself.
func manyRequests(r *rank) {
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
		ps := r.launch(ms...)
		switch round {
		case 1:
			slices.Reverse(ps)
		case 2:
			shuffle(r.ownRand(), ps)
		}
		r.complete(ps)
	}
}

// largeRequests has a message of 1 MB from each rank to each rank at once.
func largeRequests(r *rank) {
	var ms []message
	for from := range r.size {
		for to := range r.size {
			ms = append(ms, message{from, to, scalar.Float32, 1 << 18, r.nextTag()})
		}
	}
	ps := r.launch(ms...)
	shuffle(r.ownRand(), ps)
	r.complete(ps)
}

// lateRequests sends before the receive is started. Messages of Send and ISend must keep their
// order.
func lateRequests(r *rank) {
	var ms []message
	for k := range 20 {
		ms = append(ms, message{0, r.size - 1, scalar.DTypes[k%len(scalar.DTypes)], k, r.nextTag()})
	}
	var ps []pending
	var late []side
	for _, s := range r.sides(ms...) {
		if s.sends {
			ps = append(ps, r.start(s))
		} else {
			late = append(late, s)
		}
	}
	must(r.c.Barrier(r.ctx))
	for k, s := range late {
		if k%2 == 0 {
			mustf(r.run(s), "%v", s.message)
		} else {
			r.wait(r.start(s))
		}
		r.verify(s)
	}
	r.complete(ps)
}

// toSelf starts the receive first, then the send first.
func toSelf(r *rank, dt scalar.DType) {
	for _, n := range []int{0, 1, 7, 20000} {
		m := message{r.me, r.me, dt, n, r.nextTag()}
		ps := r.launch(m)
		for _, s := range slices.Backward(r.sides(m)) {
			ps = append(ps, r.start(s))
		}
		r.complete(ps)
	}
}

// outstanding has collectives and messages under way at once, with blocking calls between them.
// It completes them in an order that differs between ranks.
func outstanding(r *rank, dt scalar.DType) {
	rng := r.ownRand()
	for round := range 6 {
		var calls []call
		for _, op := range driver.Ops {
			if driver.CheckOp(op, dt) == nil {
				calls = append(calls, call{kind: driver.KindIAllReduce, dt: dt, op: op, n: 7 + 100*int(op), inPlace: round%2 == 1})
			}
		}
		for root := range r.size {
			calls = append(calls, call{kind: driver.KindIBroadcast, dt: dt, root: root, n: 300 * root},
				call{kind: driver.KindIReduce, dt: dt, root: root, n: 200 * root, inPlace: round%2 == 1})
		}
		for n := range 3 {
			calls = append(calls, call{kind: driver.KindIAllGather, dt: dt, counts: uniform(40*n, r.size), inPlace: n == 1})
		}
		var ps []pending
		for i, k := range calls {
			ps = append(ps, r.begin(k))
			ps = append(ps, r.launch(r.ringMessages(dt, i)...)...)
			if i == 2 && round > 2 {
				must(r.c.Barrier(r.ctx))
			}
		}
		if round > 3 {
			// Blocking calls complete while requests are under way.
			r.begin(call{kind: driver.KindAllReduce, dt: dt, n: 33}).verify()
		}
		shuffle(rng, ps)
		r.complete(ps)
	}
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
func manyCollectives(r *rank) {
	var ps []pending
	for i := range 100 {
		ps = append(ps, r.begin(call{kind: startedKinds[i%len(startedKinds)], dt: scalar.DTypes[i%len(scalar.DTypes)],
			root: i % r.size, n: i * 3, counts: uniform(i, r.size)}))
	}
	shuffle(r.ownRand(), ps)
	r.complete(ps)
}
