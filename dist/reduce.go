package dist

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/array"
	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// scratch holds the few numbers of a reduction on their way, so that a call
// allocates nothing.
type scratch struct {
	re []float64
	cx []complex128
}

func newScratch() *scratch { return &scratch{make([]float64, 16), make([]complex128, 8)} }

// Dot returns xᴴy over all ranks, or over those of this rank's color if the
// space has a mask. It is collective, whatever the layout: one message, none
// with one rank. Elements that several ranks hold are counted by one of them, so
// all ranks get the very same number although their copies may differ by
// rounding. The order of summation does not change, so a result repeats. For a
// number without a message there is x.Local().
func Dot[T scalar.Scalar](ctx context.Context, x, y Array[T]) (T, error) {
	return dot(ctx, x, y, true)
}

// DotT returns xᵀy, without conjugation. Otherwise it is like Dot.
func DotT[T scalar.Scalar](ctx context.Context, x, y Array[T]) (T, error) {
	return dot(ctx, x, y, false)
}

func dot[T scalar.Scalar](ctx context.Context, x, y Array[T], conj bool) (T, error) {
	mustMatch("Dot", x, y)
	v, err := dotHere(x, y, conj)
	if err != nil {
		return 0, err
	}
	label := labelDot
	if !conj {
		label = labelDotT
	}
	x.space.sum.cx[0] = v
	err = sum[T](ctx, x.space, 1, label)
	return scalar.From[T](x.space.sum.cx[0]), err
}

// DotN sets dst[i] = x[i]ᴴy[i] for pairs of arrays on the same ranks, in one
// message for all.
func DotN[T scalar.Scalar](ctx context.Context, dst []T, x, y []Array[T]) error {
	if len(x) != len(dst) || len(y) != len(dst) {
		return fmt.Errorf("dist: DotN: %d results of %d and %d arrays", len(dst), len(x), len(y))
	}
	if len(dst) == 0 {
		return nil
	}
	s := x[0].space
	for i := range x {
		mustMatch("DotN", x[i], y[i])
		if !x[i].space.sameRanks(s) {
			return fmt.Errorf("dist: DotN: %s: array 0 is of %v, array %d is of %v", s.ranksDiffer(x[i].space), s, i, x[i].space)
		}
	}
	if len(dst) > len(s.sum.cx) {
		s.sum.cx, s.sum.re = make([]complex128, len(dst)), make([]float64, 2*len(dst))
	}
	for i := range x {
		v, err := dotHere(x[i], y[i], true)
		if err != nil {
			return err
		}
		s.sum.cx[i] = v
	}
	if err := sum[T](ctx, s, len(dst), labelDotN); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = scalar.From[T](s.sum.cx[i])
	}
	return nil
}

// dotHere returns this rank's part of xᴴy.
func dotHere[T scalar.Scalar](x, y Array[T], conj bool) (v complex128, err error) {
	for i, p := range x.parts {
		w, err := dotHere(p, y.parts[i], conj)
		if err != nil {
			return 0, err
		}
		v += w
	}
	if x.parts != nil || !x.space.counts() {
		return v, nil
	}
	return array.Dot(x.local, y.local, conj)
}

// Sum returns the sum of all elements, like Dot with a vector of ones.
func Sum[T scalar.Scalar](ctx context.Context, x Array[T]) (T, error) {
	x.given("Sum")
	v, err := sumHere(x)
	if err != nil {
		return 0, err
	}
	x.space.sum.cx[0] = v
	err = sum[T](ctx, x.space, 1, labelSum)
	return scalar.From[T](x.space.sum.cx[0]), err
}

func sumHere[T scalar.Scalar](x Array[T]) (v complex128, err error) {
	for _, p := range x.parts {
		w, err := sumHere(p)
		if err != nil {
			return 0, err
		}
		v += w
	}
	if x.parts != nil || !x.space.counts() {
		return v, nil
	}
	return x.local.Kernels().Sum(x.local.Mem())
}

// MinMax returns the smallest and the largest element of a real array in one
// message. It is collective like Dot.
func MinMax[T scalar.Scalar](ctx context.Context, x Array[T]) (lo, hi float64, err error) {
	s := x.given("MinMax")
	if scalar.Of[T]().IsComplex() {
		return 0, 0, fmt.Errorf("dist: min and max of %v: complex numbers have no order: %w", scalar.Of[T](), device.ErrUnsupported)
	}
	if lo, hi, err = minMaxHere(x); err != nil || !s.reduces() {
		return lo, hi, err
	}
	b := s.sum.re[:3]
	b[0], b[1], b[2] = -lo, hi, 0
	if math.IsNaN(lo) {
		b[0], b[1], b[2] = 0, 0, 1
	}
	m := comm.Of(b).Labelled(labelMinMax)
	if err := s.group.AllReduce(ctx, m, m, comm.Max); err != nil {
		return 0, 0, err
	}
	if b[2] != 0 {
		return math.NaN(), math.NaN(), nil
	}
	return -b[0], b[1], nil
}

func minMaxHere[T scalar.Scalar](x Array[T]) (lo, hi float64, err error) {
	if x.parts == nil && x.space.counts() {
		return x.local.Kernels().MinMax(x.local.Mem())
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, p := range x.parts {
		l, h, err := minMaxHere(p)
		if err != nil {
			return 0, 0, err
		}
		lo, hi = min(lo, l), max(hi, h) // NaN stays NaN, as it does not in package math
	}
	return lo, hi, nil
}

// reduces reports whether a number over all elements takes a message.
func (s *Space) reduces() bool { return s.group.Size() > 1 }

// counts reports whether this rank's block counts in a reduction: of ranks that
// hold the same elements, one counts them.
func (s *Space) counts() bool { return s.primary || !s.reduces() }

// sum adds the first n numbers of the scratch over the ranks.
func sum[T scalar.Scalar](ctx context.Context, s *Space, n int, l comm.Label) error {
	if !s.reduces() {
		return nil
	}
	if scalar.Of[T]().IsComplex() {
		b := comm.Of(s.sum.cx[:n]).Labelled(l)
		return s.group.AllReduce(ctx, b, b, comm.Sum)
	}
	for i, v := range s.sum.cx[:n] {
		s.sum.re[i] = real(v)
	}
	b := comm.Of(s.sum.re[:n]).Labelled(l)
	err := s.group.AllReduce(ctx, b, b, comm.Sum)
	for i, v := range s.sum.re[:n] {
		s.sum.cx[i] = complex(v, 0)
	}
	return err
}
