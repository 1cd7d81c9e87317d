package ops_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// The array of the benchmarks: 16 MB of float64, more than the caches of a core.
const benchRows, benchCols = 2000, 1000

// newMap makes an operator from x, or from a relative of x.
type newMap[D, R scalar.Scalar] func(ctx context.Context, x *dist.Space) (linop.Map[D, R], error)

// traffic returns the bytes that each direction must move at least, for a
// domain of x bytes and a range of y bytes with elements of elem bytes.
type traffic func(x, y, elem int) (forward, adjoint int)

// plain reads one side and writes the other.
func plain(x, y, _ int) (forward, adjoint int) { return x + y, x + y }

// with is for an operator that also reads elements of a table, once.
func with(elements int) traffic {
	return func(x, y, elem int) (forward, adjoint int) { n := x + y + elements*elem; return n, n }
}

// onTypes benchmarks two forms of one operator, which differ in the element
// type, in both directions on one and two ranks.
func onTypes[A, B, C, D scalar.Scalar](b *testing.B, t traffic, f newMap[A, B], g newMap[C, D]) {
	for _, direction := range []string{"forward", "adjoint"} {
		for _, ranks := range []int{1, 2} {
			name := fmt.Sprintf("%s/ranks=%d/", direction, ranks)
			b.Run(name+scalar.Of[A]().String(), func(b *testing.B) { apply(b, ranks, direction == "adjoint", t, f) })
			b.Run(name+scalar.Of[C]().String(), func(b *testing.B) { apply(b, ranks, direction == "adjoint", t, g) })
		}
	}
}

// apply times b.N applications on each rank. It cannot use b.Loop, of which each
// rank would have to be told.
func apply[D, R scalar.Scalar](b *testing.B, ranks int, adjoint bool, t traffic, f newMap[D, R]) {
	b.ReportAllocs()
	err := testdevices.Local(b.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, benchRows, benchCols)
		if err != nil {
			return err
		}
		op, err := f(ctx, x)
		if err != nil {
			return err
		}
		u, err := dist.New[D](op.Domain())
		if err != nil {
			return err
		}
		v, err := dist.New[R](op.Range())
		if err != nil {
			return err
		}
		dist.Fill(u, 1)
		dist.Fill(v, 1)
		once := func() error { return op.Forward(ctx, v, u) }
		if adjoint {
			once = func() error { return op.Adjoint(ctx, u, v) }
		}
		if r.Rank() == 0 {
			d, e := scalar.Of[D]().Size(), scalar.Of[R]().Size()
			there, back := t(op.Domain().Size()*d, op.Range().Size()*e, d)
			if adjoint {
				there = back
			}
			b.SetBytes(int64(there))
		}
		return inStep(ctx, b, r, once)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// inStep runs the loop on all ranks at the same time. The clock starts when all
// are ready and stops when all are done.
func inStep(ctx context.Context, b *testing.B, r dist.Proc, once func() error) error {
	if err := once(); err != nil { // what is made on the first call is made now
		return err
	}
	if err := atRest(ctx, r, b.ResetTimer); err != nil {
		return err
	}
	for range b.N {
		if err := once(); err != nil {
			return err
		}
	}
	return atRest(ctx, r, b.StopTimer)
}

// atRest calls f on rank 0 while the others wait.
func atRest(ctx context.Context, r dist.Proc, f func()) error {
	if err := r.Barrier(ctx); err != nil {
		return err
	}
	if r.Rank() == 0 {
		f()
	}
	return r.Barrier(ctx)
}

func BenchmarkIdentity(b *testing.B) { onTypes(b, plain, identity[float32], identity[float64]) }

func identity[T scalar.Scalar](_ context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Identity[T](x)
}

func BenchmarkZero(b *testing.B) {
	onTypes(b, func(x, y, _ int) (forward, adjoint int) { return y, x }, zero[float32], zero[float64])
}

func zero[T scalar.Scalar](_ context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Zero[T, T](x, x)
}

func BenchmarkResize(b *testing.B) { onTypes(b, fewer, resize[float32], resize[float64]) }

// fewer reads only those elements that it keeps.
func fewer(x, y, _ int) (forward, adjoint int) { return 2 * y, x + y }

func resize[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Resize[T](ctx, x, 0, benchRows/2)
}

func BenchmarkDiagonal(b *testing.B) {
	onTypes(b, with(benchRows*benchCols), diagonal[float32], diagonal[float64])
}

func diagonal[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	d, err := dist.FromFunc(ctx, x, func(i []int) T { return number[T](i[0] + i[1]) })
	if err != nil {
		return nil, err
	}
	return ops.Diagonal(d)
}

func BenchmarkDiagonalAlong(b *testing.B) {
	onTypes(b, with(benchRows), diagonalAlong[float32], diagonalAlong[float64])
}

func diagonalAlong[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.DiagonalAlong(ctx, x, 0, numbers[T](benchRows))
}

func BenchmarkMatrixMult(b *testing.B) {
	onTypes(b, with(benchRows*benchRows), matrixVector[float32], matrixVector[float64])
}

func matrixVector[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	v, err := x.Like(dist.Split(0), benchRows)
	if err != nil {
		return nil, err
	}
	return ops.MatrixMult(ctx, v, benchRows, numbers[T](v.LocalShape().Dim(0)*benchRows))
}

func BenchmarkMatrixMultColumns(b *testing.B) {
	onTypes(b, with(64*benchRows), matrixMatrix[float32], matrixMatrix[float64])
}

func matrixMatrix[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	rows := dist.Balanced(64, x.Comm().Size())[x.Comm().Rank()]
	return ops.MatrixMult(ctx, x, 64, numbers[T](rows*benchRows))
}

func BenchmarkRestriction(b *testing.B) {
	onTypes(b, fewer, restriction[float32], restriction[float64])
}

func restriction[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	var every []int
	for i := 0; i < benchRows; i += 3 {
		every = append(every, i)
	}
	return ops.Restriction[T](ctx, x, 0, every)
}

func BenchmarkTranspose(b *testing.B) { onTypes(b, plain, transpose[float32], transpose[float64]) }

func transpose[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Transpose[T](ctx, x, 1, 0)
}

func BenchmarkFlip(b *testing.B) { onTypes(b, plain, flip[float32], flip[float64]) }

func flip[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Flip[T](ctx, x, 0)
}

func BenchmarkRoll(b *testing.B) { onTypes(b, plain, roll[float32], roll[float64]) }

func roll[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Roll[T](ctx, x, 0, 7)
}

func BenchmarkPad(b *testing.B) {
	onTypes(b, func(x, y, _ int) (forward, adjoint int) { return x + y, 2 * x }, pad[float32], pad[float64])
}

func pad[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Pad[T](ctx, x, []int{10, 20}, []int{30, 0})
}

func BenchmarkSum(b *testing.B) { onTypes(b, plain, sum[float32], sum[float64]) }

func sum[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Sum[T](ctx, x, 0)
}

// The table of Spread has one entry, an index and a weight, per sample of the
// model and trace of the data.
func BenchmarkSpread(b *testing.B) {
	table := func(x, y, elem int) (forward, adjoint int) {
		n := x + y + 40*500*50*(8+elem)
		return n, n
	}
	onTypes(b, table, spread[float32], spread[float64])
}

func spread[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	m, err := x.Like(dist.Split(0), 40, 500)
	if err != nil {
		return nil, err
	}
	return ops.Spread[T](ctx, m, 50, 500, func(x0, t0, ix int) (int, float64, bool) {
		return (t0 + x0*ix) % 500, 0, true
	})
}

func BenchmarkSymmetrize(b *testing.B) { onTypes(b, plain, symmetrize[float32], symmetrize[float64]) }

func symmetrize[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Symmetrize[T](ctx, x, 0)
}

func BenchmarkCausalIntegration(b *testing.B) {
	onTypes(b, plain, integration[float32], integration[float64])
}

func integration[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.CausalIntegration[T](ctx, x, 0, ops.IntegrationOptions{Sampling: 1, Rule: ops.IntegrationTrapezoidal})
}

func BenchmarkSmoothing1D(b *testing.B) { onTypes(b, plain, smoothing1[float32], smoothing1[float64]) }

func smoothing1[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Smoothing1D[T](ctx, x, 0, 5)
}

func BenchmarkSmoothing2D(b *testing.B) { onTypes(b, plain, smoothing2[float32], smoothing2[float64]) }

func smoothing2[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Smoothing2D[T](ctx, x, [2]int{0, 1}, [2]int{5, 5})
}

func BenchmarkRegression(b *testing.B) {
	onTypes(b, with(3*benchRows*benchCols), regression[float32], regression[float64])
}

func regression[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return polynomial[T](ctx, x, 2)
}

func BenchmarkLinearRegression(b *testing.B) {
	onTypes(b, with(2*benchRows*benchCols), linearRegression[float32], linearRegression[float64])
}

func linearRegression[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return polynomial[T](ctx, x, 1)
}

func polynomial[T scalar.Scalar](ctx context.Context, x *dist.Space, order int) (linop.Operator[T], error) {
	y, err := x.Like(dist.Split(0), benchRows*benchCols)
	if err != nil {
		return nil, err
	}
	return ops.Regression[T](ctx, y, numbers[float64](y.Size()), order)
}

func BenchmarkReal(b *testing.B) {
	onTypes(b, plain, realPart[complex64, float32], realPart[complex128, float64])
}

func realPart[C, R scalar.Scalar](_ context.Context, x *dist.Space) (linop.Map[C, R], error) {
	return ops.Real[C, R](x)
}

func BenchmarkImag(b *testing.B) {
	onTypes(b, plain, imagPart[complex64, float32], imagPart[complex128, float64])
}

func imagPart[C, R scalar.Scalar](_ context.Context, x *dist.Space) (linop.Map[C, R], error) {
	return ops.Imag[C, R](x)
}

func BenchmarkHalo(b *testing.B) { onTypes(b, plain, halo[float32], halo[float64]) }

func halo[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Halo[T](ctx, x, ops.HaloOptions{Front: []int{2, 0}, Back: []int{2, 0}})
}

func BenchmarkFirstDerivative(b *testing.B) { onTypes(b, plain, first[float32], first[float64]) }

func first[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeDefaults())
}

func BenchmarkFirstDerivativeForward(b *testing.B) {
	onTypes(b, plain, firstForward[float32], firstForward[float64])
}

func firstForward[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeForward})
}

func BenchmarkFirstDerivativeOrder5(b *testing.B) {
	onTypes(b, plain, firstOrder5[float32], firstOrder5[float64])
}

func firstOrder5[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Kind: ops.DerivativeCentered5})
}

func BenchmarkFirstDerivativeLastAxis(b *testing.B) {
	onTypes(b, plain, firstLast[float32], firstLast[float64])
}

func firstLast[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.FirstDerivative[T](ctx, x, -1, ops.DerivativeDefaults())
}

func BenchmarkSecondDerivative(b *testing.B) { onTypes(b, plain, second[float32], second[float64]) }

func second[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.SecondDerivative[T](ctx, x, 0, ops.DerivativeDefaults())
}

func BenchmarkLaplacian(b *testing.B) { onTypes(b, plain, laplacian[float32], laplacian[float64]) }

func laplacian[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Laplacian[T](ctx, x, ops.LaplacianOptions{})
}

func BenchmarkGradient(b *testing.B) { onTypes(b, plain, gradient[float32], gradient[float64]) }

func gradient[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Gradient[T](ctx, x, ops.GradientOptions{})
}

func BenchmarkConvolve1D(b *testing.B) { onTypes(b, plain, convolve[float32], convolve[float64]) }

func convolve[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Convolve1D(ctx, x, 0, numbers[T](41), 20)
}

func BenchmarkConvolve1DLastAxis(b *testing.B) {
	onTypes(b, plain, convolveLast[float32], convolveLast[float64])
}

func convolveLast[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	return ops.Convolve1D(ctx, x, -1, numbers[T](41), 20)
}

func BenchmarkNonStationaryConvolve1D(b *testing.B) {
	onTypes(b, plain, nonStationary[float32], nonStationary[float64])
}

func nonStationary[T scalar.Scalar](ctx context.Context, x *dist.Space) (linop.Operator[T], error) {
	filters := [][]T{numbers[T](21), numbers[T](22)[1:], numbers[T](23)[2:], numbers[T](24)[3:]}
	return ops.NonStationaryConvolve1D(ctx, x, 0, filters, []int{100, 700, 1300, 1900})
}
