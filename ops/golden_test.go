package ops_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop/optest"
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
	var names []string
	for _, o := range operators[float64]() {
		names = append(names, o.golden.names...)
	}
	for _, name := range names {
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

// goldenOf returns the test of the operator of a case.
func goldenOf[T scalar.Scalar](c golden.Case) (goldenTest[T], error) {
	for _, o := range operators[T]() {
		if slices.Contains(o.golden.names, c.Op) {
			return o.golden, nil
		}
	}
	return goldenTest[T]{}, fmt.Errorf("no such operator here: %s", c.Op)
}

func checkGolden[T scalar.Scalar](t *testing.T, ctx context.Context, r dist.Proc, p testLayout, c golden.Case, tol float64) error {
	o, err := goldenOf[T](c)
	if err != nil {
		return err
	}
	dims := c.Dims
	if o.dims != nil {
		dims = o.dims(c)
	}
	layout, fits := p.layout(len(dims))
	if !fits || o.fits != nil && !o.fits(layout) {
		return nil
	}
	s, err := dist.NewSpace(ctx, r, layout, dims...)
	if err != nil {
		return err
	}
	op, err := o.make(t, ctx, s, c)
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
