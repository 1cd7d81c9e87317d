package ops_test

import (
	"context"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(dctTest[float32], dctTest[float64], dctTest[complex64], dctTest[complex128])

func dctTest[T scalar.Scalar]() operatorTest[T] {
	of := func(kind int, axes ...int) func(ctx ctxt, x space, _ int) (op[T], error) {
		return func(ctx ctxt, x space, _ int) (op[T], error) { return ops.DCT[T](ctx, x, axes, kind) }
	}
	return operatorTest[T]{
		forms: []form[T]{{name: "cosine transform", make: func(ctx ctxt, x space) (op[T], error) {
			if x.Shape().NDim() == 1 {
				return of(1, 0)(ctx, x, 0)
			}
			return of(2, 0, -1)(ctx, x, 0)
		}}},
		along: func(ctx ctxt, x space, axis int) (op[T], error) { return of(4, axis)(ctx, x, 0) },
		bad: []badCase[T]{
			{"type of a cosine transform", of(5, 0), []string{"cosine transform", "type is 5", "1, 2, 3, 4"}},
			{"one sample", func(ctx ctxt, x space, _ int) (op[T], error) {
				return on(x, dist.Layout{}, []int{3, 1}, func(y space) (op[T], error) { return of(1, 1)(ctx, y, 0) })
			}, []string{"type 1 needs at least 2", "axis 1 has 1"}},
			{"no axes of a cosine transform", of(2), []string{"no axes"}},
		},
		golden: goldenTest[T]{names: []string{"DCT"}, make: func(_ *testing.T, ctx ctxt, x space, c golden.Case) (op[T], error) {
			return ops.DCT[T](ctx, x, c.Ints("axes"), c.Int("type"))
		}},
	}
}

// Cosine transforms of other lengths are sums of cosines too.
func TestDCT(t *testing.T) {
	for kind := 1; kind <= 4; kind++ {
		for _, n := range []int{2, 3, 64, 101} {
			err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
				x, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
				if err != nil {
					return err
				}
				return checkFormula(ctx, x, form[complex128]{
					make: func(ctx ctxt, x space) (op[complex128], error) { return ops.DCT[complex128](ctx, x, []int{0}, kind) },
					formula: func(x func(i ...int) complex128, _, k []int) (y complex128) {
						for j := range n {
							y += complex(cosine(kind, n, k[0], j), 0) * x(j)
						}
						return y
					},
				})
			})
			if err != nil {
				t.Errorf("type %d of %d samples: %v", kind, n, err)
			}
		}
	}
}

// cosine returns the element of a cosine transform of n samples in row k and column j.
func cosine(kind, n, k, j int) float64 {
	scale := math.Sqrt(2 / float64(n))
	switch kind {
	case 1:
		scale = math.Sqrt(2 / float64(n-1))
		for _, i := range [2]int{k, j} {
			if i == 0 || i == n-1 {
				scale *= math.Sqrt2 / 2
			}
		}
		return scale * math.Cos(math.Pi*float64(j*k)/float64(n-1))
	case 3:
		return cosine(2, n, j, k)
	case 4:
		return scale * math.Cos(math.Pi*float64((2*j+1)*(2*k+1))/float64(4*n))
	}
	if k == 0 {
		scale *= math.Sqrt2 / 2
	}
	return scale * math.Cos(math.Pi*float64((2*j+1)*k)/float64(2*n))
}

func BenchmarkDCT(b *testing.B) { onTypes(b, plain, benchDCT[float32], benchDCT[float64]) }

func benchDCT[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.DCT[T](ctx, x, []int{0}, 2)
}

func ExampleDCT() {
	show([]int{3}, []float64{2, 0, 2}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.DCT[float64](ctx, x, []int{0}, 1)
	})
	// Output: [2 0 2]
}
