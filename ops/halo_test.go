package ops_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(haloTest[float32], haloTest[float64], haloTest[complex64], haloTest[complex128])

func haloTest[T scalar.Scalar]() operatorTest[T] {
	call := func(o func(v int) ops.HaloOptions) func(ctx ctxt, x space, v int) (op[T], error) {
		return func(ctx ctxt, x space, v int) (op[T], error) { return ops.Halo[T](ctx, x, o(v)) }
	}
	return operatorTest[T]{
		forms: []form[T]{
			{name: "halo", make: func(ctx ctxt, x space) (op[T], error) {
				d := make([]int, x.Shape().NDim())
				for a := range d {
					d[a] = 2 + a
				}
				return ops.Halo[T](ctx, x, ops.HaloOptions{Front: d, Back: d, Edges: true})
			}},
			{name: "halo within", make: func(ctx ctxt, x space) (op[T], error) {
				d := make([]int, x.Shape().NDim())
				d[0] = 3
				return ops.Halo[T](ctx, x, ops.HaloOptions{Front: d})
			}},
		},
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Halo[T](ctx, nil, ops.HaloOptions{}) },
		bad: []badCase[T]{
			{"halo", call(func(me int) ops.HaloOptions { return ops.HaloOptions{Front: []int{onRank1(me, 1, -1), 0}} }), []string{"rank 1", "halo", "-1"}},
			{"halo that differs", call(func(me int) ops.HaloOptions { return ops.HaloOptions{Front: []int{onRank1(me, 1, 2), 0}} }), []string{"ranks disagree", "rank 1"}},
		},
		extreme: []extremeCase[T]{
			{"halo front", call(func(v int) ops.HaloOptions { return ops.HaloOptions{Front: []int{v}} }), nil},
			{"halo back", call(func(v int) ops.HaloOptions { return ops.HaloOptions{Back: []int{v}} }), nil},
			{"halo front beyond", call(func(v int) ops.HaloOptions { return ops.HaloOptions{Front: []int{v}, Edges: true} }),
				func(v, ranks float64) float64 { return 24 + ranks*v }},
			{"halo beyond", call(func(v int) ops.HaloOptions { return ops.HaloOptions{Front: []int{v}, Back: []int{v}, Edges: true} }),
				func(v, ranks float64) float64 { return 24 + 2*ranks*v }},
		},
		ownTest:  "TestGoldenHalo",
		messages: []messageCase[T]{{"halo", halo[T]([]int{1, 0}, []int{2, 0}), sentToNeighbours, 0}},
		overlap:  []form[T]{{name: "halo", make: halo[T]([]int{1, 1}, []int{2, 1})}},
	}
}

func halo[T scalar.Scalar](front, back []int) newOp[T] {
	return func(ctx ctxt, x space) (op[T], error) {
		return ops.Halo[T](ctx, x, ops.HaloOptions{Front: front, Back: back})
	}
}

func BenchmarkHalo(b *testing.B) {
	wide := []int{2, 0}
	onTypes(b, plain, halo[float32](wide, wide), halo[float64](wide, wide))
}

func ExampleHalo() {
	show([]int{4}, []float64{1, 2, 3, 4}, halo[float64]([]int{1}, []int{1}))
	// Output: [1 2 3 2 3 4]
}

// Blocks with halos are those of MPIHalo, on the blocks that it chooses.
func TestGoldenHalo(t *testing.T) {
	for _, c := range golden.Cases(t, "MPIHalo") {
		err := testdevices.Local(t.Context(), c.Ranks, func(ctx context.Context, r dist.Proc) error {
			switch c.DType {
			case scalar.Float32:
				return checkHalo[float32](t, ctx, r, c)
			case scalar.Float64:
				return checkHalo[float64](t, ctx, r, c)
			case scalar.Complex64:
				return checkHalo[complex64](t, ctx, r, c)
			}
			return checkHalo[complex128](t, ctx, r, c)
		})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

func checkHalo[T scalar.Scalar](t *testing.T, ctx context.Context, r dist.Proc, c golden.Case) error {
	grid, dims := c.Ints("proc_grid_shape"), c.IntRows("local_dims")
	l := dist.Layout{Grid: grid, Counts: make([][]int, len(grid))}
	inner := c.Ranks
	for g, e := range grid {
		inner /= e
		for i := range e { // rows at coordinate i of grid axis g, the others being 0
			l.Counts[g] = append(l.Counts[g], dims[i*inner][g])
		}
	}
	x, err := dist.NewSpace(ctx, r, l, c.Dims...)
	if err != nil {
		return err
	}
	// PyLops-MPI lists the width in front and behind along each axis, of each
	// rank; inside it is that of the user, at the ends of the array it may be 0.
	n := len(c.Dims)
	h := ops.HaloOptions{Front: make([]int, n), Back: make([]int, n)}
	for rank, w := range c.IntRows("local_halo") {
		b := x.Box(rank)
		for a := range n {
			h.Front[a], h.Back[a] = max(h.Front[a], w[2*a]), max(h.Back[a], w[2*a+1])
			h.Edges = h.Edges || b.Lo[a] == 0 && w[2*a] > 0 || b.Hi[a] == c.Dims[a] && w[2*a+1] > 0
		}
	}
	op, err := ops.Halo[T](ctx, x, h)
	if err != nil {
		return err
	}
	src, err := load[T](t, ctx, c, "x", x)
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, op, src)
	if err != nil {
		return err
	}
	got, err := y.Host()
	if err != nil {
		return err
	}
	_, want := golden.Array[T](t, c, fmt.Sprintf("y_rank%d", r.Rank()))
	return near(got, want, 0)
}
