package solve

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// VectorOn is Workspace.Domain for a vector of any space on the ranks of the problem,
// such as the range of a second operator. It must be called in Init.
func VectorOn[T, D, R scalar.Scalar](w *Workspace[D, R], space *dist.Space, name string) *Vector[T] {
	return take[T](&w.shared, space, name, false)
}

// ScratchOn is VectorOn for a vector that a step writes before it reads it.
func ScratchOn[T, D, R scalar.Scalar](w *Workspace[D, R], space *dist.Space, name string) *Vector[T] {
	return take[T](&w.shared, space, name, true)
}

// Forward sets dst = op·src for an operator other than that of the problem. It is
// collective.
func Forward[D, R scalar.Scalar](ctx context.Context, op linop.Map[D, R], dst *Vector[R], src *Vector[D]) {
	if w := dst.w; w.ready(ctx) && dst.writable() {
		w.err = op.Forward(ctx, dst.Array, src.Array)
	}
}

// Adjoint sets dst = opᴴ·src for an operator other than that of the problem. It is
// collective.
func Adjoint[D, R scalar.Scalar](ctx context.Context, op linop.Map[D, R], dst *Vector[D], src *Vector[R]) {
	if w := dst.w; w.ready(ctx) && dst.writable() {
		w.err = op.Adjoint(ctx, dst.Array, src.Array)
	}
}

// valued is a Function or a Smooth.
type valued[T scalar.Scalar] interface {
	Value(ctx context.Context, x dist.Array[T]) (float64, error)
}

// Value returns f(v) of a Function or a Smooth. It is collective.
func (v *Vector[T]) Value(ctx context.Context, f valued[T]) float64 {
	if !v.w.ready(ctx) {
		return math.NaN()
	}
	y, err := f.Value(ctx, v.Array)
	if v.w.Fail(err); err != nil {
		return math.NaN()
	}
	return y
}

// Prox sets v to the prox of τ·f at x, which may be v. It is collective.
func (v *Vector[T]) Prox(ctx context.Context, f Function[T], tau float64, x *Vector[T]) {
	if v.w.ready(ctx) && v.writable() {
		v.w.err = f.Prox(ctx, v.Array, tau, x.Array)
	}
}

// DualProx sets v to the prox of σ·f* at x, which may be v. f* is the convex conjugate
// of f. scratch is another vector of the same space. It is collective.
func (v *Vector[T]) DualProx(ctx context.Context, f Function[T], sigma float64, x, scratch *Vector[T]) {
	if v.w.ready(ctx) && v.writable() && scratch.writable() {
		v.w.err = DualProx(ctx, f, v.Array, sigma, x.Array, scratch.Array)
	}
}

// Gradient sets v = ∇f(x). x may be v. It is collective.
func (v *Vector[T]) Gradient(ctx context.Context, f Smooth[T], x *Vector[T]) {
	if v.w.ready(ctx) && v.writable() {
		v.w.err = f.Gradient(ctx, v.Array, x.Array)
	}
}

// Threshold shrinks the elements of x towards zero into v, which may be x.
func (v *Vector[T]) Threshold(kind device.ThresholdKind, t float64, x *Vector[T]) {
	if v.writable() {
		dist.Threshold(v.Array, x.Array, kind, t)
	}
}

// Set sets v = a·x + b·y. x or y may be v.
func (v *Vector[T]) Set(a float64, x *Vector[T], b float64, y *Vector[T]) {
	if v.writable() {
		dist.Combine(v.Array, fromFloat[T](a), x.Array, fromFloat[T](b), y.Array)
	}
}

// QueueNorm1 has the next Reduce set to to ‖v‖₁, the sum of the moduli.
func (v *Vector[T]) QueueNorm1(to *float64) { v.queueNorm(1, to) }

// Parameter refuses a parameter of a method that is negative, NaN or infinite. It must
// be called in Init.
func (s *shared) Parameter(name string, v float64) {
	if !(v >= 0) || math.IsInf(v, 0) {
		s.Fail(fmt.Errorf("%s is %g, must be finite and not negative", name, v))
	}
}

// NeedB refuses a problem without b. A Minimiser whose cost has a b calls it in Init.
func (w *Workspace[D, R]) NeedB() {
	if w.B.Space() == nil {
		w.Fail(fmt.Errorf("no b given: the method minimises %s", w.minimises))
	}
}

// shrink maps the elements of x by their moduli into v, which may be x.
func (v *Vector[T]) shrink(by device.Shrinkage, x *Vector[T]) {
	if v.writable() {
		dist.Shrink(v.Array, x.Array, by)
	}
}

// mul sets v = x·y, element by element. v may be x or y.
func (v *Vector[T]) mul(x, y *Vector[T]) {
	if v.writable() {
		dist.Mul(v.Array, x.Array, y.Array)
	}
}

// masked returns A·W, where W multiplies the elements of x by those of weights.
func masked[D, R scalar.Scalar](a linop.Map[D, R], weights, scratch *Vector[D]) (linop.Map[D, R], error) {
	return linop.Func("weighted columns", a.Domain(), a.Range(), func(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
		dist.Mul(scratch.Array, weights.Array, src)
		return a.Forward(ctx, dst, scratch.Array)
	}, func(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
		err := a.Adjoint(ctx, dst, src)
		dist.Mul(dst, weights.Array, dst)
		return err
	})
}

// weighted returns W·A, where W multiplies the elements of A·x by those of weights.
func weighted[D, R scalar.Scalar](a linop.Map[D, R], weights, scratch *Vector[R]) (linop.Map[D, R], error) {
	return linop.Func("weighted rows", a.Domain(), a.Range(), func(ctx context.Context, dst dist.Array[R], src dist.Array[D]) error {
		err := a.Forward(ctx, dst, src)
		dist.Mul(dst, weights.Array, dst)
		return err
	}, func(ctx context.Context, dst dist.Array[D], src dist.Array[R]) error {
		dist.Mul(scratch.Array, weights.Array, src)
		return a.Adjoint(ctx, dst, scratch.Array)
	})
}
