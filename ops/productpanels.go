package ops

import (
	"context"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/shape"
)

// cut cuts j into panels where A or X is cut, and further if panels travel, and keeps
// those that this rank multiplies.
func (p *product[T]) cut(o ProductOptions) error {
	l := &p.layout
	a := p.block.Space()
	_, aFirst := a.Place(l.b + 1)
	_, xFirst := p.x.Place(l.b)
	p.first = xFirst
	n := p.x.Shape().Dim(l.b)
	if p.whole = p.travelsWhole(o); p.whole {
		xFirst = []int{0, n}
	}
	width := n
	if l.aTravels != dist.NoAxis || l.xTravels != dist.NoAxis && !p.whole {
		if width = o.Panel; width == 0 {
			width = defaultPanel
		}
	}
	coords := p.y.Coords(p.y.Comm().Rank())
	aBox, xBox := a.Box(a.Comm().Rank()), p.x.Box(a.Comm().Rank())
	stored := make([]int, len(aFirst)) // elements in the store of each place
	covered, at := 0, 0
	for lo := 0; lo < n; at++ {
		q := panel[T]{lo: lo, aRoot: placeOf(aFirst, lo), xRoot: placeOf(xFirst, lo), at: lo - xBox.Lo[l.b]}
		q.hi = min(lo+width, aFirst[q.aRoot+1], xFirst[q.xRoot+1])
		q.stored = stored[q.aRoot]
		lo = q.hi
		if !l.takes(at, q.aRoot, q.xRoot, coords) {
			continue
		}
		stored[q.aRoot] += p.batch * p.rows * (q.hi - q.lo)
		if q.at >= 0 && q.hi <= xBox.Hi[l.b] {
			covered += q.hi - q.lo
		}
		n := (q.hi - q.lo) * p.columns
		q.out = device.Strided{Shape: shape.Of(p.batch, n), SrcAt: q.at * p.columns}
		q.out.Dst[0], q.out.Dst[1], q.out.Src[0], q.out.Src[1] = n, 1, p.depth*p.columns, 1
		q.in = q.out.Flipped()
		p.panels = append(p.panels, q)
	}
	p.covered = covered == p.depth
	mine := 0
	if l.aTravels != dist.NoAxis {
		mine = coords[l.aTravels]
	}
	if err := p.pack(aBox.Lo[l.b+1], func(q *panel[T]) bool { return l.aTravels == dist.NoAxis || q.aRoot == mine }); err != nil {
		return err
	}
	p.block = dist.Array[T]{} // its panels may be copies
	return p.makeRoom()
}

// placeOf returns which of the parts, given by their first rows, has a row.
func placeOf(first []int, row int) int {
	next, _ := slices.BinarySearch(first, row+1)
	return next - 1
}

// takes reports whether the rank at a place of the grid multiplies panel t.
func (l *productLayout) takes(t, aRoot, xRoot int, coords []int) bool {
	for _, g := range l.byA {
		if coords[g] != aRoot {
			return false
		}
	}
	for _, g := range l.byX {
		if coords[g] != xRoot {
			return false
		}
	}
	copy, copies := 0, 1
	for _, g := range l.shared {
		copy, copies = copy*l.grid[g]+coords[g], copies*l.grid[g]
	}
	return t%copies == copy
}

// travelsWhole reports whether X is so small beside A that it is gathered at once.
func (p *product[T]) travelsWhole(o ProductOptions) bool {
	l := &p.layout
	if o.Panel > 0 || o.Way != dist.Messages || l.xTravels == dist.NoAxis || l.aTravels != dist.NoAxis || len(l.byA)+len(l.shared) > 0 || p.x.Shape().Dim(l.b) == 0 {
		return false
	}
	batch, n, columns := p.x.Shape().Around(l.b)
	for g, axis := range l.x {
		if axis > l.b {
			columns = (columns + l.grid[g] - 1) / l.grid[g]
		}
	}
	rows := p.block.Space().Shape().Dim(l.b) / l.grid[l.xTravels]
	return batch == 1 && (4*columns <= rows || n*columns <= 4096)
}

// pack stores the panels of this rank's block of A, whose first column is first, one
// after another. A block that is one panel stays where it is.
func (p *product[T]) pack(first int, mine func(*panel[T]) bool) (err error) {
	a := p.block.Local()
	n, all := a.Shape().Dim(p.layout.b+1), 0
	for i := range p.panels {
		if q := &p.panels[i]; mine(q) {
			all += q.hi - q.lo
			if q.hi-q.lo == n {
				p.store, q.a = a, a
				return nil
			}
		}
	}
	if p.store, err = array.New[T](a.Device(), shape.Of(p.batch*p.rows*all)); err != nil {
		return err
	}
	at := 0
	for i := range p.panels {
		q := &p.panels[i]
		if !mine(q) {
			continue
		}
		w := q.hi - q.lo
		q.a = p.store.Slice(at, at+p.batch*p.rows*w)
		at += q.a.Len()
		c := device.Strided{Shape: shape.Of(p.batch*p.rows, w), SrcAt: q.lo - first}
		c.Dst[0], c.Dst[1], c.Src[0], c.Src[1] = w, 1, n, 1
		array.CopyND(q.a, a, &c, false)
	}
	return nil
}

// makeRoom allocates panels for what travels.
func (p *product[T]) makeRoom() (err error) {
	widest := 0
	for _, q := range p.panels {
		widest = max(widest, q.hi-q.lo)
	}
	room := func(n int) (a array.Array[T]) {
		if err == nil {
			a, err = array.New[T](p.x.Device(), shape.Of(n))
		}
		return a
	}
	for i := range 2 {
		if p.layout.aTravels != dist.NoAxis {
			p.aRoom[i] = room(p.batch * p.rows * widest)
		}
		if p.layout.xTravels != dist.NoAxis && (i == 0 || !p.whole) {
			p.xRoom[i] = room(p.batch * widest * p.columns)
		}
	}
	return err
}

// groups makes the groups of ranks that send to each other, and opens memory to them.
func (p *product[T]) groups(ctx context.Context, way dist.Way) (err error) {
	l := &p.layout
	along := func(g int) (group dist.AxisGroup) {
		if err == nil && g != dist.NoAxis {
			group, err = p.y.GridGroup(ctx, g)
		}
		return group
	}
	p.aGroup, p.xGroup = along(l.aTravels), along(l.xTravels)
	if err == nil {
		p.sumGroup, err = p.y.GridGroup(ctx, l.sum...)
	}
	if err == nil {
		p.backGroup, err = p.y.GridGroup(ctx, l.sumBack...)
	}
	if p.whole {
		_, counts := p.x.SplitBy(l.b)
		for _, n := range counts {
			p.counts = append(p.counts, p.batch*n*p.columns)
		}
	}
	if err == nil && way == dist.OneSided {
		err = p.open(ctx)
	}
	return err
}

// open opens what travels to the ranks along its way.
func (p *product[T]) open(ctx context.Context) (err error) {
	r := p.x.Proc()
	if p.layout.aTravels != dist.NoAxis {
		if p.aOpen, err = dist.Expose(ctx, r, p.aGroup, p.store); err != nil {
			return err
		}
	}
	if p.layout.xTravels == dist.NoAxis {
		return nil
	}
	block, err := array.New[T](p.x.Device(), shape.Of(p.batch*p.depth*p.columns))
	if err := dist.Agree(ctx, p.x.Comm(), "ops: product", err); err != nil {
		return err
	}
	p.xOpen, err = dist.Expose(ctx, r, p.xGroup, block)
	return err
}

// part returns the panel of A that is in place: this rank's own, or the one that came.
func (p *product[T]) part(t int) array.Array[T] {
	q := &p.panels[t]
	if p.layout.aTravels == dist.NoAxis || q.aRoot == p.aGroup.Rank() {
		return q.a
	}
	return p.aRoom[t%2].Slice(0, p.batch*p.rows*(q.hi-q.lo))
}

// rowsOf returns a panel of a block of X, and the elements from one batch to the next.
func (p *product[T]) rowsOf(x array.Array[T], q *panel[T]) (array.Array[T], int) {
	stride := p.depth * p.columns
	if p.batch == 0 {
		return x, stride
	}
	return x.Slice(q.at*p.columns, (p.batch-1)*stride+(q.at+q.hi-q.lo)*p.columns), stride
}

// roomFor returns room for a panel of X, without gaps between batches.
func (p *product[T]) roomFor(q *panel[T], i int) (array.Array[T], int) {
	stride := (q.hi - q.lo) * p.columns
	return p.xRoom[i].Slice(0, p.batch*stride), stride
}

// start starts panel t on its way: of A and, forward, of X.
func (p *product[T]) start(ctx context.Context, t int, x array.Array[T], forward bool) error {
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
func (p *product[T]) startX(ctx context.Context, t int, x array.Array[T]) (err error) {
	q := &p.panels[t]
	room, n := p.roomFor(q, t%2)
	switch {
	case q.xRoot == p.xGroup.Rank():
		array.CopyND(room, x, &q.out, false)
	case p.xOpen != nil:
		for b := range p.batch {
			if err := p.xOpen.StartGet(ctx, room.Slice(b*n, (b+1)*n), q.xRoot, p.atOwner(q, b)); err != nil {
				return err
			}
		}
	}
	if p.xOpen == nil {
		p.xSent[t%2], err = dist.StartBroadcast(ctx, p.xGroup, room, q.xRoot, dist.LabelForward)
	}
	return err
}

// atOwner returns the first element of a batch of a panel in the block of X that has it.
func (p *product[T]) atOwner(q *panel[T], b int) int {
	first, end := p.first[q.xRoot], p.first[q.xRoot+1]
	return (b*(end-first) + q.lo - first) * p.columns
}

// wait waits for panel t.
func (p *product[T]) wait(ctx context.Context, t int, forward bool) (err error) {
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
	if err == nil {
		err = p.xSent[t%2].Wait(ctx)
	}
	p.aSent[t%2], p.xSent[t%2] = dist.Request{}, dist.Request{}
	return err
}

// forward multiplies panel after panel.
func (p *product[T]) forward(ctx context.Context, dst, src dist.Array[T]) error {
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
			if err := p.start(ctx, t+1, x, true); err != nil {
				return err
			}
			if err := p.wait(ctx, t, true); err != nil {
				return err
			}
		}
		var panel array.Array[T]
		var stride int
		if p.layout.xTravels == dist.NoAxis {
			panel, stride = p.rowsOf(x, q)
		} else {
			panel, stride = p.roomFor(q, t%2)
		}
		if err := p.multiply(device.NoTrans, q, y, p.part(t), panel, stride, t > 0); err != nil {
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

// multiply adds the product with a panel of X to Y or, with ConjTrans, sets the panel
// to the product with Y. stride is the elements from one batch of the panel to the next.
func (p *product[T]) multiply(op device.Trans, q *panel[T], y, a, x array.Array[T], stride int, add bool) error {
	w := q.hi - q.lo
	if op == device.ConjTrans {
		return array.GemmBatch(op, device.NoTrans, device.Batch{N: p.batch, A: p.rows * w, B: p.rows * p.columns, C: stride}, w, p.columns, p.rows, 1, a, y, 0, x)
	}
	var beta T
	if add {
		beta = 1
	}
	return array.GemmBatch(op, device.NoTrans, device.Batch{N: p.batch, A: p.rows * w, B: stride, C: p.rows * p.columns}, p.rows, p.columns, w, 1, a, x, beta, y)
}

// adjoint makes panels of X and brings them to the ranks that own them.
func (p *product[T]) adjoint(ctx context.Context, dst, src dist.Array[T]) error {
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
		if err := p.start(ctx, t+1, x, false); err != nil {
			return err
		}
		if err := p.wait(ctx, t, false); err != nil {
			return err
		}
		q := &p.panels[t]
		if p.layout.xTravels == dist.NoAxis {
			panel, stride := p.rowsOf(x, q)
			if err := p.multiply(device.ConjTrans, q, y, p.part(t), panel, stride, false); err != nil {
				return err
			}
			continue
		}
		panel, stride := p.roomFor(q, 0)
		if err := p.multiply(device.ConjTrans, q, y, p.part(t), panel, stride, false); err != nil {
			return err
		}
		if err := p.sendBack(ctx, q, x); err != nil {
			return err
		}
	}
	if err := p.takeBack(ctx, x); err != nil {
		return err
	}
	return dist.SumOver(ctx, p.backGroup, x, dist.LabelAdjoint)
}

// sendBack adds up the panels of all ranks at the one that owns the panel.
func (p *product[T]) sendBack(ctx context.Context, q *panel[T], x array.Array[T]) error {
	room, _ := p.roomFor(q, 0)
	if p.whole {
		return dist.SumScatterOver(ctx, p.xGroup, x, room, p.counts, dist.LabelAdjoint)
	}
	if p.xOpen != nil {
		n := room.Len() / max(p.batch, 1)
		for b := range p.batch {
			if err := p.xOpen.Add(ctx, room.Slice(b*n, (b+1)*n), q.xRoot, p.atOwner(q, b)); err != nil {
				return err
			}
		}
		return p.xOpen.Flush(ctx, q.xRoot)
	}
	sum, _ := p.roomFor(q, 1)
	if err := dist.SumTo(ctx, p.xGroup, sum, room, q.xRoot, dist.LabelAdjoint); err != nil {
		return err
	}
	if q.xRoot == p.xGroup.Rank() {
		array.CopyND(x, sum, &q.in, false)
	}
	return nil
}

// takeBack fetches what ranks have added to this rank's block of X.
func (p *product[T]) takeBack(ctx context.Context, x array.Array[T]) error {
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
