package ops_test

import (
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(slidingTest[float32], slidingTest[float64], slidingTest[complex64], slidingTest[complex128])

var taperKinds = map[string]ops.TaperKind{
	"none": ops.TaperNone, "hanning": ops.TaperHanning, "cosine": ops.TaperHanning, "cosinesquare": ops.TaperCosineSquare, "cosinesqrt": ops.TaperCosineSqrt,
}

// windowMatrix returns an operator of one rank from nop × rest to nwin × rest.
func windowMatrix[T scalar.Scalar](ctx ctxt, y space, nop, nwin, rest []int, a []T) (op[T], error) {
	product := func(n []int) (p int) {
		p = 1
		for _, v := range n {
			p *= v
		}
		return p
	}
	alone := func(dims ...[]int) (space, error) {
		return dist.NewSpace(ctx, y.Proc().Alone(), dist.Layout{}, slices.Concat(dims...)...)
	}
	flat, err := alone([]int{product(nop)}, rest)
	if err != nil {
		return nil, err
	}
	m, err := ops.MatrixMult(ctx, flat, product(nwin), a)
	if err != nil {
		return nil, err
	}
	from, err := alone(nop, rest)
	if err != nil {
		return nil, err
	}
	to, err := alone(nwin, rest)
	if err != nil {
		return nil, err
	}
	return linop.Reshape(m, from, to)
}

func slidingTest[T scalar.Scalar]() operatorTest[T] {
	// with slides windows of 4 samples along the first axis, made of 2 by numbers.
	with := func(o ops.SlidingOptions) func(ctx ctxt, y space, _ int) (op[T], error) {
		return func(ctx ctxt, y space, _ int) (op[T], error) {
			inner, err := windowMatrix(ctx, y, []int{2}, []int{4}, y.Shape().Dims()[1:], numbers[T](8))
			if err := dist.Agree(ctx, y.Comm(), "window", err); err != nil { // memory may be short on one rank
				return nil, err
			}
			return ops.Sliding(ctx, y, inner, o)
		}
	}
	good := ops.SlidingOptions{Window: []int{4}, Overlap: []int{2}, Taper: ops.TaperHanning}
	return operatorTest[T]{
		forms: []form[T]{{name: "sliding windows", make: func(ctx ctxt, x space) (op[T], error) { return with(good)(ctx, x, 0) }}},
		nowhere: func(ctx ctxt) (op[T], error) {
			return ops.Sliding[T](ctx, nil, nil, good)
		},
		bad: []badCase[T]{
			{"no operator", func(ctx ctxt, y space, _ int) (op[T], error) { return ops.Sliding[T](ctx, y, nil, good) }, []string{"no operator given"}},
			{"window", with(ops.SlidingOptions{Window: []int{8}, Overlap: []int{2}}), []string{"sliding windows", "window 0 has 8 samples", "has 7"}},
			{"negative window", with(ops.SlidingOptions{Window: []int{-3}, Overlap: []int{0}}), []string{"window 0 has -3 samples", "1 to 7"}},
			{"negative overlap", with(ops.SlidingOptions{Window: []int{4}, Overlap: []int{-1}}), []string{"overlap 0 is -1", "0 to 3"}},
			{"window of another operator", with(ops.SlidingOptions{Window: []int{5}, Overlap: []int{2}}), []string{"makes [4 5]", "a window is [5 5]"}},
			{"overlap", with(ops.SlidingOptions{Window: []int{4}, Overlap: []int{4}}), []string{"overlap 0 is 4", "0 to 3"}},
			{"overlap of tapers", with(ops.SlidingOptions{Window: []int{4}, Overlap: []int{3}, Taper: ops.TaperHanning}), []string{"overlap 0 is 3", "half the window, 2"}},
			{"taper", with(ops.SlidingOptions{Window: []int{4}, Overlap: []int{2}, Taper: 9}), []string{"taper is 9", "TaperHanning"}},
			{"windows without overlaps", with(ops.SlidingOptions{Window: []int{4, 4}, Overlap: []int{2}}), []string{"windows [4 4]", "overlaps [2]"}},
		},
		golden: goldenTest[T]{
			names: []string{"Sliding1D", "Sliding2D", "Sliding3D", "Patch2D", "Patch3D"},
			dims:  func(c golden.Case) []int { return c.Ints("dims") },
			make: func(t *testing.T, ctx ctxt, y space, c golden.Case) (op[T], error) {
				_, a := golden.Array[T](t, c, "A")
				window := c.Ints("nwin")
				inner, err := windowMatrix(ctx, y, c.Ints("nop"), window, y.Shape().Dims()[len(window):], a)
				if err != nil {
					return nil, err
				}
				return ops.Sliding(ctx, y, inner, ops.SlidingOptions{Window: window, Overlap: c.Ints("nover"), Taper: taperKinds[c.String("taper")]})
			}},
		messages: []messageCase[T]{{"sliding windows apart", func(ctx ctxt, x space) (op[T], error) {
			return on(x, dist.Layout{}, []int{16, 2}, func(y space) (op[T], error) {
				return with(ops.SlidingOptions{Window: []int{4}, Overlap: []int{0}})(ctx, y, 0)
			})
		}, sentNone, 0}},
	}
}

func BenchmarkSliding(b *testing.B) {
	onTypes(b, plain, benchSliding[float32], benchSliding[float64])
}

func benchSliding[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	inner, err := windowMatrix(ctx, x, []int{10}, []int{40}, []int{benchCols}, numbers[T](400))
	if err != nil {
		return nil, err
	}
	return ops.Sliding(ctx, x, inner, ops.SlidingOptions{Window: []int{40}, Overlap: []int{20}, Taper: ops.TaperHanning})
}

func ExampleSliding() {
	// Windows of 3 samples that are the same number each, with one sample in common.
	show([]int{5}, []float64{1, 10}, func(ctx ctxt, y space) (op[float64], error) {
		inner, err := windowMatrix(ctx, y, []int{1}, []int{3}, nil, []float64{1, 1, 1})
		if err != nil {
			return nil, err
		}
		return ops.Sliding(ctx, y, inner, ops.SlidingOptions{Window: []int{3}, Overlap: []int{1}})
	})
	// Output: [1 1 11 10 10]
}
