package ops_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// maker makes an operator whose domain is x, or a relative of x.
type maker[T scalar.Scalar] struct {
	name string
	make func(ctx context.Context, x *dist.Space) (linop.Operator[T], error)
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

// zoo lists every operator of this package that keeps the element type.
func zoo[T scalar.Scalar]() []maker[T] {
	type op = linop.Operator[T]
	type space = *dist.Space
	all := []maker[T]{
		{"identity", func(_ context.Context, x space) (op, error) { return ops.Identity[T](x) }},
		{"resize", func(ctx context.Context, x space) (op, error) { return ops.Resize[T](ctx, x, 0, 5) }},
		{"zero", func(ctx context.Context, x space) (op, error) { return ops.Zero[T, T](x, x) }},
		{"diagonal", func(ctx context.Context, x space) (op, error) {
			d, err := dist.FromFunc(ctx, x, func(i []int) T { return number[T](i[0] + 3*i[len(i)-1]) })
			if err != nil {
				return nil, err
			}
			return ops.Diagonal(d)
		}},
		{"diagonal along", func(ctx context.Context, x space) (op, error) {
			return ops.DiagonalAlong(ctx, x, 0, numbers[T](x.Shape().Dim(0)))
		}},
		{"matrix product", func(ctx context.Context, x space) (op, error) {
			g, counts := x.SplitBy(0)
			rows := 6
			if g != dist.NoAxis {
				rows = dist.Balanced(6, len(counts))[x.Coords(x.Comm().Rank())[g]]
			}
			return ops.MatrixMult(ctx, x, 6, numbers[T](rows*x.Shape().Dim(0)))
		}},
		{"restriction", func(ctx context.Context, x space) (op, error) {
			return ops.Restriction[T](ctx, x, 0, []int{0, 1, 3})
		}},
		{"restriction unsorted", func(ctx context.Context, x space) (op, error) {
			return ops.Restriction[T](ctx, x, 0, []int{3, 0, 1, 0})
		}},
		{"transpose", func(ctx context.Context, x space) (op, error) {
			order := []int{}
			for a := range x.Shape().NDim() {
				order = append(order, (a+1)%x.Shape().NDim())
			}
			return ops.Transpose[T](ctx, x, order...)
		}},
		{"pad", func(ctx context.Context, x space) (op, error) {
			b := make([]int, x.Shape().NDim())
			b[0] = 2
			return ops.Pad[T](ctx, x, b, b)
		}},
		{"sum", func(ctx context.Context, x space) (op, error) { return ops.Sum[T](ctx, x, 0) }},
		{"spread", func(ctx context.Context, x space) (op, error) {
			m, err := x.Like(dist.Split(0), 4, 3)
			if err != nil {
				return nil, err
			}
			return ops.Spread[T](ctx, m, 3, 7, func(x0, t0, ix int) (int, float64, bool) {
				return x0 + t0*ix - 1, 0.25, x0 != ix
			})
		}},
		{"regression", func(ctx context.Context, x space) (op, error) {
			y, err := x.Like(dist.Split(0), 5)
			if err != nil {
				return nil, err
			}
			return ops.Regression[T](ctx, y, []float64{0, 0.5, 1, 2, -1}, 2)
		}},
		{"linear regression", func(ctx context.Context, x space) (op, error) {
			y, err := x.Like(dist.Split(0), 5)
			if err != nil {
				return nil, err
			}
			return ops.LinearRegression[T](ctx, y, []float64{0, 0.5, 1, 2, -1})
		}},
		{"laplacian", func(ctx context.Context, x space) (op, error) {
			return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{Axes: []int{0, -1}, Weights: []float64{2, 3}, Samplings: []float64{0.5, 2}, Edge: true})
		}},
		{"gradient", func(ctx context.Context, x space) (op, error) {
			return ops.Gradient[T](ctx, x, ops.GradientOptions{Edge: true})
		}},
		{"halo", func(ctx context.Context, x space) (op, error) {
			d := make([]int, x.Shape().NDim())
			for a := range d {
				d[a] = 2 + a
			}
			return ops.Halo[T](ctx, x, ops.HaloOptions{Front: d, Back: d, Edges: true})
		}},
		{"halo within", func(ctx context.Context, x space) (op, error) {
			d := make([]int, x.Shape().NDim())
			d[0] = 3
			return ops.Halo[T](ctx, x, ops.HaloOptions{Front: d})
		}},
		{"smoothing 2d", func(ctx context.Context, x space) (op, error) {
			return ops.Smoothing2D[T](ctx, x, [2]int{0, -1}, [2]int{3, 5})
		}},
	}
	for _, axis := range []int{0, -1} {
		along := func(name string, f func(ctx context.Context, x space) (op, error)) {
			all = append(all, maker[T]{fmt.Sprintf("%s axis %d", name, axis), f})
		}
		along("flip", func(ctx context.Context, x space) (op, error) { return ops.Flip[T](ctx, x, axis) })
		along("roll", func(ctx context.Context, x space) (op, error) { return ops.Roll[T](ctx, x, axis, -2) })
		along("symmetrize", func(ctx context.Context, x space) (op, error) { return ops.Symmetrize[T](ctx, x, axis) })
		along("convolve", func(ctx context.Context, x space) (op, error) {
			return ops.Convolve1D(ctx, x, axis, numbers[T](4), 1)
		})
		along("non-stationary convolve", func(ctx context.Context, x space) (op, error) {
			return ops.NonStationaryConvolve1D(ctx, x, axis, [][]T{numbers[T](3), numbers[T](4)[1:], numbers[T](5)[2:]}, []int{0, 2, 4})
		})
		along("smoothing", func(ctx context.Context, x space) (op, error) { return ops.Smoothing1D[T](ctx, x, axis, 3) })
		for _, rule := range []ops.IntegrationRule{ops.IntegrationFull, ops.IntegrationHalf, ops.IntegrationTrapezoidal} {
			along(fmt.Sprintf("integration rule %d", rule), func(ctx context.Context, x space) (op, error) {
				return ops.CausalIntegration[T](ctx, x, axis, ops.IntegrationOptions{Sampling: 0.5, Rule: rule, RemoveFirst: rule == ops.IntegrationHalf})
			})
		}
		for _, k := range []ops.DerivativeKind{ops.DerivativeCentered, ops.DerivativeForward, ops.DerivativeBackward} {
			along("first derivative "+k.String(), func(ctx context.Context, x space) (op, error) {
				return ops.FirstDerivative[T](ctx, x, axis, ops.DerivativeOptions{Kind: k, Sampling: 0.5, Edge: k == ops.DerivativeCentered})
			})
			along("second derivative "+k.String(), func(ctx context.Context, x space) (op, error) {
				return ops.SecondDerivative[T](ctx, x, axis, ops.DerivativeOptions{Kind: k, Sampling: 0.5})
			})
		}
		along("first derivative of 5", func(ctx context.Context, x space) (op, error) {
			return ops.FirstDerivative[T](ctx, x, axis, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5, Edge: axis == 0})
		})
	}
	return all
}

// homes are the layouts that every operator is checked on, of shapes that do
// not divide evenly; some ranks hold nothing.
var homes = []struct {
	ranks  int
	layout dist.Layout
	dims   []int
}{
	{1, dist.Layout{}, []int{7, 5}},
	{2, dist.Layout{}, []int{11}},
	{3, dist.Layout{}, []int{7, 5}},
	{3, dist.Layout{Counts: [][]int{{1, 0, 6}}}, []int{7, 5}},
	{3, dist.Layout{Grid: []int{1, 3}}, []int{7, 5}},
	{2, dist.Split(1), []int{4, 5, 3}},
	{4, dist.Layout{Grid: []int{2, 2}}, []int{7, 5}},
	{6, dist.Layout{Grid: []int{2, 3}, Axes: []int{1, 0}}, []int{5, 4, 3}},
	{4, dist.Layout{Grid: []int{2, 2}, Axes: []int{dist.NoAxis, 0}}, []int{7, 5}},
	{7, dist.Layout{}, []int{5, 4}},
	{3, dist.Replicated, []int{6, 4}},
}

func eachHome(t *testing.T, f func(ctx context.Context, x *dist.Space) error) {
	for _, h := range homes {
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
			if err != nil {
				return err
			}
			return f(ctx, x)
		})
		if err != nil {
			t.Errorf("ranks=%d/shape=%v/grid=%v: %v", h.ranks, h.dims, h.layout.Grid, err)
		}
	}
}

// check runs one check of every operator over x.
func check[T scalar.Scalar](ctx context.Context, x *dist.Space, f func(context.Context, linop.Operator[T]) error) error {
	for _, m := range zoo[T]() {
		op, err := m.make(ctx, x)
		if err == nil {
			err = f(ctx, op)
		}
		if err != nil {
			return fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err)
		}
	}
	return nil
}

func TestDot(t *testing.T) {
	eachHome(t, func(ctx context.Context, x *dist.Space) error {
		return errors.Join(
			check(ctx, x, optest.Dot[float32, float32]), check(ctx, x, optest.Dot[float64, float64]),
			check(ctx, x, optest.Dot[complex64, complex64]), check(ctx, x, optest.Dot[complex128, complex128]))
	})
}

// Operators do the same on devices of other kinds.
func TestDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, h := range homes {
			if p.Slow && h.ranks > 2 {
				continue
			}
			err := p.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
				x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
				if err != nil {
					return err
				}
				err = errors.Join(check(ctx, x, optest.Dot[float32, float32]), check(ctx, x, optest.Dot[complex128, complex128]))
				if err != nil || p.Slow {
					return err
				}
				return errors.Join(
					check(ctx, x, optest.All[float64, float64]), check(ctx, x, optest.Dot[complex64, complex64]), check(ctx, x, optest.Overwrites[complex64, complex64]))
			})
			if err != nil {
				t.Errorf("ranks=%d/shape=%v/grid=%v: %v", h.ranks, h.dims, h.layout.Grid, err)
			}
		}
	})
}

func TestLinearAndOverwriting(t *testing.T) {
	eachHome(t, func(ctx context.Context, x *dist.Space) error {
		return check(ctx, x, func(ctx context.Context, a linop.Operator[complex64]) error {
			return errors.Join(optest.Linear(ctx, a), optest.Overwrites(ctx, a))
		})
	})
}

func TestAllocs(t *testing.T) {
	for _, h := range homes {
		if h.ranks > 3 {
			continue
		}
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
			if err != nil {
				return err
			}
			return errors.Join(check(ctx, x, optest.Allocs[float32, float32]), check(ctx, x, optest.Allocs[complex128, complex128]))
		})
		if err != nil {
			t.Errorf("ranks=%d/shape=%v: %v", h.ranks, h.dims, err)
		}
	}
}

func TestKeepsType(t *testing.T) {
	eachHome(t, func(ctx context.Context, x *dist.Space) error {
		a32, a64, c64, c128 := zoo[float32](), zoo[float64](), zoo[complex64](), zoo[complex128]()
		for i, m := range a32 {
			if m.name == "zero" {
				continue // has no digits to keep
			}
			if err := errors.Join(keeps(ctx, x, m, a64[i]), keeps(ctx, x, c64[i], c128[i])); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		return nil
	})
}

func keeps[A, B scalar.Scalar](ctx context.Context, x *dist.Space, a maker[A], b maker[B]) error {
	l, err := a.make(ctx, x)
	if err != nil {
		return err
	}
	r, err := b.make(ctx, x)
	if err != nil {
		return err
	}
	return optest.KeepsType(ctx, l, r)
}

func TestRealAndImag(t *testing.T) {
	eachHome(t, realAndImag)
	if _, err := ops.Real[complex64, float64](nil); err == nil {
		t.Error("no space: got no error")
	}
}

const childVar = "GOLOPS_TEST_CHILD"

// realAndImag checks the operators that change the element type.
func realAndImag(ctx context.Context, x *dist.Space) error {
	re32, err := ops.Real[complex64, float32](x)
	if err != nil {
		return err
	}
	re64, err := ops.Real[complex128, float64](x)
	if err != nil {
		return err
	}
	im32, err := ops.Imag[complex64, float32](x)
	if err != nil {
		return err
	}
	im64, err := ops.Imag[complex128, float64](x)
	if err != nil {
		return err
	}
	return errors.Join(
		optest.All(ctx, re32), optest.All(ctx, re64), optest.KeepsType(ctx, re32, re64),
		optest.All(ctx, im32), optest.All(ctx, im64), optest.KeepsType(ctx, im32, im64))
}

// stacks checks stacks of one matrix of each rank.
func stacks(ctx context.Context, r dist.Proc) error {
	mine, err := dist.NewSpace(ctx, r.Alone(), dist.Layout{}, 4)
	if err != nil {
		return err
	}
	a, err := ops.MatrixMult(ctx, mine, 3, numbers[complex64](12))
	if err != nil {
		return err
	}
	for _, f := range []func(context.Context, dist.Proc, ...linop.Operator[complex64]) (linop.Operator[complex64], error){
		linop.BlockDiagRanks[complex64], linop.VStackRanks[complex64], linop.HStackRanks[complex64],
	} {
		op, err := f(ctx, r, a)
		if err == nil {
			err = optest.Dot(ctx, op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestMain lets a copy of this program, started by mpirun, be a rank.
func TestMain(m *testing.M) {
	prog, cfg := underMPI, launch.Config{}
	switch os.Getenv(childVar) {
	case "":
		os.Exit(m.Run())
	case "mixed":
		prog, cfg = underMPIMixed, launch.Config{Checked: true}
	}
	err := testdevices.World(context.Background(), cfg, prog)
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED", err)
		os.Exit(1)
	}
}

// underMPI runs the dot tests that fit the ranks there are.
func underMPI(ctx context.Context, r dist.Proc) error {
	n := 0
	for _, h := range homes {
		if h.ranks != r.Size() {
			continue
		}
		x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
		if err != nil {
			return err
		}
		if soak.On() || n%2 == 0 {
			err = check(ctx, x, optest.Dot[float32, float32])
		}
		if err == nil && (soak.On() || n%2 == 1) {
			err = errors.Join(check(ctx, x, optest.Dot[complex128, complex128]), realAndImag(ctx, x))
		}
		if err != nil {
			return err
		}
		if err := random(ctx, x, zoo[complex64](), rand.New(rand.NewPCG(1, 2))); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return fmt.Errorf("no layout for %d ranks", r.Size())
	}
	return stacks(ctx, r)
}

func TestMPI(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 3, os.Args[0])
		c.Env = append(c.Env, childVar+"=1")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Run(); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	})
}
