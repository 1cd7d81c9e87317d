package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// problem is one whose solution is known.
type problem[T scalar.Scalar] struct {
	solve.Problem[T, T]
	damp  float64
	truth dist.Array[T]
}

// start makes a workspace for the problem and starts a method.
func (p problem[T]) start(ctx context.Context, m solve.Method[T, T], x dist.Array[T]) (*solve.Workspace[T, T], solve.Norms, error) {
	w, err := solve.NewWorkspace(p.Problem, x, p.damp)
	if err != nil {
		return nil, solve.Norms{}, err
	}
	n, err := w.Start(ctx, m)
	return w, n, err
}

// run is solve.Run with the damping of the problem.
func (p problem[T]) run(ctx context.Context, m solve.Method[T, T], x dist.Array[T], c solve.Config) (solve.Result, error) {
	c.Damp = p.damp
	return solve.Run(ctx, m, p.Problem, x, c)
}

// from makes a problem of this size on the ranks of r.
type from[T scalar.Scalar] func(ctx context.Context, r dist.Proc, n int) (problem[T], error)

// tallOver is a well-conditioned least-squares problem over x: a diagonal and a
// convolution with a derivative below them, stacked.
func tallOver[T scalar.Scalar](ctx context.Context, x *dist.Space) (p problem[T], err error) {
	w, err := dist.FromFunc(ctx, x, func(i []int) T { // so that all eigenvalues differ
		return scalar.From[T](complex(1.5+0.5*math.Sin(float64(3*i[0]+5*i[len(i)-1])), 0))
	})
	if err != nil {
		return p, err
	}
	diag, err := ops.Diagonal(w)
	if err != nil {
		return p, err
	}
	d, err := ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Edge: true})
	if err != nil {
		return p, err
	}
	h, err := ops.Convolve1D(ctx, x, 0, []T{scalar.From[T](0.5 + 0.2i), 1, scalar.From[T](-0.3i)}, 1)
	if err != nil {
		return p, err
	}
	sum, err := linop.Add(diag, h)
	if err != nil {
		return p, err
	}
	if p.A, err = linop.VStack(sum, d); err != nil {
		return p, err
	}
	return p.of(ctx, 7)
}

// of gives p a random solution, and the b that goes with it.
func (p problem[T]) of(ctx context.Context, seed uint64) (problem[T], error) {
	var err error
	if p.truth, err = dist.Random[T](ctx, p.A.Domain(), seed); err == nil {
		p.B, err = linop.Apply(ctx, p.A, p.truth)
	}
	return p, err
}

func tall[T scalar.Scalar](ctx context.Context, r dist.Proc, n int) (problem[T], error) {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, n, 3)
	if err != nil {
		return problem[T]{}, err
	}
	return tallOver[T](ctx, x)
}

// square is A = MᴴM + I of the tall M, which is positive definite.
func square[T scalar.Scalar](ctx context.Context, r dist.Proc, n int) (problem[T], error) {
	p, err := tall[T](ctx, r, n)
	if err != nil {
		return p, err
	}
	return p.squared(ctx)
}

func (p problem[T]) squared(ctx context.Context) (problem[T], error) {
	q, err := solve.Normal(ctx, p.Problem, 1)
	if err != nil {
		return p, err
	}
	return problem[T]{Problem: q}.of(ctx, 7)
}

// indefinite is MᴴM/5 with ±3 on the diagonal.
func indefinite[T scalar.Scalar](ctx context.Context, r dist.Proc, n int) (problem[T], error) {
	p, err := square[T](ctx, r, n)
	if err != nil {
		return p, err
	}
	return p.signed(ctx)
}

func (p problem[T]) signed(ctx context.Context) (problem[T], error) {
	d, err := dist.FromFunc(ctx, p.A.Domain(), func(i []int) T { return scalar.From[T](complex(float64(6*(i[0]%2)-3), 0)) })
	if err != nil {
		return p, err
	}
	diag, err := ops.Diagonal(d)
	if err != nil {
		return p, err
	}
	small, err := linop.Scale(scalar.From[T](0.2), p.A)
	if err != nil {
		return p, err
	}
	if p.A, err = linop.Add(diag, small); err != nil {
		return p, err
	}
	return p.of(ctx, 7)
}

// maker is a method and a problem for it.
type maker[T scalar.Scalar] struct {
	name     string
	method   func() solve.Method[T, T]
	problem  from[T]
	messages int  // collectives per step, those of the operator aside
	ls       bool // of least squares
}

func methods[T scalar.Scalar]() []maker[T] {
	return []maker[T]{
		{"CG", func() solve.Method[T, T] { return &solve.CG[T]{} }, square[T], 2, false},
		{"CG with one message", func() solve.Method[T, T] { return &solve.CG[T]{OneMessage: true} }, square[T], 1, false},
		{"MINRES", func() solve.Method[T, T] { return &solve.MINRES[T]{} }, indefinite[T], 2, false},
		{"CGLS", func() solve.Method[T, T] { return &solve.CGLS[T, T]{} }, tall[T], 2, true},
		{"CGLS with one message", func() solve.Method[T, T] { return &solve.CGLS[T, T]{OneMessage: true} }, tall[T], 1, true},
		{"LSQR", func() solve.Method[T, T] { return &solve.LSQR[T, T]{} }, tall[T], 2, true},
	}
}

// each runs f for every method with a fresh problem and x = 0.
func each[T scalar.Scalar](ctx context.Context, r dist.Proc, n int, f func(m maker[T], p problem[T], x dist.Array[T]) error) error {
	for _, m := range methods[T]() {
		p, err := m.problem(ctx, r, n)
		if err != nil {
			return err
		}
		x, err := dist.New[T](p.A.Domain())
		if err == nil {
			err = f(m, p, x)
		}
		if err != nil {
			return fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err)
		}
	}
	return nil
}

// on runs f on goroutine ranks.
func on(t *testing.T, ranks int, f func(ctx context.Context, r dist.Proc) error) {
	t.Helper()
	if err := testdevices.Local(t.Context(), ranks, f); err != nil {
		t.Errorf("ranks=%d: %v", ranks, err)
	}
}

// near reports an x that is further than tol from want, relative to it.
func near[T scalar.Scalar](ctx context.Context, x, want dist.Array[T], tol float64) error {
	d, err := dist.New[T](x.Space())
	if err != nil {
		return err
	}
	dist.Sub(d, x, want)
	e, err := dist.Norm(ctx, d, 2)
	if err != nil {
		return err
	}
	n, err := dist.Norm(ctx, want, 2)
	if err == nil && !(e <= tol*n) {
		err = fmt.Errorf("x is off by %g of %g", e, n)
	}
	return err
}

// matrix is a dense operator from a space of cols to one of rows elements, split
// over the ranks; every rank gives all of it.
func matrix[T scalar.Scalar](ctx context.Context, r dist.Proc, rows, cols int, a []T) (linop.Operator[T], error) {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, cols)
	if err != nil {
		return nil, err
	}
	y, err := x.Like(dist.Layout{}, rows)
	if err != nil {
		return nil, err
	}
	b := y.Box(r.Rank())
	return ops.MatrixMult(ctx, x, rows, a[b.Lo[0]*cols:b.Hi[0]*cols])
}

// vector is the array of a space with these elements.
func vector[T scalar.Scalar](ctx context.Context, s *dist.Space, all []T) (dist.Array[T], error) {
	return dist.FromFunc(ctx, s, func(i []int) T { return all[i[0]] })
}

// compare reports an x whose elements are not want.
func compare[T scalar.Scalar](ctx context.Context, x dist.Array[T], want []T, tol float64) error {
	got, err := dist.AllGather(ctx, x)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want))
	}
	scale := 0.0
	for _, w := range want {
		scale = math.Max(scale, cmplx.Abs(scalar.Complex(w)))
	}
	for i := range got {
		if !(cmplx.Abs(scalar.Complex(got[i])-scalar.Complex(want[i])) <= tol*scale) {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

// all runs a check in the four element types, one after another.
func all(fs ...func() error) error {
	var errs []error
	for _, f := range fs {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
