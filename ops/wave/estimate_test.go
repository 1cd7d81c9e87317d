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
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/ops/wave"
)

// TestEstimateWavelet finds the wavelet of traces whose reflectivity is random.
func TestEstimateWavelet(t *testing.T) {
	const half = 20
	times := make([]float64, half+1)
	for i := range times {
		times[i] = 0.004 * float64(i)
	}
	ricker, err := wave.Ricker(times, 25)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ranks  int
		layout dist.Layout
	}{{1, dist.Layout{}}, {3, dist.Split(1)}, {4, dist.Layout{Grid: []int{2, 2}, Axes: []int{1, 2}}}, {2, dist.Replicated}} {
		err := testdevices.Local(t.Context(), c.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, c.layout, 300, 20, 15)
			if err != nil {
				return err
			}
			refl, err := dist.Random[float64](ctx, x, 1)
			if err != nil {
				return err
			}
			op, err := ops.Convolve1D(ctx, x, 0, ricker.W, half)
			if err != nil {
				return err
			}
			traces, err := linop.Apply(ctx, op, refl)
			if err != nil {
				return err
			}
			dist.Scale(traces, 7, traces)
			w, err := wave.EstimateWavelet(ctx, traces, half)
			if err != nil {
				return err
			}
			far := 0.0
			for i := range w {
				far = max(far, math.Abs(w[i]-ricker.W[i]))
			}
			if len(w) != 2*half+1 || w[half] != 1 || far > 0.06 {
				return fmt.Errorf("%d samples, off by %.3f: %.3f", len(w), far, w)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", c.ranks, err)
		}
	}
}

// TestGain compares with amplitudes at many frequencies.
func TestGain(t *testing.T) {
	for _, w := range [][]float64{{2}, {1, -1}, {1, 2, 1}, {0.3, -0.7, 1, -0.2, 0.4}} {
		most := 0.0
		for f := range 10001 {
			sum := 0i
			for i, v := range w {
				sum += cmplx.Rect(v, math.Pi*float64(f*i)/10000)
			}
			most = max(most, real(sum)*real(sum)+imag(sum)*imag(sum))
		}
		if g := wave.Gain(w); !(g >= most && g < 1.03*most) {
			t.Errorf("%v: gain %g, the largest of all frequencies is %g", w, g, most)
		}
	}
	if g := wave.Gain(nil); g != 0 {
		t.Errorf("of no samples it is %g", g)
	}
}

func TestEstimateWaveletWrong(t *testing.T) {
	for want, half := range map[string]int{
		"0 samples on either side": 0, "the 12 samples of a trace": 6, "the power of the traces is 0": 5,
	} {
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Split(1), 12, 4)
			if err != nil {
				return err
			}
			d, err := dist.New[float32](x)
			if err != nil {
				return err
			}
			_, err = wave.EstimateWavelet(ctx, d, half)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("half %d: got %v, want %s", half, err, want)
		}
	}
}
