package solve_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Small problems from seeds, over methods, layouts and ranks. Each meets the conditions of its
// minimum, and has the cost of one rank.
func TestRandomSparse(t *testing.T) {
	for n := range soak.Or(200, 10_000) {
		err := randomSparseProblem[float64](uint64(n)).check(t.Context())
		if n%4 == 3 {
			err = randomSparseProblem[complex128](uint64(n)).check(t.Context())
		}
		if err != nil {
			t.Errorf("seed %d: %v", n, err)
		}
	}
}

// sparseProblem is min ½‖A·x - b‖² + eps·‖x‖₁.
type sparseProblem[T scalar.Scalar] struct {
	rows, cols int
	a, b       []T // all of them
	eps        float64
	ranks      int
	layouts    [2]uint64 // seeds of those of x and b
	method     func(a linop.Map[T, T]) (solve.Method[T, T], error)
}

func randomSparseProblem[T scalar.Scalar](seed uint64) sparseProblem[T] {
	r := rand.New(rand.NewPCG(seed, 0))
	p := sparseProblem[T]{rows: 1 + r.IntN(12), cols: 1 + r.IntN(12), eps: math.Exp(3*r.Float64() - 2), ranks: 2 + r.IntN(2)}
	p.a, p.b = make([]T, p.rows*p.cols), make([]T, p.rows)
	for _, v := range [][]T{p.a, p.b} {
		for i := range v {
			v[i] = scalar.From[T](complex(r.NormFloat64(), r.NormFloat64()))
		}
	}
	kind := r.IntN(5)
	p.layouts = [2]uint64{r.Uint64(), r.Uint64()}
	o := solve.Shrinkage[T]{Eps: p.eps, Backtrack: r.IntN(3) == 0}
	p.method = func(a linop.Map[T, T]) (solve.Method[T, T], error) {
		switch kind {
		case 0:
			return &solve.ISTA[T, T]{Shrinkage: o}, nil
		case 1:
			id, err := ops.Identity[T](a.Domain())
			mu := 1 / p.eps // a weight of 1 for ‖x‖₁
			return &solve.SplitBregman[T, T]{Mu: mu, L1: []solve.L1Term[T, T]{{R: id, Weight: 1}}, Steps: 30}, err
		}
		return &solve.FISTA[T, T]{Shrinkage: o, Restart: kind > 2, Monotone: kind == 4}, nil
	}
	return p
}

// check solves p on one and on several ranks.
func (p sparseProblem[T]) check(ctx context.Context) error {
	var unmet error
	for _, steps := range []int{500, 50_000} { // few need more than 500
		x, one, err := p.solution(ctx, 1, steps)
		if err != nil {
			return err
		}
		if unmet = p.conditions(x, 0.01); unmet != nil {
			continue
		}
		y, many, err := p.solution(ctx, p.ranks, steps)
		if err != nil {
			return err
		}
		if math.Abs(one-many) > 1e-6*one {
			return fmt.Errorf("%d × %d: the cost is %g on one rank and %g on %d", p.rows, p.cols, one, many, p.ranks)
		}
		return p.conditions(y, 0.02)
	}
	return fmt.Errorf("%d × %d: %w", p.rows, p.cols, unmet)
}

// layout is a random one of n elements: even, in all ranks whole, or of any counts.
func layout(seed uint64, ranks, n int) dist.Layout {
	r := rand.New(rand.NewPCG(seed, 0))
	switch r.IntN(3) {
	case 0:
		return dist.Layout{}
	case 1:
		return dist.Replicated
	}
	counts := make([]int, ranks)
	for range n {
		counts[r.IntN(ranks)]++
	}
	return dist.Layout{Counts: [][]int{counts}}
}

// operator is the matrix between arrays of the layouts of p.
func (p sparseProblem[T]) operator(ctx context.Context, r dist.Proc) (linop.Map[T, T], error) {
	m, err := matrix(ctx, r, p.rows, p.cols, p.a)
	if err != nil {
		return nil, err
	}
	a := linop.Map[T, T](m)
	for i, n := range []int{p.cols, p.rows} {
		s, err := m.Domain().Like(layout(p.layouts[i], r.Size(), n), n)
		if err != nil {
			return nil, err
		}
		id, err := ops.Identity[T](s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			a, err = linop.Compose(a, linop.Map[T, T](id))
		} else {
			a, err = linop.Compose(linop.Map[T, T](id), a)
		}
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// solution runs the method on so many ranks and returns x and its cost.
func (p sparseProblem[T]) solution(ctx context.Context, ranks, steps int) (x []T, cost float64, err error) {
	err = testdevices.Local(ctx, ranks, func(ctx context.Context, r dist.Proc) error {
		a, err := p.operator(ctx, r)
		if err != nil {
			return err
		}
		b, err := vector(ctx, a.Range(), p.b)
		if err != nil {
			return err
		}
		m, err := p.method(a)
		if err != nil {
			return err
		}
		y, err := dist.New[T](a.Domain())
		if err != nil {
			return err
		}
		res, err := solve.Run(ctx, m, solve.Problem[T, T]{A: a, B: b}, y, solve.Config{MaxIter: steps, StepTol: 1e-9})
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, y)
		if r.Rank() == 0 {
			x, cost = all, res.Cost
		}
		return err
	})
	return x, cost, err
}

// conditions reports an x that is not a minimum: the gradient is -eps·x/|x|, and where x
// is zero, it is at most eps.
func (p sparseProblem[T]) conditions(x []T, tol float64) error {
	r := make([]complex128, p.rows)
	for i := range r {
		r[i] = -scalar.Complex(p.b[i])
		for j := range x {
			r[i] += scalar.Complex(p.a[i*p.cols+j]) * scalar.Complex(x[j])
		}
	}
	for j, v := range x {
		var g complex128
		for i := range r {
			g += cmplx.Conj(scalar.Complex(p.a[i*p.cols+j])) * r[i]
		}
		z := scalar.Complex(v)
		off := cmplx.Abs(g) - p.eps
		if cmplx.Abs(z) > 1e-6 { // SplitBregman leaves some rounding
			off = cmplx.Abs(g + complex(p.eps/cmplx.Abs(z), 0)*z)
		}
		if off > tol*p.eps {
			return fmt.Errorf("element %d is %v, and the gradient there is %v for eps %g", j, z, g, p.eps)
		}
	}
	return nil
}
