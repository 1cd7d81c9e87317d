package linop_test

import (
	"context"
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// rankCounts are the groups that everything is tested on.
var rankCounts = []int{1, 2, 3, 7, 4}[:soak.Or(4, 5)]

// forTypes runs a test of each element type on each number of ranks.
func forTypes(t *testing.T, f32, f64, c64, c128 func(ctx context.Context, r dist.Proc) error) {
	t.Helper()
	for _, n := range rankCounts {
		for _, c := range []struct {
			name string
			prog launch.Program
		}{{"float32", f32}, {"float64", f64}, {"complex64", c64}, {"complex128", c128}} {
			t.Run(fmt.Sprintf("ranks=%d/%s", n, c.name), func(t *testing.T) {
				if err := testdevices.Local(t.Context(), n, c.prog); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// forRanks runs a program on each number of ranks.
func forRanks(t *testing.T, prog launch.Program) {
	t.Helper()
	for _, n := range rankCounts {
		t.Run(fmt.Sprintf("ranks=%d", n), func(t *testing.T) {
			if err := testdevices.Local(t.Context(), n, prog); err != nil {
				t.Error(err)
			}
		})
	}
}

// matrix is what operators are compared with.
type matrix struct {
	rows, cols int
	v          []complex128
}

func newMatrix(rows, cols int) matrix { return matrix{rows, cols, make([]complex128, rows*cols)} }

func identity(n int) matrix {
	m := newMatrix(n, n)
	for i := range n {
		m.v[i*n+i] = 1
	}
	return m
}

// random returns a matrix whose elements are exact in every type that is
// complex if T is.
func random[T scalar.Scalar](seed uint64, rows, cols int) matrix {
	g := rand.New(rand.NewPCG(seed, 1))
	m := newMatrix(rows, cols)
	draw := func() float64 { return float64(g.IntN(1<<12)-1<<11) / (1 << 11) }
	for i := range m.v {
		m.v[i] = scalar.Complex(scalar.From[T](complex(draw(), draw())))
	}
	return m
}

func (m matrix) at(i, j int) complex128 { return m.v[i*m.cols+j] }

func (m matrix) each(rows, cols int, f func(i, j int) complex128) matrix {
	out := newMatrix(rows, cols)
	for k := range out.v {
		out.v[k] = f(k/cols, k%cols)
	}
	return out
}

func (m matrix) conj() matrix {
	return m.each(m.rows, m.cols, func(i, j int) complex128 { return cmplx.Conj(m.at(i, j)) })
}

func (m matrix) t() matrix {
	return m.each(m.cols, m.rows, func(i, j int) complex128 { return m.at(j, i) })
}

func (m matrix) h() matrix { return m.t().conj() }

// plus returns m + c·b.
func (m matrix) plus(c complex128, b matrix) matrix {
	return m.each(m.rows, m.cols, func(i, j int) complex128 { return m.at(i, j) + c*b.at(i, j) })
}

func (m matrix) scale(c complex128) matrix {
	return m.each(m.rows, m.cols, func(i, j int) complex128 { return c * m.at(i, j) })
}

func (m matrix) times(b matrix) matrix {
	return m.each(m.rows, b.cols, func(i, j int) (s complex128) {
		for k := range m.cols {
			s += m.at(i, k) * b.at(k, j)
		}
		return s
	})
}

// above returns m on top of b, beside m left of b, diag both on the diagonal.
func (m matrix) above(b matrix) matrix {
	return matrix{m.rows + b.rows, max(m.cols, b.cols), append(append([]complex128(nil), m.v...), b.v...)}
}

func (m matrix) beside(b matrix) matrix { return m.t().above(b.t()).t() }

func (m matrix) diag(b matrix) matrix {
	return m.beside(newMatrix(m.rows, b.cols)).above(newMatrix(b.rows, m.cols).beside(b))
}

func elements[T scalar.Scalar](m matrix) []T {
	out := make([]T, len(m.v))
	for i, v := range m.v {
		out[i] = scalar.From[T](v)
	}
	return out
}

// multiply is the operator of a matrix between spaces of any layout: it gathers
// its argument and each rank keeps what it wants of the result.
type multiply[D, R scalar.Scalar] struct {
	linop.Spaces
	m   matrix
	in  *dist.Move[D] // to every rank
	out *dist.Move[R] // from every rank
	x   dist.Array[D]
	y   dist.Array[R]
	hx  []D // x and y on the host
	hy  []R
}

func newMultiply[D, R scalar.Scalar](dom, rng *dist.Space, m matrix) (*multiply[D, R], error) {
	if dom.Size() != m.cols || rng.Size() != m.rows {
		return nil, fmt.Errorf("a matrix of %d by %d for %v and %v", m.rows, m.cols, dom, rng)
	}
	op := &multiply[D, R]{Spaces: linop.Spaces{Dom: dom, Rng: rng}, m: m, hx: make([]D, m.cols), hy: make([]R, m.rows)}
	wholeDom, err := dom.Like(dist.Replicated, dom.Shape().Dims()...)
	if err != nil {
		return nil, err
	}
	wholeRng, err := rng.Like(dist.Replicated, rng.Shape().Dims()...)
	if err != nil {
		return nil, err
	}
	if op.x, err = dist.New[D](wholeDom); err != nil {
		return nil, err
	}
	if op.y, err = dist.New[R](wholeRng); err != nil {
		return nil, err
	}
	if op.in, err = dist.NewRedistribution[D](dom, wholeDom); err != nil {
		return nil, err
	}
	op.out, err = dist.NewRedistribution[R](wholeRng, rng)
	return op, err
}

func (op *multiply[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := op.in.Forward(ctx, op.x, src); err != nil {
		return err
	}
	x, y := op.hx, op.hy
	if err := op.x.Local().CopyOut(x); err != nil {
		return err
	}
	for i := range y {
		var s complex128
		for j := range x {
			s += op.m.at(i, j) * scalar.Complex(x[j])
		}
		y[i] = scalar.From[R](s)
	}
	if err := op.y.Local().CopyIn(y); err != nil {
		return err
	}
	return op.out.Forward(ctx, dst, op.y)
}

func (op *multiply[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := op.out.Adjoint(ctx, op.y, src); err != nil {
		return err
	}
	x, y := op.hx, op.hy
	if err := op.y.Local().CopyOut(y); err != nil {
		return err
	}
	for j := range x {
		var s complex128
		for i := range y {
			s += cmplx.Conj(op.m.at(i, j)) * scalar.Complex(y[i])
		}
		x[j] = scalar.From[D](s)
	}
	if err := op.x.Local().CopyIn(x); err != nil {
		return err
	}
	return op.in.Adjoint(ctx, dst, op.x)
}

// known is an operator and the matrix that it should be.
type known[T scalar.Scalar] struct {
	op linop.Operator[T]
	m  matrix
}

// randomOp returns the operator of a random matrix.
func randomOp[T scalar.Scalar](seed uint64, dom, rng *dist.Space) (known[T], error) {
	m := random[T](seed, rng.Size(), dom.Size())
	op, err := newMultiply[T, T](dom, rng, m)
	return known[T]{op, m}, err
}

// check runs every check of optest on an operator and compares it with its
// matrix.
func check[D, R scalar.Scalar](ctx context.Context, name string, op linop.Map[D, R], err error, m matrix) error {
	if err == nil {
		err = optest.All(ctx, op)
	}
	if err == nil {
		err = optest.MatchesDense(ctx, op, elements[R](m))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// uneven splits rows over n ranks so that some have none and the last the rest.
func uneven(rows, n int) []int {
	c := make([]int, n)
	for i := 1; i < n; i += 2 {
		c[i] = min(i, rows)
		rows -= c[i]
	}
	c[n-1] += rows
	return c
}

// spaces makes spaces and keeps the first error.
type spaces struct {
	ctx context.Context
	r   dist.Proc
	err error
}

func (s *spaces) of(l dist.Layout, dims ...int) *dist.Space {
	sp, err := dist.NewSpace(s.ctx, s.r, l, dims...)
	if s.err == nil {
		s.err = err
	}
	return sp
}

// rows splits the first axis unevenly.
func (s *spaces) rows(dims ...int) *dist.Space {
	return s.of(dist.Layout{Counts: [][]int{uneven(dims[0], s.r.Size())}}, dims...)
}
