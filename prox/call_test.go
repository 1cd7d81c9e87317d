package prox_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/solve"
)

// TestEveryFunctionIsTested wants a form for each constructor of the package.
func TestEveryFunctionIsTested(t *testing.T) {
	have := map[string]bool{}
	for _, m := range forms[float64]() {
		have[m.name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !fn.Name.IsExported() || fn.Name.Name == "New" || fn.Name.Name == "InnerDefaults" {
				continue
			}
			if n++; !have[fn.Name.Name] {
				t.Errorf("prox.%s has no form in form_test.go", fn.Name.Name)
			}
		}
	}
	if n < 25 {
		t.Errorf("found %d functions only", n)
	}
}

// TestMessages counts what a value and a prox send on two ranks.
func TestMessages(t *testing.T) {
	err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		c := commtest.NewCounter(r.Comm)
		p, err := dist.NewProc(ctx, c.Comm, r.Device)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, p, dist.Layout{}, 40, 5)
		if err != nil {
			return err
		}
		return each(ctx, x, testdevices.OnGPU(), func(m form[float64], f prox.Function[float64]) error {
			a := must(dist.Random[float64](ctx, f.Space(), 3))
			b := must(dist.New[float64](f.Space()))
			if _, err := f.Value(ctx, a); err != nil { // once before, as the first call may make memory
				return err
			}
			if err := f.Prox(ctx, b, 0.5, a); err != nil {
				return err
			}
			c.Reset()
			if _, err := f.Value(ctx, a); err != nil {
				return err
			}
			if n := c.Calls("AllReduce"); n != 1 && m.messages >= 0 && !manyValues[m.name] {
				return fmt.Errorf("the value takes %v, want one message", c)
			}
			c.Reset()
			if err := f.Prox(ctx, b, 0.5, a); err != nil {
				return err
			}
			n := c.Total()
			if m.messages >= 0 && n != m.messages {
				return fmt.Errorf("the prox takes %v, want %d messages", c, m.messages)
			}
			if limit, is := map[string]int{"L1Ball": 15, "Simplex": 16, "L0Ball": 70}[m.name]; is && n > limit {
				return fmt.Errorf("the prox takes %v, want at most %d messages", c, limit)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// manyValues are functions whose value sends what several others send.
var manyValues = map[string]bool{"Stack": true, "AddLinear": true, "Sum": true}

// TestRefusals gives constructors arguments that make no sense.
func TestRefusals(t *testing.T) {
	type d = float64
	nan, inf := math.NaN(), math.Inf(1)
	err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		x := must(dist.NewSpace(ctx, r, dist.Layout{}, 6))
		y := must(dist.NewSpace(ctx, r, dist.Layout{}, 7))
		plane := must(dist.NewSpace(ctx, r, dist.Layout{}, 4, 4))
		a, other := must(dist.Random[d](ctx, x, 1)), must(dist.New[d](y))
		zero := must(dist.New[d](x))
		id := must(ops.Identity[d](x))
		l1 := must(prox.L1[d](ctx, x, 1))
		in := prox.InnerDefaults()
		for i, c := range []struct {
			make func() (prox.Function[d], error)
			want string
		}{
			{func() (prox.Function[d], error) { return prox.L1[d](ctx, nil, 1) }, "no space given"},
			{func() (prox.Function[d], error) { return prox.L0[d](ctx, x, -1) }, "sigma is -1"},
			{func() (prox.Function[d], error) { return prox.L1[d](ctx, x, nan) }, "sigma is NaN"},
			{func() (prox.Function[d], error) { return prox.L1[d](ctx, x, inf) }, "sigma is +Inf"},
			{func() (prox.Function[d], error) { return prox.L1[d](ctx, x, 1+float64(r.Rank())) }, "ranks disagree"},
			{func() (prox.Function[d], error) { return prox.LHalf[d](ctx, x, -2) }, "sigma is -2"},
			{func() (prox.Function[d], error) { return prox.L0Ball[d](ctx, x, -1) }, "radius is -1"},
			{func() (prox.Function[d], error) { return prox.L1Ball[d](ctx, x, -1) }, "radius is -1"},
			{func() (prox.Function[d], error) { return prox.Simplex[d](ctx, x, 0) }, "radius is 0"},
			{func() (prox.Function[d], error) { return prox.Euclidean[d](ctx, x, nan) }, "sigma is NaN"},
			{func() (prox.Function[d], error) { return prox.EuclideanBall(ctx, x, other, 1) }, "center is of"},
			{func() (prox.Function[d], error) { return prox.L2(ctx, x, other, 1) }, "b is of"},
			{func() (prox.Function[d], error) { return prox.L2(ctx, x, a, -1) }, "sigma is -1"},
			{func() (prox.Function[d], error) { return prox.L2Diagonal(ctx, a, dist.Array[d]{}, 1) }, "b was never made"},
			{func() (prox.Function[d], error) { return prox.L2Diagonal(ctx, dist.Array[d]{}, a, 1) }, "d was never made"},
			{func() (prox.Function[d], error) { return prox.L2Operator[d, d](ctx, nil, a, 1, in) }, "no operator"},
			{func() (prox.Function[d], error) { return prox.L2Operator(ctx, id, other, 1, in) }, "b is of"},
			{func() (prox.Function[d], error) { return prox.L2Operator(ctx, id, a, 1, prox.Inner{RelTol: nan}) }, "MaxIter is 0"},
			{func() (prox.Function[d], error) { return prox.Quadratic(ctx, y, id, other, 0, in) }, "to itself"},
			{func() (prox.Function[d], error) { return prox.Quadratic(ctx, x, id, a, nan, in) }, "c is NaN"},
			{func() (prox.Function[d], error) { return prox.L21[d](ctx, must(dist.Stack(x, y)), 1) }, "not alike"},
			{func() (prox.Function[d], error) { return prox.Huber[d](ctx, x, 0) }, "alpha is 0"},
			{func() (prox.Function[d], error) { return prox.Log[d](ctx, x, 1, -1) }, "gamma is -1"},
			{func() (prox.Function[d], error) { return prox.Box[d](ctx, x, 2, 1) }, "the box is empty"},
			{func() (prox.Function[d], error) { return prox.Box[d](ctx, x, nan, 1) }, "the box is empty"},
			{func() (prox.Function[d], error) { return prox.HalfSpace(ctx, zero, 1) }, "the norm of w is 0"},
			{func() (prox.Function[d], error) { return prox.HalfSpace(ctx, a, inf) }, "b is +Inf"},
			{func() (prox.Function[d], error) { return prox.AffineSet(ctx, id, other, in) }, "b is of"},
			{func() (prox.Function[d], error) { return prox.TV[d](ctx, must(dist.Stack(x, x)), 1, in) }, "1 to 3 axes"},
			{func() (prox.Function[d], error) { return prox.TV[d](ctx, x, -1, in) }, "sigma is -1"},
			{func() (prox.Function[d], error) { return prox.Nuclear[d](ctx, plane, 1) }, "split another axis"},
			{func() (prox.Function[d], error) { return prox.NuclearBall[d](ctx, x, 1) }, "at least 2 axes"},
			{func() (prox.Function[d], error) { return prox.Scale[d](ctx, -1, l1) }, "sigma is -1"},
			{func() (prox.Function[d], error) { return prox.Scale[d](ctx, 1, nil) }, "the function is nil"},
			{func() (prox.Function[d], error) { return prox.Precompose[d](ctx, l1, 0, a) }, "a is 0"},
			{func() (prox.Function[d], error) { return prox.Translate[d](ctx, l1, other) }, "b is of"},
			{func() (prox.Function[d], error) { return prox.AddLinear[d](ctx, l1, other) }, "v is of"},
			{func() (prox.Function[d], error) { return prox.Stack[d](ctx) }, "a stack of no spaces"},
			{func() (prox.Function[d], error) { return prox.Sum[d](ctx, in) }, "no functions"},
			{func() (prox.Function[d], error) {
				return prox.Sum[d](ctx, in, l1, must(prox.L1[d](ctx, y, 1)))
			}, "function 1"},
			{func() (prox.Function[d], error) {
				return prox.Orthogonal[d](ctx, l1, must(linop.Scale(2, id)), dist.Array[d]{}, 1)
			}, "not orthogonal"},
			{func() (prox.Function[d], error) { return prox.New[d]("mine", x, prox.Definition[d]{}) }, "needs both"},
		} {
			if f, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
				return fmt.Errorf("case %d: function %v, error %v, want %q", i, f, err, c.want)
			}
		}
		if _, err := prox.Simplex[complex64](ctx, x, 1); err == nil || !strings.Contains(err.Error(), "real") {
			return fmt.Errorf("a complex simplex: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNotFinite wants iterations over NaN to end with an error on all ranks.
func TestNotFinite(t *testing.T) {
	err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
		x := must(dist.NewSpace(ctx, r, dist.Layout{}, 9))
		a := must(dist.Random[float64](ctx, x, 1))
		if r.Rank() == 1 {
			dist.Fill(a, math.NaN())
		}
		in := prox.InnerDefaults()
		l2 := solve.Function[float64](must(prox.L2(ctx, x, dist.Array[float64]{}, 1)))
		for _, f := range []prox.Function[float64]{
			must(prox.L0Ball[float64](ctx, x, 2)), must(prox.L1Ball[float64](ctx, x, 2)), must(prox.Simplex[float64](ctx, x, 2)),
			must(prox.TV[float64](ctx, x, 2, in)), must(prox.Sum(ctx, in, l2, l2)),
			must(prox.L2Operator(ctx, must(ops.Identity[float64](x)), must(dist.New[float64](x)), 2, in)),
		} {
			b := must(dist.New[float64](x))
			if err := f.Prox(ctx, b, 1, a); !errors.Is(err, solve.ErrNotFinite) {
				return fmt.Errorf("%v: error %v", f, err)
			}
			if v, err := f.Value(ctx, a); err != nil || !math.IsNaN(v) && !math.IsInf(v, 1) {
				return fmt.Errorf("%v: the value is %g, %v", f, v, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTies wants the L0 ball to keep as many elements as it may, whichever are equal.
func TestTies(t *testing.T) {
	for _, l := range []dist.Layout{{}, dist.Replicated, {Grid: []int{2, 2}, Axes: []int{dist.NoAxis, 0}}, {Counts: [][]int{{0, 5, 1, 3}}}} {
		err := testdevices.Local(t.Context(), 4, func(ctx context.Context, r dist.Proc) error {
			one := must(dist.NewSpace(ctx, r, l, 9))
			x := must(dist.Stack(one, one))
			for radius := range 19 {
				f := must(prox.L0Ball[float64](ctx, x, radius))
				a := must(dist.New[float64](x))
				dist.Fill(a.Part(0), 2)
				dist.Fill(a.Part(1), -2)
				if err := f.Prox(ctx, a, 1, a); err != nil {
					return err
				}
				n := must(dist.Norm(ctx, a, 0))
				if n != float64(radius) {
					return fmt.Errorf("radius %d: %g elements are left", radius, n)
				}
				if v := must(f.Value(ctx, a)); v != 0 {
					return fmt.Errorf("radius %d: the value is %g", radius, v)
				}
				for i := range 2 {
					all := must(dist.AllGather(ctx, a.Part(i)))
					if h := must(a.Part(i).Host()); len(h) == 9 && fmt.Sprint(h) != fmt.Sprint(all) {
						return fmt.Errorf("radius %d: a copy is %v, another %v", radius, h, all)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// A warm start begins from the last result.
func TestWarm(t *testing.T) {
	err := testdevices.Local(t.Context(), 1, func(ctx context.Context, r dist.Proc) error {
		x := must(dist.NewSpace(ctx, r, dist.Layout{}, 50))
		calls := 0
		d := must(ops.FirstDerivative[float64](ctx, x, 0, ops.DerivativeDefaults()))
		op := must(linop.Func("count", x, x, func(ctx context.Context, dst, src dist.Array[float64]) error {
			calls++
			return d.Forward(ctx, dst, src)
		}, d.Adjoint))
		a, b, y := must(dist.Random[float64](ctx, x, 1)), must(dist.Random[float64](ctx, x, 2)), must(dist.New[float64](x))
		for _, warm := range []bool{false, true} {
			f := must(prox.L2Operator(ctx, op, b, 3, prox.Inner{MaxIter: 500, RelTol: 1e-10, Warm: warm}))
			if err := f.Prox(ctx, y, 1, a); err != nil {
				return err
			}
			calls = 0
			if err := f.Prox(ctx, y, 1, a); err != nil {
				return err
			}
			if (calls == 1) != warm {
				return fmt.Errorf("warm=%v: the second prox applies the operator %d times", warm, calls)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
