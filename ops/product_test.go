package ops_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(productTest[float32], productTest[float64], productTest[complex64], productTest[complex128])

func productTest[T scalar.Scalar]() operatorTest[T] {
	over := func(l dist.Layout, o ops.ProductOptions, dims ...int) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return productOver[T](ctx, x, l, o, dims...) }
	}
	form1 := func(name string, l dist.Layout, o ops.ProductOptions) form[T] {
		return form[T]{name, func(ctx ctxt, x space) (op[T], error) { return productOver[T](ctx, x, l, o, 6, x.Shape().Dim(0)) },
			func(x func(...int) T, dims, i []int) (y T) {
				from := slices.Clone(i)
				for j := range dims[0] {
					from[0] = j
					y += element[T](i[0], j) * x(from...)
				}
				return y
			}}
	}
	return operatorTest[T]{
		forms: []form[T]{
			form1("product, rows split", dist.Split(0), ops.ProductOptions{}),
			form1("product, columns split", dist.Split(1), ops.ProductOptions{Panel: 2}),
			form1("product, copies share", dist.Replicated, ops.ProductOptions{Share: true}),
		},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Product(ctx, dist.Array[T]{}, nil, ops.ProductOptions{}) },
		bad: []badCase[T]{
			{"columns", over(dist.Split(0), ops.ProductOptions{}, 3, 8), []string{"product", "[3 8]", "[7 5]", "8 columns", "7 rows of x"}},
			{"batches", over(dist.Split(0), ops.ProductOptions{}, 6, 3, 5), []string{"product", "[6 3 5]", "[7 5]", "axis 0"}},
			{"too many axes", over(dist.Split(0), ops.ProductOptions{}, 7, 5, 2, 2), []string{"product", "[7 5 2 2]", "[7 5]", "2 axes of batches"}},
			{"no matrix", over(dist.Split(0), ops.ProductOptions{}, 7), []string{"product", "shape [7]", "last two axes"}},
			{"panels", over(dist.Split(0), ops.ProductOptions{Panel: -1}, 3, 7), []string{"product", "panels of -1 rows"}},
			{"way", over(dist.Split(0), ops.ProductOptions{Way: 7}, 3, 7), []string{"product", "way 7", "OneSided"}},
		},
	}
}

// element is an element of the matrix of productTest.
func element[T scalar.Scalar](i, j int) T { return number[T](3*i + 2*j) }

// productOver multiplies with a matrix of these dims.
func productOver[T scalar.Scalar](ctx ctxt, x space, l dist.Layout, o ops.ProductOptions, dims ...int) (op[T], error) {
	if x.Replicated() { // so that the range is replicated too
		l = dist.Replicated
	}
	s, err := x.Like(l, dims...)
	if err != nil {
		return nil, err
	}
	a, err := dist.FromFunc(ctx, s, func(i []int) T { return element[T](i[0], i[len(i)-1]) })
	if err := dist.Agree(ctx, x.Comm(), "matrix", err); err != nil { // memory may be short on one rank
		return nil, err
	}
	return ops.Product(ctx, a, x, o)
}

func ExampleProduct() {
	show([]int{2, 2}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (op[float64], error) {
		s, err := x.Like(dist.Split(1), 3, 2) // columns of the matrix over ranks
		if err != nil {
			return nil, err
		}
		a, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(10*i[0] + i[1]) })
		if err != nil {
			return nil, err
		}
		return ops.Product(ctx, a, x, ops.ProductOptions{})
	})
	// Output: [3 4 43 64 83 124]
}

// productCase is a product drawn from a seed: extents, and layouts of A and X.
type productCase struct {
	batch, columns []int // axes of batches, and of columns
	rows, depth    int
	a, x           dist.Layout
	o              ops.ProductOptions
}

func (c productCase) String() string {
	return fmt.Sprintf("batch %v rows %d depth %d columns %v A %v %v X %v %v options %+v", c.batch, c.rows, c.depth, c.columns, c.a.Grid, c.a.Axes, c.x.Grid, c.x.Axes, c.o)
}

// drawProduct draws layouts on n ranks. Most are on one grid, so that all pairs of
// letters come along all axes of the grid.
func drawProduct(r *rand.Rand, n int) productCase {
	pick := func(v ...int) int { return v[r.IntN(len(v))] }
	c := productCase{rows: pick(1, 2, 3, 7, 16, 33), depth: pick(1, 2, 3, 7, 16, 33)}
	for range r.IntN(3) {
		c.batch = append(c.batch, pick(1, 2, 5))
	}
	for range r.IntN(3) {
		c.columns = append(c.columns, pick(1, 2, 3, 7))
	}
	grid := drawGrid(r, n)
	c.a = drawLayout(r, grid, append(append([]int{}, c.batch...), c.rows, c.depth))
	if r.IntN(5) == 0 {
		grid = drawGrid(r, n)
	}
	c.x = drawLayout(r, grid, append(append(append([]int{}, c.batch...), c.depth), c.columns...))
	c.o = ops.ProductOptions{Panel: pick(0, 0, 1, 3), Share: r.IntN(2) == 0, Way: dist.Way(r.IntN(2))}
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

// testProduct compares a product with the definition, and takes the dot test.
func testProduct[T scalar.Scalar](ctx context.Context, r dist.Proc, c productCase, seed uint64) error {
	aSpace, err := dist.NewSpace(ctx, r, c.a, append(append([]int{}, c.batch...), c.rows, c.depth)...)
	if err != nil {
		return err
	}
	x, err := dist.NewSpace(ctx, r, c.x, append(append(append([]int{}, c.batch...), c.depth), c.columns...)...)
	if err != nil {
		return err
	}
	a, err := dist.Random[T](ctx, aSpace, seed)
	if err != nil {
		return err
	}
	op, err := ops.Product(ctx, a, x, c.o)
	if err != nil {
		return err
	}
	if err := optest.All(ctx, op); err != nil {
		return err
	}
	v, err := dist.Random[T](ctx, x, seed+1)
	if err != nil {
		return err
	}
	y, err := dist.New[T](op.Range())
	if err != nil {
		return err
	}
	if err := op.Forward(ctx, y, v); err != nil {
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

func compareProduct[T scalar.Scalar](c productCase, a, x, y []T) error {
	batch, columns := 1, 1
	for _, n := range c.batch {
		batch *= n
	}
	for _, n := range c.columns {
		columns *= n
	}
	for b := range batch {
		for i := range c.rows {
			for k := range columns {
				var want, size complex128
				for j := range c.depth {
					f := scalar.Complex(a[(b*c.rows+i)*c.depth+j]) * scalar.Complex(x[(b*c.depth+j)*columns+k])
					want += f
					size += 1
				}
				got := scalar.Complex(y[(b*c.rows+i)*columns+k])
				if d := got - want; real(d)*real(d)+imag(d)*imag(d) > 1e-10*real(size*size) {
					return fmt.Errorf("Y[%d,%d,%d] is %v, want %v", b, i, k, got, want)
				}
			}
		}
	}
	return nil
}

// TestProductLayouts multiplies with random layouts on several numbers of ranks.
func TestProductLayouts(t *testing.T) {
	cases := soak.Or(60, 2000)
	for _, ranks := range []int{1, 2, 3, 4, 6, 9} {
		t.Run(fmt.Sprintf("ranks=%d", ranks), func(t *testing.T) {
			err := launch.Config{Ranks: ranks, Threads: 1}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
				for seed := range uint64(cases) {
					c := drawProduct(rand.New(rand.NewPCG(seed, uint64(ranks))), ranks)
					var err error
					switch seed % 4 {
					case 0:
						err = testProduct[float64](ctx, r, c, seed)
					case 1:
						err = testProduct[complex128](ctx, r, c, seed)
					case 2:
						err = testProduct[float32](ctx, r, c, seed)
					default:
						err = testProduct[complex64](ctx, r, c, seed)
					}
					if err != nil {
						return fmt.Errorf("seed %d: %v: %w", seed, c, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
