package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// DCT returns the orthonormal cosine transform of a type from 1 to 4 along axes of n
// samples each, so that the adjoint is the inverse:
//
//	1  y[k] = √(2/(n-1))·e[k]·Σⱼ e[j]·cos(πjk/(n-1))·x[j], e = 1/√2 at both ends and 1 between
//	2  y[k] = √(2/n)·d[k]·Σⱼ cos(π(2j+1)k/2n)·x[j], d[0] = 1/√2 and d[k] = 1
//	3  the inverse of 2
//	4  y[k] = √(2/n)·Σⱼ cos(π(2j+1)(2k+1)/4n)·x[j]
//
// Each axis is a Fourier transform of 2n samples, so the work grows as n·log n. Where an axis
// is split, it is moved as FFT does.
func DCT[T scalar.Scalar](ctx context.Context, x *dist.Space, axes []int, kind int) (linop.Operator[T], error) {
	if scalar.Of[T]() == scalar.Float32 || scalar.Of[T]() == scalar.Complex64 {
		return cosines[complex64, float32, T](ctx, x, axes, kind)
	}
	return cosines[complex128, float64, T](ctx, x, axes, kind)
}

func cosines[C, R, T scalar.Scalar](ctx context.Context, x *dist.Space, axes []int, kind int) (linop.Operator[T], error) {
	const name = "ops: cosine transform"
	axes, err := distinctAxes(x, axes)
	if kind < 1 || kind > 4 {
		err = errors.Join(err, fmt.Errorf("type is %d: have 1, 2, 3, 4", kind))
	}
	for _, a := range axes {
		if n := x.Shape().Dim(a); kind == 1 && n < 2 {
			err = errors.Join(err, fmt.Errorf("type 1 needs at least 2 samples, axis %d has %d", a, n))
		}
	}
	if err := agree(ctx, name, x, err, "axes ", axes, " type ", kind); err != nil {
		return nil, err
	}
	steps, err := cosineSteps[C, R, T](x, axes, kind)
	if err = dist.Agree(ctx, x.Comm(), name, err); err != nil {
		return nil, err
	}
	return chain(steps...)
}

// cosineSteps returns the transforms along axes and the moves between them.
func cosineSteps[C, R, T scalar.Scalar](x *dist.Space, axes []int, kind int) (steps []linop.Operator[T], err error) {
	at := x
	move := func(to *dist.Space) error {
		m, err := linop.Redistribute[T](at, to)
		steps, at = append(steps, m), to
		return err
	}
	for todo := slices.Clone(axes); len(todo) > 0; {
		i := slices.IndexFunc(todo, func(a int) bool { return collected(at, a) >= 0 })
		if i < 0 {
			to, err := at.Like(wholeLayout(at, todo, todo), at.Shape().Dims()...)
			if err == nil {
				err = move(to)
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		step, err := cosineAlong[C, R, T](at, todo[i], kind)
		if err != nil {
			return nil, err
		}
		steps, todo = append(steps, step), slices.Delete(todo, i, i+1)
	}
	if at != x {
		err = move(x)
	}
	return steps, err
}

// cosineAlong transforms an axis that is whole on each rank that has some of it,
//
//	y[k] = Re q[k]·Σⱼ exp(-2πi·jk/m)·p[j]·x[j]
//
// The adjoint has p and q in each other's place. Real and imaginary parts of x are lines
// of their own.
func cosineAlong[C, R, T scalar.Scalar](x *dist.Space, axis, kind int) (linop.Operator[T], error) {
	n, local := x.Shape().Dim(axis), x.LocalShape()
	if local.Size() == 0 {
		nothing := func(context.Context, dist.Array[T], dist.Array[T]) error { return nil }
		return linop.Func("ops: cosine transform", x, x, nothing, nothing)
	}
	outer, _, inner := local.Around(axis)
	if scalar.Of[T]().IsComplex() {
		inner *= 2
	}
	m := 2 * n
	if kind == 1 {
		m -= 2
	}
	t := &device.DFT{Dims: []int{outer, m, inner}, Axes: []int{1}}
	if err := t.Check(); err != nil {
		return nil, err
	}
	room, err := array.New[C](x.Device(), shape.Of(device.Size(t.Dims...)))
	if err != nil {
		return nil, err
	}
	var factors [2]array.Array[C]
	for i, of := range cosineFactors(kind, n) {
		all := make([]C, m)
		for j, v := range of {
			all[j] = scalar.From[C](v)
		}
		if factors[i], err = array.FromHost(x.Device(), shape.Of(m), all); err != nil {
			return nil, err
		}
	}
	in := device.Strided{Shape: shape.Of(outer, n, inner)}
	copy(in.Dst[:], []int{2 * m * inner, 2 * inner, 2})
	copy(in.Src[:], []int{n * inner, inner, 1})
	out := in.Flipped()
	way := func(p, q array.Array[C]) func(context.Context, dist.Array[T], dist.Array[T]) error {
		return func(_ context.Context, dst, src dist.Array[T]) error {
			array.Fill(room, 0)
			array.CopyND(array.Parts[R](room), realParts[R](src.Local()), &in, false)
			array.MulAxis(room, p, room, outer, inner, false)
			if err := array.FFT(room, room, t, false); err != nil {
				return err
			}
			array.MulAxis(room, q, room, outer, inner, false)
			array.CopyND(realParts[R](dst.Local()), array.Parts[R](room), &out, false)
			return nil
		}
	}
	a, err := linop.Func("ops: cosine transform", x, x, way(factors[0], factors[1]), way(factors[1], factors[0]))
	return a, errors.Join(err, planFFT[C](x, t))
}

// realParts returns an array as one of real numbers.
func realParts[R, T scalar.Scalar](a array.Array[T]) array.Array[R] {
	if a, ok := any(a).(array.Array[R]); ok {
		return a
	}
	return array.Parts[R](a)
}

// cosineFactors returns p and q of a cosine transform.
func cosineFactors(kind, n int) (f [2][]complex128) {
	// Angles are counted in steps of a whole turn, so that large ones lose no digits.
	turn := func(steps, turn int) complex128 {
		return cmplx.Rect(1, -2*math.Pi*float64(steps%turn)/float64(turn))
	}
	scale := complex(math.Sqrt(2/float64(n)), 0)
	if kind == 1 {
		scale = complex(math.Sqrt(2/float64(n-1)), 0)
	}
	f = [2][]complex128{slices.Repeat([]complex128{1}, n), slices.Repeat([]complex128{scale}, n)}
	for k := range n {
		switch kind {
		case 1:
			if k == 0 || k == n-1 {
				f[0][k], f[1][k] = math.Sqrt2/2, scale*(math.Sqrt2/2)
			}
		case 2, 3:
			if f[1][k] *= turn(k, 4*n); k == 0 {
				f[1][k] *= math.Sqrt2 / 2
			}
		case 4:
			f[0][k], f[1][k] = turn(k, 4*n), scale*turn(2*k+1, 8*n)
		}
	}
	if kind == 3 {
		f[0], f[1] = f[1], f[0]
	}
	return f
}
