package perf

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// ParseSize reads a number of bytes such as 8, 64K, 1.5M or 2G, in which K, M
// and G stand for powers of 1024. B or iB may follow, and a space may stand
// before the unit, as FormatSize writes it.
func ParseSize(s string) (int64, error) {
	t := strings.ToUpper(strings.TrimSpace(s))
	if cut, ok := strings.CutSuffix(t, "IB"); ok {
		t = cut
	} else {
		t = strings.TrimSuffix(t, "B")
	}
	unit := int64(1)
	if t != "" {
		if e := strings.IndexByte("KMGT", t[len(t)-1]); e >= 0 {
			unit <<= 10 * (e + 1)
			t = t[:len(t)-1]
		}
	}
	t = strings.TrimRight(t, " ")
	// Whole numbers stay integers: a float64 would round the largest of them.
	if n, err := strconv.ParseUint(t, 10, 63); err == nil && int64(n) <= math.MaxInt64/unit {
		return int64(n) * unit, nil
	}
	f, err := strconv.ParseFloat(t, 64)
	switch {
	case err != nil || math.IsNaN(f) || f < 0:
		return 0, fmt.Errorf("size %q is not a number of bytes: write it like 8, 64K, 128M or 1G", s)
	case f*float64(unit) >= math.MaxInt64:
		return 0, fmt.Errorf("size %q is too large", s)
	}
	return int64(f * float64(unit)), nil
}

// FormatSize shows a number of bytes as people write it: 8 B, 1 KB, 1.5 MB.
// As in ParseSize, KB, MB and GB are powers of 1024.
func FormatSize(n int64) string {
	units := [...]string{"B", "KB", "MB", "GB", "TB"}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) + " " + units[u]
}

// sizes yields the sizes of a sweep from lo to hi, growing by step if that is
// not 0 and by factor otherwise.
func sizes(lo, hi, factor, step int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for s := lo; yield(s); {
			// Compared this way round, neither growth can overflow.
			switch {
			case step > 0 && s <= hi-step:
				s += step
			case step == 0 && factor > 1 && s <= hi/factor:
				s *= factor
			default:
				return
			}
		}
	}
}
