package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
)

// AxpyNorm is Axpby and Norm in one.
func TestAxpyNorm(t *testing.T) {
	testAxpyNorm[float32](t, 1e-6)
	testAxpyNorm[float64](t, 1e-14)
	testAxpyNorm[complex64](t, 1e-6)
	testAxpyNorm[complex128](t, 1e-14)
}

func testAxpyNorm[T scalar.Scalar](t *testing.T, tol float64) {
	for _, threads := range []int{1, 2} {
		d, err := cpu.New(cpu.Config{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		k, err := device.KernelsFor[T](d)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 7, 1025, 100_003} {
			var m [3]device.Mem[T]
			for i := range m {
				if m[i], err = k.Alloc(n); err != nil {
					t.Fatal(err)
				}
				for j := range m[i].Host {
					m[i].Host[j] = scalar.From[T](complex(rand.NormFloat64(), rand.NormFloat64()))
				}
			}
			k.Copy(m[2], m[1])
			a := scalar.From[T](0.5 - 0.25i)
			got, err := k.AxpyNorm(a, m[0], m[1])
			if err != nil {
				t.Fatal(err)
			}
			k.Axpby(a, m[0], 1, m[2])
			want, _ := k.Norm(m[2], 2, 1)
			if math.Abs(got-want) > tol*want {
				t.Errorf("%v, %d threads, %d elements: norm is %g, want %g", scalar.Of[T](), threads, n, got, want)
			}
			for j := range m[1].Host {
				if m[1].Host[j] != m[2].Host[j] {
					t.Fatalf("%v, %d threads, %d elements: element %d is %v, want %v", scalar.Of[T](), threads, n, j, m[1].Host[j], m[2].Host[j])
				}
			}
			if al := testing.AllocsPerRun(10, func() { k.AxpyNorm(a, m[0], m[1]) }); al > 0 {
				t.Errorf("%v: %v allocations", scalar.Of[T](), al)
			}
		}
	}
}
