package ops_test

import (
	"slices"

	"github.com/golops/golops/dist"
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
		nowhere: func(ctx ctxt) (op[T], error) { return ops.Product[T](ctx, dist.Array[T]{}, nil, ops.ProductOptions{}) },
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
	return ops.Product[T](ctx, a, x, o)
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
		return ops.Product[float64](ctx, a, x, ops.ProductOptions{})
	})
	// Output: [3 4 43 64 83 124]
}
