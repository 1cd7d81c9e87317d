package ops

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
)

// part returns the panel of A that is in place: this rank's own, or the one that came.
func (p *product[T, N]) part(t int) array.Array[N] {
	q := &p.panels[t]
	if p.layout.aTravels == dist.NoAxis || q.aRoot == p.aGroup.Rank() {
		return q.a
	}
	return p.aRoom[t%2].Slice(0, p.batch*p.rows*(q.hi-q.lo))
}

// rowsOf returns a panel of a block of X, and the elements from one batch to the next.
func (p *product[T, N]) rowsOf(x array.Array[T], q *panel[N]) (array.Array[T], int) {
	stride := p.depth * p.columns
	if p.batch == 0 {
		return x, stride
	}
	return x.Slice(q.at*p.columns, (p.batch-1)*stride+(q.at+q.hi-q.lo)*p.columns), stride
}

// roomFor returns room for a panel of X, without gaps between batches.
func (p *product[T, N]) roomFor(q *panel[N], i int) (array.Array[T], int) {
	stride := (q.hi - q.lo) * p.columns
	return p.xRoom[i].Slice(0, p.batch*stride), stride
}

// inPlace reports whether this rank has a panel of X and multiplies it where it is. A
// panel of several batches has gaps, and goes to a room before it is sent.
func (p *product[T, N]) inPlace(q *panel[N]) bool {
	return p.layout.xTravels == dist.NoAxis || !p.whole && q.xRoot == p.xGroup.Rank() && (p.batch == 1 || p.xOpen != nil)
}

// panelOf returns where a panel of X is multiplied, and the elements from one batch to
// the next.
func (p *product[T, N]) panelOf(x array.Array[T], t int) (array.Array[T], int) {
	q := &p.panels[t]
	if p.inPlace(q) {
		return p.rowsOf(x, q)
	}
	return p.roomFor(q, t%2)
}

// start starts panel t on its way: of A and, forward, of X.
func (p *product[T, N]) start(ctx context.Context, t int, x array.Array[T], forward bool) error {
	if t == len(p.panels) {
		return nil
	}
	label := dist.LabelAdjoint
	if forward {
		label = dist.LabelForward
	}
	var err error
	q := &p.panels[t]
	if p.aOpen != nil && q.aRoot != p.aGroup.Rank() {
		err = p.aOpen.StartGet(ctx, p.part(t), q.aRoot, q.stored)
	} else if p.aOpen == nil && p.layout.aTravels != dist.NoAxis {
		p.aSent[t%2], err = dist.StartBroadcast(ctx, p.aGroup, p.part(t), q.aRoot, label)
	}
	if err != nil || !forward || p.layout.xTravels == dist.NoAxis {
		return err
	}
	return p.startX(ctx, t, x)
}

// startX starts a panel of X on its way.
func (p *product[T, N]) startX(ctx context.Context, t int, x array.Array[T]) (err error) {
	q := &p.panels[t]
	panel, n := p.panelOf(x, t)
	switch {
	case p.xOpen != nil && q.xRoot == p.xGroup.Rank():
	case p.xOpen != nil:
		for b := range p.batch {
			if err := p.xOpen.StartGet(ctx, panel.Slice(b*n, (b+1)*n), q.xRoot, p.atOwner(q, b)); err != nil {
				return err
			}
		}
	default:
		if q.xRoot == p.xGroup.Rank() && !p.inPlace(q) {
			array.CopyND(panel, x, &q.out, false)
		}
		p.xSent[t%2], err = dist.StartBroadcast(ctx, p.xGroup, panel, q.xRoot, dist.LabelForward)
	}
	return err
}

// atOwner returns the first element of a batch of a panel in the block of X that has it.
func (p *product[T, N]) atOwner(q *panel[N], b int) int {
	first, end := p.first[q.xRoot], p.first[q.xRoot+1]
	return (b*(end-first) + q.lo - first) * p.columns
}

// next waits for panel t and starts the one behind it. In this order, because a flush
// waits for all that comes from a place.
func (p *product[T, N]) next(ctx context.Context, t int, x array.Array[T], forward bool) error {
	if err := p.wait(ctx, t, forward); err != nil {
		return err
	}
	return p.start(ctx, t+1, x, forward)
}

// wait waits for panel t.
func (p *product[T, N]) wait(ctx context.Context, t int, forward bool) (err error) {
	q := &p.panels[t]
	if p.aOpen != nil {
		err = p.aOpen.Flush(ctx, q.aRoot)
	}
	if err == nil && p.xOpen != nil && forward {
		err = p.xOpen.Flush(ctx, q.xRoot)
	}
	if err == nil {
		err = p.aSent[t%2].Wait(ctx)
	}
	p.aSent[t%2] = dist.Request{}
	if err == nil && forward {
		err = p.xSent[t%2].Wait(ctx)
		p.xSent[t%2] = dist.Request{}
	}
	return err
}

// forward multiplies panel after panel.
func (p *product[T, N]) forward(ctx context.Context, dst, src dist.Array[T]) error {
	y, x := dst.Local(), src.Local()
	if p.xOpen != nil {
		if err := p.xOpen.Set(ctx, x); err != nil {
			return err
		}
	}
	if p.whole {
		if err := dist.GatherOver(ctx, p.xGroup, p.xRoom[0], p.counts, x, dist.LabelForward); err != nil {
			return err
		}
	} else if err := p.start(ctx, 0, x, true); err != nil {
		return err
	}
	if len(p.panels) == 0 {
		array.Fill(y, 0)
	}
	for t := range p.panels {
		q := &p.panels[t]
		if !p.whole {
			if err := p.next(ctx, t, x, true); err != nil {
				return err
			}
		}
		panel, stride := p.panelOf(x, t)
		if err := p.multiply(device.NoTrans, q.hi-q.lo, y, p.part(t), panel, stride, t > 0); err != nil {
			return err
		}
	}
	if p.xOpen != nil {
		if err := p.xOpen.Done(ctx); err != nil {
			return err
		}
	}
	return dist.SumOver(ctx, p.sumGroup, y, dist.LabelForward)
}

// adjoint makes panels of X and brings them to the ranks that own them.
func (p *product[T, N]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
	x, y := dst.Local(), src.Local()
	if p.xOpen != nil || !p.whole && !p.covered {
		array.Fill(x, 0)
	}
	if p.xOpen != nil {
		if err := p.xOpen.Set(ctx, x); err != nil {
			return err
		}
	}
	if err := p.start(ctx, 0, x, false); err != nil {
		return err
	}
	for t := range p.panels {
		if err := p.next(ctx, t, x, false); err != nil {
			return err
		}
		q := &p.panels[t]
		if p.layout.xTravels == dist.NoAxis {
			panel, stride := p.rowsOf(x, q)
			if err := p.multiply(device.ConjTrans, q.hi-q.lo, y, p.part(t), panel, stride, false); err != nil {
				return err
			}
			continue
		}
		if err := p.finish(ctx, t-2, x); err != nil { // which has the same room
			return err
		}
		panel, stride := p.roomFor(q, t%2)
		if err := p.multiply(device.ConjTrans, q.hi-q.lo, y, p.part(t), panel, stride, false); err != nil {
			return err
		}
		if err := p.sendBack(ctx, t, x); err != nil {
			return err
		}
	}
	for t := len(p.panels) - 2; t < len(p.panels); t++ {
		if err := p.finish(ctx, t, x); err != nil {
			return err
		}
	}
	if err := p.takeBack(ctx, x); err != nil {
		return err
	}
	return dist.SumOver(ctx, p.backGroup, x, dist.LabelAdjoint)
}

// sendBack starts to add up panel t of all ranks at the one that owns it.
func (p *product[T, N]) sendBack(ctx context.Context, t int, x array.Array[T]) (err error) {
	q := &p.panels[t]
	room, n := p.roomFor(q, t%2)
	switch {
	case p.whole:
		return dist.SumScatterOver(ctx, p.xGroup, x, room, p.counts, dist.LabelAdjoint)
	case p.xOpen != nil:
		for b := range p.batch {
			if err := p.xOpen.Add(ctx, room.Slice(b*n, (b+1)*n), q.xRoot, p.atOwner(q, b)); err != nil {
				return err
			}
		}
		return nil
	}
	sum := room
	if p.inPlace(q) {
		sum, _ = p.rowsOf(x, q)
	}
	p.xSent[t%2], err = dist.StartSumTo(ctx, p.xGroup, sum, room, q.xRoot, dist.LabelAdjoint)
	return err
}

// finish waits until panel t, if there is one, has been sent back.
func (p *product[T, N]) finish(ctx context.Context, t int, x array.Array[T]) error {
	if t < 0 || p.whole || p.layout.xTravels == dist.NoAxis {
		return nil
	}
	q := &p.panels[t]
	if p.xOpen != nil {
		return p.xOpen.Flush(ctx, q.xRoot)
	}
	err := p.xSent[t%2].Wait(ctx)
	p.xSent[t%2] = dist.Request{}
	if err == nil && q.xRoot == p.xGroup.Rank() && !p.inPlace(q) {
		room, _ := p.roomFor(q, t%2)
		array.CopyND(x, room, &q.in, false)
	}
	return err
}

// takeBack fetches what ranks have added to this rank's block of X.
func (p *product[T, N]) takeBack(ctx context.Context, x array.Array[T]) error {
	if p.xOpen == nil {
		return nil
	}
	if err := p.xOpen.Done(ctx); err != nil {
		return err
	}
	if err := p.xOpen.StartGet(ctx, x, p.xGroup.Rank(), 0); err != nil {
		return err
	}
	return p.xOpen.Flush(ctx, p.xGroup.Rank())
}
