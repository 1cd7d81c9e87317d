package dist

import (
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/shape"
)

// Plan lists the messages of an Exchange.
type Plan struct {
	from       *Space // of the blocks that are sent
	way        Way
	label      comm.Label
	recv, send []leg
	own        *device.Strided // this rank's own elements, from block to block
	add        bool            // what is received is added to the block
	ghosts     int             // elements that Rows receives
}

// NewPlan returns a plan without messages for blocks of s, which go the way of its
// layout. Messages carry the label: in checked mode ranks that run different exchanges
// find out.
func NewPlan(s *Space, l comm.Label) *Plan { return &Plan{from: s, way: s.layout.Way, label: l} }

// leg is one message of n elements. A received message without pieces stays in
// the buffer.
type leg struct {
	peer, n int
	pieces  []device.Strided // from the block to the message, until they are placed
	direct  bool             // the message is contiguous in the block and is not copied
	at      int              // its first element in the buffer, or in the block if direct
}

// contiguous reports whether the elements of the message lie in the block as in
// the message.
func (l *leg) contiguous() bool {
	if len(l.pieces) != 1 {
		return false
	}
	c := &l.pieces[0]
	for i := range c.Shape.NDim() {
		if c.Shape.Dim(i) > 1 && c.Dst[i] != c.Src[i] {
			return false
		}
	}
	return true
}

// Rows is rows Lo to Hi of an axis.
type Rows struct{ Lo, Hi int }

// CountRows returns the number of rows in all ranges.
func CountRows(s []Rows) int {
	n := 0
	for _, r := range s {
		n += r.Hi - r.Lo
	}
	return n
}

// Rows plans that ranks get rows of an axis from each other. reads(p)[q] are the
// rows that the rank at place p of the axis reads from the one at place q, in order
// and without overlap. Those that this rank gets from place q lie in Ghosts from
// element at[q] on, one range after another, as an array of all axes.
func (p *Plan) Rows(axis int, reads func(place int) [][]Rows) (at []int) {
	s := p.from
	me, first := s.Place(axis)
	grid, _ := s.SplitBy(axis)
	coords := s.Coords(s.proc.Rank())
	outer, n, inner := s.local.Around(axis)
	at = make([]int, len(first)-1)
	for q, rows := range reads(me) {
		if q == me {
			continue
		}
		at[q] = p.ghosts
		coords[grid] = q
		peer := s.RankAt(coords)
		if k := CountRows(rows) * outer * inner; k > 0 {
			p.recv = append(p.recv, leg{peer: peer, n: k})
			p.ghosts += k
		}
		theirs := reads(q)[me]
		if k := CountRows(theirs) * outer * inner; k > 0 {
			p.send = append(p.send, leg{peer: peer, n: k, pieces: packRows(theirs, first[me], outer, n, inner)})
		}
	}
	return at
}

// packRows copies rows out of a block of outer × n × inner elements, whose first row
// has the number first, into an array of outer × rows × inner.
func packRows(s []Rows, first, outer, n, inner int) (pieces []device.Strided) {
	rows, at := CountRows(s), 0
	for _, r := range s {
		c := device.Strided{Shape: shape.Of(outer, (r.Hi-r.Lo)*inner), DstAt: at * inner, SrcAt: (r.Lo - first) * inner}
		c.Dst[0], c.Dst[1] = rows*inner, 1
		c.Src[0], c.Src[1] = n*inner, 1
		pieces = append(pieces, c)
		at += r.Hi - r.Lo
	}
	return pieces
}

// boxes plans that each rank gets the elements of a box from the ranks that have
// them. local is the shape of this rank's block of what it wants. Replicated
// elements are sent by the copy that the receiver belongs to. So copies share the
// work, and elements that a rank holds already are never fetched.
func (p *Plan) boxes(want func(rank int) Box, local shape.Shape) *Plan {
	s := p.from
	axes, me := s.shape.NDim(), s.proc.Rank()
	wanted := want(me)
	given, got := blockAt{s.local, s.box.Lo}, blockAt{local, wanted.Lo}
	for r := range s.proc.Size() {
		if !s.sameCopy(me, r) {
			continue
		}
		if b, some := s.box.Intersect(want(r), axes); some && r == me {
			own := between(b, axes, got, given)
			p.own = &own
		} else if some {
			p.send = append(p.send, packBox(r, b, axes, given))
		}
		if b, some := s.Box(r).Intersect(wanted, axes); some && r != me {
			p.recv = append(p.recv, packBox(r, b, axes, got))
		}
	}
	return p
}

// adjoint returns the plan that sends everything back and adds it up.
func (p *Plan) adjoint(l comm.Label) *Plan {
	q := &Plan{from: p.from, way: p.way, label: l, recv: p.send, send: p.recv, add: true}
	if p.own != nil {
		own := p.own.Flipped()
		q.own = &own
	}
	return q
}

// packBox is the message with the elements of box b of a block.
func packBox(peer int, b Box, axes int, block blockAt) leg {
	sh := b.shape(axes)
	return leg{peer: peer, n: sh.Size(), pieces: []device.Strided{between(b, axes, blockAt{sh, b.Lo}, block)}}
}

// blockAt is a block and the global index of its first element.
type blockAt struct {
	shape shape.Shape
	lo    [shape.MaxNDim]int
}

// between copies box b from one block to another.
func between(b Box, axes int, dst, src blockAt) device.Strided {
	c := device.Strided{Shape: b.shape(axes), Dst: dst.shape.Strides(), Src: src.shape.Strides()}
	for i := range axes {
		c.DstAt += (b.Lo[i] - dst.lo[i]) * c.Dst[i]
		c.SrcAt += (b.Lo[i] - src.lo[i]) * c.Src[i]
	}
	return c
}
