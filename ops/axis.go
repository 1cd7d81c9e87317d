package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// axisOperator applies a matrix along one axis, whole or split over ranks.
type axisOperator[T scalar.Scalar] struct {
	linop.Spaces
	what             string // for errors
	forward, adjoint *axisApply[T]
}

func (a *axisOperator[T]) Forward(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check(a.what, "forward", &dst, a.Rng, &src, a.Dom); err != nil {
		return err
	}
	return a.forward.apply(ctx, dst.Local(), src.Local(), false)
}

func (a *axisOperator[T]) Adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	if err := dist.Check(a.what, "adjoint", &dst, a.Dom, &src, a.Rng); err != nil {
		return err
	}
	return a.adjoint.apply(ctx, dst.Local(), src.Local(), false)
}

// axisOf returns the axis of x that a user names and its extent.
func axisOf(x *dist.Space, axis int) (a, n int, err error) {
	if x == nil {
		return 0, 0, errors.New("no space given")
	}
	if x.Parts() != nil {
		return 0, 0, errors.New("the space is a stack: take one of its parts")
	}
	if a, err = x.Shape().Axis(axis); err != nil {
		return 0, 0, err
	}
	return a, x.Shape().Dim(a), nil
}

// resized returns x with n rows along an axis. If that axis is split, counts are the
// rows of each rank. nil means balanced.
func resized(x *dist.Space, axis, n int, counts []int) (*dist.Space, error) {
	l := x.Layout()
	l.Mask = nil
	if l.Replicate != dist.Scattered {
		l.Grid, l.Axes, l.Counts = nil, nil, nil
	} else {
		l.Counts = slices.Clone(l.Counts)
		for g, a := range l.Axes {
			if a == axis {
				l.Counts[g] = counts
			}
			if a == axis && l.Grid[g] == 1 {
				l.Counts[g] = nil
			}
		}
	}
	return x.Like(l, x.Shape().With(axis, n).Dims()...)
}

// newAxisOperator returns m along an axis of x. counts are the rows of the range on
// each rank of a split axis. nil means those of x if the extent stays the same,
// balanced otherwise. It ends a collective constructor: ranks agree on err and
// values.
func newAxisOperator[T scalar.Scalar](ctx context.Context, what string, x *dist.Space, axis int, m matrix[T], counts []int, err error, values ...any) (linop.Operator[T], error) {
	if x == nil {
		return nil, fmt.Errorf("%s: no space given", what)
	}
	var a *axisOperator[T]
	if err == nil {
		a, err = buildAxisOperator(what, x, axis, m, counts)
	}
	values = append([]any{x.Shape(), " axis ", axis, " "}, values...)
	if err := dist.Agree(ctx, x.Comm(), what, err, values...); err != nil {
		return nil, err
	}
	return a, nil
}

func buildAxisOperator[T scalar.Scalar](what string, x *dist.Space, axis int, m matrix[T], counts []int) (*axisOperator[T], error) {
	y := x
	if _, have := x.SplitBy(axis); m.rows != m.cols || counts != nil && !slices.Equal(counts, have) {
		var err error
		if y, err = resized(x, axis, m.rows, counts); err != nil {
			return nil, err
		}
	}
	a := &axisOperator[T]{Spaces: linop.Spaces{Dom: x, Rng: y}, what: what}
	var err error
	if a.forward, err = newAxisApply(y, x, axis, m, labelForward); err == nil {
		a.adjoint, err = newAxisApply(x, y, axis, m.adjoint(), labelAdjoint)
	}
	return a, err
}

// Messages carry the direction as a label. Checked mode then finds a rank that
// applies an operator forward while another applies its adjoint.
var labelForward, labelAdjoint = comm.LabelOf("forward"), comm.LabelOf("adjoint")

// axisApply is one direction of an axisOperator: the bands of this rank, and the
// messages that bring rows of other ranks. All rows from one rank come in one
// message. The kernel reads them from the receive buffer.
type axisApply[T scalar.Scalar] struct {
	comm    comm.Comm
	label   comm.Label
	b       *device.Banded[T]
	in, out []message
	ghost   array.Array[T]
	packed  array.Array[T]
	reqs    []comm.Request
}

// message is elements lo to hi of the receive buffer or of the packed rows. A direct
// message is contiguous in the block, from element at on, and is not packed.
type message struct {
	peer, lo, hi int
	direct       bool
	at           int
	pieces       []device.Strided
}

// newAxisApply plans dst = m·src along an axis.
func newAxisApply[T scalar.Scalar](dst, src *dist.Space, axis int, m matrix[T], label comm.Label) (*axisApply[T], error) {
	l := &axisApply[T]{comm: src.Comm(), label: label}
	grid, counts := src.SplitBy(axis)
	coords := src.Coords(src.Comm().Rank())
	me, ends, rows := 0, []int{0, m.cols}, []int{0, m.rows}
	if grid != dist.NoAxis {
		_, dstCounts := dst.SplitBy(axis)
		me, ends, rows = coords[grid], dist.Offsets(counts), dist.Offsets(dstCounts)
	}
	outer, n, inner := src.LocalShape().Around(axis)
	needs := m.needs(rows[me], rows[me+1], ends)
	ghost := make([]int, len(needs))
	var blocks []device.Ghost
	size, packed := 0, 0
	for p := range needs {
		if p == me {
			continue
		}
		coords[max(grid, 0)] = p
		peer := src.RankAt(coords)
		if k := countRows(needs[p]) * outer * inner; k > 0 {
			blocks = append(blocks, device.Ghost{At: size, Rows: countRows(needs[p])})
			ghost[p] = len(blocks)
			l.in = append(l.in, message{peer: peer, lo: size, hi: size + k})
			size += k
		}
		theirs := m.needs(rows[p], rows[p+1], ends)[me]
		if k := countRows(theirs) * outer * inner; k > 0 {
			g := message{peer: peer, lo: packed, hi: packed + k}
			g.pack(theirs, ends[me], outer, n, inner)
			l.out = append(l.out, g)
			packed += k
		}
	}
	l.b = banded(m, rows[me], rows[me+1], ends, me, needs, ghost)
	l.b.Outer, l.b.Inner, l.b.Ghosts = outer, inner, blocks
	l.reqs = make([]comm.Request, 0, len(l.in)+len(l.out))
	var err error
	if l.ghost, err = array.New[T](src.Device(), shape.Of(size)); err != nil {
		return nil, err
	}
	l.packed, err = array.New[T](src.Device(), shape.Of(packed))
	return l, err
}

// pack plans the copy of rows out of a block of outer × n × inner elements, whose
// first row has the number first, into an array of outer × rows × inner.
func (g *message) pack(s []span, first, outer, n, inner int) {
	if g.direct = outer == 1 && len(s) == 1; g.direct {
		g.at = (s[0].lo - first) * inner
		return
	}
	rows, at := countRows(s), 0
	for _, x := range s {
		c := device.Strided{Shape: shape.Of(outer, (x.hi-x.lo)*inner), DstAt: g.lo + at*inner, SrcAt: (x.lo - first) * inner}
		c.Dst[0], c.Dst[1] = rows*inner, 1
		c.Src[0], c.Src[1] = n*inner, 1
		g.pieces = append(g.pieces, c)
		at += x.hi - x.lo
	}
}

// apply sets dst = m·src or, if add is set, adds to dst. Rows that need nothing from
// other ranks are computed while the messages travel.
func (l *axisApply[T]) apply(ctx context.Context, dst, src array.Array[T], add bool) error {
	if err := l.start(ctx, src); err != nil {
		return err
	}
	k := dst.Kernels()
	k.Bands(dst.Mem(), src.Mem(), l.ghost.Mem(), l.b, 0, add)
	if err := l.waitReceived(ctx); err != nil {
		return err
	}
	k.Bands(dst.Mem(), src.Mem(), l.ghost.Mem(), l.b, 1, add)
	return l.waitSent(ctx)
}

// start starts all messages of one application.
func (l *axisApply[T]) start(ctx context.Context, src array.Array[T]) error {
	l.reqs = l.reqs[:0]
	for _, g := range l.in {
		q, err := l.comm.IRecv(ctx, comm.OfMem(l.ghost.Slice(g.lo, g.hi).Mem()).Labelled(l.label), g.peer)
		if err != nil {
			return l.cancel(ctx, err)
		}
		l.reqs = append(l.reqs, q)
	}
	for i := range l.out {
		g := &l.out[i]
		from := l.packed.Slice(g.lo, g.hi)
		if g.direct {
			from = src.Slice(g.at, g.at+g.hi-g.lo)
		}
		for j := range g.pieces {
			src.Kernels().CopyND(l.packed.Mem(), src.Mem(), &g.pieces[j], false)
		}
		q, err := l.comm.ISend(ctx, comm.OfMem(from.Mem()).Labelled(l.label), g.peer)
		if err != nil {
			return l.cancel(ctx, err)
		}
		l.reqs = append(l.reqs, q)
	}
	return nil
}

// waitReceived returns when the rows of other ranks have arrived.
func (l *axisApply[T]) waitReceived(ctx context.Context) error {
	for _, q := range l.reqs[:len(l.in)] {
		if err := q.Wait(ctx); err != nil {
			return l.cancel(ctx, err)
		}
	}
	return nil
}

// waitSent returns when the rows of src have been sent.
func (l *axisApply[T]) waitSent(ctx context.Context) error {
	return comm.WaitAll(ctx, l.reqs[len(l.in):]...)
}

// cancel ends the messages of an application that failed. The next application can
// then use the buffers again.
func (l *axisApply[T]) cancel(ctx context.Context, err error) error {
	return dist.GiveUp(ctx, l.comm, err, l.reqs)
}
