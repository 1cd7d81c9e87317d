package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestLinearTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		most   int
		least  float64
		want   string
	}{
		{0, 320, 8, 0, "0 50 100 150 200 250 300"},
		{-2, 322, 4, 0, "0 100 200 300"},
		{-0.42, 0.42, 9, 0, "−0.4 −0.3 −0.2 −0.1 0.0 0.1 0.2 0.3 0.4"},
		{0, 1, 6, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{-0.5, 2.5, 9, 1, "0 1 2"},
		{-0.5, 0.5, 9, 1, "0"},
		{1500, 2600, 7, 0, "1600 1800 2000 2200 2400 2600"},
		{0, 3e-6, 4, 0, "0 1 2 3 ×10⁻⁶"},
		{-9.5e7, 9.5e7, 5, 0, "−5 0 5 ×10⁷"},
		{431250, 431350, 6, 0, "431260 431280 431300 431320 431340"},
	} {
		ticks, factor := linearTicks(c.lo, c.hi, c.most, c.least)
		if got := strings.TrimSpace(labels(ticks) + " " + factor); got != c.want {
			t.Errorf("from %g to %g: got %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		most   int
		want   string
	}{
		{1e-5, 20, 9, "10⁻⁵ 10⁻⁴ 0.001 0.01 0.1 1 10"},
		{0.9, 12, 9, "1 2 5 10"},
		{1e-20, 1, 6, "10⁻²⁰ 10⁻¹⁵ 10⁻¹⁰ 10⁻⁵ 1"},
		{2e-6, 1e-5, 9, "2·10⁻⁶ 5·10⁻⁶ 10⁻⁵"},
		{0.9, 1.1, 5, "0.90 0.95 1.00 1.05 1.10"},
	} {
		ticks, factor := logTicks(c.lo, c.hi, c.most)
		if got := strings.TrimSpace(labels(ticks) + " " + factor); got != c.want {
			t.Errorf("from %g to %g: got %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}

// labels returns those that are not empty.
func labels(ticks []tick) string {
	var all []string
	for _, t := range ticks {
		if t.label != "" {
			all = append(all, t.label)
		}
	}
	return strings.Join(all, " ")
}

// FuzzTicks holds that there are never more ticks than asked for, that they lie
// within the range, and that the search for them ends.
func FuzzTicks(f *testing.F) {
	f.Add(0.0, 1.0, 5)
	f.Add(-largest, largest, 9)
	f.Add(0.0, 5e-324, 3)
	f.Add(1.0, 1.0+1e-12, 100)
	f.Add(1e15, 1e15+2, 7)
	f.Fuzz(func(t *testing.T, lo, hi float64, most int) {
		r := span{lo, hi}
		if math.IsNaN(lo) || math.IsNaN(hi) || lo > hi || most < 2 || most > 100 {
			return
		}
		r = r.widened()
		ticks, _ := linearTicks(r.lo, r.hi, most, 0)
		if len(ticks) > most {
			t.Errorf("from %g to %g there are %d ticks, want %d or fewer", r.lo, r.hi, len(ticks), most)
		}
		slack := 1e-6 * (r.hi - r.lo)
		for _, k := range ticks {
			if k.at < r.lo-slack || k.at > r.hi+slack {
				t.Errorf("a tick of %g to %g is at %g", r.lo, r.hi, k.at)
			}
			if len(k.label) > 30 {
				t.Errorf("a tick of %g to %g is %q", r.lo, r.hi, k.label)
			}
		}
		if lo > 1e-300 {
			if ticks, _ = logTicks(r.lo, r.hi, most); len(ticks) > 9*most+9 {
				t.Errorf("from %g to %g there are %d logarithmic ticks", r.lo, r.hi, len(ticks))
			}
		}
	})
}

// Labels at powers of two are few, and 1 KB and 1 MB are among them.
func TestPowerTicks(t *testing.T) {
	labels := func(lo, hi float64) (all []string) {
		for _, tick := range powerTicks(lo, hi, func(n int64) string { return strconv.FormatInt(n, 10) }) {
			if tick.label != "" {
				all = append(all, tick.label)
			}
		}
		return all
	}
	if got, want := labels(6, 1.3*(64<<20)), []string{"32", "1024", "32768", "1048576", "33554432"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := labels(6, 80), []string{"8", "16", "32", "64"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
