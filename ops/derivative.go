package ops

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Kind is the side from which a derivative is taken.
type Kind uint8

// The kinds of derivatives.
const (
	Centered Kind = iota
	Forward
	Backward
)

func (k Kind) String() string {
	if k > Backward {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return [...]string{"centered", "forward", "backward"}[k]
}

// Derivative says how derivatives are taken. Its zero value is the centered one
// of order 3 with step 1 and zeros at the ends of the axis.
type Derivative struct {
	Sampling float64 // distance between samples; 0 means 1
	Kind     Kind
	Order    int  // of the centered first derivative, 3 or 5 points; 0 means 3
	Edge     bool // centered: one-sided formulas at the ends instead of zeros
}

// Validate reports everything that is wrong with d.
func (d Derivative) Validate() error {
	var errs []error
	if math.IsNaN(d.Sampling) || math.IsInf(d.Sampling, 0) || d.Sampling < 0 {
		errs = append(errs, fmt.Errorf("Sampling is %g, must be positive and finite, or 0 for 1", d.Sampling))
	}
	if d.Kind > Backward {
		errs = append(errs, fmt.Errorf("Kind is %d: have Centered, Forward, Backward", d.Kind))
	}
	if d.Order != 0 && d.Order != 3 && d.Order != 5 {
		errs = append(errs, fmt.Errorf("Order is %d: have 3 and 5", d.Order))
	}
	return errors.Join(errs...)
}

func (d Derivative) sampling() float64 {
	if d.Sampling == 0 {
		return 1
	}
	return d.Sampling
}

// NewFirstDerivative returns the first derivative along an axis of x, with step
// Δ = Sampling:
//
//	forward        y[i] = (x[i+1] - x[i]) / Δ
//	backward       y[i] = (x[i] - x[i-1]) / Δ
//	centered, 3    y[i] = (x[i+1] - x[i-1]) / 2Δ
//	centered, 5    y[i] = (x[i-2] - 8x[i-1] + 8x[i+1] - x[i+2]) / 12Δ
//
// Rows whose formula reaches beyond the axis are zero; with Edge the centered
// kinds use shorter formulas there.
func NewFirstDerivative[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, d Derivative) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	err = errors.Join(err, d.Validate())
	var m matrix[T]
	if err == nil {
		m, err = firstDerivative[T](n, d)
	}
	return newAlong(ctx, "ops: first derivative", x, a, m, nil, err, d)
}

func firstDerivative[T scalar.Scalar](n int, d Derivative) (matrix[T], error) {
	m, s := matrix[T]{rows: n, cols: n}, d.sampling()
	if d.Edge && d.Kind == Centered && n < 2 {
		return m, fmt.Errorf("Edge needs at least 2 samples, the axis has %d", n)
	}
	row := func(lo, hi, first int, c ...float64) {
		for i := range c {
			c[i] /= s
		}
		m.add(lo, hi, stencil[T](lo, first, c...)...)
	}
	switch {
	case d.Kind == Forward:
		row(0, n-1, 0, -1, 1)
	case d.Kind == Backward:
		row(1, n, -1, -1, 1)
	case d.Order != 5:
		if d.Edge {
			row(0, 1, 0, -1, 1)
		}
		row(1, n-1, -1, -0.5, 0, 0.5)
		if d.Edge {
			row(n-1, n, -1, -1, 1)
		}
	default:
		if d.Edge {
			row(0, 1, 0, -1, 1)
			row(1, min(2, n-1), -1, -0.5, 0, 0.5)
		}
		row(2, n-2, -2, 1./12, -2./3, 0, 2./3, -1./12)
		if d.Edge {
			row(max(2, n-2), n-1, -1, -0.5, 0, 0.5)
			row(n-1, n, -1, -1, 1)
		}
	}
	return m, nil
}

// NewSecondDerivative returns the second derivative along an axis of x:
//
//	y[i] = (x[i+k-1] - 2x[i+k] + x[i+k+1]) / Δ²
//
// with k = 0 centered, 1 forward, -1 backward. Rows whose formula reaches beyond
// the axis are zero; with Edge the centered kind uses the nearest formula there.
func NewSecondDerivative[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, d Derivative) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	err = errors.Join(err, d.Validate())
	var m matrix[T]
	if err == nil {
		m, err = secondDerivative[T](n, d, 1)
	}
	return newAlong(ctx, "ops: second derivative", x, a, m, nil, err, d)
}

func secondDerivative[T scalar.Scalar](n int, d Derivative, weight float64) (matrix[T], error) {
	m := matrix[T]{rows: n, cols: n}
	c := weight / (d.sampling() * d.sampling())
	if d.Order == 5 {
		return m, errors.New("Order is 5: the second derivative has order 3 only")
	}
	if d.Edge && d.Kind == Centered && n < 3 {
		return m, fmt.Errorf("Edge needs at least 3 samples, the axis has %d", n)
	}
	row := func(lo, hi, first int) { m.add(lo, hi, stencil[T](lo, first, c, -2*c, c)...) }
	switch d.Kind {
	case Forward:
		row(0, n-2, 0)
	case Backward:
		row(2, n, -2)
	default:
		if d.Edge {
			row(0, 1, 0)
		}
		row(1, n-1, -1)
		if d.Edge {
			row(n-1, n, -2)
		}
	}
	return m, nil
}
