package dist

import (
	"context"
	"runtime"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// putting is the one-sided way of an Exchange. A rank puts its elements into the mailboxes
// of its peers and then rings: it sends each peer one byte. A rank has two places for each
// message and uses them by turns. Peers ring each other even where elements go one way
// only. So a rank that has heard a bell knows that the peer has used up what it was sent
// the time before.
type putting[T scalar.Scalar] struct {
	made    bool // the mailboxes have room for it
	turn    int
	lands   [2][]T            // where peers put
	ghosts  [2]array.Array[T] // the same, if arrays are in host memory
	out     []T               // what is sent, if arrays are not
	to      []address         // of each message that is sent
	targets []target
	box     *box[T] // that has lands; nil if nothing comes
	bell    *comm.Exchange
	drop    runtime.Cleanup
}

// address is where a message lands.
type address struct {
	win  *comm.Window
	peer int
	at   [2]int // by turns
}

// target is a peer that this rank puts into.
type target struct {
	win  *comm.Window
	peer int
}

// newPutting plans the bell. It does not communicate.
func newPutting[T scalar.Scalar](p *Plan) (*putting[T], error) {
	var in, out []comm.Leg
	for _, r := range distinct(p.recv, p.send) {
		in = append(in, comm.Leg{Peer: r, Buf: comm.Of(make([]uint8, 1)).Labelled(p.label)})
		out = append(out, comm.Leg{Peer: r, Buf: comm.Of(make([]uint8, 1)).Labelled(p.label)})
	}
	bell, err := comm.NewExchange(p.from.Comm(), in, out)
	return &putting[T]{bell: bell}, err
}

// makeRoom makes room in the mailboxes and tells peers where to put. It is collective.
func (e *Exchange[T]) makeRoom(ctx context.Context) error {
	w, r := e.puts, e.plan.from.proc
	m := mailboxOf[T](r)
	number, at, err := m.take(ctx, r, 2*e.inLen)
	if err != nil {
		return err
	}
	if number >= 0 {
		e.landIn(m.boxes[number], at)
	}
	if r.shared.hidden {
		w.out = make([]T, e.out.Len())
	}
	if err := e.tell(ctx, m, number, at); err != nil {
		return err
	}
	w.made = true
	return nil
}

// landIn lets what peers put land in a box, from place at on.
func (e *Exchange[T]) landIn(b *box[T], at int) {
	w := e.puts
	w.box = b
	w.drop = runtime.AddCleanup(e, func(b *box[T]) { b.live.Add(-1) }, b)
	for i := range 2 {
		lo := at + i*e.inLen
		w.lands[i] = b.mem[lo : lo+e.inLen]
		if !e.plan.from.proc.shared.hidden {
			w.ghosts[i] = b.over.Slice(lo, lo+e.inLen)
		}
	}
}

// tell tells the peers that send to this rank where their messages land.
func (e *Exchange[T]) tell(ctx context.Context, m *mailbox[T], number, at int) error {
	w := e.puts
	var in, out []comm.Leg
	places := make([][3]int64, len(e.plan.send)) // number of the box, and both places in it
	for i, l := range e.plan.send {
		in = append(in, comm.Leg{Peer: l.peer, Buf: comm.Of(places[i][:]).Labelled(labelPut)})
	}
	for _, l := range e.plan.recv {
		mine := []int64{int64(number), int64(at + l.at), int64(at + e.inLen + l.at)}
		out = append(out, comm.Leg{Peer: l.peer, Buf: comm.Of(mine).Labelled(labelPut)})
	}
	x, err := comm.NewExchange(e.plan.from.Comm(), in, out)
	if err == nil {
		err = x.Run(ctx)
	}
	if err != nil {
		return err
	}
	for i, l := range e.plan.send {
		p := places[i]
		w.to = append(w.to, address{m.boxes[p[0]].win, l.peer, [2]int{int(p[1]), int(p[2])}})
	}
	for _, peer := range distinct(e.plan.send) {
		for _, a := range w.to {
			if a.peer == peer { // all messages of an exchange land in one box
				w.targets = append(w.targets, target{a.win, peer})
				break
			}
		}
	}
	return nil
}

// startPuts puts what is sent and rings. What is not contiguous in src is in e.out.
func (e *Exchange[T]) startPuts(ctx context.Context, src array.Array[T]) error {
	w := e.puts
	if !w.made {
		if err := e.makeRoom(ctx); err != nil {
			return err
		}
	}
	if len(w.out) > 0 {
		if err := e.out.CopyOut(w.out); err != nil {
			return err
		}
	}
	w.turn = 1 - w.turn
	for i := range w.to {
		a, l := &w.to[i], &e.plan.send[i]
		var b comm.Buf
		switch {
		case w.out != nil:
			b = comm.Of(w.out[l.at : l.at+l.n])
		case l.direct:
			b = buf(src.Slice(l.at, l.at+l.n))
		default:
			b = buf(e.out.Slice(l.at, l.at+l.n))
		}
		if err := a.win.Put(ctx, a.peer, a.at[w.turn], b); err != nil {
			return err
		}
	}
	for _, t := range w.targets {
		if err := t.win.Flush(ctx, t.peer); err != nil {
			return err
		}
	}
	return w.bell.Start(ctx)
}

// waitPuts waits for the bells of all peers. Then what they have put is in e.Ghosts.
func (e *Exchange[T]) waitPuts(ctx context.Context) error {
	w := e.puts
	if err := w.bell.Wait(ctx); err != nil {
		return err
	}
	if w.box == nil {
		return nil
	}
	if err := w.box.win.Sync(ctx); err != nil || !e.plan.from.proc.shared.hidden {
		return err
	}
	return e.in.CopyIn(w.lands[w.turn])
}

// free gives the places back.
func (w *putting[T]) free() {
	if w != nil && w.box != nil {
		w.drop.Stop()
		w.box.live.Add(-1)
		w.box = nil
	}
}
