package prox_test

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/prox/proxtest"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// form is a function with good arguments over a space, which may be one made of x.
type form[T scalar.Scalar] struct {
	name     string
	make     func(ctx context.Context, x *dist.Space) (prox.Function[T], error)
	config   proxtest.Config
	realOnly bool
	hostOnly bool // GPUs lack its kernel
	messages int  // of a prox on 2 ranks; negative: it depends on x
}

// exact are limits under which iterative proxes reach the tolerance of the suite.
var exact = prox.Inner{MaxIter: 400, RelTol: 1e-10, Warm: true}

// forms has every function of the package. A test fails if one is missing.
func forms[T scalar.Scalar]() []form[T] {
	type function = prox.Function[T]
	notConvex, near := proxtest.Config{NotConvex: true}, proxtest.Config{Tol: 1e-6}
	if is32[T]() {
		near.Tol = 1e-3
	}
	random := func(ctx context.Context, x *dist.Space, seed uint64) dist.Array[T] {
		a, err := dist.Random[T](ctx, x, seed)
		if err != nil {
			panic(err)
		}
		return a
	}
	l1 := func(ctx context.Context, x *dist.Space) solve.Function[T] { return must(prox.L1[T](ctx, x, 0.4)) }
	l2 := func(ctx context.Context, x *dist.Space) solve.Function[T] {
		return must(prox.L2(ctx, x, random(ctx, x, 3), 0.4))
	}
	matrix := func(ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
		if x.Shape().NDim() != 1 && x.Parts() == nil {
			return ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeDefaults())
		}
		return ops.Identity[T](x)
	}
	return []form[T]{
		{name: "L0", config: notConvex, make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.L0[T](ctx, x, 0.7) }},
		{name: "L0Ball", config: notConvex, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.L0Ball[T](ctx, x, x.Size()/3)
		}},
		{name: "L1", make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.L1[T](ctx, x, 0.7) }},
		{name: "L1Ball", messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.L1Ball[T](ctx, x, 3.5) }},
		{name: "LHalf", config: notConvex, make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.LHalf[T](ctx, x, 0.7) }},
		{name: "Euclidean", messages: 1, make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.Euclidean[T](ctx, x, 0.9) }},
		{name: "EuclideanBall", messages: 1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.EuclideanBall(ctx, x, random(ctx, x, 4), 1.5)
		}},
		{name: "L2", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.L2(ctx, x, dist.Array[T]{}, 0.8)
		}},
		{name: "L2", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.L2(ctx, x, random(ctx, x, 5), 0.8)
		}},
		{name: "L2Diagonal", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.L2Diagonal(ctx, random(ctx, x, 6), random(ctx, x, 7), 0.8)
		}},
		{name: "L2Operator", config: near, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			a, err := matrix(ctx, x)
			if err != nil {
				return nil, err
			}
			return prox.L2Operator(ctx, a, random(ctx, a.Range(), 8), 0.8, exact)
		}},
		{name: "Quadratic", config: near, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			a, err := matrix(ctx, x)
			if err == nil {
				a, err = linop.Compose(linop.H(a), a)
			}
			if err != nil {
				return nil, err
			}
			return prox.Quadratic(ctx, x, a, random(ctx, x, 9), 1.5, exact)
		}},
		{name: "Quadratic", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Quadratic(ctx, x, nil, random(ctx, x, 9), 1.5, exact)
		}},
		{name: "L21", make: func(ctx context.Context, x *dist.Space) (function, error) {
			if x.Parts() == nil {
				x = must(dist.Stack(x, x, x))
			}
			return prox.L21[T](ctx, x, 0.7)
		}},
		{name: "Huber", make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.Huber[T](ctx, x, 0.9) }},
		{name: "Log", config: notConvex, make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.Log[T](ctx, x, 0.8, 1.3) }},
		{name: "Box", make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.Box[T](ctx, x, -0.5, 1.2) }},
		{name: "Box", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Box[T](ctx, x, 0, math.Inf(1))
		}},
		{name: "HalfSpace", messages: 1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.HalfSpace(ctx, random(ctx, x, 10), -2.5)
		}},
		{name: "AffineSet", config: near, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			d, two := random(ctx, x, 11), must(dist.New[T](x))
			dist.Fill(two, scalar.From[T](2))
			dist.Add(d, d, two) // of good condition
			a, err := ops.Diagonal(d)
			if err != nil {
				return nil, err
			}
			return prox.AffineSet(ctx, a, random(ctx, x, 12), exact)
		}},
		{name: "Simplex", realOnly: true, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Simplex[T](ctx, x, 2.5)
		}},
		{name: "Orthogonal", make: func(ctx context.Context, x *dist.Space) (function, error) {
			q, err := linop.Scale(scalar.From[T](2), must(ops.Identity[T](x)))
			if err != nil {
				return nil, err
			}
			return prox.Orthogonal(ctx, l1(ctx, x), q, random(ctx, x, 13), 4)
		}},
		{name: "TV", config: near, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.TV[T](ctx, x, 0.6, prox.Inner{MaxIter: 400, RelTol: 1e-10})
		}},
		{name: "TV", config: proxtest.Config{Tol: 1e-2}, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.TV[T](ctx, x, 0.6, prox.Inner{MaxIter: 150, RelTol: 1e-7, Warm: true}) // from the result of quite another x
		}},
		{name: "Nuclear", hostOnly: true, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Nuclear[T](ctx, x, 0.7)
		}},
		{name: "NuclearBall", hostOnly: true, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.NuclearBall[T](ctx, x, 2)
		}},
		{name: "Scale", make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.Scale(ctx, 1.6, l1(ctx, x)) }},
		{name: "Scale", make: func(ctx context.Context, x *dist.Space) (function, error) { return prox.Scale(ctx, 1.6, l2(ctx, x)) }},
		{name: "Precompose", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Precompose(ctx, l1(ctx, x), -2.5, random(ctx, x, 14))
		}},
		{name: "Precompose", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Precompose(ctx, l2(ctx, x), 0.5, dist.Array[T]{})
		}},
		{name: "Translate", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Translate(ctx, l1(ctx, x), random(ctx, x, 15))
		}},
		{name: "AddLinear", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.AddLinear(ctx, l2(ctx, x), random(ctx, x, 16))
		}},
		{name: "Stack", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Stack(ctx, l1(ctx, x), l2(ctx, x))
		}},
		{name: "Stack", make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Stack(ctx, l2(ctx, x), l2(ctx, x))
		}},
		{name: "Sum", config: near, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			box := must(prox.Box[T](ctx, x, -1, 0.8))
			return prox.Sum(ctx, exact, l1(ctx, x), l2(ctx, x), solve.Function[T](box))
		}},
		{name: "Sum", config: near, messages: -1, make: func(ctx context.Context, x *dist.Space) (function, error) {
			return prox.Sum(ctx, exact, l2(ctx, x), l2(ctx, x))
		}},
	}
}

func is32[T scalar.Scalar]() bool {
	t := scalar.Of[T]()
	return t == scalar.Float32 || t == scalar.Complex64
}

// must returns v. An error here is one of the test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}
