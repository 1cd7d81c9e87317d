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

// RampWindow is what a ramp of frequencies is multiplied by.
type RampWindow uint8

// The windows of RampFilter.
const (
	RampPlain RampWindow = iota // 1
	RampHann                    // (1 + cos(2πf·Spacing))/2, which damps noise
)

// RampOptions are the options of RampFilter.
type RampOptions struct {
	Spacing float64 // between two samples
	Window  RampWindow
}

// RampDefaults returns the options of a plain ramp for samples one apart.
func RampDefaults() RampOptions { return RampOptions{Spacing: 1} }

// Validate reports everything that is wrong with o.
func (o RampOptions) Validate() error {
	var errs []error
	if !(o.Spacing > 0) || math.IsInf(o.Spacing, 0) {
		errs = append(errs, fmt.Errorf("spacing is %g, must be a positive length", o.Spacing))
	}
	if o.Window > RampHann {
		errs = append(errs, fmt.Errorf("window is %d: have RampPlain, RampHann", o.Window))
	}
	return errors.Join(errs...)
}

// RampFilter multiplies each frequency f along an axis by |f|, up to half of the
// sampling frequency. It is the filter of filtered back-projection. It convolves with
// the samples of its response,
//
//	y[i] = Σₖ h[i-k]·x[k]·Δ,  h[0] = 1/(4Δ²),  h[n] = -1/(πnΔ)² for odd n, else 0
//
// for a Spacing of Δ, with zeros beyond the ends of the axis. The samples of the
// response, rather than of the ramp, keep the mean of an image right. The filter is
// its own adjoint. Where the axis is split, it is moved as FFT does.
//
// Source: Kak and Slaney, Principles of Computerized Tomographic Imaging, 1988,
// equation 61 of chapter 3.
func RampFilter[T scalar.Scalar](ctx context.Context, x *dist.Space, axis int, o RampOptions) (linop.Operator[T], error) {
	a, n, err := axisOf(x, axis)
	err = errors.Join(err, o.Validate())
	if err := agree(ctx, "ops: ramp filter", x, err, "axis ", axis, o); err != nil {
		return nil, err
	}
	n = max(n, 1)
	h := make([]T, 2*n-1)
	for i := range h {
		h[i] = scalar.From[T](complex(o.response(i-(n-1)), 0))
	}
	return ConvolveND(ctx, x, h, ConvolveOptions{Axes: []int{a}, Extents: []int{len(h)}, Offset: []int{n - 1}, Method: ConvolveFFT})
}

// response returns sample n of the response, times the spacing.
func (o RampOptions) response(n int) float64 {
	if o.Window == RampHann { // in frequencies it is a product
		plain := RampOptions{Spacing: o.Spacing}
		return plain.response(n)/2 + plain.response(n-1)/4 + plain.response(n+1)/4
	}
	switch {
	case n == 0:
		return 1 / (4 * o.Spacing)
	case n%2 == 0:
		return 0
	}
	return -1 / (math.Pi * math.Pi * float64(n) * float64(n) * o.Spacing)
}
