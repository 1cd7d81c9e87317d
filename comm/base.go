package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errGoexit is the error of a program that ends its goroutine instead of returning.
var errGoexit = errors.New("the program of this rank ended in runtime.Goexit, as t.Fatal, t.FailNow and t.Skip do: return an error")

// Recovered runs one rank's program and turns a panic into an error, with the
// stack of its place. A program that calls runtime.Goexit aborts c, because the
// caller never gets to: such a call ends its goroutine, and only functions that
// were deferred still run. Exited tells them.
func Recovered(ctx context.Context, c Comm, prog func(context.Context, Comm) error) (err error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		} else if !returned {
			c.Abort(errGoexit)
		}
	}()
	err = prog(ctx, c)
	returned = true
	return err
}

// Exited returns the error of a program that has called runtime.Goexit.
func Exited() error { return errGoexit }

// Messages gives a communicator that has ISend and IRecv the calls that follow
// from them: Send, Recv, SendRecv and Group. A communicator embeds it.
//
// Arguments are checked before any message starts. So a call that returns an error
// of its arguments has started nothing: its buffers are the caller's again, and
// the next message is the right one.
type Messages struct {
	c       Comm
	reach   Place
	depth   int       // of nested Groups
	noted   []message // of the Group under way
	started []Request
}

// message is one side of a message that a Group is to start.
type message struct {
	kind Kind
	buf  Buf
	peer int
}

// NewMessages returns the blocking calls of c. reach is OnDevice if c takes
// device memory too.
func NewMessages(c Comm, reach Place) Messages { return Messages{c: c, reach: reach} }

// Send implements Comm.
func (b *Messages) Send(ctx context.Context, src Buf, to int) error {
	if b.depth > 0 {
		return b.note(message{KindSend, src, to})
	}
	return b.one(ctx, message{KindSend, src, to})
}

// Recv implements Comm.
func (b *Messages) Recv(ctx context.Context, dst Buf, from int) error {
	if b.depth > 0 {
		return b.note(message{KindRecv, dst, from})
	}
	return b.one(ctx, message{KindRecv, dst, from})
}

// SendRecv implements Comm. The receive goes first, so that the data has
// somewhere to go when it comes.
func (b *Messages) SendRecv(ctx context.Context, dst Buf, from int, src Buf, to int) error {
	in, out := message{KindRecv, dst, from}, message{KindSend, src, to}
	if b.depth > 0 || from != Nobody && to != Nobody {
		return b.both(ctx, in, out)
	}
	switch {
	case from != Nobody:
		return b.one(ctx, in)
	case to != Nobody:
		return b.one(ctx, out)
	}
	return nil
}

// one carries out a message.
func (b *Messages) one(ctx context.Context, m message) error {
	q, err := b.start(ctx, m)
	if err != nil {
		return err
	}
	return q.Wait(ctx)
}

// both carries out two messages, or notes them. Either peer may be Nobody.
func (b *Messages) both(ctx context.Context, in, out message) error {
	kept := len(b.noted)
	for _, m := range [...]message{in, out} {
		if m.peer == Nobody {
			continue
		}
		if err := b.note(m); err != nil {
			b.noted = b.noted[:kept]
			return err
		}
	}
	if b.depth > 0 {
		return nil
	}
	return b.flush(ctx)
}

// note checks a message and keeps it.
func (b *Messages) note(m message) error {
	buf := m.buf
	if b.reach == OnDevice {
		buf = buf.IgnorePlace()
	}
	_, err := CheckMessage(b.c, m.kind, buf, m.peer)
	if err == nil {
		b.noted = append(b.noted, m)
	}
	return err
}

func (b *Messages) start(ctx context.Context, m message) (Request, error) {
	if m.kind == KindSend {
		return b.c.ISend(ctx, m.buf, m.peer)
	}
	return b.c.IRecv(ctx, m.buf, m.peer)
}

// flush starts the messages that were noted and waits for all of them, also
// after an error of one. If some are under way and the next cannot be started,
// although its arguments are right, the program ends: the others might never do.
func (b *Messages) flush(ctx context.Context) error {
	b.started = b.started[:0]
	var err error
	for _, m := range b.noted {
		q, e := b.start(ctx, m)
		if e != nil {
			if err = e; len(b.started) > 0 {
				b.c.Abort(e)
			}
			break
		}
		b.started = append(b.started, q)
	}
	if e := WaitAll(ctx, b.started...); err == nil {
		err = e
	}
	clear(b.noted)
	b.noted = b.noted[:0]
	return err
}

// Group implements Comm.
func (b *Messages) Group(ctx context.Context, f func() error) error {
	kept := len(b.noted)
	b.depth++
	err := f()
	b.depth--
	if err != nil {
		b.noted = b.noted[:kept]
		return err
	}
	if b.depth > 0 {
		return nil
	}
	return b.flush(ctx)
}

// How many requests of one communicator may be under way. Libraries need memory
// for each, and some stop to make progress with collectives long before that is
// full. A large message may be thousands.
const (
	maxCollectives = 1 << 14
	maxMessages    = 1 << 18
)

// RequestPool keeps a communicator's requests and uses each again after it has
// completed, so that starting one allocates nothing in the long run. An id
// holds a place and how often it was used: a stale id finds nothing.
type RequestPool[T any] struct {
	all   []*T
	kinds []Kind
	uses  []uint32
	free  []uint32
	sides int // of messages, among those under way
}

// Room returns an error if so many requests are under way that a program must
// have forgotten to wait for them.
func (p *RequestPool[T]) Room(k Kind) error {
	n, limit := p.Len()-p.sides, maxCollectives
	if isMessage(k) {
		n, limit = p.sides, maxMessages
	}
	if n >= limit {
		return fault(k, "%d requests of this communicator are under way: wait for requests, which nobody seems to do", limit)
	}
	return nil
}

// Len returns how many requests are under way.
func (p *RequestPool[T]) Len() int { return len(p.all) - len(p.free) }

func isMessage(k Kind) bool { return k == KindSend || k == KindRecv }

// Take returns a spare request for a call of this kind, with the state of its last
// use, and its id.
func (p *RequestPool[T]) Take(k Kind) (*T, uint64) {
	if len(p.free) == 0 {
		p.free = append(p.free, uint32(len(p.all)))
		p.all = append(p.all, new(T))
		p.uses = append(p.uses, 0)
		p.kinds = append(p.kinds, 0)
	}
	i := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.uses[i]++ // odd while in use
	if p.kinds[i] = k; isMessage(k) {
		p.sides++
	}
	return p.all[i], uint64(p.uses[i])<<32 | uint64(i)
}

// Find returns the request called id, or nil if that one has completed.
func (p *RequestPool[T]) Find(id uint64) *T {
	if i := uint32(id); int(i) < len(p.all) && p.uses[i] == uint32(id>>32) {
		return p.all[i]
	}
	return nil
}

// Release makes the request spare again.
func (p *RequestPool[T]) Release(id uint64) {
	i := uint32(id)
	p.uses[i]++
	if isMessage(p.kinds[i]) {
		p.sides--
	}
	p.free = append(p.free, i)
}
