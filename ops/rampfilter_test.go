package ops_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

var _ = register(rampFilterTest[float32], rampFilterTest[float64], rampFilterTest[complex64], rampFilterTest[complex128])

func rampFilterTest[T scalar.Scalar]() operatorTest[T] {
	with := func(o ops.RampOptions) func(ctx ctxt, x space, axis int) (op[T], error) {
		return func(ctx ctxt, x space, axis int) (op[T], error) { return ops.RampFilter[T](ctx, x, axis, o) }
	}
	hann := ops.RampOptions{Spacing: 0.5, Window: ops.RampHann}
	return operatorTest[T]{
		forms: append(ramps("ramp filter", with(ops.RampDefaults()), 1, plainResponse), ramps("ramp filter with a window", with(hann), 0.5, func(n int) float64 {
			return plainResponse(n)/2 + plainResponse(n-1)/4 + plainResponse(n+1)/4
		})...),
		along: with(ops.RampDefaults()),
		messages: []messageCase[T]{{"ramp filter along whole rows", func(ctx ctxt, x space) (op[T], error) {
			return ops.RampFilter[T](ctx, x, 1, ops.RampDefaults())
		}, sentNone, 0}},
		bad: []badCase[T]{
			{"spacing of a ramp", with(ops.RampOptions{}), []string{"ramp filter", "spacing is 0"}},
			{"infinite spacing of a ramp", with(ops.RampOptions{Spacing: math.Inf(1)}), []string{"spacing is +Inf"}},
			{"window of a ramp", with(ops.RampOptions{Spacing: 1, Window: 5}), []string{"window is 5", "RampHann"}},
		},
	}
}

// plainResponse is that of Kak and Slaney for a spacing of 1.
func plainResponse(n int) float64 {
	switch {
	case n == 0:
		return 0.25
	case n%2 == 0:
		return 0
	}
	return -1 / math.Pow(math.Pi*float64(n), 2)
}

// ramps returns forms along the first and the last axis.
func ramps[T scalar.Scalar](name string, filter func(ctx ctxt, x space, axis int) (op[T], error), spacing float64, response func(n int) float64) []form[T] {
	forms := onAxes(name, filter)
	for k := range forms {
		forms[k].formula = func(x func(i ...int) T, dims, i []int) (sum T) {
			a := []int{0, len(dims) - 1}[k]
			at := append([]int{}, i...)
			for at[a] = range dims[a] {
				sum += scalar.From[T](complex(response(i[a]-at[a])/spacing, 0)) * x(at...)
			}
			return sum
		}
	}
	return forms
}

// A wave of frequency f is multiplied by f, and by the window, far from the ends of the
// axis.
func TestRampFilterIsARamp(t *testing.T) {
	const n, spacing = 4001, 0.5
	for _, window := range []ops.RampWindow{ops.RampPlain, ops.RampHann} {
		for _, f := range []float64{0, 0.1, 0.25, 0.5} { // in waves per sample
			err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
				x, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
				if err != nil {
					return err
				}
				wave, err := dist.FromFunc(ctx, x, func(i []int) float64 { return math.Cos(2 * math.Pi * f * float64(i[0]-n/2)) })
				if err != nil {
					return err
				}
				a, err := ops.RampFilter[float64](ctx, x, 0, ops.RampOptions{Spacing: spacing, Window: window})
				if err != nil {
					return err
				}
				y, err := linop.Apply(ctx, a, wave)
				if err != nil {
					return err
				}
				all, err := gather(ctx, y)
				want := f / spacing
				if window == ops.RampHann {
					want *= (1 + math.Cos(2*math.Pi*f)) / 2
				}
				if err == nil && math.Abs(all[n/2]-want) > 1e-3 {
					err = fmt.Errorf("%g, want %g", all[n/2], want)
				}
				return err
			})
			if err != nil {
				t.Errorf("window %d, frequency %g: %v", window, f, err)
			}
		}
	}
}

func BenchmarkRampFilter(b *testing.B) {
	onTypes(b, plain, benchRampFilter[float32], benchRampFilter[float64])
}

func benchRampFilter[T scalar.Scalar](ctx ctxt, x space) (op[T], error) {
	return ops.RampFilter[T](ctx, x, 1, ops.RampDefaults())
}

func ExampleRampFilter() {
	// What the response looks like: 1/4 in the middle, nothing at even distances.
	show([]int{1, 5}, []float64{0, 0, 4, 0, 0}, func(ctx ctxt, x space) (op[float64], error) {
		return ops.RampFilter[float64](ctx, x, 1, ops.RampDefaults())
	})
	// Output: [0 -0.405284734569 1 -0.405284734569 0]
}
