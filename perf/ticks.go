package perf

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// sizeTicks puts labels at powers of two, few enough not to run into each
// other. Labels are 1, 2, 5 or 10 powers apart, counted from 1 KB on, so that
// 1 KB and 1 MB always have one.
func sizeTicks(lo, hi float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	every := 1
	for _, every = range []int{1, 2, 5, 10} {
		if (last-first)/every <= 7 {
			break
		}
	}
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if e >= 0 && (e-10)%every == 0 {
			t.Label = FormatSize(int64(t.Value))
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// decadeTicks puts labels at powers of ten, and at 2 and 5 times these where
// there would be fewer than four of them.
func decadeTicks(lo, hi float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Floor(math.Log10(hi)))
	close := math.Log10(hi/lo) < 3.5
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		for m := 1; m < 10; m++ {
			v := float64(m) * math.Pow10(e)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if m == 1 || close && (m == 2 || m == 5) {
				// By way of text, so that 5 * 10^-2 is 0.05 and nothing longer.
				t.Label = strconv.FormatFloat(v, 'g', 3, 64)
				if v >= 1000 || v < 1e-4 {
					t.Label = strconv.Itoa(m) + "e" + strconv.Itoa(e)
				}
				if v >= 1000 && v < 1e6 {
					t.Label = strconv.Itoa(int(math.Round(v)))
				}
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
