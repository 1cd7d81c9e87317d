package data_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
)

// volumeSample is sample k of the trace at inline 10+2·i, crossline 5-j.
func volumeSample(i, j, k int) float32 { return float32(100*i+10*j+k) / 4 }

// writeVolume writes 3 inlines of 4 crosslines of 5 samples in some order. words changes
// what the header of a trace says.
func writeVolume(t *testing.T, format data.SampleFormat, traces int, words func(n int, w map[data.Word]int)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "volume.segy")
	place := func(n int) (i, j int) { n = n * 7 % 12; return n / 4, n % 4 }
	err := data.WriteSEGY(path, data.SEGYConfig{NumTraces: traces, NumSamples: 5, Interval: 2000, Format: format, Text: "C 1 SOUTH SEA"}, func(n int, dst []float32) error {
		i, j := place(n)
		for k := range dst {
			dst[k] = volumeSample(i, 3-j, k)
		}
		return nil
	}, func(n int) map[data.Word]int {
		i, j := place(n)
		w := map[data.Word]int{data.Inline: 10 + 2*i, data.Crossline: 5 + j, data.CDPX: 1000 * n}
		if words != nil {
			words(n, w)
		}
		return w
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestVolume reads a volume that is split in one or two axes and writes it again.
func TestVolume(t *testing.T) {
	for _, c := range []struct {
		ranks  int
		layout dist.Layout
		format data.SampleFormat
	}{
		{1, dist.Layout{}, data.FormatIEEE}, {2, dist.Split(1), data.FormatIBM}, {3, dist.Split(0), data.FormatIEEE},
		{4, dist.Layout{Grid: []int{2, 2}}, data.FormatIBM}, {5, dist.Split(0), data.FormatIEEE}, {2, dist.Replicated, data.FormatIEEE},
	} {
		t.Run(fmt.Sprintf("ranks=%d/%v", c.ranks, c.layout), func(t *testing.T) {
			path := writeVolume(t, c.format, 12, nil)
			again := filepath.Join(t.TempDir(), "again.segy")
			err := testdevices.Local(t.Context(), c.ranks, func(ctx context.Context, r dist.Proc) error {
				v, err := data.OpenVolume(path, data.Inline, data.Crossline)
				if err != nil {
					return err
				}
				defer v.Close()
				if !slices.Equal(v.Shape(), []int{3, 4, 5}) || !slices.Equal(v.Numbers[0], []int{10, 12, 14}) || !slices.Equal(v.Numbers[1], []int{5, 6, 7, 8}) {
					return fmt.Errorf("shape %v, numbers %v", v.Shape(), v.Numbers)
				}
				s, err := dist.NewSpace(ctx, r, c.layout, 3, 4, 5)
				if err != nil {
					return err
				}
				a, err := data.LoadVolume[float64](ctx, v, s)
				if err != nil {
					return err
				}
				all, err := dist.AllGather(ctx, a)
				if err != nil {
					return err
				}
				for n, got := range all {
					if want := float64(volumeSample(n/20, 3-n/5%4, n%5)); got != want {
						return fmt.Errorf("element %d is %g, want %g", n, got, want)
					}
				}
				dist.Scale(a, -2, a)
				return data.SaveVolume(ctx, again, v, a)
			})
			if err != nil {
				t.Fatal(err)
			}
			checkCopy(t, path, again)
		})
	}
}

// checkCopy compares the headers of two files, and samples with the factor -2.
func checkCopy(t *testing.T, path, again string) {
	t.Helper()
	a, err := data.OpenSEGY(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := data.OpenSEGY(again)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Text() != b.Text() || a.Format() != b.Format() || a.Interval() != b.Interval() || b.NumTraces() != 12 {
		t.Errorf("text %q, format %d, interval %d, %d traces", b.Text(), b.Format(), b.Interval(), b.NumTraces())
	}
	x, y := make([]float32, 5), make([]float32, 5)
	for i := range 12 {
		var v, w [4]int
		words := []data.Word{data.Inline, data.Crossline, data.CDPX, data.TraceSequenceFile}
		if err := a.Headers(i, v[:], words...); err != nil {
			t.Fatal(err)
		}
		if err := b.Headers(i, w[:], words...); err != nil || v != w {
			t.Errorf("header of trace %d: %v, want %v: %v", i, w, v, err)
		}
		if err := a.Trace(i, x); err != nil {
			t.Fatal(err)
		}
		if err := b.Trace(i, y); err != nil {
			t.Fatal(err)
		}
		for k := range x {
			if y[k] != -2*x[k] {
				t.Errorf("sample %d of trace %d is %g, want %g", k, i, y[k], -2*x[k])
			}
		}
	}
}

func TestBadVolume(t *testing.T) {
	none := data.Word{Name: "None", Byte: 233, Size: 4}
	for _, c := range []struct {
		name   string
		traces int
		words  func(n int, w map[data.Word]int)
		by     []data.Word
		want   string
	}{
		{"missing", 11, nil, nil, "there is no trace at Inline 12, Crossline 6: the volume must have one for every point of Inline 10 to 14, Crossline 5 to 8"},
		{"no traces", 0, nil, nil, "no traces"},
		{"no words", 12, nil, []data.Word{}, "no header words"},
		{"uneven", 12, func(n int, w map[data.Word]int) {
			if w[data.Inline] == 14 {
				w[data.Inline] = 15
			}
		}, nil, "Inline (bytes 189 to 192) is 10, 12 and then 15"},
		{"twice", 12, func(n int, w map[data.Word]int) { w[data.Inline] = 10 }, nil, "traces 0 and 4 are both at Inline 10, Crossline 5"},
		{"word that is not set", 12, nil, []data.Word{data.Inline, none}, "traces 0 and 2 are both at Inline 10, None 0"},
		{"other", 12, func(n int, w map[data.Word]int) {
			if n == 3 {
				w[data.Crossline] = 9
			}
		}, nil, "there is no trace at Inline 10, Crossline 9"},
		{"outside", 12, nil, []data.Word{{Name: "Far", Byte: 239, Size: 4}}, "outside the header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			by := c.by
			if by == nil {
				by = []data.Word{data.Inline, data.Crossline}
			}
			v, err := data.OpenVolume(writeVolume(t, data.FormatIEEE, c.traces, c.words), by...)
			if err == nil {
				t.Fatalf("shape %v", v.Shape())
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
