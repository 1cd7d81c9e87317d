package nccl

import (
	"context"
	"errors"
	"slices"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/scalar"
)

// Start implements driver.Conn. Messages are staged: the library sends and receives only in
// an order that all ranks know beforehand. An exchange has that order. It is one group call
// of the library, unless ranks share GPUs.
func (c *conn) Start(ctx context.Context, q *driver.Call) (uint64, error) {
	if q.Kind != driver.KindExchange || c.w.cfg.SharedGPU {
		return c.startStaged(ctx, q)
	}
	o := c.take(q)
	dev, err := c.plan(ctx, o)
	if err == nil && dev {
		return o.id, c.begin(ctx, o)
	}
	defer c.release(o, nil)
	if err != nil {
		return 0, err
	}
	q.Recv, q.Send = o.recv, o.send
	return c.startStaged(ctx, q)
}

// plan sorts the legs of an exchange. It reports whether they are in GPU memory. Empty legs
// are left out on all ranks, because an empty buffer has no kind of memory. The first
// exchange on GPU memory makes the channel on all ranks. So until then ranks compare the
// kind of memory, because one may have no elements.
func (c *conn) plan(ctx context.Context, o *op) (dev bool, err error) {
	host := false
	o.recv, o.send = filled(o.recv, o.call.Recv), filled(o.send, o.call.Send)
	o.call.Recv, o.call.Send = nil, nil
	for _, legs := range [...][]driver.Leg{o.recv, o.send} {
		for i := range legs {
			dev, host = dev || onDevice(&legs[i].Buf), host || onHost(&legs[i].Buf)
		}
	}
	if dev && host {
		return dev, errors.New("comm: Exchange: some legs are in GPU memory, others in host memory: copy them to one kind of memory")
	}
	if c.channel == nil && c.n > 1 {
		any, err := c.agreeOnMemory(ctx, &o.call, dev, host)
		if err == nil && any {
			c.w.mu.Lock()
			err = c.open(ctx)
			c.w.mu.Unlock()
		}
		if err != nil {
			return dev, err
		}
	}
	if !dev {
		return false, nil
	}
	o.pairSelf(c.me)
	if c.w.cfg.Checked && len(o.recv)+len(o.send) > 0 {
		err = c.compareLegs(ctx, o)
	}
	return dev, err
}

// filled appends the legs that have elements.
func filled(to, legs []driver.Leg) []driver.Leg {
	for _, l := range legs {
		if l.Buf.N > 0 {
			to = append(to, l)
		}
	}
	return to
}

// pairSelf turns the legs of this rank with itself into copies. Legs that do not match are
// left out and give an error of the operation.
func (o *op) pairSelf(me int) {
	self := func(l driver.Leg) bool { return l.Peer == me }
	for {
		i, j := slices.IndexFunc(o.recv, self), slices.IndexFunc(o.send, self)
		var err error
		switch {
		case i < 0 && j < 0:
			return
		case i < 0:
			err = driver.SelfWaitError(me, side(driver.KindSend, o.send[j]))
		case j < 0:
			err = driver.SelfWaitError(me, side(driver.KindRecv, o.recv[i]))
		default:
			if err = driver.MessageMismatch(me, side(driver.KindSend, o.send[j]), me, side(driver.KindRecv, o.recv[i])); err == nil {
				o.copies = append(o.copies, [2]driver.Buf{o.recv[i].Buf, o.send[j].Buf})
			}
		}
		if i >= 0 {
			o.recv = slices.Delete(o.recv, i, i+1)
		}
		if j >= 0 {
			o.send = slices.Delete(o.send, j, j+1)
		}
		if o.err == nil {
			o.err = err
		}
	}
}

// side returns one side of the message that a leg is.
func side(k driver.Kind, l driver.Leg) driver.Signature {
	return driver.Signature{Kind: k, DType: l.Buf.DType, Peer: int32(l.Peer), N: int64(l.Buf.N), Label: l.Buf.Label}
}

// onGPULabel marks what ranks compare before an exchange on GPU memory. A peer whose leg is
// in host memory finds a message of another label.
var onGPULabel = driver.LabelOf("on GPU")

// compareLegs compares each leg with that of the peer, over the host. Both leave out a leg
// that differs, which gives an error of the operation.
func (c *conn) compareLegs(ctx context.Context, o *op) error {
	in := len(o.recv)
	own := append(slices.Clone(o.send), o.recv...)    // what this rank tells its peers, in order
	theirs := append(slices.Clone(o.recv), o.send...) // what they tell it, who also begin with their sends
	told, heard := make([][3]int64, len(own)), make([][3]int64, len(own))
	for i := range own {
		b := &own[i].Buf
		told[i] = [3]int64{int64(b.DType), int64(b.N), int64(b.Label)}
		*b, theirs[i].Buf = driver.Of(told[i][:]).Labelled(onGPULabel), driver.Of(heard[i][:]).Labelled(onGPULabel)
	}
	x, err := comm.NewExchange(c.door, theirs, own)
	if err == nil {
		err = x.Run(ctx)
	}
	if err != nil {
		return err
	}
	o.recv = o.matching(c.me, driver.KindRecv, o.recv, heard[:in])
	o.send = o.matching(c.me, driver.KindSend, o.send, heard[in:])
	return nil
}

// matching returns the legs that agree with what their peers have told.
func (o *op) matching(me int, k driver.Kind, legs []driver.Leg, heard [][3]int64) []driver.Leg {
	kept := legs[:0]
	for i, l := range legs {
		h := heard[i]
		other := driver.Signature{Kind: driver.KindSend, DType: scalar.DType(h[0]), Peer: int32(me), N: h[1], Label: driver.Label(h[2])}
		var err error
		if k == driver.KindRecv {
			err = driver.MessageMismatch(l.Peer, other, me, side(k, l))
		} else {
			other.Kind = driver.KindRecv
			err = driver.MessageMismatch(me, side(k, l), l.Peer, other)
		}
		if err == nil {
			kept = append(kept, l)
		} else if o.err == nil {
			o.err = err
		}
	}
	return kept
}
