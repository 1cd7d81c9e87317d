package nccl

import (
	"context"
	"fmt"
	"slices"

	"github.com/golops/golops/comm"
)

// Messages in host memory use the host's communicator. All messages of a group between two
// ranks are numbered on both sides, and sender and receiver compare the kind of memory. If
// it differs, the program ends: one side would wait in the host's communicator and the other
// in the library, forever.

// word is what the sender's note says about a message.
type word struct {
	group, seq int64
	host       bool
}

// lone is one side of a message of this rank to itself; o is nil in host memory.
type lone struct {
	kind comm.Kind
	o    *op
}

// count gives a message its number.
func (c *Comm) count(o *op) {
	at := &c.sent[o.call.Peer]
	if o.call.Kind == comm.KindRecv {
		at = &c.received[o.call.Peer]
	}
	o.seq = *at
	*at++
}

// sendHost starts a send from host memory.
func (c *Comm) sendHost(ctx context.Context, src comm.Buf, to int) (comm.Request, error) {
	call, err := comm.CheckMessage(c, comm.KindSend, src.IgnorePlace(), to)
	if err != nil {
		return c.host.ISend(ctx, src, to)
	}
	o, err := c.announce(call)
	if err != nil {
		return comm.Request{}, err
	}
	if o.host, err = c.host.ISend(ctx, src, to); err != nil {
		return comm.Request{}, c.endHost(o, err)
	}
	return comm.NewRequest(c, o.id), nil
}

// recvHost starts a receive into host memory. It is done when the message and its note have
// come.
func (c *Comm) recvHost(ctx context.Context, dst comm.Buf, from int) (comm.Request, error) {
	call, err := comm.CheckMessage(c, comm.KindRecv, dst.IgnorePlace(), from)
	if err != nil {
		return c.host.IRecv(ctx, dst, from)
	}
	o, err := c.announce(call)
	if err != nil {
		return comm.Request{}, err
	}
	if o.host, err = c.host.IRecv(ctx, dst, from); err != nil {
		return comm.Request{}, c.endHost(o, err)
	}
	return comm.NewRequest(c, o.id), nil
}

// announce sends the note of a message in host memory, or starts to receive it.
func (c *Comm) announce(call comm.Call) (*op, error) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	o := c.take(call, comm.Buf{}, comm.Buf{})
	o.onHost = true
	c.count(o)
	p := &w.peers[c.members[call.Peer]]
	var err error
	switch {
	case p.rank == w.me:
		o.done = true
		_, err = c.matchSelf(call.Kind, nil)
	case call.Kind == comm.KindSend:
		o.done = true
		err = w.tell(p, noteHost, o, nil)
	default:
		if err = p.heardOf(o); err == nil && !o.done {
			p.recvs = append(p.recvs, o)
			p.words++
			w.listenTo(p)
		}
	}
	if err != nil {
		return nil, w.fail(err)
	}
	return o, nil
}

// endHost releases a request of the host. If it has failed before its note came, the note
// still needs it.
func (c *Comm) endHost(o *op, err error) error {
	if !c.w.isDone(o) {
		return err
	}
	return c.release(o, err)
}

// matchSelf returns the other side of a message of this rank to itself, if both are in GPU
// memory. If the other side has not been started, it keeps o.
func (c *Comm) matchSelf(kind comm.Kind, o *op) (*op, error) {
	if len(c.alone) == 0 || c.alone[0].kind == kind {
		c.alone = append(c.alone, lone{kind, o})
		return nil, nil
	}
	other := c.alone[0].o
	c.alone = slices.Delete(c.alone, 0, 1)
	if (other == nil) != (o == nil) {
		return nil, mixed(c.me, c.me, (kind == comm.KindSend) == (o == nil))
	}
	return other, nil
}

// heardOf looks for a note about a receive that came before it. A receive in host memory is
// then done.
func (p *peer) heardOf(o *op) error {
	i := slices.IndexFunc(p.early, func(h word) bool { return h.group == o.c.groupID && h.seq == o.seq })
	if i < 0 {
		return nil
	}
	h := p.early[i]
	p.early = slices.Delete(p.early, i, i+1)
	if h.host != o.onHost {
		return mixed(int(o.call.Peer), o.c.me, h.host)
	}
	o.done = o.onHost
	return nil
}

// hearOf compares the sender's note with the receive, or keeps the note until there is
// one.
func (p *peer) hearOf(h word) error {
	i := slices.IndexFunc(p.recvs, func(o *op) bool { return o.c.groupID == h.group && o.seq == h.seq })
	if i < 0 {
		p.early = append(p.early, h)
		return nil
	}
	o := p.recvs[i]
	if h.host != o.onHost {
		return mixed(int(o.call.Peer), o.c.me, h.host)
	}
	if h.host {
		p.recvs = slices.Delete(p.recvs, i, i+1)
		p.words--
		o.done = true
	}
	return nil
}

// complain sends notes about sends in GPU memory that the receiver has not asked for. It may
// be waiting in host memory.
func (w *world) complain(p *peer) error {
	for _, o := range p.sends {
		if !o.told {
			o.told = true
			if err := w.tell(p, noteDevice, o, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// mixed is the error of a message between two kinds of memory.
func mixed(from, to int, fromHost bool) error {
	src, dst := comm.OnDevice, comm.OnHost
	if fromHost {
		src, dst = dst, src
	}
	return &comm.MismatchError{RankA: from, CallA: fmt.Sprintf("Send(to rank %d) from %v", to, src),
		RankB: to, CallB: fmt.Sprintf("Recv(from rank %d) into %v", from, dst),
		Hint: "both sides of a message must be in the same kind of memory"}
}
