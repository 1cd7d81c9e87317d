package cpu

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// TestVectors compares kernels on the vector units with plain Go, at lengths
// around those of registers and cache lines and at odd places.
func TestVectors(t *testing.T) {
	if !vectors {
		t.Log("this processor has no AVX2 and FMA: nothing to compare")
		return
	}
	t.Run("float32", func(t *testing.T) { testVectors[float32](t, 1e-4) })
	t.Run("float64", func(t *testing.T) { testVectors[float64](t, 1e-12) })
	t.Run("complex64", func(t *testing.T) { testVectors[complex64](t, 1e-4) })
	t.Run("complex128", func(t *testing.T) { testVectors[complex128](t, 1e-12) })
}

// both is a kernel whose results with and without vector units are compared.
type both[T scalar.Scalar] struct {
	t   *testing.T
	k   device.Kernels[T]
	rng *rand.Rand
	tol float64
}

// random returns n numbers, at an odd place.
func (b *both[T]) random(n int) device.Mem[T] {
	x := make([]T, n+1)[1:]
	for i := range x {
		x[i] = scalar.From[T](complex(b.rng.Float64()-0.5, b.rng.Float64()-0.5))
	}
	return memOf(x)
}

// same runs f on a copy of y with the vector units and on y without.
func (b *both[T]) same(name string, y device.Mem[T], f func(y device.Mem[T])) {
	b.t.Helper()
	z := memOf(append(make([]T, 1, len(y.Host)+1), y.Host...)[1:])
	f(z)
	vectors = false
	f(y)
	vectors = true
	size := 0.0
	for _, v := range y.Host {
		size = max(size, cmplx.Abs(scalar.Complex(v)))
	}
	for i, v := range y.Host {
		if off := cmplx.Abs(scalar.Complex(v - z.Host[i])); !(off <= b.tol*size) || math.IsNaN(size) {
			b.t.Fatalf("%s: element %d is %v with vector units, %v without", name, i, z.Host[i], v)
		}
	}
}

func testVectors[T scalar.Scalar](t *testing.T, tol float64) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d, err := New(Config{Threads: 2, BLAS: "off"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k, err := device.KernelsFor[T](d)
	if err != nil {
		t.Fatal(err)
	}
	b := &both[T]{t, k, rand.New(rand.NewPCG(seed, 1)), tol}
	b.gemv()
	b.gemm()
}

func (b *both[T]) gemv() {
	for _, s := range [][2]int{{1, 300}, {3, 70}, {4, 16}, {5, 9}, {7, 35}, {8, 8}, {13, 64}, {30, 41}, {200, 130}, {1000, 70}, {9, 20000}, {64, 2100}} {
		for _, op := range []device.Trans{device.NoTrans, device.Transpose, device.ConjTrans, device.ConjNoTrans} {
			rows, cols := s[0], s[1]
			if op == device.Transpose || op == device.ConjTrans {
				rows, cols = cols, rows
			}
			a, x := b.random(s[0]*s[1]), b.random(cols)
			b.same(fmt.Sprintf("gemv of %v, form %d", s, op), b.random(rows), func(y device.Mem[T]) {
				if err := b.k.Gemv(op, s[0], s[1], scalar.From[T](2-1i), a, x, scalar.From[T](0.5+0.25i), y); err != nil {
					b.t.Fatal(err)
				}
			})
		}
	}
}

func (b *both[T]) gemm() {
	forms := []device.Trans{device.NoTrans, device.Transpose, device.ConjTrans, device.ConjNoTrans}
	for _, s := range [][3]int{{2, 2, 1}, {6, 8, 4}, {6, 16, 3}, {7, 17, 5}, {12, 33, 20}, {100, 130, 300}, {600, 20, 30}, {20, 1100, 10}} {
		m, n, depth := s[0], s[1], s[2]
		for _, opA := range forms {
			for _, opB := range forms {
				x, y := b.random(m*depth), b.random(depth*n)
				b.same(fmt.Sprintf("gemm of %v, forms %d and %d", s, opA, opB), b.random(m*n), func(c device.Mem[T]) {
					if err := b.k.Gemm(opA, opB, m, n, depth, scalar.From[T](2-1i), x, y, scalar.From[T](0.5+0.25i), c); err != nil {
						b.t.Fatal(err)
					}
				})
			}
		}
	}
}
