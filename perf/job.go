package perf

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/scalar"
)

// bench is one rank's side of one operation with one element type and
// reduction: its buffers at the largest size and the data in them.
type bench[T scalar.Element] struct {
	c          *comm.Comm
	o          operation
	mode       string // of put, get and accumulate
	op         comm.Op
	root       int
	vals       *values[T]
	send, recv []T            // the buffers, or copies of GPU memory in host memory
	onDevice   *deviceBuffers // nil where buffers are in host memory
	win        *comm.Window   // of put, get and accumulate
	arrived    []T            // what a message brought to be added
}

// job is an operation at one size, ready to run. Its functions allocate nothing.
type job struct {
	call           func(ctx context.Context) error // one iteration
	ready          func(ctx context.Context) error // waits until all ranks have filled their buffers
	fillIdempotent func()                          // fills the buffers for timed loops
	fill           func(seed uint32)               // fills the sources for a check, and poisons the destinations
	wrong          func(seed uint32) int64         // counts wrong elements after fill and call
	upload         func() error                    // copies the buffers to GPU memory
	download       func() error                    // copies the buffers back
}

// open makes the window of one-sided operations.
func (b *bench[T]) open(ctx context.Context) (err error) {
	if b.o.name == "accumulate" {
		b.vals = newValues[T](comm.Sum, 2) // of two ranks, whoever they are
	}
	if b.mode == Messages {
		if b.o.name == "accumulate" && b.onDevice != nil {
			return fmt.Errorf("sums of messages in GPU memory: %w", errors.ErrUnsupported)
		}
		if b.o.name == "accumulate" {
			b.arrived = make([]T, len(b.recv))
		}
		return nil
	}
	switch b.o.name {
	case "put", "accumulate":
		b.win, err = b.c.Window(ctx, b.buf(b.recv))
	case "get":
		b.win, err = b.c.Window(ctx, b.buf(b.send))
	}
	return err
}

func (b *bench[T]) close(ctx context.Context) error {
	if b.win == nil {
		return nil
	}
	return b.win.Close(ctx)
}

// job prepares the operation at one size. If a buffer is used on root only, it is
// empty on the other ranks.
func (b *bench[T]) job(e extent, inPlace bool) job {
	isRoot := b.c.Rank() == b.root
	ns, nr := b.o.bufferSizes(e, isRoot)
	src, dst := b.send[:ns], b.recv[:nr]
	var j job
	switch b.o.name {
	case "all_reduce", "reduce_scatter", "reduce":
		j = b.reduction(e, src, dst, inPlace)
	case "all_gather", "gather":
		j = b.gathering(e, src, dst, inPlace)
	case "scatter":
		j = b.scattering(e, src, dst, inPlace)
	case "alltoall", "alltoallv":
		j = b.exchange(e, src, dst, inPlace)
	case "broadcast":
		j = b.broadcast(src)
	case "sendrecv":
		j = b.neighbours(src, dst)
	case "put", "get", "accumulate":
		j = b.reach(src, dst)
	}
	// Timed loops use data that a reduction maps to itself. Other data would overflow
	// after a thousand sums in place, and some processors and libraries are then slow.
	j.fillIdempotent = func() {
		set(src, b.vals.idempotent)
		set(dst, b.vals.idempotent)
	}
	j.upload, j.download = nothing, nothing
	if b.onDevice != nil {
		sb, rb := comm.Of(src).Bytes(), comm.Of(dst).Bytes()
		j.upload = func() error { return b.onDevice.upload(sb, rb) }
		j.download = func() error { return b.onDevice.download(sb, rb) }
	}
	return j
}

func nothing() error { return nil }

// buf returns a part of send or recv as an argument of the communicator.
func (b *bench[T]) buf(s []T) comm.Buf {
	if b.onDevice == nil {
		return comm.Of(s)
	}
	return b.onDevice.onDevice(comm.Of(s))
}

// block returns this rank's block of count elements of s.
func (b *bench[T]) block(s []T, count int) []T {
	r := b.c.Rank()
	return s[r*count : (r+1)*count]
}

// reduction prepares all_reduce, reduce_scatter and reduce.
func (b *bench[T]) reduction(e extent, src, dst []T, inPlace bool) job {
	rank, from := b.c.Rank(), 0
	if b.o.blocks {
		from = rank * e.count
	}
	switch {
	case inPlace && b.o.blocks:
		dst = b.block(src, e.count)
	case inPlace && len(dst) > 0:
		dst = src
	}
	d, s := b.buf(dst), b.buf(src)
	j := job{
		ready: b.c.Barrier,
		fill: func(seed uint32) {
			set(dst, b.vals.poison)
			b.vals.fillReduced(src, rank, seed) // last: dst may overlap src
		},
		wrong: func(seed uint32) int64 { return b.vals.wrongReduced(dst, from, seed) },
	}
	switch b.o.name {
	case "all_reduce":
		j.call = func(ctx context.Context) error { return b.c.AllReduce(ctx, d, s, b.op) }
	case "reduce_scatter":
		j.call = func(ctx context.Context) error { return b.c.ReduceScatter(ctx, d, s, b.op) }
	case "reduce":
		j.call = func(ctx context.Context) error { return b.c.Reduce(ctx, d, s, b.op, b.root) }
	}
	return j
}

// gathering prepares all_gather and gather.
func (b *bench[T]) gathering(e extent, src, dst []T, inPlace bool) job {
	rank := b.c.Rank()
	if inPlace && len(dst) > 0 {
		src = b.block(dst, e.count)
	}
	d, s := b.buf(dst), b.buf(src)
	j := job{
		ready: b.c.Barrier,
		fill: func(seed uint32) {
			set(dst, b.vals.poison)
			b.vals.fillCopied(src, rank, 0, seed)
		},
		wrong: func(seed uint32) (wrong int64) {
			for q := 0; q*e.count < len(dst); q++ {
				wrong += b.vals.wrongCopied(dst[q*e.count:(q+1)*e.count], q, 0, seed)
			}
			return wrong
		},
	}
	j.call = func(ctx context.Context) error { return b.c.AllGather(ctx, d, s) }
	if b.o.rooted {
		j.call = func(ctx context.Context) error { return b.c.Gather(ctx, d, s, b.root) }
	}
	return j
}

// scattering prepares scatter.
func (b *bench[T]) scattering(e extent, src, dst []T, inPlace bool) job {
	if inPlace && len(src) > 0 {
		dst = b.block(src, e.count)
	}
	d, s := b.buf(dst), b.buf(src)
	return job{
		call:  func(ctx context.Context) error { return b.c.Scatter(ctx, d, s, b.root) },
		ready: b.c.Barrier,
		fill: func(seed uint32) {
			set(dst, b.vals.poison)
			b.vals.fillCopied(src, b.root, 0, seed)
		},
		wrong: func(seed uint32) int64 {
			return b.vals.wrongCopied(dst, b.root, b.c.Rank()*e.count, seed)
		},
	}
}

// exchange prepares alltoall and alltoallv.
func (b *bench[T]) exchange(e extent, src, dst []T, inPlace bool) job {
	rank, n := b.c.Rank(), b.c.Size()
	// counts[q] elements come from rank q and as many go there. They start at from[q]
	// of q's buffer.
	counts, from := make([]int, n), make([]int, n)
	for q := range n {
		counts[q] = b.o.between(e, q, rank, n)
		for to := range rank {
			from[q] += b.o.between(e, q, to, n)
		}
	}
	if inPlace {
		dst = src
	}
	d, s := b.buf(dst), b.buf(src)
	j := job{
		ready: b.c.Barrier,
		fill: func(seed uint32) {
			set(dst, b.vals.poison)
			b.vals.fillCopied(src, rank, 0, seed)
		},
		wrong: func(seed uint32) (wrong int64) {
			at := 0
			for q, n := range counts {
				wrong += b.vals.wrongCopied(dst[at:at+n], q, from[q], seed)
				at += n
			}
			return wrong
		},
	}
	j.call = func(ctx context.Context) error { return b.c.AllToAll(ctx, d, s) }
	if b.o.name == "alltoallv" {
		j.call = func(ctx context.Context) error { return b.c.AllToAllV(ctx, d, counts, s, counts) }
	}
	return j
}

// broadcast prepares broadcast, whose buffer is root's source and the
// others' destination.
func (b *bench[T]) broadcast(buf []T) job {
	d := b.buf(buf)
	return job{
		call:  func(ctx context.Context) error { return b.c.Broadcast(ctx, d, b.root) },
		ready: b.c.Barrier,
		fill: func(seed uint32) {
			if b.c.Rank() == b.root {
				b.vals.fillCopied(buf, b.root, 0, seed)
			} else {
				set(buf, b.vals.poison)
			}
		},
		wrong: func(seed uint32) int64 { return b.vals.wrongCopied(buf, b.root, 0, seed) },
	}
}

// neighbours prepares sendrecv, in which ranks form a ring.
func (b *bench[T]) neighbours(src, dst []T) job {
	rank, n := b.c.Rank(), b.c.Size()
	prev := (rank + n - 1) % n
	return job{
		ready: b.c.Barrier,
		call:  b.message(prev, b.buf(dst), (rank+1)%n, b.buf(src)),
		fill: func(seed uint32) {
			set(dst, b.vals.poison)
			b.vals.fillCopied(src, rank, 0, seed)
		},
		wrong: func(seed uint32) int64 { return b.vals.wrongCopied(dst, prev, 0, seed) },
	}
}
