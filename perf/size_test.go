package perf

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

func TestParseSize(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want int64 // -1 for an error
	}{
		{"8", 8}, {"0", 0}, {"1K", 1024}, {"1k", 1024}, {"64M", 64 << 20}, {"1G", 1 << 30}, {"2T", 2 << 40},
		{"1.5K", 1536}, {"16KB", 16 << 10}, {"16KiB", 16 << 10}, {"100B", 100}, {" 4 ", 4}, {"1.5 MB", 3 << 19}, {"8 B", 8},
		{"9223372036854775807", math.MaxInt64},
		{"", -1}, {"K", -1}, {"5I", -1}, {"5 I B", -1}, {"-1", -1}, {"1X", -1}, {"1KK", -1}, {"nan", -1}, {"inf", -1}, {"9000000T", -1}, {"9223372036854775808", -1},
	} {
		got, err := ParseSize(tc.in)
		if err != nil {
			got = -1
		}
		if got != tc.want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", tc.in, got, err, tc.want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 8: "8 B", 1000: "1000 B", 1024: "1 KB", 1536: "1.5 KB", 1 << 20: "1 MB", 3 << 30: "3 GB", 1020: "1020 B", 1100: "1.07 KB"} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, tc := range []struct {
		lo, hi, factor, step int64
		want                 []int64
	}{
		{8, 64, 2, 0, []int64{8, 16, 32, 64}},
		{8, 63, 2, 0, []int64{8, 16, 32}},
		{3, 100, 4, 0, []int64{3, 12, 48}},
		{8, 8, 1, 0, []int64{8}},
		{10, 35, 2, 10, []int64{10, 20, 30}},
		{8, 8, 2, 100, []int64{8}},
		{1 << 61, math.MaxInt64, 3, 0, []int64{1 << 61, 3 << 61}},
		{1 << 62, math.MaxInt64, 2, 1 << 62, []int64{1 << 62}},
	} {
		got := slices.Collect(sizes(tc.lo, tc.hi, tc.factor, tc.step))
		if !slices.Equal(got, tc.want) {
			t.Errorf("sizes(%d, %d, %d, %d) = %v, want %v", tc.lo, tc.hi, tc.factor, tc.step, got, tc.want)
		}
	}
}

// FuzzSize wants an error or a size that is not negative and, where a text is a
// plain number, that number. A size that is shown is near itself when it is read.
func FuzzSize(f *testing.F) {
	for _, s := range []string{"8", "64K", "1.5M", "2G", "1T", "16KiB", " 4 ", "1e3", "0x10", "-1", "nan", "9223372036854775807", "1_000", "B", "1KIB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseSize(s)
		if err != nil {
			return
		}
		if exact, err := strconv.ParseInt(s, 10, 64); n < 0 || err == nil && n != exact {
			t.Fatalf("%q is %d bytes", s, n)
		}
		shown := FormatSize(n)
		again, err := ParseSize(shown)
		if off := math.Abs(float64(again)-float64(n)) / 1024; err != nil && n < math.MaxInt64/2 || err == nil && off > float64(n)/1024*0.01+1 {
			t.Errorf("%q is %d bytes, shown as %q, which is %d, %v", s, n, shown, again, err)
		}
	})
}
