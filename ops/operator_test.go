package ops_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

type (
	ctxt                   = context.Context
	space                  = *dist.Space
	op[T scalar.Scalar]    = linop.Operator[T]
	newOp[T scalar.Scalar] = func(ctx ctxt, x space) (op[T], error)
)

// operatorTest is all that the tests of this package know of an operator. The file of
// each operator has one literal of it and registers it.
type operatorTest[T scalar.Scalar] struct {
	// forms have good arguments. The suite checks them on all layouts, element types
	// and devices.
	forms []form[T]

	// nowhere has no space and must be refused. An operator with an axis to choose
	// has along instead, which must take axis 1 of a 7 × 5 array and refuse an axis or
	// a space that is missing.
	nowhere func(ctx ctxt) (op[T], error)
	along   func(ctx ctxt, x space, axis int) (op[T], error)

	bad      []badCase[T]
	extreme  []extremeCase[T]
	golden   goldenTest[T]
	messages []messageCase[T]
	overlap  []form[T] // do own work while messages travel

	// ownTest is the test that says what the operator is if there are neither golden
	// cases of this form nor formulas.
	ownTest string
}

// form is an operator whose domain is x, or a relative of x.
type form[T scalar.Scalar] struct {
	name string
	make newOp[T]

	// formula is element i of the result for an argument x of these dims. It may be
	// nil if the operator has golden cases.
	formula func(x func(i ...int) T, dims, i []int) T
}

// badCase is a call on rank me of 3, over 7 × 5 elements, that returns an error with
// these words on every rank.
type badCase[T scalar.Scalar] struct {
	name string
	make func(ctx ctxt, x space, me int) (op[T], error)
	want []string
}

// extremeCase is a call over 24 elements with a number that may be anything.
type extremeCase[T scalar.Scalar] struct {
	name string
	make func(ctx ctxt, x space, v int) (op[T], error)
	want func(v, ranks float64) float64 // the size of the range; nil if any will do
}

// goldenTest makes the operator of a case of testdata/golden.
type goldenTest[T scalar.Scalar] struct {
	names []string
	make  func(t *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error)
	dims  func(c golden.Case) []int     // of x; nil means those of the domain
	fits  func(layout dist.Layout) bool // nil means that all layouts do
}

// messageCase is what each of 4 ranks sends for 17 × 6 elements.
type messageCase[T scalar.Scalar] struct {
	name        string
	make        newOp[T]
	sent        func(me int) int // messages of Forward, and of Adjoint
	collectives int              // of Forward; Adjoint has none
}

var registered [][4]any

// register adds a test of an operator, in all element types.
func register(a func() operatorTest[float32], b func() operatorTest[float64], c func() operatorTest[complex64], d func() operatorTest[complex128]) bool {
	registered = append(registered, [4]any{a, b, c, d})
	return true
}

// operators returns the tests of all operators that keep the element type.
func operators[T scalar.Scalar]() (all []operatorTest[T]) {
	for _, types := range registered {
		for _, f := range types {
			if f, ok := f.(func() operatorTest[T]); ok {
				all = append(all, f())
			}
		}
	}
	return all
}

// forms returns the forms of all operators.
func forms[T scalar.Scalar]() (all []form[T]) {
	for _, o := range operators[T]() {
		all = append(all, o.forms...)
	}
	return all
}

// onAxes returns forms along the first and the last axis.
func onAxes[T scalar.Scalar](name string, f func(ctx ctxt, x space, axis int) (op[T], error)) (all []form[T]) {
	for _, axis := range []int{0, -1} {
		all = append(all, form[T]{name: fmt.Sprintf("%s axis %d", name, axis), make: func(ctx ctxt, x space) (op[T], error) { return f(ctx, x, axis) }})
	}
	return all
}

// on returns f over a relative of x.
func on[T scalar.Scalar](x space, l dist.Layout, dims []int, f func(y space) (op[T], error)) (op[T], error) {
	y, err := x.Like(l, dims...)
	if err != nil {
		return nil, err
	}
	return f(y)
}

// onRank1 returns bad on rank 1 and good on the others.
func onRank1(me, good, bad int) int {
	if me == 1 {
		return bad
	}
	return good
}

func number[T scalar.Scalar](i int) T {
	return scalar.From[T](complex(float64(i%7)-2.5, float64(i%5)-1.5))
}

func numbers[T scalar.Scalar](n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = number[T](i)
	}
	return v
}

// Sizes of a range for extreme arguments.
func sizeSame(_, _ float64) float64  { return 24 }
func sizeGiven(v, _ float64) float64 { return v }

// Numbers of messages of 4 ranks in a row.
func sentNone(int) int { return 0 }
func sentToNeighbours(me int) int {
	if me == 0 || me == 3 {
		return 1
	}
	return 2
}

// A test of an operator is complete: it has forms, a refusal, and something that says
// what the operator is.
func TestOperatorTests(t *testing.T) {
	for _, o := range operators[float64]() {
		if len(o.forms) == 0 {
			t.Errorf("a test has no forms")
			continue
		}
		name := o.forms[0].name
		if (o.nowhere == nil) == (o.along == nil) {
			t.Errorf("%s: give nowhere or along", name)
		}
		if len(o.golden.names) == 0 && o.ownTest == "" && slices.ContainsFunc(o.forms, func(f form[float64]) bool { return f.formula == nil }) {
			t.Errorf("%s: give golden cases, the formula of each form, or ownTest", name)
		}
	}
}
