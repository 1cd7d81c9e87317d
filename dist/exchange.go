package dist

import (
	"context"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Exchange sends elements of this rank's block to other ranks and receives elements
// of theirs, in at most one message per axis from one rank to another. Moves, halos
// and operators along an axis are exchanges with different plans. Its buffers are
// made once, so Start and Wait allocate nothing.
type Exchange[T scalar.Scalar] struct {
	plan     Plan
	other    comm.Label     // that swapLabel gives to the messages
	in, out  array.Array[T] // messages that are not contiguous in a block
	inLen    int            // elements that are received, but for those in a block
	messages *comm.Exchange
	puts     *putting[T] // instead of messages, or nil
}

// NewExchange makes the buffers of a plan. It does not communicate.
func NewExchange[T scalar.Scalar](p *Plan) (*Exchange[T], error) {
	e := &Exchange[T]{plan: *p, other: turned(p.label)}
	oneSided := p.way == OneSided && p.from.Comm().Size() > 1
	hidden := p.from.proc.shared.hidden
	recv, inLen := place(p.recv, !p.add && !oneSided)
	send, outLen := place(p.send, !oneSided || !hidden)
	e.inLen = inLen
	for _, l := range recv {
		for i, c := range l.pieces {
			l.pieces[i] = c.Flipped()
		}
	}
	e.plan.recv, e.plan.send = recv, send
	var err error
	if oneSided && !hidden {
		inLen = 0 // they are put where they are used
	}
	if e.in, err = array.New[T](p.from.Device(), shape.Of(inLen)); err != nil {
		return nil, err
	}
	if e.out, err = array.New[T](p.from.Device(), shape.Of(outLen)); err != nil {
		e.in.Free()
		return nil, err
	}
	if oneSided {
		e.puts, err = newPutting[T](p)
		return e, err
	}
	in, out := make([]comm.Leg, len(recv)), make([]comm.Leg, len(send))
	e.point(in, recv, e.in, false)
	e.point(out, send, e.out, false)
	e.messages, err = comm.NewExchange(p.from.Comm(), in, out)
	return e, err
}

// place gives each message a place in a buffer and returns the length of the
// buffer. If direct is set, messages that are contiguous in the block stay there.
func place(legs []leg, direct bool) (placed []leg, n int) {
	for _, l := range legs {
		if l.direct = direct && l.contiguous(); l.direct {
			l.at, l.pieces = l.pieces[0].SrcAt, nil
		} else {
			l.at, l.pieces = n, slices.Clone(l.pieces)
			for i := range l.pieces {
				l.pieces[i].DstAt += n
			}
			n += l.n
		}
		placed = append(placed, l)
	}
	return placed, n
}

// point points messages to their elements: direct ones to those of a block, which
// change with each call, others to those of a buffer.
func (e *Exchange[T]) point(to []comm.Leg, legs []leg, a array.Array[T], direct bool) {
	for i := range legs {
		if l := &legs[i]; l.direct == direct {
			to[i] = comm.Leg{Peer: l.peer, Buf: buf(a.Slice(l.at, l.at+l.n)).Labelled(e.plan.label)}
		}
	}
}

// swapLabel exchanges the label of all messages for the other one.
func (e *Exchange[T]) swapLabel() {
	e.plan.label, e.other = e.other, e.plan.label
	x := e.messages
	if e.puts != nil {
		x = e.puts.bell
	}
	for _, legs := range [...][]comm.Leg{x.Recv, x.Send} {
		for i := range legs {
			legs[i].Buf = legs[i].Buf.Labelled(e.plan.label)
		}
	}
}

// Start starts all messages. The first Start of a one-sided exchange makes room for it. Neither src, which is sent, nor dst may be changed
// before Wait has returned.
func (e *Exchange[T]) Start(ctx context.Context, dst, src array.Array[T]) error {
	copyPieces(e.out, src, e.plan.send, false)
	if e.puts != nil {
		return e.startPuts(ctx, src)
	}
	e.point(e.messages.Recv, e.plan.recv, dst, true)
	e.point(e.messages.Send, e.plan.send, src, true)
	return e.messages.Start(ctx)
}

// Wait waits for all messages and copies what was received to dst.
func (e *Exchange[T]) Wait(ctx context.Context, dst array.Array[T]) error {
	if err := e.wait(ctx); err != nil {
		return err
	}
	copyPieces(dst, e.Ghosts(), e.plan.recv, e.plan.add)
	return nil
}

func (e *Exchange[T]) wait(ctx context.Context) error {
	if e.puts != nil {
		return e.waitPuts(ctx)
	}
	return e.messages.Wait(ctx)
}

func copyPieces[T scalar.Scalar](dst, src array.Array[T], legs []leg, add bool) {
	for i := range legs {
		for j := range legs[i].pieces {
			array.CopyND(dst, src, &legs[i].pieces[j], add)
		}
	}
}

// run copies this rank's own elements while the messages travel. It does not write
// elements of dst that no rank sends.
func (e *Exchange[T]) run(ctx context.Context, dst, src array.Array[T]) error {
	if err := e.Start(ctx, dst, src); err != nil {
		return err
	}
	if own := e.plan.own; own != nil {
		array.CopyND(dst, src, own, false)
	}
	return e.Wait(ctx, dst)
}

// Ghosts returns the buffer that holds the rows of other ranks after Wait, until the next
// Start. Each Start may choose another one.
func (e *Exchange[T]) Ghosts() array.Array[T] {
	if e.puts != nil && e.puts.box != nil && !e.plan.from.proc.shared.hidden {
		return e.puts.ghosts[e.puts.turn]
	}
	return e.in
}

// Free gives the buffers back to the device. An exchange that was never made has none.
func (e *Exchange[T]) Free() {
	if e != nil {
		e.in.Free()
		e.out.Free()
		e.puts.free()
	}
}
