package dist

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// rootCopy copies blocks between root and the other ranks, one after another. So the
// device of root needs no room for the whole array.
type rootCopy[T scalar.Scalar] struct {
	s     *Space
	root  int
	block array.Array[T] // on root: room for the block of any other rank
	host  []T            // the same on the host, if the device memory is not host memory
}

func newRootCopy[T scalar.Scalar](s *Space, root int) (p rootCopy[T], err error) {
	p = rootCopy[T]{s: s, root: root}
	if s.proc.Rank() != root {
		return p, nil
	}
	n := 0
	for r := range s.proc.Size() {
		n = max(n, s.Box(r).shape(s.shape.NDim()).Size())
	}
	if p.block, err = array.New[T](s.Device(), shape.Of(n)); err == nil && p.block.Mem().Host == nil {
		p.host, err = device.Make[T](n)
	}
	return p, err
}

func (p rootCopy[T]) free() { p.block.Free() }

// room returns where root has the block of rank r, and the same on the host.
func (p rootCopy[T]) room(r int, mine array.Array[T]) (block array.Array[T], host []T) {
	if block = mine; r != p.root {
		block = p.block.Slice(0, p.s.Box(r).shape(p.s.shape.NDim()).Size())
	}
	if p.host == nil {
		return block, block.Mem().Host
	}
	return block, p.host[:block.Len()]
}

// scatter fills a with the blocks of the whole, which is on root.
func (p rootCopy[T]) scatter(ctx context.Context, a Array[T], whole []T) error {
	if p.s.proc.Rank() != p.root {
		return p.pass(ctx, a.local, p.root, labelScatter)
	}
	for r := range p.s.proc.Size() {
		block, host := p.room(r, a.local)
		i := 0
		for at, n := range p.s.Runs(r) {
			i += copy(host[i:], whole[at:at+n])
		}
		if p.host != nil {
			if err := block.CopyIn(host); err != nil {
				return err
			}
		}
		if err := p.pass(ctx, block, r, labelScatter); err != nil {
			return err
		}
	}
	return nil
}

// gather fills whole on root, which is nil elsewhere, and returns it. Replicated
// elements come from the copy of the array that root is in.
func (p rootCopy[T]) gather(ctx context.Context, a Array[T], whole []T) ([]T, error) {
	if me := p.s.proc.Rank(); me != p.root {
		if !p.s.sameCopy(me, p.root) {
			return nil, nil
		}
		return nil, p.pass(ctx, a.local, p.root, labelGather)
	}
	for r := range p.s.proc.Size() {
		if !p.s.sameCopy(r, p.root) {
			continue
		}
		block, host := p.room(r, a.local)
		if err := p.pass(ctx, block, r, labelGather); err != nil {
			return nil, err
		}
		if p.host != nil {
			if err := block.CopyOut(host); err != nil {
				return nil, err
			}
		}
		for at, n := range p.s.Runs(r) {
			host = host[copy(whole[at:at+n], host):]
		}
	}
	return whole, nil
}

// pass sends or receives a block: root sends in a scatter and receives in a gather.
// Empty blocks do not travel, nor does that of root. Two ranks take part, so it is a message:
// an exchange is started by all.
func (p rootCopy[T]) pass(ctx context.Context, block array.Array[T], peer int, l comm.Label) error {
	me := p.s.proc.Rank()
	if peer == me || block.Len() == 0 {
		return nil
	}
	c, b := p.s.Comm(), buf(block).Labelled(l)
	if (me == p.root) == (l == labelScatter) {
		return c.Send(ctx, b, peer)
	}
	return c.Recv(ctx, b, peer)
}
