package cpu_test

import (
	"fmt"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// each runs a benchmark for the element types and numbers of threads.
func each(b *testing.B, f32 func(*testing.B, device.Kernels[float32]), f64 func(*testing.B, device.Kernels[float64]), c64 func(*testing.B, device.Kernels[complex64])) {
	for _, threads := range []int{1, 2} {
		cfg := cpu.Config{Threads: threads, BLAS: "off"}
		b.Run(fmt.Sprintf("float32/threads=%d", threads), func(b *testing.B) { f32(b, kernelsOf[float32](b, open(b, cfg))) })
		b.Run(fmt.Sprintf("float64/threads=%d", threads), func(b *testing.B) { f64(b, kernelsOf[float64](b, open(b, cfg))) })
		b.Run(fmt.Sprintf("complex64/threads=%d", threads), func(b *testing.B) { c64(b, kernelsOf[complex64](b, open(b, cfg))) })
	}
}

// loop measures f, which moves blocks of n elements.
func loop[T scalar.Scalar](b *testing.B, blocks, n int, f func()) {
	b.SetBytes(int64(blocks * n * scalar.Of[T]().Size()))
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
}

const benchN = 1 << 22

func BenchmarkAxpby(b *testing.B) {
	each(b, axpby[float32], axpby[float64], axpby[complex64])
}

func axpby[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	x, y := random[T](b, k, benchN), random[T](b, k, benchN)
	loop[T](b, 3, benchN, func() { k.Axpby(T(0.5), x, T(0.25), y) }) // reads x and y, writes y
}

func BenchmarkDot(b *testing.B) {
	each(b, dot[float32], dot[float64], dot[complex64])
}

func dot[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	x, y := random[T](b, k, benchN), random[T](b, k, benchN)
	loop[T](b, 2, benchN, func() { k.Dot(x, y, true) })
}

func BenchmarkNorm(b *testing.B) {
	each(b, norm[float32], norm[float64], norm[complex64])
}

func norm[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	x := random[T](b, k, benchN)
	loop[T](b, 1, benchN, func() { k.Norm(x, 2, 1) })
}

// BenchmarkBandsLast and BenchmarkBandsFirst apply a stencil of three taps along
// the last and the first axis of 2048 x 2048 elements.
func BenchmarkBandsLast(b *testing.B) {
	each(b, bandsLast[float32], bandsLast[float64], bandsLast[complex64])
}

func bandsLast[T scalar.Scalar](b *testing.B, k device.Kernels[T]) { stencil(b, k, 2048, 1) }

func BenchmarkBandsFirst(b *testing.B) {
	each(b, bandsFirst[float32], bandsFirst[float64], bandsFirst[complex64])
}

func bandsFirst[T scalar.Scalar](b *testing.B, k device.Kernels[T]) { stencil(b, k, 1, 2048) }

func stencil[T scalar.Scalar](b *testing.B, k device.Kernels[T], outer, inner int) {
	const n = 2048
	x, y := random[T](b, k, n*n), random[T](b, k, n*n)
	m := &device.Banded[T]{
		Outer: outer, Inner: inner, DstRows: n, SrcRows: n,
		Taps: []device.Tap[T]{
			{At: 0, Step: 1, Coef: T(0.5)}, {At: 1, Step: 1, Coef: T(-1)}, {At: 2, Step: 1, Coef: T(0.5)},
			{At: 0, Step: 1, Coef: 1}, {At: 1, Step: 1, Coef: T(-1)}, {At: n - 2, Step: 1, Coef: 1}, {At: n - 1, Step: 1, Coef: T(-1)},
		},
	}
	m.Groups[0] = []device.Band{{Lo: 0, Hi: 1, First: 3, Last: 5}, {Lo: 1, Hi: n - 1, First: 0, Last: 3}, {Lo: n - 1, Hi: n, First: 5, Last: 7}}
	loop[T](b, 2, n*n, func() { k.Bands(y, x, device.Mem[T]{}, m, 0, false) }) // reads x once from memory, writes y
}

// BenchmarkBandsWavelet filters the first axis of 64 x 256 x 128 elements with 41 taps.
func BenchmarkBandsWavelet(b *testing.B) {
	each(b, bandsWavelet[float32], bandsWavelet[float64], bandsWavelet[complex64])
}

func bandsWavelet[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	const n, inner, half = 64, 256 * 128, 20
	x, y := random[T](b, k, n*inner), random[T](b, k, n*inner)
	m := &device.Banded[T]{Outer: 1, Inner: inner, DstRows: n, SrcRows: n}
	for lo := 0; lo < n; {
		first, hi := len(m.Taps), lo+1
		if lo == half {
			hi = n - half
		}
		for at := max(0, lo-half); at <= min(lo+half, n-1); at++ {
			m.Taps = append(m.Taps, device.Tap[T]{At: at, Step: 1, Coef: T(0.5)})
		}
		m.Groups[0] = append(m.Groups[0], device.Band{Lo: lo, Hi: hi, First: first, Last: len(m.Taps)})
		lo = hi
	}
	loop[T](b, 2, n*inner, func() { k.Bands(y, x, device.Mem[T]{}, m, 0, false) })
}

// BenchmarkBandsSum applies a Laplacian to 64 x 256 x 128 elements, whose edges are zero.
func BenchmarkBandsSum(b *testing.B) {
	each(b, bandsSum[float32], bandsSum[float64], bandsSum[complex64])
}

func bandsSum[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	dims := [3]int{64, 256, 128}
	n := dims[0] * dims[1] * dims[2]
	x, y := random[T](b, k, n), random[T](b, k, n)
	s := &device.BandedSum[T]{}
	outer := 1
	for _, d := range dims {
		m := &device.Banded[T]{
			Outer: outer, Inner: n / outer / d, DstRows: d, SrcRows: d,
			Taps: []device.Tap[T]{{At: 0, Step: 1, Coef: 1}, {At: 1, Step: 1, Coef: T(-2)}, {At: 2, Step: 1, Coef: 1}},
		}
		m.Groups[0] = []device.Band{{Lo: 0, Hi: 1}, {Lo: 1, Hi: d - 1, Last: 3}, {Lo: d - 1, Hi: d}}
		s.Parts = append(s.Parts, device.BandedPart[T]{Banded: m})
		outer *= d
	}
	loop[T](b, 2, n, func() { device.BandsSum(k, y, x, s, 0) })
}

// BenchmarkBandsDense applies a band of one row and 2000 taps, 500 times.
func BenchmarkBandsDense(b *testing.B) {
	each(b, bandsDense[float32], bandsDense[float64], bandsDense[complex64])
}

func bandsDense[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	const rows, cols = 500, 2000
	x, y := random[T](b, k, cols), random[T](b, k, rows)
	m := &device.Banded[T]{Outer: 1, Inner: 1, DstRows: rows, SrcRows: cols}
	for i := range rows {
		for j := range cols {
			m.Taps = append(m.Taps, device.Tap[T]{At: j, Step: 1, Coef: T(0.5)})
		}
		m.Groups[0] = append(m.Groups[0], device.Band{Lo: i, Hi: i + 1, First: i * cols, Last: (i + 1) * cols})
	}
	loop[T](b, 1, rows*cols, func() { k.Bands(y, x, device.Mem[T]{}, m, 0, false) }) // the factors
}

// BenchmarkTranspose copies 2048 x 2048 and 2000 x 2100 elements across.
func BenchmarkTranspose(b *testing.B) {
	b.Run("2048", func(b *testing.B) {
		each(b, across[float32](2048, 2048), across[float64](2048, 2048), across[complex64](2048, 2048))
	})
	b.Run("2000x2100", func(b *testing.B) {
		each(b, across[float32](2000, 2100), across[float64](2000, 2100), across[complex64](2000, 2100))
	})
}

func across[T scalar.Scalar](rows, cols int) func(*testing.B, device.Kernels[T]) {
	return func(b *testing.B, k device.Kernels[T]) {
		x, y := random[T](b, k, rows*cols), random[T](b, k, rows*cols)
		c := &device.Strided{Shape: shape.Of(rows, cols)}
		c.Dst, c.Src = [shape.MaxNDim]int{cols, 1}, [shape.MaxNDim]int{1, rows}
		loop[T](b, 2, rows*cols, func() { k.CopyND(y, x, c, false) })
	}
}

// BenchmarkGemv multiplies 2000 x 2000 elements with a vector.
func BenchmarkGemv(b *testing.B) {
	for name, op := range map[string]device.Trans{"NoTrans": device.NoTrans, "ConjTrans": device.ConjTrans} {
		b.Run(name, func(b *testing.B) { each(b, gemv[float32](op), gemv[float64](op), gemv[complex64](op)) })
	}
}

func gemv[T scalar.Scalar](op device.Trans) func(*testing.B, device.Kernels[T]) {
	return func(b *testing.B, k device.Kernels[T]) {
		const n = 2000
		a, x, y := random[T](b, k, n*n), random[T](b, k, n), random[T](b, k, n)
		loop[T](b, 1, n*n, func() { k.Gemv(op, n, n, 1, a, x, 0, y) })
	}
}

// BenchmarkGemm multiplies 512 x 512 elements. A product and a sum are 2 FLOP,
// 8 of complex numbers.
func BenchmarkGemm(b *testing.B) {
	each(b, gemm[float32], gemm[float64], gemm[complex64])
}

func gemm[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	const n = 512
	x, y, z := random[T](b, k, n*n), random[T](b, k, n*n), random[T](b, k, n*n)
	b.ReportAllocs()
	for b.Loop() {
		if err := k.Gemm(device.NoTrans, device.NoTrans, n, n, n, 1, x, y, 0, z); err != nil {
			b.Fatal(err)
		}
	}
	flop := 2.0 * n * n * n
	if scalar.Of[T]().IsComplex() {
		flop *= 4
	}
	b.ReportMetric(flop*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}

// BenchmarkGemmBatch multiplies 256 matrices of 256 x 256 elements with 64 columns each,
// as a Fredholm integral does with its frequencies.
func BenchmarkGemmBatch(b *testing.B) {
	each(b, gemmBatch[float32], gemmBatch[float64], gemmBatch[complex64])
}

func gemmBatch[T scalar.Scalar](b *testing.B, k device.Kernels[T]) {
	const n, columns, many = 256, 64, 256
	x, y, z := random[T](b, k, many*n*n), random[T](b, k, many*n*columns), random[T](b, k, many*n*columns)
	batch := device.Batch{N: many, A: n * n, B: n * columns, C: n * columns}
	b.ReportAllocs()
	for b.Loop() {
		if err := device.GemmBatch(k, device.NoTrans, device.NoTrans, batch, n, columns, n, 1, x, y, 0, z); err != nil {
			b.Fatal(err)
		}
	}
	flop := 2.0 * many * n * n * columns
	if scalar.Of[T]().IsComplex() {
		flop *= 4
	}
	b.ReportMetric(flop*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
}
