package scalar_test

import (
	"math"
	"testing"

	"github.com/golops/golops/scalar"
)

// TestFloat16 converts every 16-bit number to float32 and back, and every number half
// way between two neighbours, which must go to the even one.
func TestFloat16(t *testing.T) {
	nan := func(v float32) bool { return v != v }
	for i := range 1 << 16 {
		h, b := scalar.Float16(i), scalar.BFloat16(i)
		if v := h.Float32(); scalar.ToFloat16(v) != h && !nan(v) || nan(v) && !nan(scalar.ToFloat16(v).Float32()) {
			t.Fatalf("float16 %#x is %v and comes back as %#x", i, v, scalar.ToFloat16(v))
		}
		if v := b.Float32(); scalar.ToBFloat16(v) != b && !nan(v) || nan(v) && !nan(scalar.ToBFloat16(v).Float32()) {
			t.Fatalf("bfloat16 %#x is %v and comes back as %#x", i, v, scalar.ToBFloat16(v))
		}
		if i&0x7fff < 0x7c00-1 {
			mid := float32((float64(h.Float32()) + float64((h + 1).Float32())) / 2)
			even := h + h&1
			if got := scalar.ToFloat16(mid); got != even {
				t.Fatalf("%v, between %#x and %#x, becomes %#x, want %#x", mid, h, h+1, got, even)
			}
			if got := scalar.ToFloat16(math.Nextafter32(mid, h.Float32())); got != h {
				t.Fatalf("just below %v becomes %#x, want %#x", mid, got, h)
			}
		}
	}
	for _, c := range []struct {
		v    float32
		want scalar.Float16
	}{{1, 0x3c00}, {-2, 0xc000}, {65504, 0x7bff}, {65519, 0x7bff}, {65520, 0x7c00}, {1e10, 0x7c00}, {0x1p-24, 1}, {0x1p-25, 0}, {-0x1p-14, 0x8400}} {
		if got := scalar.ToFloat16(c.v); got != c.want {
			t.Errorf("%v becomes %#x, want %#x", c.v, got, c.want)
		}
	}
	if got := scalar.ToBFloat16(math.MaxFloat32); got != 0x7f80 {
		t.Errorf("the largest float32 becomes %#x, want infinity", got)
	}
}
