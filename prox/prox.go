// Package prox has functions of distributed arrays with a value and a prox: norms,
// distances, sets and what combines them. They are what the methods of package solve
// minimise beside, or instead of, a sum of squares.
//
// The prox of f with step τ is the z that makes f(z) + ‖z - x‖²/(2τ) smallest. Of the
// indicator of a set, whose value is 0 in the set and +Inf outside, it is the nearest
// point of the set. The dual prox is that of the convex conjugate f*; it follows from
// the Moreau identity where a function has no shorter way. Functions with a gradient
// are solve.Smooth.
//
// Functions take arrays of any layout. Elements that several ranks hold count once. In
// a space with a mask, each color has a value and a set of its own. A Value is one
// message, and a Prox none, unless the function says otherwise.
//
// A function of your own is a type with Value and Prox, or a Definition: New adds the
// checks of arguments and the dual prox. Package proxtest checks both.
package prox

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Function is a function of arrays of a space. Those with a gradient are also
// solve.Smooth.
type Function[T scalar.Scalar] interface {
	solve.Function[T]
	solve.Dual[T]
	solve.Stateful
	Space() *dist.Space
	String() string
}

// Definition is what an author of a function writes. Value and Prox are as
// solve.Function has them. They are called with arrays of the space only, and with a
// positive τ.
type Definition[T scalar.Scalar] struct {
	Value    func(ctx context.Context, x dist.Array[T]) (float64, error)
	Prox     func(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error
	DualProx func(ctx context.Context, y dist.Array[T], sigma float64, x dist.Array[T]) error // nil: by the Moreau identity
	Gradient func(ctx context.Context, g, x dist.Array[T]) error                              // nil if there is none
	State    func() ([]solve.NamedArray, []solve.NamedNumber)                                 // as solve.Stateful has it; nil if no call depends on earlier ones
}

// New returns the function of a definition over arrays of x. Errors call it by its
// name, such as "prox: L1". It does not communicate.
func New[T scalar.Scalar](name string, x *dist.Space, d Definition[T]) (Function[T], error) {
	switch {
	case x == nil:
		return nil, fmt.Errorf("%s: no space given", name)
	case d.Value == nil || d.Prox == nil:
		return nil, fmt.Errorf("%s: Value or Prox is nil: a function needs both", name)
	}
	f := &function[T]{name: name, space: x, d: d}
	f.moreau = onlyProx[T]{f}
	if d.Gradient != nil {
		return &smooth[T]{f}, nil
	}
	return f, nil
}

// function checks arguments and has the dual prox.
type function[T scalar.Scalar] struct {
	name    string
	space   *dist.Space
	d       Definition[T]
	moreau  solve.Function[T] // without the dual prox
	scratch dist.Array[T]     // of the Moreau identity; made when first needed
}

// Space returns the space of the arrays that the function takes.
func (f *function[T]) Space() *dist.Space { return f.space }

// State implements solve.Stateful.
func (f *function[T]) State() ([]solve.NamedArray, []solve.NamedNumber) {
	if f.d.State == nil {
		return nil, nil
	}
	return f.d.State()
}

// String returns the name and the space.
func (f *function[T]) String() string { return fmt.Sprintf("%s of %v", f.name, f.space) }

// Value implements solve.Function.
func (f *function[T]) Value(ctx context.Context, x dist.Array[T]) (float64, error) {
	if err := f.check("value", &x, &x, 1); err != nil {
		return math.NaN(), err
	}
	v, err := f.d.Value(ctx, x)
	return v, f.named("value", err)
}

// Prox implements solve.Function.
func (f *function[T]) Prox(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
	if err := f.check("prox", &y, &x, tau); err != nil {
		return err
	}
	return f.named("prox", f.d.Prox(ctx, y, tau, x))
}

// DualProx implements solve.Dual.
func (f *function[T]) DualProx(ctx context.Context, y dist.Array[T], sigma float64, x dist.Array[T]) error {
	if err := f.check("dual prox", &y, &x, sigma); err != nil {
		return err
	}
	if f.d.DualProx != nil {
		return f.named("dual prox", f.d.DualProx(ctx, y, sigma, x))
	}
	if f.scratch.Space() == nil {
		var err error
		f.scratch, err = dist.New[T](f.space)
		if err = dist.Agree(ctx, f.space.Group(), f.name+": dual prox", err); err != nil {
			return err
		}
	}
	return solve.DualProx(ctx, f.moreau, y, sigma, x, f.scratch)
}

// onlyProx hides the dual prox of a function.
type onlyProx[T scalar.Scalar] struct{ solve.Function[T] }

// smooth is a function with a gradient.
type smooth[T scalar.Scalar] struct{ *function[T] }

// Gradient implements solve.Smooth.
func (f *smooth[T]) Gradient(ctx context.Context, g, x dist.Array[T]) error {
	if err := f.check("gradient", &g, &x, 1); err != nil {
		return err
	}
	return f.named("gradient", f.d.Gradient(ctx, g, x))
}

// check says what is wrong with the arguments of a call. It takes arrays by address
// because they are large.
func (f *function[T]) check(how string, y, x *dist.Array[T], tau float64) error {
	switch ys, xs := y.Space(), x.Space(); {
	case xs == nil || ys == nil:
		return fmt.Errorf("%s: %s: an array was never made: use dist.New", f.name, how)
	case xs != f.space && !xs.Equal(f.space):
		why, _ := xs.Difference(f.space)
		return fmt.Errorf("%s: %s: %s: x is of %v, the function takes %v", f.name, how, why, xs, f.space)
	case ys != f.space && !ys.Equal(f.space):
		why, _ := ys.Difference(f.space)
		return fmt.Errorf("%s: %s: %s: the result is of %v, the function takes %v", f.name, how, why, ys, f.space)
	case !(tau > 0) || math.IsInf(tau, 0):
		return fmt.Errorf("%s: %s: the step is %g, must be positive and finite", f.name, how, tau)
	}
	return nil
}

func (f *function[T]) named(how string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %s: %w", f.name, how, err)
	}
	return err
}

// build ends a constructor: all ranks return a function, or all an error. values are
// what ranks must have in common.
func build[T scalar.Scalar](ctx context.Context, name string, x *dist.Space, err error, d Definition[T], values ...any) (Function[T], error) {
	name = "prox: " + name
	if x == nil {
		return nil, fmt.Errorf("%s: no space given", name)
	}
	if err := dist.Agree(ctx, x.Comm(), name, err, append([]any{x.Shape(), " "}, values...)...); err != nil {
		return nil, err
	}
	return New(name, x, d)
}

// number returns v as an element.
func number[T scalar.Scalar](v float64) T { return scalar.From[T](complex(v, 0)) }

// weight says what is wrong with a factor of a function.
func weight(name string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is %g, must be finite and not negative", name, v)
	}
	return nil
}

// positive says what is wrong with a number that must be positive.
func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is %g, must be positive and finite", name, v)
	}
	return nil
}

// belongs says what is wrong with an array that a function keeps. The zero Array is
// right if it may be left out.
func belongs[T scalar.Scalar](name string, a dist.Array[T], x *dist.Space, optional bool) error {
	switch {
	case a.Space() == nil && optional, x == nil:
		return nil
	case a.Space() == nil:
		return fmt.Errorf("%s was never made: use dist.New", name)
	case !a.Space().Equal(x):
		why, _ := a.Space().Difference(x)
		return fmt.Errorf("%s: %s is of %v, the function takes %v", why, name, a.Space(), x)
	}
	return nil
}

// spaceOf returns the space that the arrays of a function have.
func spaceOf[T scalar.Scalar](f solve.Function[T]) (*dist.Space, error) {
	switch f := f.(type) {
	case nil:
		return nil, errors.New("the function is nil")
	case interface{ Space() *dist.Space }:
		return f.Space(), nil
	}
	return nil, fmt.Errorf("%T does not say its space: make it with prox.New", f)
}

// slack is how far outside of a set a point may lie, relative to its size: a prox rounds
// to the element type.
func slack[T scalar.Scalar]() float64 {
	if t := scalar.Of[T](); t == scalar.Float32 || t == scalar.Complex64 {
		return 1e-5
	}
	return 1e-10
}

// indicator is 0 in a set and +Inf outside. NaN stays NaN.
func indicator(outside float64) float64 {
	switch {
	case outside > 0:
		return math.Inf(1)
	case outside <= 0:
		return 0
	}
	return outside
}
