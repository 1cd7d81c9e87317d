package comm

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm/driver"
)

// Exchange is a set of messages that is planned once and run many times: this rank
// receives each leg of Recv from its peer and sends each leg of Send to its peer. All
// legs start together and complete together. NCCL does them in one group call, MPI by
// posted messages, goroutine ranks by copies.
//
// It is collective: all ranks of the group start it, also those without legs. Each leg
// has its counterpart in the same exchange of the peer, and legs between two ranks match
// in their order. Exchanges take their turn among the messages between two ranks, and
// among the collectives of the group.
type Exchange struct {
	// Recv and Send are the legs. Buffers may be replaced before each Start. Peers
	// stay.
	Recv, Send []Leg

	c       *Comm
	id      uint64
	started bool
}

// NewExchange plans an exchange. It does not communicate.
func NewExchange(c *Comm, recv, send []Leg) (*Exchange, error) {
	for _, legs := range [...][]Leg{recv, send} {
		for _, l := range legs {
			if l.Peer < 0 || l.Peer >= c.size {
				return nil, fmt.Errorf("comm: Exchange: a leg is with rank %d, must be from 0 to %d", l.Peer, c.size-1)
			}
		}
	}
	return &Exchange{Recv: recv, Send: send, c: c}, nil
}

// Start starts all legs. Their buffers belong to the communicator until Wait has
// returned. If Start returns an error about its arguments, nothing was started.
func (x *Exchange) Start(ctx context.Context) error {
	c := x.c
	switch {
	case c.closed:
		return ErrClosed
	case x.started:
		return errors.New("comm: Exchange: started twice: wait for it first")
	}
	for _, legs := range [...][]Leg{x.Recv, x.Send} {
		if err := driver.CheckLegs(legs, c.gpu); err != nil {
			return err
		}
	}
	q := &c.call
	c.set(driver.KindExchange, Buf{}, Buf{}, 0, -1)
	q.DType, q.N, q.Label, q.Err = 0, -1, 0, nil
	q.Recv, q.Send = x.Recv, x.Send
	id, err := c.startCall(ctx, q)
	q.Recv, q.Send = nil, nil
	if err != nil {
		return err
	}
	x.id, x.started = id, true
	return nil
}

// Wait returns when all legs have completed, at once if none was started.
func (x *Exchange) Wait(ctx context.Context) error {
	if !x.started {
		return nil
	}
	x.started = false
	return x.c.wait(ctx, x.id)
}

// Run is Start and Wait.
func (x *Exchange) Run(ctx context.Context) error {
	if err := x.Start(ctx); err != nil {
		return err
	}
	return x.Wait(ctx)
}
