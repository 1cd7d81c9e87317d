package comm

import (
	"runtime"
	"testing"
)

// wanted is the type that the fuzz target decodes into.
type wanted struct {
	Name   string
	Counts []int
	Parts  map[string][]float64
	Next   *wanted
}

// FuzzObject decodes bytes that another rank may send as an object. Decoding must
// return, with or without an error, and allocate little more than it received.
func FuzzObject(f *testing.F) {
	for _, v := range []any{wanted{Name: "a", Counts: []int{1, 2}, Next: &wanted{}}, "text", 7, []float64{1}, map[string][]float64{"x": {1}}} {
		data, n, err := encode(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, n)
	}
	f.Add([]byte("comm: encode func()"), int64(-19))
	f.Fuzz(func(t *testing.T, data []byte, n int64) {
		var before, after runtime.MemStats
		if len(data) > 1<<16 {
			return
		}
		runtime.ReadMemStats(&before)
		var a wanted
		_ = decode(data, n, 1, &a)
		var b string
		_ = decode(data, n, 1, &b)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%d bytes took %d to decode", len(data), took)
		}
	})
}

// TestLengths refuses lengths of objects that no rank can send.
func TestLengths(t *testing.T) {
	for _, lens := range [][]int64{{-1 << 63}, {1 << 62, 1 << 62}, {1<<63 - 1, 1}} {
		if _, _, err := decodeBuffer(lens); err == nil {
			t.Errorf("lengths %v: no error", lens)
		}
	}
	if counts, all, err := decodeBuffer([]int64{3, -2, 0}); err != nil || len(all) != 5 || counts[1] != 2 {
		t.Errorf("got %v, %d bytes, %v, want 5 bytes", counts, len(all), err)
	}
}
