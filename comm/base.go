package comm

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Guard runs one rank's program and turns a panic into an error, with the
// stack of its place.
func Guard(ctx context.Context, c Comm, prog func(context.Context, Comm) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return prog(ctx, c)
}

// Blocking gives a communicator that has ISend and IRecv the calls that follow
// from them: Send, Recv, SendRecv and Group. A communicator embeds it.
type Blocking struct {
	c       Comm
	depth   int // of nested Groups
	grouped []Request
}

// NewBlocking returns the blocking calls of c.
func NewBlocking(c Comm) Blocking { return Blocking{c: c} }

// Send implements Comm.
func (b *Blocking) Send(ctx context.Context, src Buf, to int) error {
	q, err := b.c.ISend(ctx, src, to)
	return b.finish(ctx, q, err)
}

// Recv implements Comm.
func (b *Blocking) Recv(ctx context.Context, dst Buf, from int) error {
	q, err := b.c.IRecv(ctx, dst, from)
	return b.finish(ctx, q, err)
}

// SendRecv implements Comm. The receive goes first, so that the data has
// somewhere to go when it comes.
func (b *Blocking) SendRecv(ctx context.Context, dst Buf, from int, src Buf, to int) error {
	var recv Request
	var err error
	if from != Nobody {
		if recv, err = b.c.IRecv(ctx, dst, from); err != nil {
			return err
		}
	}
	if to != Nobody {
		err = b.Send(ctx, src, to)
	}
	return b.finish(ctx, recv, err)
}

// finish waits for a message just started, or leaves it to the end of the Group.
func (b *Blocking) finish(ctx context.Context, q Request, err error) error {
	if err != nil {
		return err
	}
	if b.depth > 0 {
		b.grouped = append(b.grouped, q)
		return nil
	}
	return q.Wait(ctx)
}

// Group implements Comm.
func (b *Blocking) Group(ctx context.Context, f func() error) error {
	b.depth++
	err := f()
	b.depth--
	if b.depth > 0 {
		return err
	}
	if err == nil {
		err = WaitAll(ctx, b.grouped...)
	}
	b.grouped = b.grouped[:0]
	return err
}

// Pending keeps a communicator's requests and uses each again after it has
// completed, so that starting one allocates nothing in the long run. An id
// holds a place and how often it was used: a stale id finds nothing.
type Pending[T any] struct {
	all  []*T
	uses []uint32
	free []uint32
}

// Take returns a spare request, with the state of its last use, and its id.
func (p *Pending[T]) Take() (*T, uint64) {
	if len(p.free) == 0 {
		p.free = append(p.free, uint32(len(p.all)))
		p.all = append(p.all, new(T))
		p.uses = append(p.uses, 0)
	}
	i := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.uses[i]++ // odd while in use
	return p.all[i], uint64(p.uses[i])<<32 | uint64(i)
}

// Find returns the request called id, or nil if that one has completed.
func (p *Pending[T]) Find(id uint64) *T {
	if i := uint32(id); int(i) < len(p.all) && p.uses[i] == uint32(id>>32) {
		return p.all[i]
	}
	return nil
}

// Release makes the request spare again.
func (p *Pending[T]) Release(id uint64) {
	i := uint32(id)
	p.uses[i]++
	p.free = append(p.free, i)
}
