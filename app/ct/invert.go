package ct

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// invert finds the image x by the method of the configuration. fbp is where total
// variation begins.
func invert[T scalar.Scalar](ctx context.Context, r *app.Rank, s *scan, a linop.Operator[T], y, fbp, x dist.Array[T]) error {
	m, p := app.Method[T, T](s.Solver.Method), solve.Problem[T, T]{A: a, B: y}
	if m == nil {
		r.Stage("norms", func() {
			var err error
			m, p, err = minimiser(ctx, s, a, y, fbp, x)
			golops.Check(err)
		})
		var k golops.Op[T, T]
		if p.A != nil {
			k = golops.FromMap(r.World, p.A)
		}
		app.Minimise(r, s.Solver.Solver, m, k, vec(r, x))
		return nil
	}
	app.Invert(r, s.Solver.Solver, m, golops.FromMap(r.World, a), vec(r, y), vec(r, x))
	return nil
}

// minimiser returns the method nonnegative or tv. Both scale the projector P to a norm
// of 1, so that the length of steps depends neither on units nor on the scan:
//
//	nonnegative: ½‖P·x - y‖², x ≥ 0        tv: ½‖P·x - y‖² + w·Σ|∇x|, x ≥ 0
//
// w is the weight of the configuration times the largest value of Pᴴy.
func minimiser[T scalar.Scalar](ctx context.Context, s *scan, a linop.Operator[T], y, fbp, x dist.Array[T]) (solve.Method[T, T], solve.Problem[T, T], error) {
	var none solve.Problem[T, T]
	back, err := linop.Apply(ctx, linop.H(a), y)
	if err != nil {
		return nil, none, err
	}
	norm, err := normOf(ctx, a, back)
	if err != nil {
		return nil, none, err
	}
	p, err := linop.Scale(scalar.From[T](complex(1/norm, 0)), a)
	if err != nil {
		return nil, none, err
	}
	data, err := dist.New[T](y.Space())
	if err != nil {
		return nil, none, err
	}
	dist.Scale(data, scalar.From[T](complex(1/norm, 0)), y)
	positive, err := prox.Box[T](ctx, x.Space(), 0, math.Inf(1))
	if err != nil {
		return nil, none, err
	}
	if s.Solver.Method == "nonnegative" {
		misfit, err := prox.L2Operator(ctx, p, data, 1, prox.InnerDefaults())
		if err != nil {
			return nil, none, err
		}
		smooth, ok := misfit.(solve.Smooth[T])
		if !ok {
			return nil, none, errors.New("the misfit has no gradient")
		}
		return &solve.ProximalGradient[T]{F: smooth, G: positive, Weight: 1, Tau: 1, Momentum: solve.FISTAMomentum}, none, nil
	}
	largest, err := dist.Norm(ctx, back, math.Inf(1))
	if err != nil {
		return nil, none, err
	}
	gradient, err := ops.Gradient[T](ctx, x.Space(), ops.GradientOptions{Kind: ops.DerivativeForward})
	if err != nil {
		return nil, none, err
	}
	steep := math.Sqrt(8) // at most the norm of a gradient in two dimensions
	if gradient, err = linop.Scale(scalar.From[T](complex(1/steep, 0)), gradient); err != nil {
		return nil, none, err
	}
	both, err := linop.VStack(p, gradient)
	if err != nil {
		return nil, none, err
	}
	misfit, err := prox.L2(ctx, y.Space(), data, 1)
	if err != nil {
		return nil, none, err
	}
	variation, err := prox.L21[T](ctx, gradient.Range(), s.Solver.Weight*largest/(norm*norm)*steep)
	if err != nil {
		return nil, none, err
	}
	sum, err := prox.Stack(ctx, misfit, variation)
	if err != nil {
		return nil, none, err
	}
	if err := positive.Prox(ctx, x, 1, fbp); err != nil {
		return nil, none, err
	}
	return &solve.PrimalDual[T, T]{F: positive, G: sum, Tau: stretch, Mu: 1 / (2 * stretch), Theta: 1}, solve.Problem[T, T]{A: both}, nil
}

// stretch makes steps of the image longer and those of the dual shorter: 2 is above the
// square of the norm of both operators together. With 20 the example takes the fewest
// steps.
const stretch = 20.0

// normOf returns a number somewhat above the norm of a, by power iteration from x.
func normOf[T scalar.Scalar](ctx context.Context, a linop.Operator[T], x dist.Array[T]) (float64, error) {
	start, err := dist.New[T](x.Space())
	if err != nil {
		return 0, err
	}
	dist.Copy(start, x)
	square, err := linop.Compose(linop.H(a), a)
	if err != nil {
		return 0, err
	}
	eig, _, err := solve.PowerIteration(ctx, square, start, 50, 1e-4)
	if err != nil {
		return 0, err
	}
	norm := math.Sqrt(real(scalar.Complex(eig))) * 1.01
	if !(norm > 0) || math.IsInf(norm, 0) {
		return 0, fmt.Errorf("the rays do not cross the image: the norm of the projector is %g", norm)
	}
	return norm, nil
}
