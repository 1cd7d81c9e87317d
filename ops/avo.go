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

// AVOKind is a linear approximation of reflection coefficients for an angle θ of
// incidence, with the ratio γ of the velocities of S and P waves. Each has three
// parameters: contrasts of logarithms, such as those of a velocity.
type AVOKind uint8

// The approximations. For converted waves sin φ = γ·sin θ, a = γ²·sin²φ and
// b = γ·cos θ·cos φ.
const (
	AkiRichards AVOKind = iota // VP, VS and density: 1/(2cos²θ), -4γ²sin²θ, 1/2-2γ²sin²θ
	Fatti                      // P impedance, S impedance and density: (1+tan²θ)/2, -4γ²sin²θ, (4γ²sin²θ-tan²θ)/2
	ConvertedPS                // P waves that return as S waves, VP, VS and density: 0, 2tan φ·(a-b), -tan φ·(1-2a+2b)/2
)

// AVOOptions are the options of AVOLinearModelling.
type AVOOptions struct {
	Angles []float64 // of incidence, in degrees
	VsVp   []float64 // the ratio of velocities: one, or one for each time sample
	Kind   AVOKind
}

// validate reports everything that is wrong with o for nt time samples.
func (o AVOOptions) validate(nt int) error {
	var errs []error
	if o.Kind > ConvertedPS {
		errs = append(errs, fmt.Errorf("kind is %d: have AkiRichards, Fatti, ConvertedPS", o.Kind))
	}
	for i, a := range o.Angles {
		if !(a > -90 && a < 90) {
			errs = append(errs, fmt.Errorf("angle %d is %g degrees: must lie between -90 and 90", i, a))
		}
	}
	if n := len(o.VsVp); n != 1 && n != nt {
		errs = append(errs, fmt.Errorf("%d ratios VsVp: give one, or one for each of %d time samples", n, nt))
	}
	for i, v := range o.VsVp {
		if !(v >= 0 && v <= 1) {
			errs = append(errs, fmt.Errorf("ratio %d of VsVp is %g: must lie between 0 and 1", i, v))
		}
	}
	return errors.Join(errs...)
}

// AVOLinearModelling returns reflection coefficients for several angles, of small
// contrasts of rock properties:
//
//	y[t,θ,...] = Σₚ g[t,θ,p]·x[t,p,...]
//
// The first axis of x is time, the second one has the three parameters of the kind.
// Where the parameters are whole on each rank, nothing is sent. It is a case of Fredholm1.
func AVOLinearModelling[T scalar.Scalar](ctx context.Context, x *dist.Space, o AVOOptions) (linop.Operator[T], error) {
	const name = "ops: AVO modelling"
	g, err := avoSpace(x, o)
	if err := agree(ctx, name, x, err, o); err != nil {
		return nil, err
	}
	weights, err := dist.FromFunc(ctx, g, func(i []int) T {
		return scalar.From[T](complex(avoWeights(o.Kind, o.Angles[i[1]], o.VsVp[i[0]%len(o.VsVp)])[i[2]], 0))
	})
	if err := dist.Agree(ctx, x.Comm(), name, err); err != nil {
		return nil, err
	}
	return Fredholm1[T](ctx, weights, x, ProductOptions{})
}

// avoSpace returns the space of the weights. Its time axis is split as that of x.
func avoSpace(x *dist.Space, o AVOOptions) (*dist.Space, error) {
	nt, parameters, err := firstTwo(x)
	if err != nil {
		return nil, err
	}
	if parameters != 3 {
		return nil, fmt.Errorf("axis 1 has %d parameters, must have 3", parameters)
	}
	if err := o.validate(nt); err != nil {
		return nil, err
	}
	l := x.Layout()
	for g, a := range l.Axes {
		if a != 0 {
			l.Axes[g], l.Counts[g] = dist.NoAxis, nil
		}
	}
	return x.Like(l, nt, len(o.Angles), 3)
}

// avoWeights returns the weights of the three parameters.
func avoWeights(kind AVOKind, degrees, ratio float64) [3]float64 {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	s := ratio * ratio * sin * sin
	switch kind {
	case Fatti:
		tan2 := sin * sin / (cos * cos)
		return [3]float64{(1 + tan2) / 2, -4 * s, (4*s - tan2) / 2}
	case ConvertedPS:
		sinPhi := ratio * sin
		cosPhi := math.Sqrt(1 - sinPhi*sinPhi)
		half := sinPhi / cosPhi / 2
		u, v := ratio*ratio*sinPhi*sinPhi, ratio*cos*cosPhi
		return [3]float64{0, half * (4*u - 4*v), -half * (1 - 2*u + 2*v)}
	}
	return [3]float64{1 / (2 * cos * cos), -4 * s, 0.5 - 2*s}
}
