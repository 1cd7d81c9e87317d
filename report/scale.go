package report

import (
	"fmt"
	"math"
)

// Scale is which values the ends of a colour map stand for. The zero value
// takes the range from the data, as the map is used to.
type Scale struct {
	// Min and Max are the range if Max is larger than Min. Both 0 means that
	// the range comes from the data.
	Min, Max float64
	// Clip is a percentile above 50, up to 100, that decides a range from the
	// data: 100 takes the extremes, less lets the largest values saturate. A
	// range around zero ends at this percentile of the absolute values,
	// without those that are zero; another goes from the percentile 100-Clip
	// to Clip. Automatic is 99 for a range around zero and 100 for another.
	Clip float64
	// Symmetric puts zero in the middle of a range from the data. The map
	// Seismic always has it there.
	Symmetric bool
}

// ScaleOf returns the range of the values of some pictures, for those among others that
// share colours.
func ScaleOf(pictures ...Picture) (s Scale) {
	s.Min, s.Max = math.Inf(1), math.Inf(-1)
	for _, p := range pictures {
		for _, v := range p.Data.values() {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				s.Min, s.Max = min(s.Min, v), max(s.Max, v)
			}
		}
	}
	if !(s.Min < s.Max) { // all values are the same, or there are none
		return Scale{}
	}
	return s
}

// check reports the first fault of a scale.
func (s Scale) check() error {
	switch {
	case math.IsNaN(s.Min) || math.IsInf(s.Min, 0) || math.IsNaN(s.Max) || math.IsInf(s.Max, 0):
		return fmt.Errorf("colours from %g to %g: both ends must be finite", s.Min, s.Max)
	case (s.Min != 0 || s.Max != 0) && s.Max <= s.Min:
		return fmt.Errorf("colours from %g to %g: the maximum must be larger than the minimum", s.Min, s.Max)
	case s.Clip != 0 && !(s.Clip > 50 && s.Clip <= 100):
		return fmt.Errorf("clip at percentile %g: must be above 50 and at most 100", s.Clip)
	}
	return nil
}

// fixed reports whether the range does not come from the data.
func (s Scale) fixed() bool { return s.Max > s.Min }

// span is the range that colours cover, lo below hi.
type span struct{ lo, hi float64 }

// largest keeps hi-lo finite.
const largest = math.MaxFloat64 / 8

// resolve decides on a map and the range of values of v, which may hold NaN
// and Inf.
func resolve(m ColorMap, s Scale, v []float64) (ColorMap, span) {
	if m == Auto {
		m = Viridis
		if bothSigns(v) || s.Symmetric {
			m = Seismic
		}
	}
	if s.fixed() {
		return m, span{s.Min, s.Max}.widened()
	}
	if m == Seismic || s.Symmetric {
		clip := s.Clip
		if clip == 0 {
			clip = 99
		}
		a := keep(v, math.Abs, func(x float64) bool { return x > 0 })
		if len(a) == 0 {
			return m, span{-1, 1}
		}
		hi := min(percentile(a, clip), largest)
		return m, span{-hi, hi}
	}
	clip := s.Clip
	if clip == 0 {
		clip = 100
	}
	a := keep(v, func(x float64) float64 { return x }, func(float64) bool { return true })
	if len(a) == 0 {
		return m, span{0, 1}
	}
	r := span{percentile(a, 100-clip), percentile(a, clip)}
	if r.lo == r.hi { // most values are the same: show those that are not
		r = span{percentile(a, 0), percentile(a, 100)}
	}
	return m, r.widened()
}

// widened gives a constant array, or one whose values differ by rounding only,
// a range that it lies in the middle of.
func (r span) widened() span {
	r.lo, r.hi = max(r.lo, -largest), min(r.hi, largest)
	size := max(math.Abs(r.lo), math.Abs(r.hi))
	if r.hi-r.lo > 1e-12*size {
		return r
	}
	if size == 0 {
		size = 1
	}
	mid := r.lo/2 + r.hi/2
	return span{max(mid-size/2, -largest), min(mid+size/2, largest)}
}

// index is the colour of x: 0 to 255, and -1 for NaN.
func (r span) index(x float64) int {
	if x != x {
		return -1
	}
	// Infinite values are beyond an end as others are, but Inf/Inf is not.
	f := (min(max(x, r.lo), r.hi) - r.lo) / (r.hi - r.lo)
	return int(f*255 + 0.5)
}

func bothSigns(v []float64) bool {
	neg, pos := false, false
	for _, x := range v {
		neg = neg || x < 0
		pos = pos || x > 0
	}
	return neg && pos
}

// keep returns f of the finite values for which that is wanted.
func keep(v []float64, f func(float64) float64, want func(float64) bool) []float64 {
	out := make([]float64, 0, len(v))
	for _, x := range v {
		if x = f(x); !math.IsNaN(x) && !math.IsInf(x, 0) && want(x) {
			out = append(out, x)
		}
	}
	return out
}

// percentile returns the value below which p percent of the values lie, and
// reorders them. It selects instead of sorting, which takes a fifth of the
// time for a million values.
func percentile(v []float64, p float64) float64 {
	k := int(math.Round(p / 100 * float64(len(v)-1)))
	lo, hi := 0, len(v)-1
	for lo < hi {
		pivot := v[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	return v[k]
}
