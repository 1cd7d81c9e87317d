package golops

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Scalar is the set of element types: float32, float64, complex64 and complex128.
type Scalar = scalar.Scalar

// World is one rank's view of a running program: its number, its group and its
// device. It lives as long as the program does, and so does its context.
type World struct {
	ctx   context.Context
	proc  dist.Proc
	stop  *atomic.Int64 // the signal that this process got, or 0; nil where nobody listens
	alone *World        // of this rank only
}

// Program is what each rank runs.
type Program func(w *World) error

// WorldOf returns the World of a rank that something else than Main or Run has started.
// It lives as long as ctx. Signals are left to whoever started the rank: Stopping is
// false, and no solver asks.
func WorldOf(ctx context.Context, p dist.Proc) *World { return newWorld(ctx, p, nil) }

func newWorld(ctx context.Context, r dist.Proc, stop *atomic.Int64) *World {
	alone := &World{ctx: ctx, proc: r.Alone(), stop: stop}
	alone.alone = alone
	return &World{ctx, r, stop, alone}
}

// made returns w, or panics if it is none that Main or Run made.
func (w *World) made() *World {
	if w == nil || w.ctx == nil {
		fail("there is no World: a program gets one from Main or Run")
	}
	return w
}

// Rank returns the number of this rank, from 0 on.
func (w *World) Rank() int { return w.made().proc.Rank() }

// Size returns the number of ranks.
func (w *World) Size() int { return w.made().proc.Size() }

// Context returns the context of the run. It ends when any rank fails.
func (w *World) Context() context.Context { return w.made().ctx }

// Proc returns the group and the device of this rank, for packages below this one.
func (w *World) Proc() dist.Proc { return w.made().proc }

// Alone returns the world of this rank only. What is made in it needs no other
// rank, and each rank may have another one.
func (w *World) Alone() *World { return w.made().alone }

// Real returns the space of float64 arrays of this shape, split along the first
// axis. NewSpace has every other choice.
func (w *World) Real(dims ...int) Space[float64] { return NewSpace[float64](w, dist.Layout{}, dims...) }

// Complex returns the space of complex128 arrays of this shape, split along the
// first axis.
func (w *World) Complex(dims ...int) Space[complex128] {
	return NewSpace[complex128](w, dist.Layout{}, dims...)
}

// Printf prints on rank 0 and nowhere else. All ranks work out the arguments.
func (w *World) Printf(format string, args ...any) {
	if w.Rank() == 0 {
		fmt.Printf(format, args...)
	}
}

// Stopping reports whether Ctrl-C was pressed, the same on all ranks. It is
// collective. Solvers ask by themselves; a loop of your own ends when it is true.
func (w *World) Stopping() bool {
	if w.made().stop == nil {
		return false
	}
	s := []int64{w.stop.Load()}
	b := comm.Of(s).Labelled(comm.LabelOf("stopping"))
	Check(w.proc.AllReduce(w.ctx, b, b, comm.Max))
	return s[0] != 0
}
