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
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Small problems from seeds, over methods, layouts and ranks: orthogonal matching pursuit,
// reweighted least squares, basis pursuit, and systems without symmetry. Each x meets the
// conditions of its problem, on one rank and on several, and the two agree.
func TestRandomProblems(t *testing.T) {
	for n := range soak.Or(120, 4000) {
		err := randomProblem[float64](uint64(n)).compare(t.Context())
		if n%3 == 2 {
			err = randomProblem[complex128](uint64(n)).compare(t.Context())
		}
		if err != nil {
			t.Errorf("seed %d: %v", n, err)
		}
	}
}

// denseProblem is a random matrix and data, a method for them, and what must hold of x.
type denseProblem[T scalar.Scalar] struct {
	sparseProblem[T]
	name   string
	config solve.Config
	holds  func(x []T, res solve.Result) error
	loose  float64 // how far x of several ranks may be from that of one; 0 means that there may be several solutions
}

// residual is A·x - b.
func (p *denseProblem[T]) residual(x []T) []complex128 {
	r := make([]complex128, p.rows)
	for i := range r {
		r[i] = -scalar.Complex(p.b[i])
		for j, v := range x {
			r[i] += scalar.Complex(p.a[i*p.cols+j]) * scalar.Complex(v)
		}
	}
	return r
}

// column returns column j of A times v, the conjugate of A first.
func (p *denseProblem[T]) column(j int, v []complex128) (dot complex128) {
	for i, u := range v {
		dot += cmplx.Conj(scalar.Complex(p.a[i*p.cols+j])) * u
	}
	return dot
}

func norm2(v []complex128) (n float64) {
	for _, u := range v {
		n = math.Hypot(n, cmplx.Abs(u))
	}
	return n
}

func randomProblem[T scalar.Scalar](seed uint64) *denseProblem[T] {
	p := &denseProblem[T]{sparseProblem: randomSparseProblem[T](seed)}
	r := rand.New(rand.NewPCG(seed, 7))
	switch seed / 3 % 4 {
	case 0:
		p.matchingPursuit(r)
	case 1:
		p.reweighted(r)
	case 2:
		p.basisPursuit(r)
	default:
		p.system(r)
	}
	return p
}

// matchingPursuit: the residual is orthogonal to the columns that were taken, of which
// there are no more than steps, and not larger than Sigma if the run has converged.
func (p *denseProblem[T]) matchingPursuit(r *rand.Rand) {
	p.name = "OMP"
	steps := 1 + r.IntN(min(p.rows, p.cols))
	sigma := r.Float64() * 0.3
	p.method = func(linop.Map[T, T]) (solve.Method[T, T], error) { return &solve.OMP[T, T]{Sigma: sigma}, nil }
	p.config, p.loose = solve.Config{MaxIter: steps}, 1e-6
	p.holds = func(x []T, res solve.Result) error {
		rest, size, taken := p.residual(x), norm2(p.residual(nil)), 0
		for j, v := range x {
			if v == 0 {
				continue
			}
			norm := 0.0
			for i := range p.rows {
				norm = math.Hypot(norm, cmplx.Abs(scalar.Complex(p.a[i*p.cols+j])))
			}
			if g := cmplx.Abs(p.column(j, rest)); g > 1e-12*norm*size {
				return fmt.Errorf("column %d is taken, but its product with the residual is %g", j, g)
			}
			taken++
		}
		switch left := norm2(rest); {
		case taken > steps:
			return fmt.Errorf("%d elements are taken in %d steps", taken, steps)
		case math.Abs(left-res.Resid) > 1e-9*size:
			return fmt.Errorf("the residual is %g, and said to be %g", left, res.Resid)
		case res.Status == solve.Converged && left > sigma+1e-9*size:
			return fmt.Errorf("%v with a residual of %g for Sigma %g", res.Status, left, sigma)
		}
		return nil
	}
}

// reweighted: x is where Σ√(|r|² + ...) of the weights has no slope: AᴴW²r is zero, with
// the weights of this very x.
func (p *denseProblem[T]) reweighted(r *rand.Rand) {
	p.name = "IRLS"
	p.tall(r)
	eps := 0.05 + r.Float64()
	p.method = func(linop.Map[T, T]) (solve.Method[T, T], error) { return &solve.IRLS[T, T]{Eps: eps, Steps: 40}, nil }
	p.config, p.loose = solve.Config{MaxIter: 3000, StepTol: 1e-13}, 1e-6
	p.holds = func(x []T, res solve.Result) error {
		rest := p.residual(x)
		weighted, most := make([]complex128, len(rest)), 0.0
		for i, v := range rest {
			weighted[i] = v / complex(cmplx.Abs(v)+eps, 0)
		}
		for j := range p.cols {
			most = max(most, cmplx.Abs(p.column(j, weighted)))
		}
		if most > 1e-5 || res.Status != solve.Converged {
			return fmt.Errorf("%v after %d: AᴴW²r is %g", res.Status, res.Iters, most)
		}
		return nil
	}
}

// tall makes more data than unknowns.
func (p *denseProblem[T]) tall(r *rand.Rand) {
	p.rows = p.cols + 2 + r.IntN(6)
	p.fill(r)
}

// fill makes a matrix and data of these sizes.
func (p *denseProblem[T]) fill(r *rand.Rand) {
	p.a, p.b = make([]T, p.rows*p.cols), make([]T, p.rows)
	for _, v := range [][]T{p.a, p.b} {
		for i := range v {
			v[i] = scalar.From[T](complex(r.NormFloat64(), r.NormFloat64()))
		}
	}
}

// basisPursuit: ‖A·x - b‖ is Sigma, and the gradient is as that of a minimum of ‖x‖₁: as
// large as its largest element wherever x is not zero, and opposite to x.
func (p *denseProblem[T]) basisPursuit(r *rand.Rand) {
	p.name = "basis pursuit"
	sigma := (0.1 + 0.85*r.Float64()) * norm2(p.residual(nil))
	if p.rows >= p.cols { // so small a residual must be possible
		sigma = (0.9 + 0.09*r.Float64()) * norm2(p.residual(nil))
	}
	p.method = func(linop.Map[T, T]) (solve.Method[T, T], error) {
		return &solve.BasisPursuit[T, T]{Sigma: sigma, Tol: 1e-8}, nil
	}
	p.config = solve.Config{MaxIter: 20_000}
	p.holds = func(x []T, res solve.Result) error {
		if limited := res.Status == solve.MaxIter || res.Status == solve.AtRounding; limited && p.rows >= p.cols && res.Resid > sigma {
			for j := range p.cols {
				if g := cmplx.Abs(p.column(j, p.residual(x))); g > 1e-3*sigma { // Sigma is below the least residual
					return fmt.Errorf("%v (%s): the residual is %g for Sigma %g, and its product with column %d %g", res.Status, res.Why, res.Resid, sigma, j, g)
				}
			}
			return nil
		}
		rest, size := p.residual(x), norm2(p.residual(nil))
		if left := norm2(rest); res.Status != solve.Converged && res.Status != solve.AtRounding || math.Abs(left-sigma) > 1e-6*size {
			return fmt.Errorf("%v after %d (%s): the residual is %g for Sigma %g of %g", res.Status, res.Iters, res.Why, left, sigma, size)
		}
		q := p.sparseProblem
		q.eps = 0
		for j := range p.cols {
			q.eps = max(q.eps, cmplx.Abs(p.column(j, rest)))
		}
		return q.conditions(x, 0.02)
	}
}

// system: x solves a square system of good condition.
func (p *denseProblem[T]) system(r *rand.Rand) {
	p.rows = p.cols
	p.fill(r)
	for i := range p.rows { // away from singular matrices
		p.a[i*p.cols+i] += scalar.From[T](complex(3*math.Sqrt(float64(p.rows)), 0))
	}
	restart := 1 + r.IntN(p.rows+2)
	p.name = "BiCGStab"
	p.method = func(linop.Map[T, T]) (solve.Method[T, T], error) { return &solve.BiCGStab[T]{}, nil }
	if r.IntN(2) == 0 {
		p.name = fmt.Sprintf("GMRES(%d)", restart)
		p.method = func(linop.Map[T, T]) (solve.Method[T, T], error) { return &solve.GMRES[T]{Restart: restart}, nil }
	}
	p.config, p.loose = solve.Config{MaxIter: 500, RelTol: 1e-11}, 1e-8
	p.layouts[1] = p.layouts[0] // a system maps a space to itself
	p.holds = func(x []T, res solve.Result) error {
		left, size := norm2(p.residual(x)), norm2(p.residual(nil))
		if res.Status != solve.Converged || left > 2e-11*size || math.Abs(left-res.Resid) > 1e-12*size {
			return fmt.Errorf("%v after %d (%s): the residual is %g of %g, and said to be %g", res.Status, res.Iters, res.Why, left, size, res.Resid)
		}
		return nil
	}
}

// compare solves p on one and on several ranks.
func (p *denseProblem[T]) compare(ctx context.Context) error {
	var one []T
	for _, ranks := range []int{1, p.ranks} {
		x, res, err := p.solve(ctx, ranks)
		if err == nil {
			err = p.holds(x, res)
		}
		if err != nil {
			return fmt.Errorf("%s of %d × %d on %d ranks: %w", p.name, p.rows, p.cols, ranks, err)
		}
		if one == nil {
			one = x
		}
		for i := range x {
			if d := cmplx.Abs(scalar.Complex(x[i] - one[i])); p.loose > 0 && d > p.loose {
				return fmt.Errorf("%s of %d × %d: element %d is %v on %d ranks and %v on one", p.name, p.rows, p.cols, i, x[i], ranks, one[i])
			}
		}
	}
	return nil
}

func (p *denseProblem[T]) solve(ctx context.Context, ranks int) (x []T, res solve.Result, err error) {
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
		got, err := solve.Run(ctx, m, solve.Problem[T, T]{A: a, B: b}, y, p.config)
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, y)
		if r.Rank() == 0 {
			x, res = all, got
		}
		return err
	})
	return x, res, err
}
