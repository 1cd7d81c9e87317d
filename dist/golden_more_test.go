package dist_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// results are what PyLops-MPI makes of x and w, by operation.
func results[T scalar.Scalar](t *testing.T, c golden.Case) map[string][]T {
	want := map[string][]T{}
	for _, key := range []string{"add", "subtract", "multiply", "scale", "neg", "conj", "iadd", "isub", "copy", "fill", "zeros_like", "asarray"} {
		if c.Has(key) {
			_, want[key] = golden.Array[T](t, c, key)
		}
	}
	return want
}

// operate does what PyLops-MPI calls key to a, which is an array of its own.
func operate[T scalar.Scalar](key string, a, x, w dist.Array[T], alpha T) {
	switch key {
	case "add":
		dist.Add(a, x, w)
	case "subtract":
		dist.Sub(a, x, w)
	case "multiply":
		dist.Mul(a, x, w)
	case "scale":
		dist.Scale(a, alpha, x)
	case "neg":
		dist.Neg(a, x)
	case "conj":
		dist.Conj(a, x)
	case "iadd":
		dist.Copy(a, x)
		dist.Add(a, a, w)
	case "isub":
		dist.Copy(a, x)
		dist.Sub(a, a, w)
	case "copy", "asarray":
		dist.Copy(a, x)
	case "fill":
		dist.Fill(a, alpha)
	case "zeros_like": // a new array is one
	}
}

// sameResults does every operation to x and w. The copies must not see that x
// changes at the end.
func sameResults[T scalar.Scalar](ctx context.Context, c golden.Case, x, w dist.Array[T], want map[string][]T) error {
	f := c.Complex("alpha")
	alpha := number[T](real(f), imag(f))
	made := map[string]dist.Array[T]{}
	for key := range want {
		a, err := dist.New[T](x.Space())
		if err != nil {
			return err
		}
		operate(key, a, x, w, alpha)
		made[key] = a
	}
	dist.Add(x, x, w)
	// The same order on all ranks, for gathering is collective.
	for _, key := range slices.Sorted(maps.Keys(made)) {
		got, err := dist.AllGather(ctx, made[key])
		if err != nil {
			return err
		}
		if err := sameNumbers(got, want[key]); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func sameNumbers[T scalar.Scalar](got, want []T) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want))
	}
	for i := range got {
		if !closeTo[T](wide(got[i]), wide(want[i])) {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

// sameShape compares the block of a new array of the space with row rank of
// shapes, which are the local shapes of empty_like.
func sameShape[T scalar.Scalar](s *dist.Space, n int, shapes []int64) error {
	a, err := dist.New[T](s)
	if err != nil {
		return err
	}
	want := shapes[s.Proc().Rank()*n:][:n]
	for i, d := range a.Local().Shape().Dims() {
		if int64(d) != want[i] {
			return fmt.Errorf("a block like that of %v has the shape %v, want %v", s, a.Local().Shape(), want)
		}
	}
	return nil
}

func goldenArithmetic[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	_, x := golden.Array[T](t, c, "x")
	_, w := golden.Array[T](t, c, "w")
	_, shapes := golden.Ints(t, c, "empty_shapes")
	want := results[T](t, c)
	return func(ctx context.Context, r dist.Proc) error {
		a, b, err := scatteredTwo(ctx, r, c, x, w)
		if err != nil {
			return err
		}
		if err := sameShape[T](a.Space(), len(c.Dims), shapes); err != nil {
			return err
		}
		return sameResults(ctx, c, a, b, want)
	}
}

// goldenStacks is goldenArithmetic of three arrays, or of an array and a stack
// of two.
func goldenStacks[T scalar.Scalar](t *testing.T, c golden.Case) launch.Program {
	var dims [3][]int
	var x, w [3][]T
	var shapes [3][]int64
	var layouts [3]dist.Layout
	nested := c.Params["nested"] == true
	for i, p := range c.Params["parts"].([]any) {
		dims[i], x[i] = golden.Array[T](t, c, fmt.Sprintf("x%d", i))
		_, w[i] = golden.Array[T](t, c, fmt.Sprintf("w%d", i))
		layouts[i] = layoutOf(golden.Case{Params: p.(map[string]any)})
		if key := fmt.Sprintf("empty_shapes%d", i); c.Has(key) {
			_, shapes[i] = golden.Ints(t, c, key)
		}
	}
	n, want := numbersOf(t, c), results[T](t, c)
	stack := func(ctx context.Context, r dist.Proc, v [3][]T) (dist.Array[T], error) {
		var a [3]dist.Array[T]
		var err error
		for i := range a {
			if a[i], err = scattered(ctx, r, layouts[i], dims[i], v[i]); err != nil {
				return dist.Array[T]{}, err
			}
		}
		if !nested {
			return dist.StackOf(a[:]...)
		}
		inner, err := dist.StackOf(a[1:]...)
		if err != nil {
			return dist.Array[T]{}, err
		}
		return dist.StackOf(a[0], inner)
	}
	return func(ctx context.Context, r dist.Proc) error {
		p, err := stack(ctx, r, x)
		if err != nil {
			return err
		}
		q, err := stack(ctx, r, w)
		if err != nil {
			return err
		}
		for i, s := range shapes {
			if s == nil {
				continue
			}
			if err := sameShape[T](p.Part(i).Space(), len(dims[i]), s); err != nil {
				return err
			}
		}
		if err := compare(ctx, p, q, n, 0); err != nil {
			return err
		}
		return sameResults(ctx, c, p, q, want)
	}
}
