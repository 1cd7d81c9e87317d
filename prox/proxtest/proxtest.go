// Package proxtest checks functions that have a value and a prox: those of package
// prox and those of your own.
//
// Every check is collective, fills its arrays with numbers that do not depend on the
// number of ranks, and returns an error on every rank if it fails on any.
package proxtest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// Config says how a function is checked. The zero Config is ready to use.
type Config struct {
	Seed      uint64    // of the random arrays
	Tol       float64   // largest relative error; 0 means 1e-4 for 32-bit types and 1e-9 for others
	Taus      []float64 // steps of the prox; nil means 0.3 and 1.7
	Size      float64   // of the elements of x, at most; 0 means 3
	NotConvex bool      // the function is not convex: its prox may jump, and so may its dual prox
	Positive  bool      // x has no negative elements
}

func (c Config) tol(narrow bool) float64 {
	switch {
	case c.Tol != 0:
		return c.Tol
	case narrow:
		return 1e-4
	}
	return 1e-9
}

func (c Config) taus() []float64 {
	if c.Taus == nil {
		return []float64{0.3, 1.7}
	}
	return c.Taus
}

// All runs all checks: Definition, Moreau, Gradient, Overwrites, Alike, State,
// Refuses and Allocs.
func All[T scalar.Scalar](ctx context.Context, f solve.Function[T], x *dist.Space) error {
	return AllWith(ctx, Config{}, f, x)
}

// AllWith is All with the choices of c.
func AllWith[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	if f == nil || x == nil {
		return errors.New("proxtest: no function or no space given")
	}
	return errors.Join(
		Definition(ctx, c, f, x),
		Moreau(ctx, c, f, x),
		Gradient(ctx, c, f, x),
		Overwrites(ctx, c, f, x),
		Alike(ctx, c, f, x),
		State(ctx, c, f, x),
		Refuses(ctx, f, x),
		Allocs(ctx, c, f, x),
	)
}

// tester has what the checks share. The first error stays.
type tester[T scalar.Scalar] struct {
	Config
	f     solve.Function[T]
	x     *dist.Space
	tol   float64
	saved []dist.Array[T]
	err   error
}

func newTester[T scalar.Scalar](c Config, f solve.Function[T], x *dist.Space) *tester[T] {
	if c.Size == 0 {
		c.Size = 3
	}
	t := scalar.Of[T]()
	return &tester[T]{Config: c, f: f, x: x, tol: c.tol(t == scalar.Float32 || t == scalar.Complex64)}
}

// end frees the arrays and agrees on the outcome of a check.
func (t *tester[T]) end(ctx context.Context, what string) error {
	for _, a := range t.saved {
		a.Free()
	}
	if t.err != nil {
		t.err = fmt.Errorf("%w; %v", t.err, t.f)
	}
	return dist.Agree(ctx, t.x.Comm(), "proxtest: "+what, t.err)
}

func (t *tester[T]) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// random returns an array of random elements.
func (t *tester[T]) random(ctx context.Context, salt uint64) dist.Array[T] {
	a, err := dist.Random[T](ctx, t.x, 1000*t.Seed+salt)
	if err != nil {
		t.fail(err)
		return t.zero()
	}
	t.saved = append(t.saved, a)
	dist.Scale(a, number[T](t.Size), a)
	if t.Positive {
		one := t.zero()
		dist.Fill(one, number[T](t.Size))
		dist.Combine(a, number[T](0.5), a, number[T](0.5), one)
	}
	return a
}

// zero returns an array of zeros.
func (t *tester[T]) zero() dist.Array[T] {
	a, err := dist.New[T](t.x)
	if err != nil {
		panic(err) // memory for a small array
	}
	t.saved = append(t.saved, a)
	return a
}

func number[T scalar.Scalar](v float64) T { return scalar.From[T](complex(v, 0)) }

func (t *tester[T]) value(ctx context.Context, x dist.Array[T]) float64 {
	v, err := t.f.Value(ctx, x)
	t.fail(err)
	return v
}

func (t *tester[T]) prox(ctx context.Context, y dist.Array[T], tau float64, x dist.Array[T]) {
	t.fail(t.f.Prox(ctx, y, tau, x))
}

func (t *tester[T]) norm(ctx context.Context, x dist.Array[T]) float64 {
	n, err := dist.Norm(ctx, x, 2)
	t.fail(err)
	return n
}

// apart returns ‖x - y‖.
func (t *tester[T]) apart(ctx context.Context, x, y dist.Array[T]) float64 {
	d := t.zero()
	dist.Sub(d, x, y)
	return t.norm(ctx, d)
}

// dot returns Re xᴴy.
func (t *tester[T]) dot(ctx context.Context, x, y dist.Array[T]) float64 {
	v, err := dist.Dot(ctx, x, y)
	t.fail(err)
	return real(scalar.Complex(v))
}

// Definition checks that no other point z has less f(z) + ‖z - x‖²/(2τ) than the prox:
// points nearby in random directions, the proxes of points nearby, which are inside of
// a set, x, and zero. Proxes of a convex function must also not be further apart than
// its arguments.
func Definition[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	t := newTester(c, f, x)
	for i, tau := range t.taus() {
		a, p, z, q := t.random(ctx, uint64(10*i+1)), t.zero(), t.zero(), t.zero()
		t.prox(ctx, p, tau, a)
		cost := func(z dist.Array[T]) float64 {
			d := t.apart(ctx, z, a)
			return t.value(ctx, z) + d*d/(2*tau)
		}
		least := cost(p)
		if math.IsNaN(least) || math.IsInf(least, 0) {
			t.fail(fmt.Errorf("tau %g: f(prox(x)) + ‖prox(x) - x‖²/2τ is %g", tau, least))
		}
		room := t.tol * (1 + math.Abs(least))
		better := func(what string, z dist.Array[T]) {
			if v := cost(z); v < least-room {
				t.fail(fmt.Errorf("tau %g: %s has cost %.15g, less than %.15g of the prox", tau, what, v, least))
			}
		}
		better("x", a)
		dist.Zero(z)
		better("zero", z)
		for k, step := range []float64{1, 0.1, 0.01, 0.001} {
			d := t.random(ctx, uint64(10*i+2+k))
			dist.Combine(z, 1, p, number[T](step), d)
			better(fmt.Sprintf("a point %g away", step), z)
			dist.Combine(z, 1, p, number[T](step), p)
			better(fmt.Sprintf("the prox times %g", 1+step), z)
			dist.Combine(z, 1, p, number[T](-step), p)
			better(fmt.Sprintf("the prox times %g", 1-step), z)
			dist.Combine(z, 1, a, number[T](step), d)
			t.prox(ctx, q, tau, z)
			better(fmt.Sprintf("the prox of a point %g away", step), q)
			if t.NotConvex {
				continue
			}
			dist.Sub(q, q, p)
			dist.Sub(z, z, a)
			if n, dot := t.norm(ctx, q), t.dot(ctx, q, z); n*n > dot+t.tol*(1+n*n) {
				t.fail(fmt.Errorf("tau %g: the proxes of two points are too far apart: ‖p - q‖² is %g, more than (p - q)ᴴ(x - y) = %g", tau, n*n, dot))
			}
		}
	}
	return t.end(ctx, "definition")
}

// Moreau checks that prox(x) with τ and τ times the dual prox at x/τ with 1/τ add up to
// x.
func Moreau[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	t := newTester(c, f, x)
	for i, tau := range t.taus() {
		a, p, d, scratch := t.random(ctx, uint64(i+50)), t.zero(), t.zero(), t.zero()
		t.prox(ctx, p, tau, a)
		dist.Scale(d, number[T](1/tau), a)
		t.fail(solve.DualProx(ctx, f, d, 1/tau, d, scratch))
		dist.Combine(d, number[T](tau), d, 1, p)
		if off := t.apart(ctx, d, a); !(off <= t.tol*(1+t.norm(ctx, a))) {
			t.fail(fmt.Errorf("tau %g: prox(x) + τ·dualprox(x/τ) is %g away from x", tau, off))
		}
	}
	return t.end(ctx, "Moreau identity")
}

// Gradient checks the gradient of a function that has one against differences of its
// values.
func Gradient[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	s, ok := f.(solve.Smooth[T])
	if !ok {
		return nil
	}
	t := newTester(c, f, x)
	a, g, z := t.random(ctx, 60), t.zero(), t.zero()
	t.fail(s.Gradient(ctx, g, a))
	step, narrow := 1e-4, t.tol > 1e-6
	if narrow {
		step = 0.02
	}
	for k := range 3 {
		d := t.random(ctx, uint64(61+k))
		dist.Combine(z, 1, a, number[T](step), d)
		up := t.value(ctx, z)
		dist.Combine(z, 1, a, number[T](-step), d)
		down := t.value(ctx, z)
		slope, want := (up-down)/(2*step), t.dot(ctx, g, d)
		if off := math.Abs(slope - want); !(off <= 100*max(t.tol, 1e-7)*(1+math.Abs(slope)+t.norm(ctx, g)*t.norm(ctx, d))) {
			t.fail(fmt.Errorf("the value changes by %g along a direction, the gradient says %g", slope, want))
		}
	}
	dist.Copy(z, a)
	t.fail(s.Gradient(ctx, z, z))
	if off := t.apart(ctx, z, g); !(off <= t.tol*(1+t.norm(ctx, g))) {
		t.fail(fmt.Errorf("the gradient in the place of x is %g away from that in another array", off))
	}
	return t.end(ctx, "gradient")
}

// Overwrites checks that a prox writes all of its result, leaves x alone, and does the
// same in the place of x. So does the dual prox.
func Overwrites[T scalar.Scalar](ctx context.Context, c Config, f solve.Function[T], x *dist.Space) error {
	t := newTester(c, f, x)
	scratch := t.zero()
	t.overwrites(ctx, "prox", func(y dist.Array[T], tau float64, x dist.Array[T]) error { return f.Prox(ctx, y, tau, x) })
	t.overwrites(ctx, "dual prox", func(y dist.Array[T], tau float64, x dist.Array[T]) error {
		return solve.DualProx(ctx, f, y, tau, x, scratch)
	})
	return t.end(ctx, "overwriting")
}

func (t *tester[T]) overwrites(ctx context.Context, what string, prox func(y dist.Array[T], tau float64, x dist.Array[T]) error) {
	tau := t.taus()[0]
	a, was, p, q := t.random(ctx, 70), t.zero(), t.zero(), t.zero()
	dist.Copy(was, a)
	dist.Fill(p, number[T](math.NaN()))
	t.fail(prox(p, tau, a))
	if n := t.norm(ctx, p); math.IsNaN(n) {
		t.fail(fmt.Errorf("%s: the result has NaN where it had it before: write all of it", what))
	}
	if off := t.apart(ctx, was, a); off != 0 {
		t.fail(fmt.Errorf("%s: x changed by %g", what, off))
	}
	dist.Copy(q, a)
	t.fail(prox(q, tau, q))
	if off := t.apart(ctx, q, p); !(off <= t.tol*(1+t.norm(ctx, p))) {
		t.fail(fmt.Errorf("%s: the result in the place of x is %g away from that in another array", what, off))
	}
}
