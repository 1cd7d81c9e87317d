package data_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/scalar"
)

// heard is sample t of what a receiver heard of a source.
func heard(t, source, receiver int) float64 { return float64(100*t + 10*source + receiver) }

// writeWavefields writes 4 samples of 3 sources and 5 receivers in all formats, and of one
// receiver.
func writeWavefields(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	fill := func(receivers int) (v []float64) {
		for i := range 4 * 3 * receivers {
			v = append(v, heard(i/(3*receivers), i/receivers%3, i%receivers))
		}
		return v
	}
	spectra := make([]complex128, 4*3*5)
	for i, x := range fill(5) {
		spectra[i] = complex(x, -x)
	}
	nan := fill(5)
	nan[2*15+1*5+3] = math.Inf(-1)
	err := errors.Join(
		data.WriteNPY(filepath.Join(dir, "g.npy"), []int{4, 3, 5}, fill(5)), data.WriteNPY(filepath.Join(dir, "one.npy"), []int{4, 3}, fill(1)),
		data.WriteNPY(filepath.Join(dir, "f.npy"), []int{4, 3, 5}, spectra), data.WriteNPY(filepath.Join(dir, "nan.npy"), []int{4, 3, 5}, nan),
		data.WriteNPY(filepath.Join(dir, "flat.npy"), []int{4}, nan[:4]), data.WriteNPY(filepath.Join(dir, "empty.npy"), []int{4, 0, 5}, nan[:0]),
		data.WriteSEGY(filepath.Join(dir, "g.SGY"), data.SEGYConfig{NumTraces: 15, NumSamples: 4, Interval: 2000}, func(i int, dst []float32) error {
			for k := range dst {
				dst[k] = float32(heard(k, i/5, i%5))
			}
			return nil
		}, func(int) map[data.Word]int { return nil }),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every format gives the same array, in any layout; some ranks have nothing.
func TestWavefield(t *testing.T) {
	dir := writeWavefields(t)
	for name, c := range map[string]struct {
		interval float64
		shape    [3]int
	}{"g.npy": {0, [3]int{4, 3, 5}}, "one.npy": {0, [3]int{4, 3, 1}}, "f.npy": {0, [3]int{4, 3, 5}}, "g.SGY": {0.002, [3]int{4, 3, 5}}} {
		w, err := data.OpenWavefield(filepath.Join(dir, name), 3)
		if err != nil || w.Shape != c.shape || w.Interval != c.interval || w.Complex != (name == "f.npy") {
			t.Fatalf("%s: %+v: %v", name, w, err)
		}
		for _, ranks := range []int{1, 2, 3, 7} {
			for _, l := range []dist.Layout{dist.Split(0), dist.Split(1), dist.Split(2), dist.Replicated, {Grid: []int{1, ranks}, Axes: []int{0, 1}}} {
				err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
					if w.Complex {
						return loadsWavefield(ctx, r, w, l, func(x float64) complex128 { return complex(x, -x) })
					}
					return errors.Join(loadsWavefield(ctx, r, w, l, func(x float64) float64 { return x }),
						loadsWavefield(ctx, r, w, l, func(x float64) complex64 { return complex(float32(x), 0) }))
				})
				if err != nil {
					t.Errorf("%s: ranks=%d, layout %v: %v", name, ranks, l.Axes, err)
				}
			}
		}
	}
}

func loadsWavefield[T scalar.Scalar](ctx context.Context, r dist.Proc, w data.Wavefield, l dist.Layout, want func(x float64) T) error {
	for times := range w.Shape[0] {
		if err := loadsTimes(ctx, r, w, l, times+1, want); err != nil {
			return fmt.Errorf("%d times: %w", times+1, err)
		}
	}
	return nil
}

func loadsTimes[T scalar.Scalar](ctx context.Context, r dist.Proc, w data.Wavefield, l dist.Layout, times int, want func(x float64) T) error {
	s, err := dist.NewSpace(ctx, r, l, times, w.Shape[1], w.Shape[2])
	if err != nil {
		return err
	}
	a, err := data.LoadWavefield[T](ctx, w, s)
	if err != nil {
		return err
	}
	all, err := dist.AllGather(ctx, a)
	if err != nil {
		return err
	}
	for i, got := range all {
		if want := want(heard(i/(w.Shape[1]*w.Shape[2]), i/w.Shape[2]%w.Shape[1], i%w.Shape[2])); got != want {
			return fmt.Errorf("element %d of %v is %v, want %v", i, w.Shape, got, want)
		}
	}
	return nil
}

func TestBadWavefield(t *testing.T) {
	dir := writeWavefields(t)
	if err := os.WriteFile(filepath.Join(dir, "no.segy"), []byte("hello"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"none.npy": "no such file", "none.segy": "no such file", "no.segy": "5 bytes",
		"flat.npy": "it has shape [4]: a wavefield has three axes: time, source and receiver", "empty.npy": "there is nothing in it",
	} {
		if _, err := data.OpenWavefield(filepath.Join(dir, name), 3); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for _, sources := range []int{0, -3, 4, 16} {
		_, err := data.OpenWavefield(filepath.Join(dir, "g.SGY"), sources)
		if want := fmt.Sprintf("it has 15 traces, which are not those of %d sources", sources); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	load := func(name string, dims ...int) error {
		w, err := data.OpenWavefield(filepath.Join(dir, name), 3)
		if err != nil {
			t.Fatal(err)
		}
		return testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, dist.Split(1), dims...)
			if err != nil {
				return err
			}
			if _, err = data.LoadWavefield[float64](ctx, w, s); err == nil {
				return fmt.Errorf("no error on rank %d", r.Rank())
			}
			return err
		})
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{load("nan.npy", 4, 3, 5), "the element at [2 1 3] is -Inf: replace what is no number"},
		{load("g.npy", 4, 3, 6), "the file has shape [4 3 5], the space has [4 3 6]"},
		{load("g.npy", 5, 3, 5), "the file has shape [4 3 5], the space has [5 3 5]"},
		{load("g.npy", 4, 3), "the space has [4 3]"},
		{load("f.npy", 4, 3, 5), "complex"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
	// A file that ends after it was opened is an error on all ranks, not a wrong result.
	w, err := data.OpenWavefield(filepath.Join(dir, "g.SGY"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(w.Path, 3600+240); err != nil {
		t.Fatal(err)
	}
	err = testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Split(0), 4, 3, 5)
		if err != nil {
			return err
		}
		if _, err := data.LoadWavefield[float64](ctx, w, s); err == nil {
			return errors.New("no error")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
