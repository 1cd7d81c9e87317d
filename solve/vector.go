package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// Vector is a vector of a workspace. Its methods take real numbers for any element
// type. They do nothing after an error, and return NaN then.
type Vector[T scalar.Scalar] struct {
	dist.Array[T]
	vectorState
	w *shared
}

// vectorState is what a workspace knows of a vector of any element type.
type vectorState struct {
	name    string
	scratch bool
	isX     bool
	taken   bool // Init has asked for it
}

func (v *vectorState) state() *vectorState { return v }

// named is the vector as checkpoints know it.
func (v *Vector[T]) named() NamedArray { return NamedArray{v.name, v.Array} }

// writable reports whether v may be changed: not after an error. Votes of the ranks
// are counted before x changes, because they may end the run.
func (v *Vector[T]) writable() bool {
	if v.isX && v.w.votes.cast && v.w.err == nil {
		_ = v.w.count(v.w.votes.ctx) // the error stays in the workspace
	}
	return v.w.err == nil
}

// Copy sets v = x.
func (v *Vector[T]) Copy(x *Vector[T]) {
	if v.writable() {
		dist.Copy(v.Array, x.Array)
	}
}

// Zero sets v = 0.
func (v *Vector[T]) Zero() {
	if v.writable() {
		dist.Zero(v.Array)
	}
}

// Scale sets v = a·v.
func (v *Vector[T]) Scale(a float64) { v.SetScaled(a, v) }

// SetScaled sets v = a·x.
func (v *Vector[T]) SetScaled(a float64, x *Vector[T]) {
	if v.writable() {
		dist.Scale(v.Array, fromFloat[T](a), x.Array)
	}
}

// Add sets v = v + a·x.
func (v *Vector[T]) Add(a float64, x *Vector[T]) { v.Combine(1, a, x) }

// Combine sets v = b·v + a·x.
func (v *Vector[T]) Combine(b, a float64, x *Vector[T]) {
	if v.writable() {
		dist.Axpby(fromFloat[T](a), x.Array, fromFloat[T](b), v.Array)
	}
}

// Swap exchanges the elements of v and x, without moving them. Each keeps its name.
func (v *Vector[T]) Swap(x *Vector[T]) {
	if v.writable() && x.writable() {
		v.Array, x.Array = x.Array, v.Array
	}
}

// Dot returns the real part of vᴴx. It is collective: one message.
func (v *Vector[T]) Dot(ctx context.Context, x *Vector[T]) float64 {
	if !v.w.ready(ctx) {
		return math.NaN()
	}
	return v.w.reduceOne(ctx, dist.AddDot(v.w.one, v.Array, x.Array))
}

// Norm2 returns ‖v‖². It is collective: one message.
func (v *Vector[T]) Norm2(ctx context.Context) float64 {
	if !v.w.ready(ctx) {
		return math.NaN()
	}
	return v.w.reduceOne(ctx, dist.AddNorm2(v.w.one, v.Array))
}

// AddNorm2 sets v = v + a·x and returns ‖v‖², in one pass over memory. It is
// collective: one message.
func (v *Vector[T]) AddNorm2(ctx context.Context, a float64, x *Vector[T]) float64 {
	if !v.w.ready(ctx) || !v.writable() {
		return math.NaN()
	}
	return v.w.reduceOne(ctx, dist.AddAxpyNorm2(v.w.one, fromFloat[T](a), x.Array, v.Array))
}

// reduceOne sends the message of one number.
func (s *shared) reduceOne(ctx context.Context, n dist.Slot) float64 {
	if s.send(ctx, s.one); s.err != nil {
		return math.NaN()
	}
	return n.Float()
}

// QueueDot has the next Reduce set to to the real part of vᴴx.
func (v *Vector[T]) QueueDot(x *Vector[T], to *float64) { v.QueueComplexDot(x, to, nil) }

// QueueComplexDot has the next Reduce set re and im to the parts of vᴴx.
func (v *Vector[T]) QueueComplexDot(x *Vector[T], re, im *float64) {
	if to := v.w.enqueue(re, im); to != nil {
		*to = dist.AddDot(v.w.several, v.Array, x.Array)
	}
}

// QueueNorm2 has the next Reduce set to to ‖v‖².
func (v *Vector[T]) QueueNorm2(to *float64) {
	if to := v.w.enqueue(to, nil); to != nil {
		*to = dist.AddNorm2(v.w.several, v.Array)
	}
}

// queueNorm has the next Reduce set to to the p-norm of v. Squares may be out of range.
func (v *Vector[T]) queueNorm(p float64, to *float64) {
	if to := v.w.enqueue(to, nil); to != nil {
		*to = dist.AddNorm(v.w.several, v.Array, p)
	}
}

// norm returns ‖v‖, whose square may be out of range. It is collective: one message.
func (v *Vector[T]) norm(ctx context.Context) float64 {
	v.queueNorm(2, &v.w.pair[0])
	v.w.Reduce(ctx)
	return v.w.pair[0]
}

// QueueAddNorm2 sets v = v + a·x, in one pass over memory, and has the next Reduce
// set to to ‖v‖².
func (v *Vector[T]) QueueAddNorm2(a float64, x *Vector[T], to *float64) {
	v.writable()
	if to := v.w.enqueue(to, nil); to != nil {
		*to = dist.AddAxpyNorm2(v.w.several, fromFloat[T](a), x.Array, v.Array)
	}
}

// enqueue makes room for a number of the next Reduce, nil after an error.
func (s *shared) enqueue(re, im *float64) *dist.Slot {
	if len(s.queue) == 0 {
		s.several.Reset()
	}
	s.queue = append(s.queue, queued{re: re, im: im})
	if s.err != nil {
		return nil
	}
	return &s.queue[len(s.queue)-1].slot
}

// fromFloat is a real number as an element.
func fromFloat[T scalar.Scalar](v float64) T { return scalar.From[T](complex(v, 0)) }
