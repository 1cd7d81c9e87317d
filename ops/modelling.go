package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// PoststackLinearModelling returns seismic traces of the logarithm of an acoustic
// impedance: the derivative along time, the first axis of x, filtered with a wavelet
// whose middle sample, number len/2, lies at time zero. Traces of a medium are half
// of that. There is one wavelet, or one of odd length for each time sample. The
// derivative is centered or forward. Derivative and filter are one pass over memory.
// Where time is split, ranks exchange as many rows as a wavelet has samples.
func PoststackLinearModelling[T scalar.Scalar](ctx context.Context, x *dist.Space, wavelets [][]T, kind DerivativeKind) (linop.Operator[T], error) {
	const name = "ops: poststack modelling"
	derivative, err := timeDerivative[T](x, kind)
	filter, e := timeFilter(x, wavelets)
	return newAxisOperator(ctx, name, x, filter.times(derivative), nil, errors.Join(err, e), "derivative ", kind, " wavelets ", wavelets)
}

// PrestackLinearModelling returns seismic traces for several angles of incidence of
// the logarithms of three rock properties, which the second axis of x has. It is
// AVOLinearModelling of their derivative along time, the first axis, filtered with a
// wavelet whose middle sample lies at time zero.
func PrestackLinearModelling[T scalar.Scalar](ctx context.Context, x *dist.Space, wavelets [][]T, o AVOOptions, kind DerivativeKind) (linop.Operator[T], error) {
	const name = "ops: prestack modelling"
	m, err := timeDerivative[T](x, kind)
	derivative, err := newAxisOperator(ctx, name, x, m, nil, err, "derivative ", kind)
	if err != nil {
		return nil, err
	}
	angles, err := AVOLinearModelling[T](ctx, x, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, err = timeFilter(angles.Range(), wavelets)
	filter, err := newAxisOperator(ctx, name, angles.Range(), m, nil, err, "wavelets ", wavelets)
	if err != nil {
		return nil, err
	}
	return chain(derivative, angles, filter)
}

// timeDerivative returns the derivative along the first axis of x.
func timeDerivative[T scalar.Scalar](x *dist.Space, kind DerivativeKind) (matrix[T], error) {
	m, err := firstDerivative[T](x, 0, DerivativeOptions{Sampling: 1, Kind: kind})
	if kind != DerivativeCentered && kind != DerivativeForward {
		err = errors.Join(err, fmt.Errorf("the derivative is %v: have DerivativeCentered, DerivativeForward", kind))
	}
	return m, err
}

// timeFilter filters along the first axis of x with one wavelet, or one for each sample.
func timeFilter[T scalar.Scalar](x *dist.Space, wavelets [][]T) (matrix[T], error) {
	m, err := along[T](x, 0)
	switch {
	case err != nil:
	case len(wavelets) == 1 && len(wavelets[0]) > 0:
		m.filter(wavelets[0], len(wavelets[0])/2)
	case len(wavelets) != m.cols || m.cols == 0:
		err = fmt.Errorf("%d wavelets: give one with samples, or one for each of %d time samples", len(wavelets), m.cols)
	default:
		every := make([]int, m.cols)
		for i := range every {
			every[i] = i
		}
		if err = checkFilters(wavelets, every); err == nil {
			m.nonStationary(wavelets, every)
		}
	}
	return m, err
}
