package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/device/devicetest"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/scalar"
)

func open(t testing.TB, cfg cpu.Config) *cpu.Device {
	t.Helper()
	d, err := cpu.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func kernelsOf[T scalar.Scalar](t testing.TB, d device.Device) device.Kernels[T] {
	t.Helper()
	k, err := device.KernelsFor[T](d)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// random returns device memory with n random numbers, which depend on n alone.
func random[T scalar.Scalar](t testing.TB, k device.Kernels[T], n int) device.Mem[T] {
	t.Helper()
	m, err := k.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(n), 7))
	for i := range m.Host {
		switch p := any(&m.Host[i]).(type) {
		case *float32:
			*p = rng.Float32() - 0.5
		case *float64:
			*p = rng.Float64() - 0.5
		case *complex64:
			*p = complex(rng.Float32()-0.5, rng.Float32()-0.5)
		case *complex128:
			*p = complex(rng.Float64()-0.5, rng.Float64()-0.5)
		}
	}
	return m
}

func TestDevice(t *testing.T) {
	for _, threads := range suiteThreads {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			var types []scalar.DType // nil is all
			if threads == 1 {
				types = soak.Or([]scalar.DType{scalar.Float32}, nil) // the others run the same kernels on three threads
			}
			devicetest.Run(t, func(t *testing.T) device.Device { return open(t, cpu.Config{Threads: threads}) }, types...)
		})
	}
}

func TestConfig(t *testing.T) {
	if _, err := cpu.New(cpu.Config{Threads: -1}); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("a negative number of threads: %v", err)
	}
	for threads, want := range map[int]string{1: "cpu (1 thread)", 2: "cpu (2 threads)"} {
		if got := open(t, cpu.Config{Threads: threads}).String(); got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
	d := open(t, cpu.Config{})
	if a, b := d.Kernels(scalar.Float32), d.Kernels(scalar.Float32); a != b {
		t.Error("two calls return different kernels")
	}
}

func TestAllocTooMuch(t *testing.T) {
	k := kernelsOf[float64](t, open(t, cpu.Config{Threads: 1}))
	for _, n := range []int{-1, 1 << 62} {
		if _, err := k.Alloc(n); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("alloc %d float64", n)) {
			t.Errorf("alloc %d: %v", n, err)
		}
	}
}

// TestRepeat wants the same bits from any number of threads.
func TestRepeat(t *testing.T) {
	t.Run("float32", testRepeat[float32])
	t.Run("float64", testRepeat[float64])
	t.Run("complex64", testRepeat[complex64])
	t.Run("complex128", testRepeat[complex128])
}

func testRepeat[T scalar.Scalar](t *testing.T) {
	for _, n := range []int{1000, 40_000, 123_457, 1 << 20} {
		var first [7]complex128
		for threads := 1; threads <= 3; threads++ {
			k := kernelsOf[T](t, open(t, cpu.Config{Threads: threads, BLAS: "off"}))
			x, y, z, w := random[T](t, k, n), random[T](t, k, n), random[T](t, k, 1000), random[T](t, k, n)
			var got [7]complex128
			var r [2]float64
			var err [7]error
			got[0], err[0] = k.Dot(x, y, true)
			got[1], err[1] = k.Sum(x)
			r[0], err[2] = k.Norm(x, 2, 1)
			r[1], err[3] = k.Norm(x, 1, 0.5)
			got[2], got[3] = complex(r[0], 0), complex(r[1], 0)
			err[4] = k.Gemv(device.NoTrans, 1000, n/1000, 1, x, y, 1, z)
			got[4], _ = k.Sum(z)
			err[5] = k.Gemv(device.Transpose, 1000, n/1000, 1, x, z, 1, y)
			got[5], _ = k.Sum(k.Slice(y, 0, n/1000))
			many := device.Batch{N: n / 120, A: 20, B: 30, C: 24} // more than one thread takes
			err[6] = device.GemmBatch(k, device.ConjTrans, device.NoTrans, many, 4, 6, 5, 1, x, y, 1, w)
			got[6], _ = k.Sum(w)
			for i, e := range err {
				if e != nil {
					t.Fatalf("sum %d: %v", i, e)
				}
			}
			if threads == 1 {
				first = got
			} else if got != first {
				t.Errorf("%d elements: %v with 1 thread, %v with %d", n, first, got, threads)
			}
		}
	}
}

// TestPanic wants a bad index on any thread to come out on the caller, and the
// device to work on.
func TestPanic(t *testing.T) {
	for _, threads := range []int{1, 3} {
		d := open(t, cpu.Config{Threads: threads})
		k := kernelsOf[float32](t, d)
		src, dst := random[float32](t, k, 100), random[float32](t, k, 200_000)
		s := &device.Sparse[float32]{First: make([]int, 200_001), At: make([]int, 200_000)}
		for i := range s.First {
			s.First[i] = i
		}
		for _, bad := range []int{3, 199_999} {
			s.At[bad] = 100
			err := caught(func() { k.Gather(dst, src, s) })
			if err == nil || !strings.Contains(err.Error(), "index out of range [100] with length 100") {
				t.Errorf("%d threads, bad index at %d: %v", threads, bad, err)
			}
			s.At[bad] = 0
		}
		k.Gather(dst, src, s)
		if dst.Host[3] != src.Host[0] || dst.Host[199_999] != src.Host[0] {
			t.Errorf("%d threads: wrong result after a panic", threads)
		}
	}
}

// caught returns the error that f panics with.
func caught(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
