package wave

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// MDCOptions are the options of MDC.
type MDCOptions struct {
	// Interval is the time between samples, and Spacing the distance between receivers.
	// The sum over both makes an integral of it. Prescaled says that g has these
	// factors already.
	Interval, Spacing float64
	Prescaled         bool
	// TwoSided says that x has negative times, too: time zero is its middle sample.
	TwoSided bool
	// Conj multiplies by the conjugate of g.
	Conj bool
	// Product says how g is multiplied.
	Product ops.ProductOptions
}

// MDCDefaults returns the options of sums without factors, of times from zero on.
func MDCDefaults() MDCOptions { return MDCOptions{Interval: 1, Spacing: 1} }

// Validate reports everything that is wrong with o.
func (o MDCOptions) Validate() error {
	var errs []error
	for _, v := range []struct {
		name  string
		value float64
	}{{"Interval", o.Interval}, {"Spacing", o.Spacing}} {
		if !o.Prescaled && (!(v.value > 0) || math.IsInf(v.value, 0)) {
			errs = append(errs, fmt.Errorf("%s is %v: must be positive and finite", v.name, v.value))
		}
	}
	return errors.Join(errs...)
}

// MDC returns the multi-dimensional convolution of wavefields,
//
//	y(t, s, v) = ∫∫ g(t - τ, s, r)·x(τ, r, v) dτ dr
//
// with g given by its frequencies, as MDCKernel makes them: g[f, s, r] for f from 0 on, at
// most as many as a transform of real samples has. Others are zero. x has the axes time, receiver and
// virtual source, and so has y, with sources for receivers:
//
//	y = Fᴴ·(c·g)·F·x,  c = Interval·Spacing·√nt
//
// F is the transform of real samples along time (ops.RealFFT). C must be the complex
// type of R.
//
// The layout of y is that of x. Where x is replicated, nothing is sent to transform it.
// Where x is split by virtual sources and g by frequencies, no rank holds all of
// anything: coefficients move from one layout to the other and back. The product with
// g is ops.Fredholm1, in any layout of g. It keeps g, which must not be changed.
func MDC[C, R scalar.Scalar](ctx context.Context, g dist.Array[C], x *dist.Space, o MDCOptions) (linop.Operator[R], error) {
	const what = "wave: MDC"
	if x == nil || g.Space() == nil {
		return nil, errors.New(what + ": no kernel or no space given")
	}
	err := errors.Join(o.Validate(), checkMDC(g.Space(), x, o))
	if err := dist.Agree(ctx, x.Comm(), what, err, g.Space().Shape(), x.Shape(), o); err != nil {
		return nil, err
	}
	op, err := newMDC[C, R](ctx, g, x, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return op, nil
}

// checkMDC reports a kernel that does not fit x.
func checkMDC(g, x *dist.Space, o MDCOptions) error {
	switch {
	case g.Parts() != nil || x.Parts() != nil:
		return errors.New("a stack cannot be convolved: take one of its parts")
	case g.Shape().NDim() != 3:
		return fmt.Errorf("a kernel of shape %v: it needs three axes: frequencies, sources and receivers", g.Shape())
	case x.Shape().NDim() < 2:
		return fmt.Errorf("x of shape %v: it needs the axes time and receiver, and may have virtual sources", x.Shape())
	case g.Shape().Dim(2) != x.Shape().Dim(1):
		return fmt.Errorf("a kernel of shape %v and x of shape %v: the kernel has %d receivers, x has %d", g.Shape(), x.Shape(), g.Shape().Dim(2), x.Shape().Dim(1))
	}
	nt := x.Shape().Dim(0)
	switch most := nt/2 + 1; {
	case nt == 0 || g.Shape().Dim(0) == 0:
		return fmt.Errorf("a kernel of %d frequencies and x of %d samples: both need at least one", g.Shape().Dim(0), nt)
	case g.Shape().Dim(0) > most:
		return fmt.Errorf("a kernel of %d frequencies: x of %d samples has %d: leave the last %d away", g.Shape().Dim(0), nt, most, g.Shape().Dim(0)-most)
	case o.TwoSided && nt%2 == 0:
		return fmt.Errorf("x has %d samples of time: with TwoSided their number must be odd, so that time zero is in the middle", nt)
	}
	return nil
}

// newMDC composes the operator.
func newMDC[C, R scalar.Scalar](ctx context.Context, g dist.Array[C], x *dist.Space, o MDCOptions) (linop.Operator[R], error) {
	y, err := receiversToSources(x, g.Space().Shape().Dim(1))
	if err != nil {
		return nil, err
	}
	f := ops.FFTDefaults()
	if o.TwoSided {
		f.ShiftBefore = []int{0}
	}
	in, err := coefficients[C, R](ctx, x, g.Space().Shape().Dim(0), f)
	if err != nil {
		return nil, err
	}
	out, err := coefficients[C, R](ctx, y, g.Space().Shape().Dim(0), ops.FFTDefaults())
	if err != nil {
		return nil, err
	}
	product, err := ops.Fredholm1[C](ctx, g, in.Range(), o.Product)
	if err == nil && o.Conj {
		product, err = linop.Conj(product)
	}
	if err != nil {
		return nil, err
	}
	there, err := linop.Compose(product, in)
	if err != nil {
		return nil, err
	}
	all, err := linop.Compose(linop.H(out), there)
	if err != nil || o.Prescaled {
		return all, err
	}
	c := o.Interval * o.Spacing * math.Sqrt(float64(x.Shape().Dim(0)))
	return linop.Scale(scalar.From[R](complex(c, 0)), all)
}

// coefficients returns the transform along time that keeps the first frequencies.
func coefficients[C, R scalar.Scalar](ctx context.Context, x *dist.Space, frequencies int, o ops.FFTOptions) (linop.Map[R, C], error) {
	f, err := ops.RealFFT[C, R](ctx, x, 0, o)
	if err != nil || f.Range().Shape().Dim(0) == frequencies {
		return f, err
	}
	cut, err := ops.Resize[C](ctx, f.Range(), 0, frequencies)
	if err != nil {
		return nil, err
	}
	return linop.Compose(cut, f)
}

// receiversToSources returns x with another extent of its second axis. Ranks that split
// that axis split it evenly.
func receiversToSources(x *dist.Space, sources int) (*dist.Space, error) {
	l := x.Layout()
	for i, axis := range l.Axes {
		if axis == 1 && x.Shape().Dim(1) != sources {
			l.Counts[i] = nil
		}
	}
	return x.Like(l, x.Shape().With(1, sources).Dims()...)
}
