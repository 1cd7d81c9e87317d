package cpu_test

import (
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
)

func TestBLASConfig(t *testing.T) {
	if got := open(t, cpu.Config{Threads: 1, BLAS: "off"}).BLAS(); got != "" {
		t.Errorf("BLAS is off and yet %q", got)
	}
	_, err := cpu.New(cpu.Config{BLAS: "/no/such/libblas.so"})
	if err == nil || !strings.Contains(err.Error(), "/no/such/libblas.so") {
		t.Errorf("a library that is not there: %v", err)
	}
	_, err = cpu.New(cpu.Config{BLAS: "libc.so.6"})
	if err == nil || !strings.Contains(err.Error(), "gemm_") {
		t.Errorf("a library without matrix products: %v", err)
	}
}

// TestBLAS compares large products by the native library, where one is found,
// with those by plain Go.
func TestBLAS(t *testing.T) {
	cpu.WithoutVectors(t)
	name := open(t, cpu.Config{Threads: 1}).BLAS()
	t.Logf("BLAS: %q", name)
	if name == "" {
		return
	}
	t.Run("float32", testBLAS[float32])
	t.Run("float64", testBLAS[float64])
	t.Run("complex64", testBLAS[complex64])
	t.Run("complex128", testBLAS[complex128])
}

func testBLAS[T scalar.Scalar](t *testing.T) {
	pure := kernelsOf[T](t, open(t, cpu.Config{Threads: 1, BLAS: "off"}))
	one := kernelsOf[T](t, open(t, cpu.Config{Threads: 1}))
	three := kernelsOf[T](t, open(t, cpu.Config{Threads: 3}))
	tol := 1e-11
	if dt := scalar.Of[T](); dt == scalar.Float32 || dt == scalar.Complex64 {
		tol = 1e-3
	}
	ops := []device.Trans{device.NoTrans, device.Transpose, device.ConjTrans, device.ConjNoTrans}
	for _, d := range [][3]int{{40, 50, 60}, {300, 70, 200}, {50, 400, 130}, {33, 1000, 33}} {
		m, n, k := d[0], d[1], d[2]
		for _, opA := range ops {
			for _, opB := range ops {
				a, b := random[T](t, pure, m*k), random[T](t, pure, k*n)
				var c [3]device.Mem[T]
				for i, ker := range []device.Kernels[T]{pure, one, three} {
					c[i] = random[T](t, pure, m*n)
					if err := ker.Gemm(opA, opB, m, n, k, T(2), a, b, T(0.5), c[i]); err != nil {
						t.Fatal(err)
					}
				}
				size, _ := pure.Norm(c[0], 2, 1)
				for i, threads := range []int{1, 3} {
					pure.Axpby(1, c[0], T(-1), c[i+1])
					if off, _ := pure.Norm(c[i+1], 2, 1); !(off <= tol*tol*size) {
						t.Fatalf("%v, ops %d, %d, %d threads: products differ by %g of %g", d, opA, opB, threads, off, size)
					}
				}
			}
		}
	}
	testBLASGemv(t, pure, one, three, tol)
	// With more threads the runtime allocates now and then, for a thread in C.
	x, y, z := random[T](t, one, 300*300), random[T](t, one, 300*300), random[T](t, one, 300*300)
	f := func() { one.Gemm(device.Transpose, device.NoTrans, 300, 300, 300, T(2), x, y, T(0.5), z) }
	if n := testing.AllocsPerRun(5, f); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// testBLASGemv compares matrix-vector products of all forms.
func testBLASGemv[T scalar.Scalar](t *testing.T, pure, one, three device.Kernels[T], tol float64) {
	for _, d := range [][2]int{{300, 200}, {70, 1000}, {2000, 40}} {
		m, n := d[0], d[1]
		for _, op := range []device.Trans{device.NoTrans, device.Transpose, device.ConjTrans, device.ConjNoTrans} {
			rows, cols := m, n
			if op == device.Transpose || op == device.ConjTrans {
				rows, cols = n, m
			}
			a, x := random[T](t, pure, m*n), random[T](t, pure, cols)
			var y [3]device.Mem[T]
			for i, ker := range []device.Kernels[T]{pure, one, three} {
				y[i] = random[T](t, pure, rows)
				if err := ker.Gemv(op, m, n, scalar.From[T](2-1i), a, x, scalar.From[T](0.5+0.25i), y[i]); err != nil {
					t.Fatal(err)
				}
			}
			size, _ := pure.Norm(y[0], 2, 1)
			for i, threads := range []int{1, 3} {
				pure.Axpby(1, y[0], T(-1), y[i+1])
				if off, _ := pure.Norm(y[i+1], 2, 1); !(off <= tol*tol*size) {
					t.Fatalf("%v, op %d, %d threads: products differ by %g of %g", d, op, threads, off, size)
				}
			}
		}
	}
}
