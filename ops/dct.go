package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// DCT returns the orthonormal cosine transform of a type from 1 to 4 along axes of n
// samples each, so that the adjoint is the inverse:
//
//	1  y[k] = √(2/(n-1))·e[k]·Σⱼ e[j]·cos(πjk/(n-1))·x[j], e = 1/√2 at both ends and 1 between
//	2  y[k] = √(2/n)·d[k]·Σⱼ cos(π(2j+1)k/2n)·x[j], d[0] = 1/√2 and d[k] = 1
//	3  the inverse of 2
//	4  y[k] = √(2/n)·Σⱼ cos(π(2j+1)(2k+1)/4n)·x[j]
//
// Each axis is a product with a matrix of n × n numbers: see MatrixMult for what ranks
// send. It suits axes of a few thousand samples.
func DCT[T scalar.Scalar](ctx context.Context, x *dist.Space, axes []int, kind int) (linop.Operator[T], error) {
	const name = "ops: cosine transform"
	axes, err := distinctAxes(x, axes)
	if kind < 1 || kind > 4 {
		err = errors.Join(err, fmt.Errorf("type is %d: have 1, 2, 3, 4", kind))
	}
	for _, a := range axes {
		n := x.Shape().Dim(a)
		if kind == 1 && n < 2 {
			err = errors.Join(err, fmt.Errorf("type 1 needs at least 2 samples, axis %d has %d", a, n))
		}
		err = errors.Join(err, device.CheckHostMemory(n, n, 8))
	}
	if err := agree(ctx, name, x, err, "axes ", axes, " type ", kind); err != nil {
		return nil, err
	}
	var steps []linop.Operator[T]
	for _, a := range axes {
		n := x.Shape().Dim(a)
		step, err := matrixAlong[T](ctx, x, a, n, func(k, j int) float64 { return cosine(kind, n, k, j) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		steps, x = append(steps, step), step.Range()
	}
	return chain(steps...)
}

// cosine returns the element of a cosine transform of n samples in row k and column j.
func cosine(kind, n, k, j int) float64 {
	// Angles are counted in steps of a whole turn, so that large ones lose no digits.
	cos := func(steps, turn int) float64 { return math.Cos(2 * math.Pi * float64(steps%turn) / float64(turn)) }
	scale := math.Sqrt(2 / float64(n))
	switch kind {
	case 1:
		scale = math.Sqrt(2 / float64(n-1))
		for _, i := range [2]int{k, j} {
			if i == 0 || i == n-1 {
				scale *= math.Sqrt2 / 2
			}
		}
		return scale * cos(j*k, 2*(n-1))
	case 3:
		return cosine(2, n, j, k)
	case 4:
		return scale * cos((2*j+1)*(2*k+1), 8*n)
	}
	if k == 0 {
		scale *= math.Sqrt2 / 2
	}
	return scale * cos((2*j+1)*k, 4*n)
}
