package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
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

// productCase is a product drawn from a seed: extents, and layouts of A and X.
type productCase struct {
	batch, columns []int // axes of batches, and of columns
	rows, depth    int
	a, x           dist.Layout
	o              ops.ProductOptions
	ready          bool // A and x come from ProductSpaces
}

func (c productCase) aDims() []int { return slices.Concat(c.batch, []int{c.rows, c.depth}) }
func (c productCase) xDims() []int { return slices.Concat(c.batch, []int{c.depth}, c.columns) }

func (c productCase) String() string {
	return fmt.Sprintf("batch %v rows %d depth %d columns %v A %v %v X %v %v kind %v panel %d share %v way %v", c.batch, c.rows, c.depth, c.columns, c.a.Grid, c.a.Axes, c.x.Grid, c.x.Axes, c.o.Kind, c.o.Panel, c.o.Share, c.o.Way)
}

// drawProduct draws layouts on n ranks. Most are on one grid, so that all pairs of
// letters come along all axes of the grid.
func drawProduct(r *rand.Rand, n int) productCase {
	pick := func(v ...int) int { return v[r.IntN(len(v))] }
	c := productCase{rows: pick(1, 2, 3, 7, 16, 33, 64), depth: pick(1, 2, 3, 7, 16, 33, 64)}
	for range r.IntN(3) {
		c.batch = append(c.batch, pick(1, 2, 5))
	}
	for range r.IntN(3) {
		c.columns = append(c.columns, pick(1, 2, 3, 7, 16))
	}
	grid := drawGrid(r, n)
	c.a = drawLayout(r, grid, c.aDims())
	if r.IntN(5) == 0 {
		grid = drawGrid(r, n)
	}
	c.x = drawLayout(r, grid, c.xDims())
	c.o = ops.ProductOptions{Panel: pick(0, 0, 1, 3), Share: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		c.o.Kind = ops.ProductKind(1 + r.IntN(int(ops.Product25D)))
		c.ready = r.IntN(2) == 0
	}
	return c
}

// drawGrid draws a factorisation of n.
func drawGrid(r *rand.Rand, n int) (grid []int) {
	for n > 1 && len(grid) < 2 {
		var d []int
		for i := 1; i <= n; i++ {
			if n%i == 0 {
				d = append(d, i)
			}
		}
		e := d[r.IntN(len(d))]
		grid = append(grid, e)
		n /= e
	}
	return append(grid, n)
}

// drawLayout lets each axis of the grid split another axis of the array, or none.
func drawLayout(r *rand.Rand, grid, dims []int) dist.Layout {
	if r.IntN(6) == 0 {
		return dist.Replicated
	}
	l := dist.Layout{Grid: grid, Counts: make([][]int, len(grid))}
	order := r.Perm(len(dims) + 2)
	for g := range grid {
		a := dist.NoAxis
		if g < len(order) && order[g] < len(dims) {
			a = order[g]
		}
		l.Axes = append(l.Axes, a)
		if a != dist.NoAxis && r.IntN(2) == 0 { // ragged
			counts := make([]int, grid[g])
			for range dims[a] {
				counts[r.IntN(len(counts))]++
			}
			l.Counts[g] = counts
		}
	}
	return l
}

// testProduct compares a product with the definition, and takes the dot test. A has
// elements A.
func testProduct[T, A scalar.Scalar](ctx context.Context, r dist.Proc, c productCase, seed uint64) error {
	aSpace, err := dist.NewSpace(ctx, r, c.a, c.aDims()...)
	if err != nil {
		return err
	}
	x, err := dist.NewSpace(ctx, r, c.x, c.xDims()...)
	if err != nil {
		return err
	}
	if c.ready { // A and x are where the kind wants them
		if aSpace, x, err = ops.ProductSpaces[T, A](ctx, r, c.aDims(), c.xDims(), c.o); err != nil {
			return err
		}
	}
	a, err := dist.Random[A](ctx, aSpace, seed)
	if err != nil {
		return err
	}
	op, err := ops.Product[T](ctx, a, x, c.o)
	if c.o.Way == dist.OneSided || c.o.Kind == ops.ProductOneSidedSUMMA {
		if errors.Is(err, errors.ErrUnsupported) && r.OneSided(ctx) != nil { // an MPI without windows, or NCCL
			c.o.Way, c.o.Kind = dist.Messages, min(c.o.Kind, ops.ProductSUMMA)
			op, err = ops.Product[T](ctx, a, x, c.o)
		}
	}
	if err != nil {
		return err
	}
	if text := fmt.Sprint(op); c.ready && strings.Contains(text, "moved") || !strings.Contains(text, "rank") {
		return fmt.Errorf("the operator is %q", text)
	}
	if err := optest.All(ctx, op); err != nil {
		return err
	}
	v, err := dist.Random[T](ctx, x, seed+1)
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, op, v)
	if err != nil {
		return err
	}
	allA, err := dist.AllGather(ctx, a)
	if err != nil {
		return err
	}
	allX, err := dist.AllGather(ctx, v)
	if err != nil {
		return err
	}
	allY, err := dist.AllGather(ctx, y)
	if err != nil {
		return err
	}
	return compareProduct(c, allA, allX, allY)
}

func compareProduct[T, A scalar.Scalar](c productCase, a []A, x, y []T) error {
	batch, columns := 1, 1
	for _, n := range c.batch {
		batch *= n
	}
	for _, n := range c.columns {
		columns *= n
	}
	eps := 1e-14
	if dt := scalar.Of[T](); dt == scalar.Float32 || dt == scalar.Complex64 {
		eps = 1e-5
	}
	for b := range batch {
		for i := range c.rows {
			for k := range columns {
				var want complex128
				for j := range c.depth {
					want += scalar.Complex(a[(b*c.rows+i)*c.depth+j]) * scalar.Complex(x[(b*c.depth+j)*columns+k])
				}
				got := scalar.Complex(y[(b*c.rows+i)*columns+k])
				if cmplx.Abs(got-want) > eps*float64(c.depth) {
					return fmt.Errorf("Y[%d,%d,%d] is %v, want %v", b, i, k, got, want)
				}
			}
		}
	}
	return nil
}

// testProducts multiplies with random layouts and kinds.
func testProducts(ctx context.Context, r dist.Proc, cases int) error {
	for seed := range uint64(cases) {
		c := drawProduct(rand.New(rand.NewPCG(seed, uint64(r.Size()))), r.Size())
		c.o.Way = dist.Way((seed + seed/6) % 2)
		test := []func(context.Context, dist.Proc, productCase, uint64) error{
			testProduct[float64, float64], testProduct[complex128, complex128], testProduct[float32, float32], testProduct[complex64, complex64],
			testProduct[float64, float32], testProduct[complex128, complex64],
		}[seed%6]
		if err := test(ctx, r, c, seed); err != nil {
			return fmt.Errorf("seed %d: %v: %w", seed, c, err)
		}
	}
	return nil
}

// TestProductLayouts multiplies with random layouts on several numbers of ranks.
func TestProductLayouts(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4, 6, 9} {
		t.Run(fmt.Sprintf("ranks=%d", ranks), func(t *testing.T) {
			err := launch.Config{Ranks: ranks, Threads: 1}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
				return testProducts(ctx, r, soak.Or(90, 3000))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestProductDevices is TestProductLayouts on devices of other kinds.
func TestProductDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		ranks, cases := 4, soak.Or(40, 1000)
		if p.Slow {
			ranks, cases = 2, soak.Or(12, 100)
		}
		err := p.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error { return testProducts(ctx, r, cases) })
		if err != nil {
			t.Error(err)
		}
	})
}

// underMPIProducts is TestProductLayouts on the ranks of a launcher.
func underMPIProducts(ctx context.Context, r dist.Proc) error {
	cases, err := strconv.Atoi(os.Getenv("GOLOPS_TEST_CASES"))
	if err != nil {
		return err
	}
	return testProducts(ctx, r, cases)
}

// MPICH takes long where ranks share cores, so it has few cases.
func TestProductsUnderMPI(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		cases, all := soak.Or(12, 600), []int{4, 6}
		if m.Name == "mpich" {
			cases, all = soak.Or(2, 100), soak.Or([]int{4}, all)
		}
		for _, ranks := range all {
			c := m.Command(t.Context(), ranks, os.Args[0])
			c.Env = append(c.Env, childVar+"=products", fmt.Sprintf("GOLOPS_TEST_CASES=%d", cases), "GOMAXPROCS=1")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%d ranks: %v\n%s", ranks, err, out)
			}
		}
	})
}
