package linop

import (
	"context"
	"fmt"

	"github.com/golops/golops/array"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// maxDense is how many elements a matrix of an operator may have.
const maxDense = 1 << 26

// Dense returns the matrix of a small operator, row by row, on every rank. Rows
// and columns follow the elements of range and domain in their global order, the
// last axis running fastest; the parts of a stack follow each other. It is
// collective: one application and one gathered vector per column. Operators of
// more than 2²⁶ elements are refused, and so are those from complex to real
// vectors, which no matrix of real numbers holds.
func Dense[D, R scalar.Scalar](ctx context.Context, a Map[D, R]) (m []R, rows, cols int, err error) {
	if err := valid(a); err != nil {
		return nil, 0, 0, fmt.Errorf("linop: matrix: %w", err)
	}
	rows, cols = a.Range().Size(), a.Domain().Size()
	if cols > 0 && rows > maxDense/cols {
		return nil, rows, cols, fmt.Errorf("linop: matrix of %d by %d elements: at most %d are possible", rows, cols, maxDense)
	}
	m = make([]R, rows*cols)
	err = columns(ctx, a, func(j int, col []R) {
		for i, v := range col {
			m[i*cols+j] = v
		}
	})
	if err != nil {
		return nil, rows, cols, fmt.Errorf("linop: matrix of %d by %d elements: %w", rows, cols, err)
	}
	return m, rows, cols, nil
}

// Trace returns the sum of the diagonal elements of a square operator, the same
// on every rank. It is collective and applies the operator once per column.
func Trace[E scalar.Scalar](ctx context.Context, a Operator[E]) (E, error) {
	if err := valid(a); err != nil {
		return 0, fmt.Errorf("linop: trace: %w", err)
	}
	if rows, cols := a.Range().Size(), a.Domain().Size(); rows != cols {
		return 0, fmt.Errorf("linop: trace: %d rows and %d columns, from %v to %v", rows, cols, a.Domain(), a.Range())
	}
	var sum complex128
	err := columns(ctx, a, func(j int, col []E) { sum += scalar.Complex(col[j]) })
	if err != nil {
		return 0, fmt.Errorf("linop: trace: %w", err)
	}
	return scalar.From[E](sum), nil
}

// columns calls f with the columns of a, one at a time: what a makes of the unit
// vectors. f must not keep col.
func columns[D, R scalar.Scalar](ctx context.Context, a Map[D, R], f func(j int, col []R)) error {
	if scalar.Of[D]().IsComplex() && !scalar.Of[R]().IsComplex() {
		return fmt.Errorf("%v elements cannot hold what a map from %v vectors does: take the matrix of its adjoint", scalar.Of[R](), scalar.Of[D]())
	}
	x, err := dist.New[D](a.Domain())
	if err != nil {
		return err
	}
	defer x.Free()
	y, err := dist.New[R](a.Range())
	if err != nil {
		return err
	}
	defer y.Free()
	g, err := newGatherer[R](a.Range())
	if err != nil {
		return err
	}
	defer g.free()
	col := make([]R, a.Range().Size())
	for j := range a.Domain().Size() {
		setElement(x, j, 1)
		if err := a.Forward(ctx, y, x); err != nil {
			return err
		}
		setElement(x, j, 0)
		if err := g.gather(ctx, col, y); err != nil {
			return err
		}
		f(j, col)
	}
	return nil
}

// setElement sets element j, in the global order, on the ranks that hold it.
func setElement[T scalar.Scalar](x dist.Array[T], j int, v T) {
	leaf := 0
	for ; j >= x.Leaf(leaf).Space().Size(); leaf++ {
		j -= x.Leaf(leaf).Space().Size()
	}
	x = x.Leaf(leaf)
	s := x.Space()
	box, st, at := s.Box(s.Proc().Rank()), s.Shape().Strides(), 0
	local := s.LocalShape().Strides()
	for d := range s.Shape().NDim() {
		i := j / st[d]
		j %= st[d]
		if i < box.Lo[d] || i >= box.Hi[d] {
			return
		}
		at += (i - box.Lo[d]) * local[d]
	}
	array.Fill(x.Local().Slice(at, at+1), v)
}

// gatherer brings whole vectors of a space to the host of every rank, again and
// again.
type gatherer[T scalar.Scalar] struct {
	moves []*dist.Move[T] // of each leaf
	whole []dist.Array[T]
}

func newGatherer[T scalar.Scalar](s *dist.Space) (*gatherer[T], error) {
	g := &gatherer[T]{}
	for _, leaf := range s.Leaves() {
		to, err := leaf.Like(dist.Replicated, leaf.Shape().Dims()...)
		if err != nil {
			return nil, err
		}
		whole, err := dist.New[T](to)
		if err != nil {
			return nil, err
		}
		move, err := dist.NewRedistribution[T](leaf, to)
		if err != nil {
			return nil, err
		}
		g.moves, g.whole = append(g.moves, move), append(g.whole, whole)
	}
	return g, nil
}

// gather fills dst with all elements of x.
func (g *gatherer[T]) gather(ctx context.Context, dst []T, x dist.Array[T]) error {
	for i, whole := range g.whole {
		if err := g.moves[i].Forward(ctx, whole, x.Leaf(i)); err != nil {
			return err
		}
		n := whole.Local().Len()
		if err := whole.Local().CopyOut(dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

func (g *gatherer[T]) free() {
	for i, whole := range g.whole {
		whole.Free()
		g.moves[i].Free()
	}
}
