package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// scaling makes A·x = b a problem whose squares are in range, by powers of two,
// which round nothing:
//
//	A' = 2^a·A,  damp' = 2^a·damp,  x = 2^x·x',  b' = 2^(a-x)·b
//
// Both are zero for an ordinary problem.
type scaling struct{ a, x int }

func (s scaling) on() bool { return s != scaling{} }

// given turns norms of the scaled problem into those of the user's problem.
func (s scaling) user(n Norms) Norms {
	return Norms{math.Ldexp(n.Resid, s.x-s.a), math.Ldexp(n.Grad, s.x-2*s.a)}
}

// resid turns a residual of the user's problem into that of the scaled one.
func (s scaling) resid(v float64) float64 { return math.Ldexp(v, s.a-s.x) }

// inRange is the range of ‖A‖ and ‖b‖ that needs no scaling. Methods have numbers
// as large as ‖A‖²·‖b‖ in vectors, and their squares in sums.
func inRange[D, R scalar.Scalar](v float64) bool {
	if short[D]() || short[R]() {
		return v >= 1e-9 && v <= 1e9
	}
	return v >= 1e-35 && v <= 1e35
}

// exponent returns the e for which 2^e·v is near 1. It is coarse, so that rounding
// does not change it.
func exponent(v float64) int { return -32 * int(math.Round(math.Log2(v)/32)) }

// needsNoScaling reports whether a problem with these norms at the start needs no
// scaling.
func (r *session[D, R]) needsNoScaling(n Norms) bool {
	ok := n.Resid == 0 && r.norm == 0 || inRange[D, R](n.Resid) && inRange[D, R](r.norm)
	if !math.IsNaN(n.Grad) || r.ws.Damp > 0 {
		ok = ok && n.Resid != 0 && inRange[D, R](max(n.Grad/n.Resid, r.ws.Damp))
	}
	return ok
}

// rescale scales the problem if its numbers need it, and reports whether they
// do. It is collective. It applies A twice, or A and Aᴴ.
func (r *session[D, R]) rescale(ctx context.Context) (bool, error) {
	dom, rng := r.ws.checkDomain, r.ws.checkRange.Array
	if err := r.ws.A.Forward(ctx, rng, r.ws.X.Array); err != nil {
		return false, err
	}
	dist.Sub(rng, r.ws.B.Array, rng)
	b, err := dist.Norm(ctx, rng, 2)
	if err != nil || b == 0 || math.IsNaN(b) || math.IsInf(b, 0) {
		return false, err
	}
	scaleByPowerOfTwo(rng, exponent(b), rng)
	unit, err := dist.Norm(ctx, rng, 2)
	if err != nil {
		return false, err
	}
	var grad dist.Array[D]
	if r.ws.hermitian {
		y, err := linop.Apply(ctx, r.ws.A, same[D](rng))
		if err != nil {
			return false, err
		}
		defer y.Free()
		grad = same[D](y)
	} else {
		grad = dom.Array
		if err := r.ws.A.Adjoint(ctx, grad, rng); err != nil {
			return false, err
		}
	}
	a, err := dist.Norm(ctx, grad, 2)
	if err != nil || math.IsNaN(a) || math.IsInf(a, 0) {
		return false, err
	}
	if a = max(a/unit, r.ws.Damp); a > 0 && !inRange[D, R](a) {
		r.scale.a = exponent(a)
	}
	r.scale.x = r.scale.a
	if !inRange[D, R](b) {
		r.scale.x -= exponent(b)
	}
	if !r.scale.on() {
		return false, nil
	}
	return true, r.applyScaling()
}

// applyScaling replaces problem and x by the scaled ones.
func (r *session[D, R]) applyScaling() error {
	s := r.scale
	y, err := dist.New[R](r.ws.B.Array.Space())
	if err != nil {
		return err
	}
	x, err := dist.New[D](r.given.Space())
	if err != nil {
		y.Free()
		return err
	}
	scaleByPowerOfTwo(y, s.a-s.x, r.ws.B.Array)
	scaleByPowerOfTwo(x, -s.x, r.given)
	r.ws.A, r.ws.Damp = &powerOfTwo[D, R]{r.ws.A, s.a}, math.Ldexp(r.ws.Damp, s.a)
	r.ws.X.Array, r.ws.B.Array = x, y
	r.norm = s.resid(r.norm)
	return nil
}

// free gives back the vectors of applyScaling.
func (r *session[D, R]) free() {
	r.ws.free()
	r.best.Free()
	if r.scale.on() {
		r.ws.X.Array.Free()
		r.ws.B.Array.Free()
	}
}

// copyToUser sets the user's x to the values of the scaled one.
func (r *session[D, R]) copyToUser(ctx context.Context) error {
	if !r.scale.on() {
		return nil
	}
	scaleByPowerOfTwo(r.given, r.scale.x, r.ws.X.Array)
	if r.res.Status == unfinished {
		return nil
	}
	n, err := dist.Norm(ctx, r.given, 2)
	if err == nil && math.IsInf(n, 0) {
		r.end(Breakdown, "iteration %d: x is about 2^%d, beyond the numbers of %s: scale the operator or the data", r.res.Iters, r.scale.x, typeName[D, R]())
	}
	return err
}

// scaleByPowerOfTwo sets dst = 2^e·src, in steps that are numbers of the element type.
func scaleByPowerOfTwo[T scalar.Scalar](dst dist.Array[T], e int, src dist.Array[T]) {
	const most = 100
	for ; e > most || e < -most; src = dst {
		step := min(max(e, -most), most)
		dist.Scale(dst, fromFloat[T](math.Ldexp(1, step)), src)
		e -= step
	}
	dist.Scale(dst, fromFloat[T](math.Ldexp(1, e)), src)
}

// powerOfTwo is 2^e·A.
type powerOfTwo[D, R scalar.Scalar] struct {
	linop.Map[D, R]
	e int
}

// Forward implements linop.Map.
func (s *powerOfTwo[D, R]) Forward(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
	err := s.Map.Forward(ctx, dst, src)
	if s.e != 0 {
		scaleByPowerOfTwo(dst, s.e, dst)
	}
	return err
}

// Adjoint implements linop.Map.
func (s *powerOfTwo[D, R]) Adjoint(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
	err := s.Map.Adjoint(ctx, dst, src)
	if s.e != 0 {
		scaleByPowerOfTwo(dst, s.e, dst)
	}
	return err
}

// typeName names the element types of x and b.
func typeName[D, R scalar.Scalar]() string {
	d, r := scalar.Of[D](), scalar.Of[R]()
	if d == r {
		return d.String()
	}
	return fmt.Sprintf("%v with data of %v", d, r)
}
