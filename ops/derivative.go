package ops

import (
	"errors"
	"fmt"
	"math"
)

// DerivativeKind is the formula of a derivative.
type DerivativeKind uint8

// The kinds of derivatives.
const (
	DerivativeCentered  DerivativeKind = iota // three points around the sample
	DerivativeCentered5                       // five points around the sample; first derivatives only
	DerivativeForward                         // the sample and those after it
	DerivativeBackward                        // the sample and those before it
)

func (k DerivativeKind) String() string {
	if k > DerivativeBackward {
		return fmt.Sprintf("DerivativeKind(%d)", uint8(k))
	}
	return [...]string{"centered", "centered over five points", "forward", "backward"}[k]
}

// centered reports whether k uses samples on both sides.
func (k DerivativeKind) centered() bool { return k <= DerivativeCentered5 }

// DerivativeOptions are the options of FirstDerivative and SecondDerivative.
type DerivativeOptions struct {
	Sampling float64 // distance between samples
	Kind     DerivativeKind
	Edge     bool // centered kinds only: one-sided formulas at the ends instead of zeros
}

// DerivativeDefaults returns the options of a centered derivative per sample, with
// zeros at the ends of the axis.
func DerivativeDefaults() DerivativeOptions { return DerivativeOptions{Sampling: 1} }

// Validate reports everything that is wrong with o.
func (o DerivativeOptions) Validate() error {
	errs := []error{checkSampling(o.Sampling)}
	if o.Kind > DerivativeBackward {
		errs = append(errs, fmt.Errorf("kind is %d: have DerivativeCentered, DerivativeCentered5, DerivativeForward, DerivativeBackward", o.Kind))
	} else if o.Edge && !o.Kind.centered() {
		errs = append(errs, fmt.Errorf("the option Edge is set, and the kind is %v: only centered kinds have other formulas at the ends", o.Kind))
	}
	return errors.Join(errs...)
}

// checkSampling refuses what is no distance between samples.
func checkSampling(s float64) error {
	if s == 0 {
		return errors.New("sampling is 0: give the distance between samples, 1 to count in samples")
	}
	if !(s > 0) || math.IsInf(s, 0) {
		return fmt.Errorf("sampling is %g, must be positive and finite", s)
	}
	return nil
}

// perAxis returns the number given for axis k, or 1 if none are given.
func perAxis(numbers []float64, k int) float64 {
	if numbers == nil {
		return 1
	}
	return numbers[k]
}
