package linop

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// rankOps are the operators that one rank gives to a stack over ranks.
type rankOps[E scalar.Scalar] struct {
	ops     []Operator[E]
	in, out pile
}

// newRankOps checks a rank's operators. Spaces that are stacks are flattened, so
// that each operator's vectors are a run of a block.
func newRankOps[E scalar.Scalar](r dist.Proc, ops []Operator[E]) (l rankOps[E], err error) {
	for i, a := range ops {
		if err = valid(a); err == nil {
			err = checkAlone(r, a)
		}
		if err == nil {
			a, err = flat(a)
		}
		if err == nil {
			err = l.in.push(a.Domain().Shape())
		}
		if err == nil {
			err = l.out.push(a.Range().Shape())
		}
		if err != nil {
			return l, fmt.Errorf("operator %d of rank %d: %w", i, r.Rank(), err)
		}
		l.ops = append(l.ops, a)
	}
	return l, nil
}

// checkAlone checks that an operator is one of this rank and its device only.
func checkAlone[E scalar.Scalar](r dist.Proc, a Operator[E]) error {
	for _, s := range []*dist.Space{a.Domain(), a.Range()} {
		if n := s.Comm().Size(); n != 1 {
			return fmt.Errorf("it is over %d ranks, with %v: stack operators over spaces made with Proc.Alone, or use BlockDiag, VStack or HStack", n, s)
		}
		if s.Device() != r.Device {
			return fmt.Errorf("it is on %v, the rank on %v", s.Device(), r.Device)
		}
	}
	return nil
}

// sameDomain checks that the rank's operators can be stacked.
func (l *rankOps[E]) sameDomain(r dist.Proc, verb string) error {
	for i, a := range l.ops {
		if got, want := a.Domain().Shape(), l.ops[0].Domain().Shape(); got != want {
			return fmt.Errorf("operator %d of rank %d %s vectors of shape %v, operator 0 of shape %v", i, r.Rank(), verb, got, want)
		}
	}
	return nil
}

// inPart and outPart return operator i's part of x, over the same memory.
func (l *rankOps[E]) inPart(i int, x dist.Array[E]) dist.Array[E] {
	return dist.Wrap(l.ops[i].Domain(), x.Local().Slice(l.in.at(i), l.in.at(i+1)))
}

func (l *rankOps[E]) outPart(i int, x dist.Array[E]) dist.Array[E] {
	return dist.Wrap(l.ops[i].Range(), x.Local().Slice(l.out.at(i), l.out.at(i+1)))
}

// pile is vectors on top of each other, along axis 0.
type pile struct {
	ends  []int // the elements of the first vector, of the first two, ...
	shape shape.Shape
}

// at returns where vector i begins, in elements.
func (p *pile) at(i int) int {
	if i == 0 {
		return 0
	}
	return p.ends[i-1]
}

// push puts one more vector below the others.
func (p *pile) push(s shape.Shape) error {
	if s.NDim() == 0 {
		s = shape.Of(1)
	}
	n := len(p.ends)
	if n > 0 {
		below, err := onTop(p.shape, s)
		if err != nil {
			return err
		}
		p.shape = below
	} else {
		p.shape = s
	}
	p.ends = append(p.ends, p.at(n)+s.Size())
	return nil
}

// onTop returns the shape of an array of shape a on top of one of shape b. It
// keeps the axes behind axis 0 if they are the same in both. Otherwise it has
// one axis of all elements.
func onTop(a, b shape.Shape) (shape.Shape, error) {
	if a.NDim() == b.NDim() && a.With(0, 0) == b.With(0, 0) {
		d := a.Dims()
		if d[0] <= math.MaxInt-b.Dim(0) {
			d[0] += b.Dim(0)
			return shape.New(d...)
		}
	} else if a.Size() <= math.MaxInt-b.Size() {
		return shape.Of(a.Size() + b.Size()), nil
	}
	return a, fmt.Errorf("arrays of shapes %v and %v, one on top of the other, have more elements than an int can count", a, b)
}

// rankShape is a shape on a rank.
type rankShape struct {
	rank  int
	shape shape.Shape
}

// gatherShapes returns each of the shapes given on all ranks that have
// operators, or an error on all ranks if there is one on any, or no rank has
// operators. It is collective.
func gatherShapes(ctx context.Context, r dist.Proc, what string, err error, ops int, shapes ...shape.Shape) ([][]rankShape, error) {
	if err := dist.Agree(ctx, r.Comm, what, err); err != nil {
		return nil, err
	}
	const n = shape.MaxNDim + 1
	mine := make([]int64, n*len(shapes))
	for i, s := range shapes {
		m := mine[i*n:]
		if m[0] = int64(s.NDim()); ops == 0 {
			m[0] = -1
		}
		for j, d := range s.Dims() {
			m[j+1] = int64(d)
		}
	}
	all := make([]int64, len(mine)*r.Size())
	if err := r.AllGather(ctx, comm.Of(all), comm.Of(mine)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	out := make([][]rankShape, len(shapes))
	for i := range len(all) / n {
		m := all[i*n:]
		if m[0] < 0 {
			continue
		}
		d := make([]int, m[0])
		for j := range d {
			d[j] = int(m[j+1])
		}
		k := i % len(shapes)
		out[k] = append(out[k], rankShape{i / len(shapes), shape.Of(d...)})
	}
	if len(out[0]) == 0 {
		return nil, fmt.Errorf("%s: no rank has an operator", what)
	}
	return out, nil
}

// rowLayout returns the shape and layout of the blocks of all ranks on top of each
// other: split along axis 0 by the rows of each rank. A rank that is not in
// blocks has no rows.
func rowLayout(blocks []rankShape, ranks int) (dims []int, l dist.Layout, err error) {
	s := blocks[0].shape
	for _, b := range blocks[1:] {
		if s, err = onTop(s, b.shape); err != nil {
			return nil, l, err
		}
	}
	counts := make([]int, ranks)
	for _, b := range blocks {
		if counts[b.rank] = b.shape.Size(); s.NDim() > 1 {
			counts[b.rank] = b.shape.Dim(0)
		}
	}
	return s.Dims(), dist.Layout{Counts: [][]int{counts}}, nil
}

// commonShape returns the shape that all ranks' operators take.
func commonShape(what, verb string, domains []rankShape) ([]int, error) {
	a := domains[0]
	for _, b := range domains[1:] {
		if b.shape != a.shape {
			return nil, fmt.Errorf("%s: an operator of rank %d %s vectors of shape %v, one of rank %d of shape %v", what, b.rank, verb, b.shape, a.rank, a.shape)
		}
	}
	return a.shape.Dims(), nil
}
