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

// locals are the operators that one rank gives to a stack over ranks, and where
// their parts of the rank's blocks begin and end.
type locals[E scalar.Scalar] struct {
	ops     []Operator[E]
	in, out []int // operator i has elements in[i] to in[i+1] of a block
}

// newLocals checks a rank's operators. Spaces that are stacks are flattened, so
// that each operator's vectors are a run of a block.
func newLocals[E scalar.Scalar](r dist.Proc, ops []Operator[E]) (l locals[E], err error) {
	l.in, l.out = []int{0}, []int{0}
	for i, a := range ops {
		if err = valid(a); err == nil {
			err = alone(r, a)
		}
		if err == nil {
			a, err = flat(a)
		}
		if err != nil {
			return l, fmt.Errorf("operator %d of rank %d: %w", i, r.Rank(), err)
		}
		if a.Domain().Size() > math.MaxInt-l.in[i] || a.Range().Size() > math.MaxInt-l.out[i] {
			return l, fmt.Errorf("operator %d of rank %d, from %v to %v: with those before it there are more elements than an int can count", i, r.Rank(), a.Domain(), a.Range())
		}
		l.ops = append(l.ops, a)
		l.in = append(l.in, l.in[i]+a.Domain().Size())
		l.out = append(l.out, l.out[i]+a.Range().Size())
	}
	return l, nil
}

// alone checks that an operator is one of this rank and its device only.
func alone[E scalar.Scalar](r dist.Proc, a Operator[E]) error {
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
func (l locals[E]) sameDomain(r dist.Proc, verb string) error {
	for i, a := range l.ops {
		if got, want := a.Domain().Shape(), l.ops[0].Domain().Shape(); got != want {
			return fmt.Errorf("operator %d of rank %d %s vectors of shape %v, operator 0 of shape %v", i, r.Rank(), verb, got, want)
		}
	}
	return nil
}

// inPart and outPart return operator i's part of x, over the same memory.
func (l *locals[E]) inPart(i int, x dist.Array[E]) dist.Array[E] {
	return dist.Wrap(l.ops[i].Domain(), x.Local().Slice(l.in[i], l.in[i+1]))
}

func (l *locals[E]) outPart(i int, x dist.Array[E]) dist.Array[E] {
	return dist.Wrap(l.ops[i].Range(), x.Local().Slice(l.out[i], l.out[i+1]))
}

// gatherSizes returns how many elements each rank has in each of the offsets
// given, or an error on all ranks if there is one on any, or no rank has
// operators. It is collective.
func gatherSizes(ctx context.Context, r dist.Proc, what string, err error, offsets ...[]int) ([][]int, error) {
	if err := dist.Agree(ctx, r.Comm, what, err); err != nil {
		return nil, err
	}
	n := len(offsets) + 1
	mine, all := make([]int64, n), make([]int64, n*r.Size())
	mine[0] = int64(len(offsets[0]) - 1)
	for i, o := range offsets {
		mine[i+1] = int64(o[len(o)-1])
	}
	if err := r.AllGather(ctx, comm.Of(all), comm.Of(mine)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	sizes, ops := make([][]int, len(offsets)), int64(0)
	for k := range r.Size() {
		ops += all[k*n]
		for i := range sizes {
			sizes[i] = append(sizes[i], int(all[k*n+i+1]))
		}
	}
	if ops == 0 {
		return nil, fmt.Errorf("%s: no rank has an operator", what)
	}
	return sizes, nil
}

// commonShape returns the shape that all ranks' operators take, which a rank
// without operators learns from the others. It is collective, and an error is
// the same on all ranks.
func commonShape[E scalar.Scalar](ctx context.Context, r dist.Proc, what, verb string, l locals[E]) ([]int, error) {
	const n = shape.MaxRank + 1
	mine, all := make([]int64, n), make([]int64, n*r.Size())
	mine[0] = -1
	if len(l.ops) > 0 {
		d := l.ops[0].Domain().Shape().Dims()
		mine[0] = int64(len(d))
		for i, k := range d {
			mine[i+1] = int64(k)
		}
	}
	if err := r.AllGather(ctx, comm.Of(all), comm.Of(mine)); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	var common shape.Shape
	first := -1
	for k := range r.Size() {
		v := all[k*n : (k+1)*n]
		if v[0] < 0 {
			continue
		}
		d := make([]int, v[0])
		for i := range d {
			d[i] = int(v[i+1])
		}
		switch s := shape.Of(d...); {
		case first < 0:
			first, common = k, s
		case s != common:
			return nil, fmt.Errorf("%s: an operator of rank %d %s vectors of shape %v, one of rank %d of shape %v", what, k, verb, s, first, common)
		}
	}
	return common.Dims(), nil
}
