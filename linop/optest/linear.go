package optest

import (
	"context"
	"fmt"
	"math/cmplx"
	"math/rand/v2"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Linear checks that a·(αu + βv) = α·(a·u) + β·(a·v) for random vectors and
// numbers, and the same of the adjoint. If one of the element types is real, so
// are α and β.
func Linear[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	return LinearWith(ctx, DotConfig{}, a)
}

// LinearWith is Linear with the choices of c.
func LinearWith[D, R scalar.Scalar](ctx context.Context, c DotConfig, a linop.Map[D, R]) error {
	if err := valid(a); err != nil {
		return err
	}
	err := linear(ctx, c, a)
	if err := agree(ctx, a, "linearity of forward", err); err != nil {
		return err
	}
	err = linear(ctx, c, linop.H(a))
	return agree(ctx, a, "linearity of adjoint", err)
}

func linear[D, R scalar.Scalar](ctx context.Context, c DotConfig, a linop.Map[D, R]) error {
	g := rand.New(rand.NewPCG(c.Seed, 0))
	draw := func() complex128 { return complex(float64(2*g.Float32()-1), float64(2*g.Float32()-1)) } // exact in 32 bits
	alpha, beta := draw(), draw()
	if c.real(isComplex[D]() && isComplex[R]()) {
		alpha, beta = complex(real(alpha), 0), complex(real(beta), 0)
	}
	u, au, err := image(ctx, a, c.Seed)
	if err != nil {
		return err
	}
	v, av, err := image(ctx, a, c.Seed+1)
	if err != nil {
		return err
	}
	nau, err := dist.Norm(ctx, au, 2)
	if err != nil {
		return err
	}
	nav, err := dist.Norm(ctx, av, 2)
	if err != nil {
		return err
	}
	dist.Combine(u, scalar.From[D](alpha), u, scalar.From[D](beta), v)
	nu, err := dist.Norm(ctx, u, 2)
	if err != nil {
		return err
	}
	got, err := linop.Apply(ctx, a, u)
	if err != nil {
		return err
	}
	ng, err := dist.Norm(ctx, got, 2)
	if err != nil {
		return err
	}
	dist.Combine(au, scalar.From[R](alpha), au, scalar.From[R](beta), av)
	dist.Sub(got, got, au)
	diff, err := dist.Norm(ctx, got, 2)
	if err != nil {
		return err
	}
	tol := c.tol(is32[D]() || is32[R]())
	if scale := max(ng, cmplx.Abs(alpha)*nau+cmplx.Abs(beta)*nav, c.Norm*nu); !(diff <= tol*scale) {
		return fmt.Errorf("A(αu+βv) and αAu+βAv differ by %.3g, more than %.3g times the scale %.3g, with α = %v, β = %v; seed %d", diff, tol, scale, alpha, beta, c.Seed)
	}
	return nil
}
