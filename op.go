package golops

import (
	"fmt"

	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

// Op is a linear operator A from vectors of D to vectors of R.
type Op[D, R Scalar] struct {
	w    *World
	m    linop.Map[D, R]
	text expression
}

// Operator is an Op that keeps the element type.
type Operator[T Scalar] = Op[T, T]

// FromMap returns the operator of a Map of package linop, for packages that make
// their own.
func FromMap[D, R Scalar](w *World, m linop.Map[D, R]) Op[D, R] {
	if w.made(); m == nil {
		fail("from map: the Map is nil")
	}
	return Op[D, R]{w, m, named(typeName(m))}
}

// World returns the world that the operator is in.
func (a Op[D, R]) World() *World {
	if a.w == nil {
		fail("the Op was never made: use a constructor such as Identity, or NewOp")
	}
	return a.w
}

// Map returns the operator as packages below this one take it.
func (a Op[D, R]) Map() linop.Map[D, R] { a.World(); return a.m }

// Domain returns the space of the vectors that A takes.
func (a Op[D, R]) Domain() Space[D] { return Space[D]{a.World(), a.m.Domain()} }

// Range returns the space of the vectors that A gives.
func (a Op[D, R]) Range() Space[R] { return Space[R]{a.World(), a.m.Range()} }

// String shows how A was made, and from where to where it goes.
func (a Op[D, R]) String() string {
	if a.w == nil {
		return "no operator"
	}
	return a.text.text + ": " + a.Domain().String() + " → " + a.Range().String()
}

// with returns the Map of b, which must be of the same world as a.
func (a Op[D, R]) with(what string, b Op[D, R]) linop.Map[D, R] {
	if a.World() != b.World() {
		apart(what, a, b)
	}
	return b.m
}

// Plus returns A + B.
func (a Op[D, R]) Plus(b Op[D, R]) Op[D, R] {
	m := a.with("plus", b)
	return Op[D, R]{a.w, Must(linop.Add(a.m, m)), a.text.plus(b.text)}
}

// Minus returns A - B.
func (a Op[D, R]) Minus(b Op[D, R]) Op[D, R] {
	m := a.with("minus", b)
	return Op[D, R]{a.w, Must(linop.Sub(a.m, m)), a.text.minus(b.text)}
}

// Scaled returns c·A.
func (a Op[D, R]) Scaled(c R) Op[D, R] {
	return Op[D, R]{a.w, Must(linop.Scale(c, a.Map())), a.text.scaled(c)}
}

// Times returns A·B, which applies B first. Where B changes the element type,
// Compose does the same.
func (a Op[D, R]) Times(b Op[D, D]) Op[D, R] { return Compose(a, b) }

// Compose returns A·B, which applies B first.
func Compose[C, D, R Scalar](a Op[D, R], b Op[C, D]) Op[C, R] {
	if a.World() != b.World() {
		apart("compose", a, b)
	}
	return Op[C, R]{a.w, Must(linop.Compose(a.m, b.m)), a.text.times(b.text)}
}

// H returns the adjoint Aᴴ.
func (a Op[D, R]) H() Op[R, D] { return Op[R, D]{a.w, linop.H(a.Map()), a.text.suffix("ᴴ")} }

// T returns the transpose Aᵀ. D and R must be the same type.
func (a Op[D, R]) T() Op[R, D] {
	m := Must(linop.T(a.square("T")))
	return Op[R, D]{a.w, any(m).(linop.Map[R, D]), a.text.suffix("ᵀ")}
}

// Conj returns the operator whose matrix has conjugated elements. D and R must be
// the same type.
func (a Op[D, R]) Conj() Op[D, R] {
	m := Must(linop.Conj(a.square("Conj")))
	return Op[D, R]{a.w, any(m).(linop.Map[D, R]), call("conj", a.text)}
}

// Power returns Aⁿ for n ≥ 0. D and R must be the same type.
func (a Op[D, R]) Power(n int) Op[D, R] {
	m := Must(linop.Power(a.square("Power"), n))
	return Op[D, R]{a.w, any(m).(linop.Map[D, R]), a.text.power(n)}
}

// square returns the Map of an operator that keeps the element type.
func (a Op[D, R]) square(what string) linop.Operator[D] {
	m, ok := any(a.Map()).(linop.Operator[D])
	if !ok {
		fail("%s: the element types %v and %v differ: the operator must keep its type: %v", what, scalar.Of[D](), scalar.Of[R](), a)
	}
	return m
}

// Reshape returns A between spaces of other shapes whose ranks hold the same elements
// in the same order. Nothing is copied.
func (a Op[D, R]) Reshape(x Space[D], y Space[R]) Op[D, R] {
	if a.World() != x.World() || a.w != y.World() {
		apart("reshape", a, x)
	}
	return Op[D, R]{a.w, Must(linop.Reshape(a.m, x.s, y.s)), a.text}
}

// Apply returns A·x in a new vector.
func (a Op[D, R]) Apply(x Vec[D]) Vec[R] {
	if a.World() != x.World() {
		apart("apply", a, x)
	}
	return Vec[R]{a.w, Must(linop.Apply(a.w.ctx, a.m, x.a))}
}

// ApplyTo sets y = A·x and allocates nothing.
func (a Op[D, R]) ApplyTo(y Vec[R], x Vec[D]) {
	if a.World() != x.World() {
		apart("apply", a, x)
	}
	if a.w != y.World() {
		apart("apply", a, y)
	}
	Check(linop.ApplyTo(a.w.ctx, a.m, y.a, x.a))
}

// DotTest compares ⟨A·u, v⟩ with ⟨u, Aᴴ·v⟩ for random vectors. It returns an error
// if they differ.
func (a Op[D, R]) DotTest(c ...optest.DotConfig) error {
	if err := optest.DotWith(a.World().ctx, option(c, optest.DotConfig{}), a.m); err != nil {
		return fmt.Errorf("%s: %w", a.text.text, err)
	}
	return nil
}

// Dense returns the matrix of a small operator, row by row, on every rank.
func (a Op[D, R]) Dense() [][]R {
	m, n, cols, err := linop.Dense(a.World().ctx, a.m)
	Check(err)
	rows := make([][]R, n)
	for i := range rows {
		rows[i] = m[i*cols : (i+1)*cols : (i+1)*cols]
	}
	return rows
}

// option returns what a caller may leave out: the only element of given, or else
// the default.
func option[C any](given []C, def C) C {
	if len(given) > 1 {
		fail("%d values of %T are given: give one or none", len(given), def)
	}
	for _, c := range given {
		return c
	}
	return def
}
