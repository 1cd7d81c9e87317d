package nccl

import (
	"context"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// The library alone cannot send unordered messages. Each of its communicators works in one
// order, which sender and receiver would have to know beforehand. Ranks that send to each
// other in a circle would deadlock.
//
// So each pair of ranks has a channel in each direction, which all groups share. Sender and
// receiver agree on the order by notes, which are messages of the host's communicator. The
// receiver asks for a message in IRecv. The sender grants it once it has a matching send,
// and launches its side. The receiver launches its side in the order of the grants. Notes
// between two ranks arrive in order, and so do the messages of a group. The first grant
// creates the channel.
//
// A launched send occupies the GPU until the receiver has launched its side, which needs a
// call of that rank. Meanwhile the sender must not wait for its GPU, for example by loading
// a kernel for the first time. Two ranks that both did so would deadlock. So only calls that
// wait or test grant sends, and they return when all granted sends are done. Ranks that
// start messages, launch kernels and then wait still overlap both.
//
// Messages in host memory use the host's communicator. Each is preceded by a note, so that
// a receiver in GPU memory finds the mismatch. A send in GPU memory that nobody asks for
// sends a note too: see hostmessage.go.

// peer is the state of messages with one rank of the world.
type peer struct {
	rank    int
	out, in *channel // messages to it and from it; nil before the first
	sends   []*op    // not asked for yet
	recvs   []*op    // not granted yet, or in host memory and without a note yet
	asked   []ask    // for which there is no send yet
	early   []word
	inbox   *note // buffer of its next note, nil if none is to come
	heard   comm.Request
	news    int  // notes that are to come
	words   int  // notes that are to come of messages in host memory
	listed  bool // in world.hearing
}

// ask is a note about a receive of another rank.
type ask struct {
	group int64
	dt    scalar.DType
	n     int64
	label comm.Label
}

// call returns one side of a message that another rank is in, with peer.
func (a ask) call(k comm.Kind, peer int) comm.Call {
	return comm.Call{Kind: k, DType: a.dt, Peer: int32(peer), N: a.n, Label: a.label}
}

// grant is a send and the receive that asked for it.
type grant struct {
	p *peer
	o *op
	a ask
}

// note is a message of the host's communicator that precedes a message.
type note struct {
	words words
	req   comm.Request
}

// words are the contents of a note: its kind, the group, type, count, number and label of
// the message, whether it creates the channel, and the id of the channel.
type words [7 + len(uniqueID{})]int64

const (
	noteAsk    = iota + 1 // the receiver asks for a message
	noteGrant             // the sender launches its side
	noteWrong             // type, count or label of the send differ
	noteHost              // the send is from host memory
	noteDevice            // the send is from GPU memory, and not asked for
)

// ISend implements comm.Comm.
func (c *Comm) ISend(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	switch {
	case c.closed:
		return comm.Request{}, comm.ErrClosed
	case !onDevice(src):
		return c.sendHost(ctx, src, to)
	}
	return c.message(ctx, comm.KindSend, src, to)
}

// IRecv implements comm.Comm.
func (c *Comm) IRecv(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	switch {
	case c.closed:
		return comm.Request{}, comm.ErrClosed
	case !onDevice(dst):
		return c.recvHost(ctx, dst, from)
	}
	return c.message(ctx, comm.KindRecv, dst, from)
}

func (c *Comm) message(ctx context.Context, k comm.Kind, b comm.Buf, with int) (comm.Request, error) {
	call, err := comm.CheckMessage(c, k, b.IgnorePlace(), with)
	if err == nil {
		err = c.pending.CheckLimit(k)
	}
	if err != nil {
		return comm.Request{}, err
	}
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ready(ctx); err != nil {
		return comm.Request{}, err
	}
	o := c.take(call, b, b)
	c.count(o)
	if c.members[with] == w.me {
		err = c.toSelf(o)
	} else {
		err = w.post(o)
	}
	if err != nil {
		return comm.Request{}, w.fail(err)
	}
	return comm.NewRequest(c, o.id), nil
}

// toSelf matches a message of this rank to itself with its other side, or keeps it until
// the other side is started.
func (c *Comm) toSelf(o *op) error {
	w := c.w
	if w.self == nil {
		var err error
		if w.self, err = w.newChannel(0, 1); err != nil {
			return err
		}
	}
	if err := w.self.queue.Follow(); err != nil {
		return err
	}
	other, err := c.matchSelf(o.call.Kind, o)
	if other == nil || err != nil {
		return err
	}
	send, recv := other, o
	if o.call.Kind == comm.KindSend {
		send, recv = o, other
	}
	recv.twin = send
	if err := comm.MessageMismatch(c.me, send.call, c.me, recv.call); err != nil {
		recv.finish(err)
		return nil
	}
	recv.src = send.src
	w.self.add(recv)
	return nil
}

// post begins a message with another rank. It runs after the kernels launched so far, not
// after those launched before the other side is ready.
func (w *world) post(o *op) error {
	p := &w.peers[o.c.members[o.call.Peer]]
	l, err := w.messageChannel(p, o.call.Kind)
	if err != nil {
		return err
	}
	if err := l.queue.Follow(); err != nil {
		return err
	}
	if o.call.Kind == comm.KindRecv {
		if err := p.heardOf(o); err != nil {
			return err
		}
		p.recvs = append(p.recvs, o)
		w.expect(p)
		return w.tell(p, noteAsk, o, nil)
	}
	for i, a := range p.asked {
		if a.group == o.c.groupID {
			p.asked = slices.Delete(p.asked, i, i+1)
			w.grants = append(w.grants, grant{p, o, a})
			return nil
		}
	}
	p.sends = append(p.sends, o)
	w.expect(p)
	return nil
}

// messageChannel returns the channel of messages to p, or from it.
func (w *world) messageChannel(p *peer, k comm.Kind) (*channel, error) {
	at, rank := &p.out, 0
	if k == comm.KindRecv {
		at, rank = &p.in, 1
	}
	if *at == nil {
		l, err := w.newChannel(rank, 2)
		if err != nil {
			return nil, err
		}
		// Many channels run at the same time, and each takes part of the GPU.
		l.cfg.minCTA, l.cfg.maxCTA = 1, 4
		*at = l
	}
	return *at, nil
}

// grant answers an ask with the matching send.
func (w *world) grant(p *peer, o *op, a ask) error {
	if err := comm.MessageMismatch(o.c.me, o.call, int(o.call.Peer), a.call(comm.KindRecv, o.c.me)); err != nil {
		o.finish(err)
		return w.tell(p, noteWrong, o, nil)
	}
	l := p.out
	var id *uniqueID
	if l.phase == waitingForID {
		if err := l.makeID(); err != nil {
			return err
		}
		if err := l.init(); err != nil {
			return err
		}
		id = &l.id
	}
	l.add(o)
	o.granted = true
	w.sending++
	return w.tell(p, noteGrant, o, id)
}

// tell sends a note about o.
func (w *world) tell(p *peer, what int64, o *op, id *uniqueID) error {
	if len(w.sent) > 8 { // this rank sends without waiting
		if err := w.forget(); err != nil {
			return err
		}
	}
	var n *note
	if k := len(w.spare); k > 0 {
		n, w.spare = w.spare[k-1], w.spare[:k-1]
	} else {
		n = new(note)
	}
	n.words = words{what, o.c.groupID, int64(o.call.DType), o.call.N, o.seq, int64(o.call.Label)}
	if id != nil {
		n.words[6] = 1
		copy(n.words[7:], id[:])
	}
	var err error
	n.req, err = w.ctl.ISend(context.Background(), comm.Of(n.words[:]), p.rank)
	w.sent = append(w.sent, n)
	return err
}

// expect counts one more note that is to come from p.
func (w *world) expect(p *peer) {
	p.news++
	w.news++
	w.listenTo(p)
}

// heard counts a note of p that has come.
func (w *world) heard(p *peer) {
	p.news--
	w.news--
}

func (w *world) listenTo(p *peer) {
	if !p.listed {
		p.listed = true
		w.hearing = append(w.hearing, p)
	}
}

// grantAll launches the sends that have been asked for.
func (w *world) grantAll() error {
	for _, g := range w.grants {
		if err := w.grant(g.p, g.o, g.a); err != nil {
			return err
		}
	}
	w.grants = w.grants[:0]
	return nil
}

// forget reuses notes that have been sent.
func (w *world) forget() error {
	for i := 0; i < len(w.sent); {
		done, err := w.sent[i].req.Test()
		if err != nil {
			return err
		}
		if done {
			w.spare = append(w.spare, w.sent[i])
			w.sent = slices.Delete(w.sent, i, i+1)
		} else {
			i++
		}
	}
	return nil
}

// hear receives the notes that have come.
func (w *world) hear() error {
	if err := w.forget(); err != nil {
		return err
	}
	for i := 0; i < len(w.hearing); {
		p := w.hearing[i]
		if err := w.hearFrom(p); err != nil {
			return err
		}
		if p.news+p.words == 0 {
			p.listed = false
			w.hearing = slices.Delete(w.hearing, i, i+1)
		} else {
			i++
		}
	}
	return nil
}

func (w *world) hearFrom(p *peer) error {
	for p.news+p.words > 0 {
		if p.inbox == nil {
			p.inbox = new(note)
		}
		if p.heard == (comm.Request{}) {
			var err error
			if p.heard, err = w.ctl.IRecv(context.Background(), comm.Of(p.inbox.words[:]), p.rank); err != nil {
				return err
			}
		}
		done, err := p.heard.Test()
		if err != nil || !done {
			return err
		}
		p.heard = comm.Request{}
		if err := w.read(p, &p.inbox.words); err != nil {
			return err
		}
	}
	return nil
}

// read acts on a note.
func (w *world) read(p *peer, n *words) error {
	if n[0] == noteHost || n[0] == noteDevice {
		return p.hearOf(word{group: n[1], seq: n[4], host: n[0] == noteHost})
	}
	a := ask{group: n[1], dt: scalar.DType(n[2]), n: n[3], label: comm.Label(n[5])}
	ofGroup := func(o *op) bool { return o.c.groupID == a.group && !o.onHost }
	if n[0] == noteAsk {
		i := slices.IndexFunc(p.sends, ofGroup)
		if i < 0 { // keep the note until the send is started
			p.asked = append(p.asked, a)
			return nil
		}
		o := p.sends[i]
		p.sends = slices.Delete(p.sends, i, i+1)
		w.heard(p)
		w.grants = append(w.grants, grant{p, o, a})
		return nil
	}
	i := slices.IndexFunc(p.recvs, ofGroup)
	o := p.recvs[i]
	p.recvs = slices.Delete(p.recvs, i, i+1)
	w.heard(p)
	if n[0] == noteWrong {
		o.finish(comm.MessageMismatch(int(o.call.Peer), a.call(comm.KindSend, o.c.me), o.c.me, o.call))
		return nil
	}
	if n[6] == 1 {
		copy(p.in.id[:], n[7:])
		if err := p.in.init(); err != nil {
			return err
		}
	}
	p.in.add(o)
	return nil
}
