package array_test

import (
	"runtime"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/shape"
)

// Memory that the collector does not see goes back to the device when no array
// over it is left, and no sooner.
func TestAbandonedMemory(t *testing.T) {
	h, err := cpu.New(cpu.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	d, err := fakegpu.New(h)
	if err != nil {
		t.Fatal(err)
	}
	part := func() array.Array[float32] { // an array over memory that others were over too
		a, err := array.New[complex64](d, shape.Of(4, 5))
		if err != nil {
			t.Fatal(err)
		}
		array.Fill(a, 3)
		return array.Parts[float32](a.Reshape(shape.Of(20))).Slice(2, 3)
	}
	kept := part()
	for range 10 {
		part()
	}
	for tries := 0; tries < 10_000 && d.Live > 1; tries++ {
		runtime.GC()
		runtime.Gosched()
		a, err := array.New[float64](d, shape.Of(3)) // which is when memory goes back
		if err != nil {
			t.Fatal(err)
		}
		a.Free()
	}
	got := make([]float32, 1)
	if err := kept.CopyOut(got); err != nil || got[0] != 3 || d.Live != 1 {
		t.Errorf("the array that is left holds %v, %v, and the device %d blocks of memory; want 3 and 1 block", got, err, d.Live)
	}
}
