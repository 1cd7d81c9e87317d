package ops

import (
	"errors"
	"fmt"
	"math"
)

// DerivativeKind is the side from which a derivative is taken.
type DerivativeKind uint8

// The kinds of derivatives.
const (
	DerivativeCentered DerivativeKind = iota
	DerivativeForward
	DerivativeBackward
)

func (k DerivativeKind) String() string {
	if k > DerivativeBackward {
		return fmt.Sprintf("DerivativeKind(%d)", uint8(k))
	}
	return [...]string{"centered", "forward", "backward"}[k]
}

// DerivativeOptions says how derivatives are taken. Its zero value is the centered one
// of order 3 with step 1 and zeros at the ends of the axis.
type DerivativeOptions struct {
	Sampling float64 // distance between samples; 0 means 1
	Kind     DerivativeKind
	Order    int  // of the centered first derivative, 3 or 5 points; 0 means 3
	Edge     bool // centered: one-sided formulas at the ends instead of zeros
}

// Validate reports everything that is wrong with d.
func (d DerivativeOptions) Validate() error {
	var errs []error
	if math.IsNaN(d.Sampling) || math.IsInf(d.Sampling, 0) || d.Sampling < 0 {
		errs = append(errs, fmt.Errorf("sampling is %g, must be positive and finite, or 0 for 1", d.Sampling))
	}
	if d.Kind > DerivativeBackward {
		errs = append(errs, fmt.Errorf("kind is %d: have DerivativeCentered, DerivativeForward, DerivativeBackward", d.Kind))
	}
	if d.Order != 0 && d.Order != 3 && d.Order != 5 {
		errs = append(errs, fmt.Errorf("order is %d: have 3 and 5", d.Order))
	}
	return errors.Join(errs...)
}

func (d DerivativeOptions) sampling() float64 {
	if d.Sampling == 0 {
		return 1
	}
	return d.Sampling
}
