package solve

import (
	"context"
	"math"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// Transform is where elements are sparse: a step of shrinkage thresholds Sᴴ·x instead
// of x. NewTransform makes one. It serves one run at a time.
type Transform[D scalar.Scalar] struct {
	start      func(w *shared, keep float64)
	analyse    func(ctx context.Context, x *Vector[D]) // finds the coefficients of x; collective
	percentile func(ctx context.Context) float64
	synthesise func(ctx context.Context, x *Vector[D], kind Threshold, t float64) // shrinks them and sets x to what they make; collective
	queueNorm  func(p float64, to *float64)
}

// NewTransform returns the transform of the operator S, from coefficients to x. S should
// be orthonormal: SᴴS = I.
func NewTransform[S, D scalar.Scalar](s linop.Map[S, D]) *Transform[D] {
	var c *Vector[S] // coefficients
	var rank percentile[S]
	return &Transform[D]{
		start: func(w *shared, keep float64) {
			c = take[S](w, s.Domain(), "coefficients", true)
			rank.start(w, s.Domain(), keep)
		},
		analyse:    func(ctx context.Context, x *Vector[D]) { Adjoint(ctx, s, c, x) },
		percentile: func(ctx context.Context) float64 { return rank.of(ctx, c) },
		synthesise: func(ctx context.Context, x *Vector[D], kind Threshold, t float64) {
			c.Threshold(kind, t, c)
			Forward(ctx, s, x, c)
		},
		queueNorm: func(p float64, to *float64) { c.queueNorm(p, to) },
	}
}

// percentile finds the threshold that keeps a part of the elements.
type percentile[T scalar.Scalar] struct {
	n, keep float64
	above   *Vector[T] // elements above a trial
	most    float64    // the largest modulus
	count   [2]float64
}

func (p *percentile[T]) start(w *shared, s *dist.Space, keep float64) {
	if p.keep = keep; keep > 0 {
		p.n = float64(s.Size())
		p.above = take[T](w, s, "elements above a threshold", true)
	}
}

// bisections of the range of moduli leave less than their rounding.
const bisections = 54

// of returns the value that keep percent of the moduli of v exceed: like numpy, it
// interpolates between the two moduli at that place. It finds them by bisection with
// counts: 54 messages and one for the largest, and 4 passes over memory for each. It is collective.
func (p *percentile[T]) of(ctx context.Context, v *Vector[T]) float64 {
	v.queueNorm(math.Inf(1), &p.most)
	v.w.Reduce(ctx)
	at := (p.n - 1) * (1 - p.keep/100)
	low := math.Floor(at)
	var lo [2]float64
	hi := [2]float64{p.most, p.most}
	for range bisections {
		var mid [2]float64
		for i := range mid {
			mid[i] = lo[i] + (hi[i]-lo[i])/2
			p.above.Threshold(Hard, parameterOf(Hard, mid[i]), v)
			p.above.queueNorm(0, &p.count[i])
		}
		v.w.Reduce(ctx)
		for i := range mid {
			if p.count[i] <= p.n-1-low-float64(i) { // at most so many are above
				hi[i] = mid[i]
			} else {
				lo[i] = mid[i]
			}
		}
	}
	return hi[0] + (at-low)*(hi[1]-hi[0])
}

// parameterOf returns the parameter of a threshold that cuts elements off below v.
func parameterOf(kind Threshold, v float64) float64 {
	switch kind {
	case Hard:
		return v * v / 2
	case Half:
		return math.Pow(4/math.Cbrt(54)*v, 1.5)
	}
	return v
}
