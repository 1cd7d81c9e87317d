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

// user turns norms of the scaled problem into those of the user's problem.
func (s scaling) user(n Norms) Norms {
	n.Resid, n.Grad = math.Ldexp(n.Resid, s.x-s.a), math.Ldexp(n.Grad, s.x-2*s.a)
	return n
}

// resid turns a residual of the user's problem into that of the scaled one.
func (s scaling) resid(v float64) float64 { return math.Ldexp(v, s.a-s.x) }

// inRange is the range of ‖A‖ and ‖b‖ that needs no scaling. Methods have numbers
// as large as ‖A‖²·‖b‖ in vectors, and their squares in sums.
func inRange[D, R scalar.Scalar](v float64) bool {
	limit := bySize[D, R](1e9, 1e35)
	return v >= 1/limit && v <= limit
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
	w, rng := r.ws, r.ws.checkRange
	r.residual(ctx, w.X)
	b := rng.norm(ctx)
	if b == 0 || !finite(b) {
		return false, w.Err()
	}
	scaleByPowerOfTwo(rng.Array, exponent(b), rng.Array)
	unit := rng.norm(ctx)
	g := w.extra()
	defer g.Free()
	r.gradient(ctx, g)
	a := g.norm(ctx)
	if !finite(a) {
		return false, w.Err()
	}
	var s scaling
	if a = max(a/unit, w.Damp); a > 0 && !inRange[D, R](a) {
		s.a = exponent(a)
	}
	s.x = s.a
	if !inRange[D, R](b) {
		s.x -= exponent(b)
	}
	if s == (scaling{}) {
		return false, nil
	}
	return true, r.applyScaling(s)
}

// applyScaling replaces problem and x by the scaled ones.
func (r *session[D, R]) applyScaling(s scaling) error {
	w := r.ws
	y, err := dist.New[R](w.B.Space())
	if err != nil {
		return err
	}
	x, err := dist.New[D](w.X.Space())
	if err != nil {
		y.Free()
		return err
	}
	scaleByPowerOfTwo(y, s.a-s.x, w.B.Array)
	scaleByPowerOfTwo(x, -s.x, w.X.Array)
	r.scale, w.X.Array, w.B.Array = s, x, y
	r.norm, w.Damp = s.resid(r.norm), math.Ldexp(w.Damp, s.a)
	for e := s.a; e != 0 && err == nil; e -= factor(e) {
		w.A, err = linop.Scale(fromFloat[R](math.Ldexp(1, factor(e))), w.A)
	}
	return err
}

// free gives back the vectors of applyScaling.
func (r *session[D, R]) free() {
	r.ws.free()
	if r.best != nil {
		r.best.Free()
	}
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

// scaleByPowerOfTwo sets dst = 2^e·src.
func scaleByPowerOfTwo[T scalar.Scalar](dst dist.Array[T], e int, src dist.Array[T]) {
	for first := true; first || e != 0; first, src = false, dst {
		dist.Scale(dst, fromFloat[T](math.Ldexp(1, factor(e))), src)
		e -= factor(e)
	}
}

// factor returns the exponent of the first factor of 2^e, each of which is a number
// of every element type.
func factor(e int) int { return min(max(e, -100), 100) }

// typeName names the element types of x and b.
func typeName[D, R scalar.Scalar]() string {
	d, r := scalar.Of[D](), scalar.Of[R]()
	if d == r {
		return d.String()
	}
	return fmt.Sprintf("%v with data of %v", d, r)
}
