package main

import (
	"context"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// builder makes the operator of a case and says how many elements of a matrix it
// reads.
type builder[T scalar.Scalar] func(ctx context.Context, r dist.Proc, c Case) (op linop.Operator[T], matrix int, err error)

// over makes a builder of a constructor over the array of the case, split along
// the first axis.
func over[T scalar.Scalar](f func(ctx context.Context, x *dist.Space, c Case) (linop.Operator[T], error)) builder[T] {
	return func(ctx context.Context, r dist.Proc, c Case) (linop.Operator[T], int, error) {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Shape...)
		if err != nil {
			return nil, 0, err
		}
		op, err := f(ctx, x, c)
		return op, 0, err
	}
}

// derivative is how PyLops takes them unless told otherwise.
func derivative(c Case) ops.DerivativeOptions {
	kinds := map[string]ops.DerivativeKind{"centered": ops.DerivativeCentered, "forward": ops.DerivativeForward, "backward": ops.DerivativeBackward}
	o := ops.DerivativeOptions{Sampling: 1, Kind: kinds[c.Kind]}
	if c.Order == 5 {
		o.Kind = ops.DerivativeCentered5
	}
	return o
}

// operators are the builders by the names of the cases.
func operators[T scalar.Scalar]() map[string]builder[T] {
	type op = linop.Operator[T]
	type space = *dist.Space
	return map[string]builder[T]{
		"FirstDerivative": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.FirstDerivative[T](ctx, x, c.Axis, derivative(c))
		}),
		"SecondDerivative": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.SecondDerivative[T](ctx, x, c.Axis, derivative(c))
		}),
		"Laplacian": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{Kind: derivative(c).Kind})
		}),
		"Gradient": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.Gradient[T](ctx, x, ops.GradientOptions{Kind: derivative(c).Kind})
		}),
		"Halo": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.Halo[T](ctx, x, ops.HaloOptions{Front: []int{c.Length, 0}, Back: []int{c.Length, 0}})
		}),
		"NonStationaryConvolve1D": over(func(ctx context.Context, x space, c Case) (op, error) {
			var at []int
			var filters [][]T
			for i := c.Step / 2; i < c.Shape[c.Axis]; i += c.Step {
				filters = append(filters, values[T](c.Length, len(at)*c.Length, 4))
				at = append(at, i)
			}
			return ops.NonStationaryConvolve1D(ctx, x, c.Axis, filters, at)
		}),
		"Identity": over(func(_ context.Context, x space, _ Case) (op, error) { return ops.Identity[T](x) }),
		"Zero":     over(func(_ context.Context, x space, _ Case) (op, error) { return ops.Zero[T, T](x, x) }),
		"Restriction": over(func(ctx context.Context, x space, c Case) (op, error) {
			var third []int
			for i := 0; i < c.Shape[c.Axis]; i += 3 {
				third = append(third, i)
			}
			return ops.Restriction[T](ctx, x, c.Axis, third)
		}),
		"Transpose":  over(func(ctx context.Context, x space, _ Case) (op, error) { return ops.Transpose[T](ctx, x, 1, 0) }),
		"Flip":       over(func(ctx context.Context, x space, c Case) (op, error) { return ops.Flip[T](ctx, x, c.Axis) }),
		"Roll":       over(func(ctx context.Context, x space, c Case) (op, error) { return ops.Roll[T](ctx, x, c.Axis, 7) }),
		"Sum":        over(func(ctx context.Context, x space, c Case) (op, error) { return ops.Sum[T](ctx, x, c.Axis) }),
		"Symmetrize": over(func(ctx context.Context, x space, c Case) (op, error) { return ops.Symmetrize[T](ctx, x, c.Axis) }),
		"Pad": over(func(ctx context.Context, x space, _ Case) (op, error) {
			return ops.Pad[T](ctx, x, []int{10, 20}, []int{30, 0})
		}),
		"CausalIntegration": over(func(ctx context.Context, x space, c Case) (op, error) {
			rules := map[string]ops.IntegrationRule{"full": ops.IntegrationFull, "half": ops.IntegrationHalf, "trapezoidal": ops.IntegrationTrapezoidal}
			return ops.CausalIntegration[T](ctx, x, c.Axis, ops.IntegrationOptions{Sampling: 1, Rule: rules[c.Kind]})
		}),
		"Smoothing1D": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.Smoothing1D[T](ctx, x, c.Axis, c.Length)
		}),
		"Smoothing2D": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.Smoothing2D[T](ctx, x, [2]int{0, 1}, [2]int{c.Length, c.Length})
		}),
		"Convolve1D": over(func(ctx context.Context, x space, c Case) (op, error) {
			return ops.Convolve1D(ctx, x, c.Axis, values[T](c.Length, 0, 4), c.Length/2)
		}),
		"Diagonal":             diagonal[T],
		"Diagonal along":       diagonalAlong[T],
		"Spread":               spread[T],
		"Regression":           regression[T],
		"LinearRegression":     regression[T],
		"MatrixMult":           matrixMult[T],
		"MatrixMult otherdims": matrixMult[T],
		"MatrixMult block":     matrixMult[T],
		"BlockDiag":            stack[T],
		"VStack":               stack[T],
		"HStack":               stack[T],
	}
}

func diagonal[T scalar.Scalar](ctx context.Context, r dist.Proc, c Case) (linop.Operator[T], int, error) {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Shape...)
	if err != nil {
		return nil, 0, err
	}
	d, err := filled[T](ctx, x, 4)
	if err != nil {
		return nil, 0, err
	}
	op, err := ops.Diagonal(d)
	return op, x.Size(), err
}

func diagonalAlong[T scalar.Scalar](ctx context.Context, r dist.Proc, c Case) (linop.Operator[T], int, error) {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Shape...)
	if err != nil {
		return nil, 0, err
	}
	n := c.Shape[c.Axis]
	op, err := ops.DiagonalAlong(ctx, x, c.Axis, values[T](n, 0, 4))
	return op, n, err
}

// spread takes the last number of the shape for the number of traces of the
// data. An entry of its table counts as one element.
func spread[T scalar.Scalar](ctx context.Context, r dist.Proc, c Case) (linop.Operator[T], int, error) {
	nx0, nt, nx := c.Shape[0], c.Shape[1], c.Shape[2]
	m, err := dist.NewSpace(ctx, r, dist.Layout{}, nx0, nt)
	if err != nil {
		return nil, 0, err
	}
	op, err := ops.Spread[T](ctx, m, nx, nt, func(x0, t0, x int) (int, float64, bool) { return (t0 + x0*x) % nt, 0, true })
	return op, nx0 * nt * nx, err
}

// regression counts the powers that PyLops computes as no elements.
func regression[T scalar.Scalar](ctx context.Context, r dist.Proc, c Case) (linop.Operator[T], int, error) {
	y, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Shape...)
	if err != nil {
		return nil, 0, err
	}
	op, err := ops.Regression[T](ctx, y, values[float64](c.Shape[0], 0, 4), c.Order)
	return op, c.Shape[0], err
}

// matrixMult multiplies a vector, or as many as the shape's third number says.
func matrixMult[T scalar.Scalar](ctx context.Context, r dist.Proc, c Case) (linop.Operator[T], int, error) {
	rows, cols := c.Shape[0], c.Shape[1]
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, c.Shape[1:]...)
	if err != nil {
		return nil, 0, err
	}
	op, err := ops.MatrixMult(ctx, x, rows, values[T](rows*cols, 0, 4))
	return op, rows * cols, err
}

// stack shares out matrices, of which the shape says how many, among the ranks.
func stack[T scalar.Scalar](ctx context.Context, r dist.Proc, c Case) (linop.Operator[T], int, error) {
	n, rows, cols := c.Shape[0], c.Shape[1], c.Shape[2]
	share := n / r.Size()
	var mine []linop.Operator[T]
	for i := r.Rank() * share; i < (r.Rank()+1)*share; i++ {
		x, err := dist.NewSpace(ctx, r.Alone(), dist.Layout{}, cols)
		if err != nil {
			return nil, 0, err
		}
		a, err := ops.MatrixMult(ctx, x, rows, values[T](rows*cols, i*rows*cols, 4))
		if err != nil {
			return nil, 0, err
		}
		mine = append(mine, a)
	}
	join := map[string]func(context.Context, dist.Proc, ...linop.Operator[T]) (linop.Operator[T], error){
		"BlockDiag": linop.BlockDiagRanks[T], "VStack": linop.VStackRanks[T], "HStack": linop.HStackRanks[T],
	}[c.Op]
	if join == nil {
		return nil, 0, fmt.Errorf("no stack is called %q", c.Op)
	}
	op, err := join(ctx, r, mine...)
	return op, n * rows * cols, err
}
