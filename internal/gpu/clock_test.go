package gpu

import "testing"

// TestClock stamps kernels often enough that the clock reads stamps in between.
func TestClock(t *testing.T) {
	d := simulated(t, CUDA)
	c := d.NewClock()
	defer c.Close()
	x, err := d.f32.Alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
	defer d.f32.Free(x)
	const n = readEvery + 100
	for range n {
		if !c.Stamp() {
			t.Fatal("no stamp")
		}
		d.f32.Fill(x, 1)
	}
	times := c.Times()
	if len(times) != n || times[0] != 0 {
		t.Fatalf("%d times from %v on, want %d from 0 on", len(times), times[0], n)
	}
	for i := 1; i < n; i++ {
		if times[i] < times[i-1] {
			t.Fatalf("stamp %d comes at %v, stamp %d before it at %v", i, times[i], i-1, times[i-1])
		}
	}
	if times[n-1] == 0 {
		t.Error("all kernels took no time")
	}
}
