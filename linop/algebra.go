package linop

import (
	"context"
	"fmt"
	"math/cmplx"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/trace"
)

// Add returns a + b. Domain and range lie like those of a; where those of b
// have the same shape but lie differently, arrays are moved.
func Add[D, R scalar.Scalar](a, b Map[D, R]) (Map[D, R], error) { return newSum("add", a, b, 1, 1) }

// Sub returns a - b. Otherwise it is like Add.
func Sub[D, R scalar.Scalar](a, b Map[D, R]) (Map[D, R], error) {
	return newSum("subtract", a, b, -1, -1)
}

// sum is a + s·b with s = ±1, in both element types.
type sum[D, R scalar.Scalar] struct {
	Spaces
	a, b Map[D, R]
	sd   D
	sr   R
	x    dist.Array[D] // what b gives
	y    dist.Array[R]
}

func newSum[D, R scalar.Scalar](what string, a, b Map[D, R], sd D, sr R) (Map[D, R], error) {
	for i, op := range []Map[D, R]{a, b} {
		if err := valid(op); err != nil {
			return nil, fmt.Errorf("linop: %s: operator %d: %w", what, i, err)
		}
	}
	s := &sum[D, R]{Spaces: Spaces{a.Domain(), a.Range()}, a: a, sd: sd, sr: sr}
	var err error
	if s.b, err = fit(b, a.Domain(), a.Range(), "operator 1", "operator 0"); err != nil {
		return nil, fmt.Errorf("linop: %s: %w", what, err)
	}
	if s.x, err = dist.New[D](s.b.Domain()); err == nil {
		s.y, err = dist.New[R](s.b.Range())
	}
	if err != nil {
		return nil, fmt.Errorf("linop: %s: %w", what, err)
	}
	return s, nil
}

func (s *sum[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check("linop: sum", "forward", &dst, s.Rng, &src, s.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: sum", "forward").End()
	if err := s.a.Forward(ctx, dst, src); err != nil {
		return err
	}
	if err := s.b.Forward(ctx, s.y, src); err != nil {
		return err
	}
	dist.Axpby(s.sr, s.y, 1, dst)
	return nil
}

func (s *sum[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check("linop: sum", "adjoint", &dst, s.Dom, &src, s.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: sum", "adjoint").End()
	if err := s.a.Adjoint(ctx, dst, src); err != nil {
		return err
	}
	if err := s.b.Adjoint(ctx, s.x, src); err != nil {
		return err
	}
	dist.Axpby(s.sd, s.x, 1, dst)
	return nil
}

// Scale returns c·a. Its adjoint is conj(c)·aᴴ.
func Scale[D, R scalar.Scalar](c R, a Map[D, R]) (Map[D, R], error) {
	if err := valid(a); err != nil {
		return nil, fmt.Errorf("linop: scale by %v: %w", c, err)
	}
	v := cmplx.Conj(scalar.Complex(c))
	if s, ok := a.(Scaler[D, R]); ok && !cmplx.IsNaN(v) && !cmplx.IsInf(v) {
		if m := s.Scaled(c); m != nil {
			return m, nil
		}
	}
	s := &scaled[D, R]{Spaces: Spaces{a.Domain(), a.Range()}, a: a, c: c, cd: scalar.From[D](v), cr: scalar.From[R](v)}
	if s.before = !scalar.Of[D]().IsComplex() && imag(v) != 0; s.before {
		var err error
		if s.y, err = dist.New[R](a.Range()); err != nil {
			return nil, fmt.Errorf("linop: scale by %v: %w", c, err)
		}
	}
	return s, nil
}

// Neg returns -a.
func Neg[D, R scalar.Scalar](a Map[D, R]) (Map[D, R], error) {
	if err := valid(a); err != nil {
		return nil, fmt.Errorf("linop: negate: %w", err)
	}
	return Scale(-1, a)
}

// scaled multiplies results in place. Only the adjoint of a map from real to
// complex vectors times a complex number has to scale its argument.
type scaled[D, R scalar.Scalar] struct {
	Spaces
	a      Map[D, R]
	c      R
	cd     D // conj(c)
	cr     R // conj(c)
	before bool
	y      dist.Array[R]
}

func (s *scaled[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	if err := dist.Check("linop: scaled operator", "forward", &dst, s.Rng, &src, s.Dom); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: scaled operator", "forward").End()
	if err := s.a.Forward(ctx, dst, src); err != nil {
		return err
	}
	dist.Scale(dst, s.c, dst)
	return nil
}

func (s *scaled[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	if err := dist.Check("linop: scaled operator", "adjoint", &dst, s.Dom, &src, s.Rng); err != nil {
		return err
	}
	defer trace.BeginPart(ctx, "linop: scaled operator", "adjoint").End()
	if s.before {
		dist.Scale(s.y, s.cr, src)
		return s.a.Adjoint(ctx, dst, s.y)
	}
	if err := s.a.Adjoint(ctx, dst, src); err != nil {
		return err
	}
	dist.Scale(dst, s.cd, dst)
	return nil
}
