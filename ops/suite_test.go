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
	"github.com/golops/golops/shape"
)

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

// ways are how rows of other ranks travel.
var ways = []dist.Way{dist.Messages, dist.OneSided}

// eachHome runs f on each home, both ways.
func eachHome(t *testing.T, f func(ctx context.Context, x *dist.Space) error) {
	for _, way := range ways {
		eachHomeBy(t, way, f)
	}
}

func eachHomeBy(t *testing.T, way dist.Way, f func(ctx context.Context, x *dist.Space) error) {
	for _, h := range homes {
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := spaceBy(ctx, r, way, h.layout, h.dims)
			if err != nil {
				return err
			}
			return f(ctx, x)
		})
		if err != nil {
			t.Errorf("ranks=%d/shape=%v/grid=%v/way=%d: %v", h.ranks, h.dims, h.layout.Grid, way, err)
		}
	}
}

// spaceBy returns a space whose rows travel one way, or by messages where ranks cannot
// go that way. A test of package dist says who can.
func spaceBy(ctx context.Context, r dist.Proc, way dist.Way, l dist.Layout, dims []int) (*dist.Space, error) {
	l.Way = way
	x, err := dist.NewSpace(ctx, r, l, dims...)
	if errors.Is(err, errors.ErrUnsupported) {
		l.Way = dist.Messages
		x, err = dist.NewSpace(ctx, r, l, dims...)
	}
	return x, err
}

// check runs one check of every operator over x.
func check[T scalar.Scalar](ctx context.Context, x *dist.Space, f func(context.Context, linop.Operator[T]) error) error {
	for _, m := range forms[T]() {
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
		for i, h := range homes {
			if p.Slow && h.ranks > 2 {
				continue
			}
			err := p.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
				x, err := spaceBy(ctx, r, ways[i%2], h.layout, h.dims)
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
	for i, h := range homes {
		if h.ranks > 3 {
			continue
		}
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := spaceBy(ctx, r, ways[i%2], h.layout, h.dims)
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
	eachHomeBy(t, dist.Messages, func(ctx context.Context, x *dist.Space) error {
		a32, a64, c64, c128 := forms[float32](), forms[float64](), forms[complex64](), forms[complex128]()
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

func keeps[A, B scalar.Scalar](ctx context.Context, x *dist.Space, a form[A], b form[B]) error {
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

// Operators do what their formulas say.
func TestFormulas(t *testing.T) {
	eachHome(t, func(ctx context.Context, x *dist.Space) error {
		return errors.Join(checkFormulas[float64](ctx, x), checkFormulas[complex128](ctx, x))
	})
}

func checkFormulas[T scalar.Scalar](ctx context.Context, x *dist.Space) error {
	for _, m := range forms[T]() {
		if m.formula == nil {
			continue
		}
		if err := checkFormula(ctx, x, m); err != nil {
			return fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err)
		}
	}
	return nil
}

func checkFormula[T scalar.Scalar](ctx context.Context, x *dist.Space, m form[T]) error {
	a, err := m.make(ctx, x)
	if err != nil {
		return err
	}
	u, err := dist.Random[T](ctx, a.Domain(), 1)
	if err != nil {
		return err
	}
	in, err := gather(ctx, u)
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, a, u)
	if err != nil {
		return err
	}
	got, err := gather(ctx, y)
	if err != nil {
		return err
	}
	from, to := a.Domain().Shape(), a.Range().Shape()
	want := make([]T, to.Size())
	for k := range want {
		want[k] = m.formula(func(i ...int) T { return in[position(from, i)] }, from.Dims(), indices(to, k))
	}
	return near(got, want, 1e-12)
}

// position returns where the element at indices i lies in an array of shape s.
func position(s shape.Shape, i []int) (k int) {
	for a, v := range i {
		k = k*s.Dim(a) + v
	}
	return k
}

// indices is the inverse of position.
func indices(s shape.Shape, k int) []int {
	i := make([]int, s.NDim())
	for a := s.NDim() - 1; a >= 0; a-- {
		i[a], k = k%s.Dim(a), k/s.Dim(a)
	}
	return i
}

const childVar = "GOLOPS_TEST_CHILD"

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
	case "products":
		prog = underMPIProducts
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
		x, err := spaceBy(ctx, r, ways[(n+1)/2%2], h.layout, h.dims) // both ways for both types
		if err != nil {
			return err
		}
		if soak.On() || n%2 == 0 {
			err = check(ctx, x, optest.Dot[float32, float32])
		}
		if err == nil && (soak.On() || n%2 == 1) {
			err = errors.Join(check(ctx, x, optest.Dot[complex128, complex128]), realAndImag(ctx, x),
				eachFFT(ctx, x, dotOf[complex128, complex128], dotOf[complex128, float64]))
		}
		if err != nil {
			return err
		}
		if err := random(ctx, x, forms[complex64](), rand.New(rand.NewPCG(1, 2))); err != nil {
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
		ranks := 3
		if m.Name == "mpich" { // takes long where ranks share cores
			ranks = soak.Or(2, 3)
		}
		c := m.Command(t.Context(), ranks, os.Args[0])
		c.Env = append(c.Env, childVar+"=1")
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		if err := c.Run(); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
	})
}
