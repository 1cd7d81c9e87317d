package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// testLayout is a way to lay arrays on ranks.
type testLayout struct {
	ranks  int
	layout func(rank int) (dist.Layout, bool) // of arrays with that number of axes
}

func (p testLayout) String() string {
	l, _ := p.layout(2)
	return fmt.Sprintf("ranks=%d/grid=%v/axes=%v", p.ranks, l.Grid, l.Axes)
}

func split(axis int) func(int) (dist.Layout, bool) {
	return func(rank int) (dist.Layout, bool) {
		if axis < 0 {
			return dist.Split(rank + axis), rank >= -axis
		}
		return dist.Split(axis), axis < rank
	}
}

func grid(extents, axes []int) func(int) (dist.Layout, bool) {
	return func(rank int) (dist.Layout, bool) {
		return dist.Layout{Grid: extents, Axes: axes}, slices.Max(axes) < rank
	}
}

// testLayouts are where golden numbers must come out the same: one axis split over
// few and many ranks, some with no rows, the last axis, grids.
var testLayouts = []testLayout{
	{1, split(0)}, {2, split(0)}, {3, split(0)}, {7, split(0)},
	{3, split(-1)}, {2, split(1)},
	{4, grid([]int{2, 2}, []int{0, 1})}, {6, grid([]int{3, 2}, []int{1, 0})},
	{4, grid([]int{2, 2}, []int{0, dist.NoAxis})},
	{8, grid([]int{2, 2, 2}, []int{0, 1, 2})},
}

// The serial operators of PyLops and the operators of PyLops-MPI give the same
// numbers as ours on every layout.
func TestGolden(t *testing.T) {
	for _, name := range []string{
		"FirstDerivative", "SecondDerivative", "Laplacian", "Gradient", "Convolve1D", "NonStationaryConvolve1D",
		"CausalIntegration", "Smoothing1D", "Smoothing2D", "Identity", "Zero", "Diagonal", "MatrixMult", "Restriction",
		"Transpose", "Flip", "Symmetrize", "Roll", "Pad", "Sum", "Spread", "Regression", "LinearRegression",
		"MPIFirstDerivative", "MPISecondDerivative", "MPILaplacian", "MPIGradient", "MPINonStationaryConvolve1D",
		"MPIMatrixMult",
	} {
		t.Run(name, func(t *testing.T) {
			cases := golden.Cases(t, name)
			step := soak.Or(2, 1) // a case takes each layout, or every other one
			for i, p := range testLayouts {
				err := testdevices.Local(t.Context(), p.ranks, func(ctx context.Context, r dist.Proc) error {
					for j, c := range cases {
						if (i+j)%step != 0 || c.Ranks != 0 && c.Ranks != p.ranks && p.ranks < 4 {
							continue
						}
						if err := runGolden(t, ctx, r, p, c); err != nil {
							return fmt.Errorf("%s on %v: %w", c.Name, p, err)
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func runGolden(t *testing.T, ctx context.Context, r dist.Proc, p testLayout, c golden.Case) error {
	switch c.DType {
	case scalar.Float32:
		return checkGolden[float32](t, ctx, r, p, c, 2e-5)
	case scalar.Float64:
		return checkGolden[float64](t, ctx, r, p, c, 1e-12)
	case scalar.Complex64:
		return checkGolden[complex64](t, ctx, r, p, c, 2e-5)
	}
	return checkGolden[complex128](t, ctx, r, p, c, 1e-12)
}

func checkGolden[T scalar.Scalar](t *testing.T, ctx context.Context, r dist.Proc, p testLayout, c golden.Case, tol float64) error {
	dims := c.Dims
	layout, fits := p.layout(len(dims))
	if c.Op == "Regression" || c.Op == "LinearRegression" {
		layout, fits = p.layout(len(c.Dimsd))
		dims = c.Dimsd // the data are split, the model is replicated
	}
	if c.Op == "Spread" {
		if g := layout.Axes; len(g) != 1 || g[0] != 0 {
			fits = false
		}
	}
	if !fits {
		return nil
	}
	s, err := dist.NewSpace(ctx, r, layout, dims...)
	if err != nil {
		return err
	}
	op, err := build[T](t, ctx, s, c)
	if err != nil {
		return err
	}
	if err := optest.Dot(ctx, op); err != nil {
		return err
	}
	if err := image(t, ctx, c, "x", op.Domain(), "y", op.Range(), op.Forward, tol); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	v := "v"
	if !c.DotTest && c.Has("v_true") {
		v = "v_true" // PyLops forgets to conjugate complex filters
	}
	if err := image(t, ctx, c, "u", op.Range(), v, op.Domain(), op.Adjoint, tol); err != nil {
		return fmt.Errorf("adjoint: %w", err)
	}
	return nil
}

// image applies f to the golden array in and compares with the array out.
func image[T scalar.Scalar](t *testing.T, ctx context.Context, c golden.Case, in string, from *dist.Space, out string, to *dist.Space, f func(context.Context, dist.Array[T], dist.Array[T]) error, tol float64) error {
	x, err := load[T](t, ctx, c, in, from)
	if err != nil {
		return err
	}
	y, err := dist.New[T](to)
	if err != nil {
		return err
	}
	if err := f(ctx, y, x); err != nil {
		return err
	}
	want := loadAll[T](t, c, out, to)
	got, err := gather(ctx, y)
	if err != nil {
		return err
	}
	return near(got, want, tol)
}

// loadAll reads an array, or the parts of a stack one after the other.
func loadAll[T scalar.Scalar](t *testing.T, c golden.Case, key string, s *dist.Space) []T {
	if s.Parts() == nil || c.Has(key) {
		_, v := golden.Rounded[T](t, c, key)
		return v
	}
	var all []T
	for i := range s.Parts() {
		_, v := golden.Rounded[T](t, c, fmt.Sprint(key, i))
		all = append(all, v...)
	}
	return all
}

func load[T scalar.Scalar](t *testing.T, ctx context.Context, c golden.Case, key string, s *dist.Space) (dist.Array[T], error) {
	all := loadAll[T](t, c, key, s)
	parts := s.Parts()
	if parts == nil {
		return scatter(ctx, s, all)
	}
	var arrays []dist.Array[T]
	for _, p := range parts {
		a, err := scatter(ctx, p, all[:p.Size()])
		if err != nil {
			return a, err
		}
		all = all[p.Size():]
		arrays = append(arrays, a)
	}
	x, err := dist.StackOf(arrays...)
	return x, err
}

func scatter[T scalar.Scalar](ctx context.Context, s *dist.Space, all []T) (dist.Array[T], error) {
	if s.Comm().Rank() != 0 {
		all = nil
	}
	return dist.Scatter(ctx, s, all)
}

func gather[T scalar.Scalar](ctx context.Context, a dist.Array[T]) ([]T, error) {
	if a.NumParts() == 0 {
		return dist.AllGather(ctx, a)
	}
	var all []T
	for i := range a.NumParts() {
		p, err := gather(ctx, a.Part(i))
		if err != nil {
			return nil, err
		}
		all = append(all, p...)
	}
	return all, nil
}

// near compares with a tolerance relative to the largest element.
func near[T scalar.Scalar](got, want []T, tol float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("got %d elements, want %d", len(got), len(want))
	}
	scale := 0.0
	for _, w := range want {
		scale = math.Max(scale, cmplx.Abs(scalar.Complex(w)))
	}
	for i := range got {
		if d := cmplx.Abs(scalar.Complex(got[i]) - scalar.Complex(want[i])); !(d <= tol*scale) {
			return fmt.Errorf("element %d is %v, want %v\ngot  %v\nwant %v", i, got[i], want[i], got, want)
		}
	}
	return nil
}

func kind(c golden.Case) ops.DerivativeKind {
	k := map[string]ops.DerivativeKind{"centered": ops.DerivativeCentered, "forward": ops.DerivativeForward, "backward": ops.DerivativeBackward}[c.String("kind")]
	if k == ops.DerivativeCentered && c.Params["order"] != nil && c.Int("order") == 5 {
		k = ops.DerivativeCentered5
	}
	return k
}

// edge is whether a case has other formulas at the ends. PyLops takes edge=True for
// one-sided kinds too, where it changes nothing.
func edge(c golden.Case) bool {
	return c.Bool("edge") && c.String("kind") == "centered"
}

func derivative(c golden.Case) ops.DerivativeOptions {
	return ops.DerivativeOptions{Sampling: c.Float("sampling"), Kind: kind(c), Edge: edge(c)}
}

// build makes our operator of a golden case.
func build[T scalar.Scalar](t *testing.T, ctx context.Context, x *dist.Space, c golden.Case) (linop.Operator[T], error) {
	array := func(key string) []T { _, v := golden.Array[T](t, c, key); return v }
	n := x.Shape().NDim()
	switch c.Op {
	case "FirstDerivative":
		axis := 0
		if c.Params["axis"] != nil {
			axis = c.Int("axis")
		}
		return ops.FirstDerivative[T](ctx, x, axis, derivative(c))
	case "MPIFirstDerivative":
		return ops.FirstDerivative[T](ctx, x, 0, derivative(c))
	case "SecondDerivative":
		return ops.SecondDerivative[T](ctx, x, c.Int("axis"), derivative(c))
	case "MPISecondDerivative":
		return ops.SecondDerivative[T](ctx, x, 0, derivative(c))
	case "Laplacian", "MPILaplacian":
		return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{Axes: c.Ints("axes"), Weights: c.Floats("weights"), Samplings: c.Floats("sampling"), Kind: kind(c), Edge: edge(c)})
	case "Gradient", "MPIGradient":
		s := c.Floats("sampling")
		if len(s) == 1 {
			s = slices.Repeat(s, n)
		}
		return ops.Gradient[T](ctx, x, ops.GradientOptions{Samplings: s, Kind: kind(c), Edge: edge(c)})
	case "Convolve1D":
		return ops.Convolve1D(ctx, x, c.Int("axis"), array("h"), c.Int("offset"))
	case "NonStationaryConvolve1D", "MPINonStationaryConvolve1D":
		sh, hs := golden.Array[T](t, c, "hs")
		var filters [][]T
		for i := range sh[0] {
			filters = append(filters, hs[i*sh[1]:(i+1)*sh[1]])
		}
		return ops.NonStationaryConvolve1D(ctx, x, c.Int("axis"), filters, c.Ints("ih"))
	case "CausalIntegration":
		rule := map[string]ops.IntegrationRule{"full": ops.IntegrationFull, "half": ops.IntegrationHalf, "trapezoidal": ops.IntegrationTrapezoidal}[c.String("kind")]
		return ops.CausalIntegration[T](ctx, x, c.Int("axis"), ops.IntegrationOptions{Sampling: c.Float("sampling"), Rule: rule, RemoveFirst: c.Bool("removefirst")})
	case "Smoothing1D":
		return ops.Smoothing1D[T](ctx, x, c.Int("axis"), c.Int("nsmooth"))
	case "Smoothing2D":
		return ops.Smoothing2D[T](ctx, x, [2]int(c.Ints("axes")), [2]int(c.Ints("nsmooth")))
	case "Identity":
		if slices.Equal(c.Dims, c.Dimsd) {
			return ops.Identity[T](x)
		}
		op, err := ops.Resize[T](ctx, x, 0, c.Dimsd[0])
		for a := 1; err == nil && a < n; a++ {
			var next linop.Operator[T]
			if next, err = ops.Resize[T](ctx, op.Range(), a, c.Dimsd[a]); err == nil {
				op, err = linop.Compose(next, op)
			}
		}
		return op, err
	case "Zero":
		y, err := x.Like(dist.Split(0), c.Dimsd...)
		if err != nil {
			return nil, err
		}
		return ops.Zero[T, T](x, y)
	case "Diagonal":
		sh, d := golden.Array[T](t, c, "d")
		if len(sh) == n {
			a, err := scatter(ctx, x, d)
			if err != nil {
				return nil, err
			}
			return ops.Diagonal(a)
		}
		return ops.DiagonalAlong(ctx, x, c.Int("axis"), d)
	case "MatrixMult", "MPIMatrixMult":
		sh, a := golden.Array[T](t, c, "A")
		lo, hi := 0, sh[0]
		if g, counts := x.SplitBy(0); g != dist.NoAxis {
			rows := dist.Balanced(sh[0], len(counts))
			me := x.Coords(x.Comm().Rank())[g]
			lo, hi = 0, rows[me]
			for _, k := range rows[:me] {
				lo, hi = lo+k, hi+k
			}
		}
		return ops.MatrixMult(ctx, x, sh[0], a[lo*sh[1]:hi*sh[1]])
	case "Restriction":
		return ops.Restriction[T](ctx, x, c.Int("axis"), c.Ints("iava"))
	case "Transpose":
		return ops.Transpose[T](ctx, x, c.Ints("axes")...)
	case "Flip":
		return ops.Flip[T](ctx, x, c.Int("axis"))
	case "Symmetrize":
		return ops.Symmetrize[T](ctx, x, c.Int("axis"))
	case "Roll":
		return ops.Roll[T](ctx, x, c.Int("axis"), c.Int("shift"))
	case "Pad":
		var before, after []int
		if v, ok := c.Params["pad"].([]any); ok && len(v) > 0 {
			if _, pairs := v[0].([]any); pairs {
				for _, p := range v {
					p := p.([]any)
					b, err := p[0].(json.Number).Int64()
					a, err2 := p[1].(json.Number).Int64()
					if err := errors.Join(err, err2); err != nil {
						return nil, err
					}
					before, after = append(before, int(b)), append(after, int(a))
				}
			} else {
				before, after = c.Ints("pad")[:1], c.Ints("pad")[1:]
			}
		}
		return ops.Pad[T](ctx, x, before, after)
	case "Sum":
		return ops.Sum[T](ctx, x, c.Int("axis"))
	case "Regression":
		_, taxis := golden.Array[float64](t, c, "taxis")
		return ops.Regression[T](ctx, x, taxis, c.Int("order"))
	case "LinearRegression":
		_, taxis := golden.Array[float64](t, c, "taxis")
		return ops.LinearRegression[T](ctx, x, taxis)
	case "Spread":
		var frac, table []float64
		var sh []int
		if strings.Contains(c.Name, "holes") { // NaN in a table of floating-point numbers
			sh, table = golden.Array[float64](t, c, "table")
		} else {
			var ints []int64
			sh, ints = golden.Ints(t, c, "table")
			for _, v := range ints {
				table = append(table, float64(v))
			}
		}
		if c.Has("dtable") {
			_, frac = golden.Array[float64](t, c, "dtable")
		}
		return ops.Spread[T](ctx, x, c.Dimsd[0], c.Dimsd[1], func(x0, t0, ix int) (int, float64, bool) {
			k := (x0*sh[1]+t0)*sh[2] + ix
			w := 0.0
			if frac != nil {
				w = frac[k]
			}
			if math.IsNaN(table[k]) {
				return 0, 0, false
			}
			return int(table[k]), w, true
		})
	}
	return nil, fmt.Errorf("no such operator here: %s", c.Op)
}
