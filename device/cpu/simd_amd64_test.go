package cpu

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
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
	b.elements()
	b.sums()
	b.stencils()
	b.longRows()
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

func (b *both[T]) elements() {
	tol := b.tol
	b.tol = 0 // an element is rounded as in plain Go
	defer func() { b.tol = tol }()
	for _, n := range []int{1, 7, 8, 15, 16, 33, 64, 1001} {
		x, z := b.random(n), b.random(n)
		for _, f := range [][2]T{{2, 0}, {T(0.3), 1}, {1, T(0.3)}, {T(0.3), T(0.7)}} {
			b.same(fmt.Sprintf("axpby of %d, %v", n, f), b.random(n), func(y device.Mem[T]) { b.k.Axpby(f[0], x, f[1], y) })
		}
		b.same(fmt.Sprintf("mul of %d", n), b.random(n), func(y device.Mem[T]) { b.k.Mul(y, x, z, true) })
		b.same(fmt.Sprintf("mulaxis of %d", n), b.random(3*n), func(y device.Mem[T]) { b.k.MulAxis(y, x, y, 3, 1, true) })
	}
}

func (b *both[T]) sums() {
	for _, n := range []int{1, 7, 16, 31, 32, 33, 64, 129, 1001, 40_003} {
		x, y := b.random(n), b.random(n)
		b.same(fmt.Sprintf("sums of %d", n), b.random(5), func(s device.Mem[T]) {
			dot, _ := b.k.Dot(x, y, false)
			dotc, _ := b.k.Dot(x, y, true)
			sum, _ := b.k.Sum(x)
			norm, _ := b.k.Norm(x, 2, 1)
			half, _ := b.k.Norm(x, 2, 0.5)
			for i, v := range []complex128{dot, dotc, sum, complex(norm, 0), complex(half, 0)} {
				s.Host[i] = scalar.From[T](v)
			}
		})
		b.same(fmt.Sprintf("sumaxis of 9 x %d", n), b.random(n), func(s device.Mem[T]) {
			b.k.SumAxis(s, memOf(slices.Repeat(x.Host, 9)), 1, 9, n)
		})
	}
}

// stencils compares rows of few taps, which are rounded as in plain Go, and of
// many, which are added in another order.
func (b *both[T]) stencils() {
	tol := b.tol
	defer func() { b.tol = tol }()
	for _, taps := range []int{1, 2, 3, 4, 5, 6, 41, 100} {
		for _, n := range []int{2, 7, 33, 64, 1001} {
			for _, inner := range []int{1, 3} {
				m := &device.Banded[T]{Outer: 3, Inner: inner, DstRows: n, SrcRows: n + taps}
				for i := range taps {
					m.Taps = append(m.Taps, device.Tap[T]{At: i, Step: 1, Coef: scalar.From[T](complex(1/float64(i+3), 0))})
				}
				m.Groups[0] = []device.Band{{Lo: 0, Hi: n, Last: taps}}
				if b.tol = tol; taps <= maxTaps {
					b.tol = 0
				}
				x := b.random(3 * inner * (n + taps))
				for _, add := range []bool{false, true} {
					b.same(fmt.Sprintf("%d taps on %d rows of %d, add=%v", taps, n, inner, add), b.random(3*inner*n), func(y device.Mem[T]) {
						b.k.Bands(y, x, device.Mem[T]{}, m, 0, add)
					})
				}
			}
		}
	}
}

// longRows compares bands of many taps, sums of bands and every width of the vector
// units, which must give the same bits.
func (b *both[T]) longRows() {
	const rows, inner = 700, 203
	m := &device.Banded[T]{Outer: 1, Inner: inner, DstRows: rows, SrcRows: rows}
	for i := range 14 {
		m.Taps = append(m.Taps, device.Tap[T]{At: i, Step: 1, Coef: scalar.From[T](complex(1/float64(i+3), 0))})
	}
	m.Groups[0] = []device.Band{{Lo: 0, Hi: 7}, {Lo: 7, Hi: rows - 6, Last: 14}, {Lo: rows - 6, Hi: rows}}
	across := &device.Banded[T]{Outer: rows, Inner: 1, DstRows: inner, SrcRows: inner, Taps: m.Taps}
	across.Groups[0] = []device.Band{{Lo: 0, Hi: 7}, {Lo: 7, Hi: inner - 6, First: 3, Last: 8}, {Lo: inner - 6, Hi: inner}}
	sum := &device.BandedSum[T]{Parts: []device.BandedPart[T]{{Banded: across}, {Banded: m}}}
	x := b.random(rows * inner)
	for name, f := range map[string]func(y device.Mem[T]){
		"long rows":  func(y device.Mem[T]) { b.k.Bands(y, x, device.Mem[T]{}, m, 0, true) },
		"short rows": func(y device.Mem[T]) { b.k.Bands(y, x, device.Mem[T]{}, across, 0, true) },
		"a sum": func(y device.Mem[T]) {
			device.BandsSum(b.k, y, x, sum, 0)
			device.BandsSum(b.k, y, x, sum, 1)
		},
	} {
		y := b.random(rows * inner)
		b.same(name, y, f)
		wide, narrow := memOf(slices.Clone(y.Host)), memOf(slices.Clone(y.Host))
		was := wideTaps
		f(wide)
		wideTaps = false
		f(narrow)
		wideTaps = was
		for i, v := range wide.Host {
			if v != narrow.Host[i] {
				b.t.Fatalf("%s: element %d is %v in wide registers and %v in narrow ones", name, i, v, narrow.Host[i])
			}
		}
	}
}
