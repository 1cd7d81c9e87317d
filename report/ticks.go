package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// tick is a mark on an axis. Minor ones have no label.
type tick struct {
	at    float64
	label string
}

// linearTicks puts at most most labels at round numbers from lo to hi, at least
// least apart. Where the numbers are very large or small, all labels are to be
// multiplied by the factor that is returned as text, such as "×10⁻⁶"; otherwise
// it is empty.
func linearTicks(lo, hi float64, most int, least float64) (ticks []tick, factor string) {
	step := max(roundStep((hi-lo)/float64(most+1)), least)
	first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	for last-first+1 > float64(max(most, 2)) {
		step = roundStep(step * 1.01)
		first, last = math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	}
	exp := 0
	e, es := exponent(max(math.Abs(lo), math.Abs(hi))), exponent(step)
	whole := es >= 0 && es < e-2 && e < 8 // as coordinates on a map are: these are read in full
	if (e >= 5 || e <= -4) && !whole {
		exp = e
		factor = "×10" + superscript(e)
	}
	decimals := min(max(0, exp-es), 17)
	for i := first; i <= last; i++ {
		s := strconv.FormatFloat(i*step/pow10(exp), 'f', decimals, 64)
		if i == 0 {
			s = strconv.FormatFloat(0, 'f', decimals, 64) // never -0
		}
		ticks = append(ticks, tick{i * step, strings.Replace(s, "-", "−", 1)})
	}
	return ticks, factor
}

// roundStep returns 1, 2 or 5 times a power of ten that is not less.
func roundStep(x float64) float64 {
	p := pow10(exponent(x))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= x*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// exponent returns the power of ten at or below a positive x.
func exponent(x float64) int {
	if x == 0 {
		return 0
	}
	return int(math.Floor(math.Log10(x) + 1e-9))
}

// pow10 is math.Pow10 without its 0 and Inf at the ends.
func pow10(e int) float64 { return math.Pow10(min(max(e, -307), 307)) }

// superscript writes a power of ten the way print does.
func superscript(e int) string {
	from, to := []rune("0123456789-"), []rune(superscripts)
	return strings.Map(func(r rune) rune { return to[slices.Index(from, r)] }, strconv.Itoa(e))
}

// logTicks puts labels at powers of ten, few enough for most, and at 2 and 5
// times these where there would be fewer than three. The others are minor. A
// range of less than half a decade has the ticks of a linear axis.
func logTicks(lo, hi float64, most int) (ticks []tick, factor string) {
	decades := math.Log10(hi) - math.Log10(lo)
	if decades < 0.5 {
		return linearTicks(lo, hi, most, 0)
	}
	first, last := exponent(lo), exponent(hi)
	every := 1
	for _, every = range []int{1, 2, 5, 10, 20, 50, 100, 200} {
		if (last-first)/every+1 <= max(most, 2) {
			break
		}
	}
	for e := first; e <= last; e++ {
		for m := 1; m < 10; m++ {
			x := float64(m) * pow10(e)
			if x < lo*(1-1e-9) || x > hi*(1+1e-9) || every > 1 && m > 1 || every > 5 && e%every != 0 {
				continue
			}
			t := tick{at: x}
			if m == 1 && e%every == 0 || decades < 2 && (m == 2 || m == 5) {
				t.label = logLabel(m, e)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks, ""
}

// logLabel writes m·10^e: as it is where that is short.
func logLabel(m, e int) string {
	switch {
	case e >= -3 && e <= 3:
		return strconv.FormatFloat(float64(m)*pow10(e), 'f', max(0, -e), 64)
	case m == 1:
		return "10" + superscript(e)
	}
	return strconv.Itoa(m) + "·10" + superscript(e)
}
