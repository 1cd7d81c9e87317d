package gpu

import (
	"context"
	"errors"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/gpusim"
)

// TestPoolDoesNotGrow allocates and frees a million times in changing sizes. The
// driver's free memory must not shrink.
func TestPoolDoesNotGrow(t *testing.T) {
	d := simulated(t, CUDA)
	var live [8]uintptr
	free := 0
	for i := range 1_000_000 {
		at := i % len(live)
		d.FreeBytes(live[at])
		var err error
		if live[at], err = d.AllocBytes(1 + i*7919%20_000); err != nil {
			t.Fatal(err)
		}
		if live[at]%alignment != 0 {
			t.Fatalf("address %#x is not aligned to %d bytes", live[at], alignment)
		}
		if i%100_000 == 99_999 {
			driver, _ := driverMemory(d)
			if free != 0 && driver != free {
				t.Fatalf("after %d steps %d bytes are free, before %d", i+1, driver, free)
			}
			free = driver
		}
	}
}

// TestArraysDoNotLeak does the same with arrays and kernels, fewer times.
func TestArraysDoNotLeak(t *testing.T) {
	d := simulated(t, CUDA)
	free := 0
	for i := range 3000 {
		m, err := d.f32.Alloc(1 + i%50)
		if err != nil {
			t.Fatal(err)
		}
		d.f32.Fill(m, 1)
		d.f32.Free(m)
		if i%500 == 499 {
			driver, _ := driverMemory(d)
			if free != 0 && driver != free {
				t.Fatalf("after %d steps %d bytes are free, before %d", i+1, driver, free)
			}
			free = driver
		}
	}
	if err := d.Trim(); err != nil {
		t.Fatal(err)
	}
	if now, _ := driverMemory(d); now <= free {
		t.Errorf("trimming left %d bytes free, before %d", now, free)
	}
}

// TestCloseFreesAll leaves memory to Close.
func TestCloseFreesAll(t *testing.T) {
	watch := simulated(t, CUDA)
	before, _ := watch.memory()
	d := simulated(t, CUDA)
	if _, err := d.f32.Alloc(1 << 20); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Pin(1 << 20); err != nil {
		t.Fatal(err)
	}
	if _, err := d.NewQueue(); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if after, _ := watch.memory(); after != before {
		t.Errorf("%d bytes are free, before %d", after, before)
	}
}

func TestBlockSize(t *testing.T) {
	for n := 1; n < 200<<20; n += 1 + n/7 {
		size := blockSize(n)
		if size < n || size%alignment != 0 || (n > 4*alignment && size > n+n/4+1) {
			t.Errorf("%d bytes get %d", n, size)
		}
		if blockSize(size) != size {
			t.Errorf("a block of %d bytes would become one of %d", size, blockSize(size))
		}
	}
}

// TestQueue copies data on a queue beside kernels, ordered by Follow and Lead.
func TestQueue(t *testing.T) {
	d := simulated(t, CUDA)
	var a device.Accelerator = d
	q, err := a.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	host, err := a.Pin(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Unpin(host)
	x, err := d.f32.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	y, err := a.AllocBytes(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range 20 {
		d.f32.Fill(x, float32(round))
		must(q.Follow())
		must(q.CopyOut(host, x.Addr))
		first, err := q.Mark()
		must(err)
		must(q.Copy(y, x.Addr, 4*n))
		must(q.Lead())
		d.f32.Fill(x, -1) // after the copies
		second, err := q.Mark()
		must(err)
		if second <= first {
			t.Errorf("mark %d after %d", second, first)
		}
		must(wait(q, second))
		if done, err := q.Reached(first); !done || err != nil {
			t.Errorf("the mark before one that is reached: %v, %v", done, err)
		}
		if host[2] != floatByte2(float32(round)) || host[4*n-2] != floatByte2(float32(round)) {
			t.Fatalf("round %d: a copy came before or after its turn", round)
		}
		must(q.Follow())
		must(q.CopyIn(x.Addr, host))
		must(q.Lead())
		s, err := d.f32.Sum(x)
		must(err)
		if real(s) != float64(round)*n {
			t.Fatalf("round %d: kernels did not follow the queue: %v", round, s)
		}
	}
	must(q.Close())
	must(q.Close())
}

func wait(q device.Queue, mark uint64) error {
	for {
		if done, err := q.Reached(mark); done || err != nil {
			return err
		}
	}
}

// floatByte2 is the third byte of a small number. It differs between small numbers.
func floatByte2(v float32) byte {
	b := []float32{v}
	return bytesOf(b, 4)[2]
}

// TestQueueKeepsMemory frees memory that a queue still reads. Kernels must not get it
// before the queue is done.
func TestQueueKeepsMemory(t *testing.T) {
	d := simulated(t, CUDA)
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	const n = 4 << 20
	host, err := d.Pin(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 10 {
		x, err := d.f32.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		d.f32.Fill(x, 5)
		if err := q.Follow(); err != nil {
			t.Fatal(err)
		}
		if err := q.CopyOut(host, x.Addr); err != nil {
			t.Fatal(err)
		}
		d.f32.Free(x)
		y, err := d.f32.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		d.f32.Fill(y, 6)
		mark, err := q.Mark()
		if err != nil {
			t.Fatal(err)
		}
		if err := wait(q, mark); err != nil {
			t.Fatal(err)
		}
		for i := 2; i < len(host); i += 4 {
			if host[i] != floatByte2(5) {
				t.Fatalf("round %d: element %d was overwritten while it was on its way", round, i/4)
			}
		}
		d.f32.Free(y)
	}
}

// TestInterrupted ends waits early.
func TestInterrupted(t *testing.T) {
	d := simulated(t, CUDA)
	m, err := d.f32.Alloc(1 << 18)
	if err != nil {
		t.Fatal(err)
	}
	work := func() {
		for range 5 {
			d.f32.Axpby(1, m, 1, m)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("no longer wanted")
	cancel(gone)
	release := gpusim.Hold()
	work()
	if err := d.Sync(ctx); !errors.Is(err, gone) {
		t.Errorf("a wait that was cancelled: %v", err)
	}
	release()
	if err := d.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	calls, dead := 0, errors.New("a peer is dead")
	stop := d.OnWait(func() error {
		if calls++; calls > 2 {
			return dead
		}
		return nil
	})
	release = gpusim.Hold()
	work()
	if _, err := d.f32.Sum(m); !errors.Is(err, dead) {
		t.Errorf("a wait that was interrupted: %v", err)
	}
	release()
	stop()
	if err := d.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := d.f32.Sum(m); s != 0 || err != nil {
		t.Errorf("a sum after one that was interrupted: %v, %v", s, err)
	}
}

// TestGoroutines uses a device from many goroutines, one at a time, on any thread.
func TestGoroutines(t *testing.T) {
	d := simulated(t, CUDA)
	for i := range 50 {
		done := make(chan error)
		go func() {
			m, err := d.c64.Alloc(10)
			if err == nil {
				d.c64.Fill(m, complex(float32(i), 1))
				var s complex128
				if s, err = d.c64.Sum(m); err == nil && s != complex(float64(10*i), 10) {
					err = errors.New("a wrong sum")
				}
				d.c64.Free(m)
			}
			done <- err
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// TestAllocs wants kernels to allocate nothing.
func TestAllocs(t *testing.T) {
	d := simulated(t, CUDA)
	m, err := d.c64.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	var k device.Kernels[complex64] = d.c64
	buf := make([]complex64, 100)
	for name, f := range map[string]func(){
		"axpby": func() { k.Axpby(2, m, 0.5, m) }, "fill": func() { k.Fill(m, 1) }, "copy": func() { k.Copy(m, m) },
		"threshold": func() { k.Threshold(m, m, device.SoftThreshold, 1) }, "mulaxis": func() { k.MulAxis(m, m, m, 1, 1, true) },
		"dot":      func() { _, err = k.Dot(m, m, true) },
		"norm":     func() { _, err = k.Norm(m, 2, 1) },
		"copy in":  func() { err = k.CopyIn(m, buf) },
		"copy out": func() { err = k.CopyOut(buf, m) },
	} {
		f()
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s allocates %g times", name, n)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestLargeCopies copies several chunks through the staging memory.
func TestLargeCopies(t *testing.T) {
	d := simulated(t, CUDA)
	for _, n := range []int{stagingChunk/4 - 1, stagingChunk / 4, stagingChunk/4 + 1, stagingChunk, 5*stagingChunk/4 + 3} {
		x, got := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(i % 10_007)
		}
		m, err := d.f32.Alloc(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.f32.CopyIn(m, x); err != nil {
			t.Fatal(err)
		}
		if err := d.f32.CopyOut(got, m); err != nil {
			t.Fatal(err)
		}
		for i := range x {
			if got[i] != x[i] {
				t.Fatalf("of %d elements, number %d is %v, want %v", n, i, got[i], x[i])
			}
		}
		d.f32.Free(m)
	}
}

// driverMemory returns the driver's free memory, without what the pool caches.
func driverMemory(d *Device) (free, total int) {
	d.enter()
	defer d.leave()
	return d.memory()
}
