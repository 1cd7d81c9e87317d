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
func (p *product[T, N]) cut(o ProductOptions) error {
	l := &p.layout
	a := p.block.Space()
	_, aFirst := a.Place(l.b + 1)
	_, xFirst := p.x.Place(l.b)
	p.first = xFirst
	n := p.x.Shape().Dim(l.b)
	width := p.panelWidth(o)
	if p.whole = p.travelsWhole(o, width); p.whole {
		xFirst, width = []int{0, n}, n
	}
	coords := p.y.Coords(p.y.Comm().Rank())
	aBox, xBox := a.Box(a.Comm().Rank()), p.x.Box(a.Comm().Rank())
	stored := make([]int, len(aFirst)) // elements in the store of each place
	covered, at := 0, 0
	for lo := 0; lo < n; at++ {
		q := panel[N]{lo: lo, aRoot: placeOf(aFirst, lo), xRoot: placeOf(xFirst, lo), at: lo - xBox.Lo[l.b]}
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
	if err := p.pack(aBox.Lo[l.b+1], func(q *panel[N]) bool { return l.aTravels == dist.NoAxis || q.aRoot == mine }); err != nil {
		return err
	}
	p.block = dist.Array[N]{} // its panels may be copies
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
	copy := 0
	for _, g := range l.shared {
		copy = copy*l.grid[g] + coords[g]
	}
	return t%l.copies() == copy
}

// copies returns how many ranks share each sum.
func (l *productLayout) copies() int {
	n := 1
	for _, g := range l.shared {
		n *= l.grid[g]
	}
	return n
}

// panelWidth returns the most rows of X in a panel. It is the same on all ranks.
func (p *product[T, N]) panelWidth(o ProductOptions) int {
	l := &p.layout
	switch {
	case l.aTravels == dist.NoAxis && l.xTravels == dist.NoAxis && len(l.shared) == 0:
		return p.x.Shape().Dim(l.b)
	case o.Panel > 0:
		return o.Panel
	case len(l.shared) > 0: // a panel for each copy, at least
		n, copies := p.x.Shape().Dim(l.b), l.copies()
		return max(1, min(defaultPanel, (n+copies-1)/copies))
	case l.aTravels != dist.NoAxis:
		return defaultPanel
	}
	_, _, columns := p.x.Shape().Around(l.b)
	for g, axis := range l.x {
		if axis > l.b {
			columns = (columns + l.grid[g] - 1) / l.grid[g]
		}
	}
	return max(defaultPanel, thinPanel/max(columns, 1))
}

// travelsWhole reports whether X is gathered at once: it is no larger than two panels.
func (p *product[T, N]) travelsWhole(o ProductOptions, width int) bool {
	l := &p.layout
	batch, n, _ := p.x.Shape().Around(l.b)
	return o.Panel == 0 && o.Way == dist.Messages && l.xTravels != dist.NoAxis && l.aTravels == dist.NoAxis &&
		len(l.byA)+len(l.shared) == 0 && batch == 1 && 0 < n && n <= 2*width
}

// pack stores the panels of this rank's block of A, whose first column is first, one
// after another. A block that is one panel stays where it is.
func (p *product[T, N]) pack(first int, mine func(*panel[N]) bool) (err error) {
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
	if p.store, err = array.New[N](a.Device(), shape.Of(p.batch*p.rows*all)); err != nil {
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

// makeRoom allocates panels for what travels, and room for a wide part of A.
func (p *product[T, N]) makeRoom() (err error) {
	widest := 0
	for _, q := range p.panels {
		widest = max(widest, q.hi-q.lo)
	}
	for i := range 2 {
		if p.layout.aTravels != dist.NoAxis && err == nil {
			p.aRoom[i], err = array.New[N](p.x.Device(), shape.Of(p.batch*p.rows*widest))
		}
		if p.layout.xTravels != dist.NoAxis && (i == 0 || !p.whole) && err == nil {
			p.xRoom[i], err = array.New[T](p.x.Device(), shape.Of(p.batch*widest*p.columns))
		}
	}
	if p.narrow && err == nil {
		panel := p.batch * p.rows * widest
		p.wide, err = array.New[T](p.x.Device(), shape.Of(max(widest, min(panel, max(wideRoom, p.store.Len()/16)))))
		if err == nil { // or the device lacks the kernel
			err = array.Widen(p.wide.Slice(0, 0), p.store.Slice(0, 0))
		}
	}
	return err
}

// groups makes the groups of ranks that send to each other, and opens memory to them.
func (p *product[T, N]) groups(ctx context.Context, way dist.Way) (err error) {
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
func (p *product[T, N]) open(ctx context.Context) (err error) {
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
