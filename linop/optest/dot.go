package optest

import (
	"context"
	"fmt"
	"math/cmplx"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Dot checks that Forward and Adjoint of a fit together: ⟨a·u, v⟩ = ⟨u, aᴴ·v⟩
// for random u and v. If one of the element types is real, the real parts are
// compared.
func Dot[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R]) error {
	return DotWith(ctx, DotConfig{}, a)
}

// DotWith is Dot with the choices of c. The error is measured against
// ‖a·u‖·‖v‖, ‖u‖·‖aᴴ·v‖ and Norm·‖u‖·‖v‖, not against the product itself, which
// may come out small by chance.
func DotWith[D, R scalar.Scalar](ctx context.Context, c DotConfig, a linop.Map[D, R]) error {
	if err := valid(a); err != nil {
		return err
	}
	u, au, err := image(ctx, a, c.Seed)
	if err := agree(ctx, a, "dot test, forward", err); err != nil {
		return err
	}
	v, av, err := image(ctx, linop.H(a), c.Seed+1)
	if err := agree(ctx, a, "dot test, adjoint", err); err != nil {
		return err
	}
	left, nau, nv, err := product(ctx, au, v)
	if err != nil {
		return fmt.Errorf("optest: dot test: %w", err)
	}
	right, nu, nav, err := product(ctx, u, av)
	if err != nil {
		return fmt.Errorf("optest: dot test: %w", err)
	}
	if c.real(isComplex[D]() && isComplex[R]()) {
		left, right = complex(real(left), 0), complex(real(right), 0)
	}
	tol := c.tol(is32[D]() || is32[R]())
	if diff, scale := cmplx.Abs(left-right), max(nau*nv, nu*nav, c.Norm*nu*nv); !(diff <= tol*scale) {
		err = fmt.Errorf("⟨Au,v⟩ = %v, but ⟨u,Aᴴv⟩ = %v: they differ by %.3g, more than %.3g times the scale %.3g; seed %d", left, right, diff, tol, scale, c.Seed)
	}
	return agree(ctx, a, "dot test", err)
}

// image returns a random vector and what a makes of it.
func image[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], seed uint64) (dist.Array[D], dist.Array[R], error) {
	u, err := dist.Random[D](ctx, a.Domain(), seed)
	if err != nil {
		return u, dist.Array[R]{}, err
	}
	y, err := linop.Apply(ctx, a, u)
	return u, y, err
}

// product returns xᴴy, ‖x‖ and ‖y‖.
func product[T scalar.Scalar](ctx context.Context, x, y dist.Array[T]) (xy complex128, nx, ny float64, err error) {
	dot, err := dist.Dot(ctx, x, y)
	if err != nil {
		return 0, 0, 0, err
	}
	if nx, err = dist.Norm(ctx, x, 2); err != nil {
		return 0, 0, 0, err
	}
	ny, err = dist.Norm(ctx, y, 2)
	return scalar.Complex(dot), nx, ny, err
}
