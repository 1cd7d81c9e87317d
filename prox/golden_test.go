package prox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// numbers are complex if they have imaginary parts.
type numbers struct{ Re, Im []float64 }

func (n numbers) at(i int) complex128 {
	if n.Im == nil {
		return complex(n.Re[i], 0)
	}
	return complex(n.Re[i], n.Im[i])
}

// goldenCase is a prox by pyproximal, or by a convex solver. scripts/golden-prox makes
// them.
type goldenCase struct {
	Name, By string
	Dims     []int
	Tau, Tol float64
	Params   map[string]float64
	Arrays   map[string]numbers
	X, Prox  numbers
	Dual     *numbers
	Value    *float64
}

func TestGolden(t *testing.T) {
	text, err := os.ReadFile("../testdata/prox/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 40 {
		t.Errorf("%d cases only", len(cases))
	}
	for _, ranks := range []int{1, 3} {
		err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
			for i, c := range cases {
				if testdevices.OnGPU() && strings.HasPrefix(c.Name, "Nuclear") {
					continue // no GPU has the kernel
				}
				var err error
				if c.X.Im == nil {
					err = goldenRun[float64](ctx, r, c)
				} else {
					err = goldenRun[complex128](ctx, r, c)
				}
				if err != nil {
					return fmt.Errorf("case %d, %s of %v by %s: %w", i, c.Name, c.Dims, c.By, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

func goldenRun[T scalar.Scalar](ctx context.Context, r dist.Proc, c goldenCase) error {
	layout := dist.Layout{}
	if c.Name == "Nuclear" || c.Name == "NuclearBall" {
		layout = dist.Replicated
	}
	dims := c.Dims
	if c.Name == "L21" {
		dims = dims[1:]
	}
	x, err := dist.NewSpace(ctx, r, layout, dims...)
	if err != nil {
		return err
	}
	if c.Name == "L21" {
		x = must(dist.Stack(x, x, x))
	}
	f, err := goldenFunction[T](ctx, x, c)
	if err != nil {
		return err
	}
	a := filled[T](ctx, x, c.X)
	y := must(dist.New[T](x))
	if c.Dual != nil {
		if err := f.DualProx(ctx, y, c.Tau, a); err != nil {
			return err
		}
		if err := holds(ctx, y, *c.Dual, c.Tol); err != nil {
			return fmt.Errorf("dual prox: %w", err)
		}
	}
	if err := f.Prox(ctx, y, c.Tau, a); err != nil {
		return err
	}
	if err := holds(ctx, y, c.Prox, c.Tol); err != nil {
		return fmt.Errorf("prox: %w", err)
	}
	v, err := f.Value(ctx, y)
	if c.Value != nil && !(math.Abs(v-*c.Value) <= 10*c.Tol*(1+math.Abs(v))) {
		return fmt.Errorf("value %.15g, want %.15g", v, *c.Value)
	}
	return err
}

// goldenFunction returns the function of a case.
func goldenFunction[T scalar.Scalar](ctx context.Context, x *dist.Space, c goldenCase) (prox.Function[T], error) {
	p := c.Params
	array := func(name string) (a dist.Array[T]) {
		if n, ok := c.Arrays[name]; ok {
			a = filled[T](ctx, x, n)
		}
		return a
	}
	diagonal := func() linop.Operator[T] { return must(ops.Diagonal(array("d"))) }
	inner := func() solve.Function[T] { return must(prox.L1[T](ctx, x, p["inner"])) }
	long := prox.Inner{MaxIter: 20000, RelTol: 1e-12}
	switch c.Name {
	case "L0":
		return prox.L0[T](ctx, x, p["sigma"])
	case "L0Ball":
		return prox.L0Ball[T](ctx, x, int(p["radius"]))
	case "L1":
		return prox.L1[T](ctx, x, p["sigma"])
	case "L1Ball":
		return prox.L1Ball[T](ctx, x, p["radius"])
	case "L2":
		return prox.L2(ctx, x, array("b"), p["sigma"])
	case "L2Diagonal":
		return prox.L2Diagonal(ctx, array("d"), array("b"), p["sigma"])
	case "L2Operator":
		return prox.L2Operator(ctx, must(ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeDefaults())), array("b"), p["sigma"], long)
	case "L21":
		return prox.L21[T](ctx, x, p["sigma"])
	case "Euclidean":
		return prox.Euclidean[T](ctx, x, p["sigma"])
	case "EuclideanBall":
		return prox.EuclideanBall(ctx, x, array("center"), p["radius"])
	case "Huber":
		return prox.Huber[T](ctx, x, p["alpha"])
	case "Log":
		return prox.Log[T](ctx, x, p["sigma"], p["gamma"])
	case "Box":
		return prox.Box[T](ctx, x, p["lower"], p["upper"])
	case "HalfSpace":
		return prox.HalfSpace(ctx, array("w"), p["b"])
	case "Simplex":
		return prox.Simplex[T](ctx, x, p["radius"])
	case "Nuclear":
		return prox.Nuclear[T](ctx, x, p["sigma"])
	case "NuclearBall":
		return prox.NuclearBall[T](ctx, x, p["radius"])
	case "Scale":
		return prox.Scale(ctx, p["sigma"], inner())
	case "Precompose":
		return prox.Precompose(ctx, inner(), p["a"], array("b"))
	case "AddLinear":
		return prox.AddLinear(ctx, inner(), array("v"))
	case "Translate":
		return prox.Translate(ctx, inner(), array("b"))
	case "Quadratic":
		return prox.Quadratic(ctx, x, must(linop.Compose(diagonal(), diagonal())), array("b"), p["c"], long)
	case "AffineSet":
		return prox.AffineSet(ctx, diagonal(), array("b"), long)
	case "Orthogonal":
		return prox.Orthogonal(ctx, inner(), must(linop.Scale(scalar.From[T](2), must(ops.Identity[T](x)))), array("b"), 4)
	case "TV":
		return prox.TV[T](ctx, x, p["sigma"], long)
	}
	return nil, fmt.Errorf("no such function")
}

// filled returns an array with these elements.
func filled[T scalar.Scalar](ctx context.Context, x *dist.Space, n numbers) dist.Array[T] {
	parts, at := []dist.Array[T]{}, 0
	for _, leaf := range x.Leaves() {
		all := make([]T, leaf.Size())
		for i := range all {
			all[i] = scalar.From[T](n.at(at + i))
		}
		at += leaf.Size()
		if x.Comm().Rank() > 0 {
			all = nil // rank 0 gives all
		}
		parts = append(parts, must(dist.Scatter(ctx, leaf, all)))
	}
	if x.Parts() == nil {
		return parts[0]
	}
	return must(dist.StackOf(parts...))
}

// holds wants the elements of an array to be these.
func holds[T scalar.Scalar](ctx context.Context, a dist.Array[T], want numbers, tol float64) error {
	at := 0
	for i := range a.NumLeaves() {
		all, err := dist.AllGather(ctx, a.Leaf(i))
		if err != nil {
			return err
		}
		for _, v := range all {
			d := scalar.Complex(v) - want.at(at)
			if r := math.Hypot(real(d), imag(d)); !(r <= tol*10) {
				return fmt.Errorf("element %d is %v, want %v", at, v, want.at(at))
			}
			at++
		}
	}
	return nil
}
