package wave_test

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
)

// The kernel is what PyLops-MPI takes: the transform of samples with zeros in front, for
// all layouts and types.
func TestMDCKernel(t *testing.T) {
	for _, o := range []wave.MDCKernelOptions{{}, {Frequencies: 3}, {TwoSided: true}, {TwoSided: true, Frequencies: 5}} {
		for _, ranks := range []int{1, 2, 3, 7} {
			for _, l := range []dist.Layout{dist.Split(0), dist.Split(1), dist.Split(2), dist.Replicated} {
				err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
					if err := kernelOfSamples[complex64, float32](ctx, r, l, o, 1e-5); err != nil {
						return err
					}
					return kernelOfSamples[complex128, float64](ctx, r, l, o, 1e-13)
				})
				if err != nil {
					t.Errorf("ranks=%d, %v, %+v: %v", ranks, l.Axes, o, err)
				}
			}
		}
	}
}

func kernelOfSamples[C, R scalar.Scalar](ctx context.Context, r dist.Proc, l dist.Layout, o wave.MDCKernelOptions, tol float64) error {
	const sources, receivers = 3, 2
	for _, n := range []int{6, 5, 1} {
		if o.Frequencies > o.Samples(n)/2+1 {
			continue
		}
		x, err := dist.NewSpace(ctx, r, l, n, sources, receivers)
		if err != nil {
			return err
		}
		a, err := wave.MDCKernel[C, R](ctx, x, o)
		if err != nil {
			return err
		}
		if err := optest.All(ctx, a); err != nil {
			return err
		}
		g, err := dist.Random[R](ctx, x, 1)
		if err != nil {
			return err
		}
		samples, err := dist.AllGather(ctx, g)
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, a, g)
		if err != nil {
			return err
		}
		got, err := dist.AllGather(ctx, y)
		if err != nil {
			return err
		}
		nt := n
		if o.TwoSided {
			nt = 2*n - 1
		}
		padded := make([]R, nt*sources*receivers)
		copy(padded[len(padded)-len(samples):], samples)
		frequencies := o.Frequencies
		if frequencies == 0 {
			frequencies = nt/2 + 1
		}
		if len(got) != frequencies*sources*receivers {
			return fmt.Errorf("%d elements of %d frequencies", len(got), frequencies)
		}
		for i := range got {
			f, pair, want := i/(sources*receivers), i%(sources*receivers), complex128(0)
			for t := range nt {
				want += scalar.Complex(padded[t*sources*receivers+pair]) * cmplx.Rect(1, -2*math.Pi*float64(f)*float64(t)/float64(nt))
			}
			if d := cmplx.Abs(scalar.Complex(got[i]) - want); !(d < tol*10) {
				return fmt.Errorf("%d samples: element %d is %v, want %v", n, i, got[i], want)
			}
		}
	}
	return nil
}

func TestMDCKernelRefuses(t *testing.T) {
	for _, c := range []struct {
		dims []int
		o    wave.MDCKernelOptions
		want string
	}{
		{[]int{5, 2}, wave.MDCKernelOptions{}, "[5 2]"},
		{[]int{0, 2, 2}, wave.MDCKernelOptions{}, "must be positive"},
		{[]int{5, 2, 2}, wave.MDCKernelOptions{Frequencies: 4}, "4 frequencies: there are 3"},
		{[]int{5, 2, 2}, wave.MDCKernelOptions{Frequencies: 6, TwoSided: true}, "6 frequencies: there are 5"},
		{[]int{5, 2, 2}, wave.MDCKernelOptions{Frequencies: -1}, "-1 frequencies"},
	} {
		err := launch.Config{Ranks: 3}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Layout{}, c.dims...)
			if err != nil {
				return err
			}
			if _, err = wave.MDCKernel[complex128, float64](ctx, x, c.o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "wave: MDC kernel") {
				return fmt.Errorf("rank %d: error %v, want %q in it", r.Rank(), err, c.want)
			}
			o := c.o
			o.Frequencies += r.Rank()
			if _, err = wave.MDCKernel[complex128, float64](ctx, x, o); err == nil {
				return fmt.Errorf("ranks differ: no error")
			}
			return nil
		})
		if err != nil {
			t.Errorf("%v: %v", c.dims, err)
		}
	}
	if _, err := wave.MDCKernel[complex64, float32](t.Context(), nil, wave.MDCKernelOptions{}); err == nil {
		t.Error("no space: no error")
	}
}

// A kernel in time makes the convolution of MDC.
func ExampleMDCKernel() {
	err := launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		samples, err := dist.NewSpace(ctx, r, dist.Split(1), 4, 1, 1)
		if err != nil {
			return err
		}
		echo, err := dist.FromFunc(ctx, samples, func(i []int) float64 { return []float64{0, 0.5, 0, 0}[i[0]] })
		if err != nil {
			return err
		}
		kernel, err := wave.MDCKernel[complex128, float64](ctx, samples, wave.MDCKernelOptions{})
		if err != nil {
			return err
		}
		g, err := linop.Apply(ctx, kernel, echo)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, r, dist.Split(2), 4, 1, 2)
		if err != nil {
			return err
		}
		op, err := wave.MDC[complex128, float64](ctx, g, x, wave.MDCOptions{Prescaled: true})
		if err != nil {
			return err
		}
		wavefield, err := dist.FromFunc(ctx, x, func(i []int) float64 { return float64(i[0] * (1 + i[2])) })
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, op, wavefield)
		if err != nil {
			return err
		}
		all, err := dist.Gather(ctx, y, 0)
		for i := range all {
			all[i] = math.Round(10*all[i])/10 + 0 // no -0
		}
		if r.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [1.5 3 0 0 0.5 1 1 2]
}
