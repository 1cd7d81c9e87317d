package data

import (
	"github.com/golops/golops/array"
	"github.com/golops/golops/scalar"
)

// blockCursor goes through the elements of a block in order, in host memory. GPU memory
// is copied in parts.
type blockCursor[T scalar.Scalar] struct {
	block    array.Array[T]
	at       int // elements of the block before host
	host     []T // the block itself, or a copy of a part of GPU memory
	next, to int // elements of host that were returned, and that will be
}

func newBlockCursor[T scalar.Scalar](block array.Array[T]) *blockCursor[T] {
	c := &blockCursor[T]{block: block, host: block.Mem().Host, to: block.Len()}
	if c.host == nil {
		c.host, c.to = make([]T, min(block.Len(), max(1, chunk/scalar.Of[T]().Size()))), 0
	}
	return c
}

func (c *blockCursor[T]) onGPU() bool { return c.block.Mem().Host == nil }

// write returns memory for the next elements of the block, at most n.
func (c *blockCursor[T]) write(n int) ([]T, error) {
	if c.onGPU() && c.next == c.to {
		if err := c.flush(); err != nil {
			return nil, err
		}
		c.to = min(len(c.host), c.block.Len()-c.at)
	}
	return c.take(n), nil
}

// flush copies written elements to GPU memory.
func (c *blockCursor[T]) flush() error {
	if !c.onGPU() || c.next == 0 {
		return nil
	}
	err := c.block.Slice(c.at, c.at+c.next).CopyIn(c.host[:c.next])
	c.at, c.next, c.to = c.at+c.next, 0, 0
	return err
}

// read returns the next elements of the block, at most n.
func (c *blockCursor[T]) read(n int) ([]T, error) {
	if c.onGPU() && c.next == c.to {
		c.at, c.next, c.to = c.at+c.to, 0, min(len(c.host), c.block.Len()-c.at-c.to)
		if err := c.block.Slice(c.at, c.at+c.to).CopyOut(c.host[:c.to]); err != nil {
			return nil, err
		}
	}
	return c.take(n), nil
}

func (c *blockCursor[T]) take(n int) []T {
	n = min(n, c.to-c.next)
	c.next += n
	return c.host[c.next-n : c.next]
}
