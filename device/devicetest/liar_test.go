package devicetest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/scalar"
)

// recorder is a test that notes failures.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Failed() bool          { return r.failed }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }

// passes runs one case for complex64, which has every kind of trap.
func passes(t *testing.T, name string, k device.Kernels[complex64]) bool {
	return passesOn(t, name, nil, k)
}

// passesOn runs one case on a device.
func passesOn[T scalar.Scalar](t *testing.T, name string, d device.Device, k device.Kernels[T]) bool {
	all := cases[T]()
	i := slices.IndexFunc(all, func(c testCase[T]) bool { return c.name == name })
	if i < 0 {
		t.Fatalf("no case %q", name)
	}
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		all[i].run(newSuite(r, d, k, rand.Uint64()))
	}()
	<-done
	return !r.failed
}

type (
	mem     = device.Mem[complex64]
	honest  = device.Kernels[complex64]
	banded  = device.Banded[complex64]
	sparse  = device.Sparse[complex64]
	strided = device.Strided
)

// Each type below has one fault.
type (
	badSlice     struct{ honest }
	badAxpby     struct{ honest }
	badCombine   struct{ honest }
	badMul       struct{ honest }
	badMulAxis   struct{ honest }
	badConj      struct{ honest }
	badThreshold struct{ honest }
	badShrink    struct{ honest }
	badDot       struct{ honest }
	badSum       struct{ honest }
	badScale     struct{ honest }
	badNaN       struct{ honest }
	badNormAxis  struct{ honest }
	badSumAxis   struct{ honest }
	badScan      struct{ honest }
	badAdd       struct{ honest }
	badEdge      struct {
		honest
		last *mem
	}
	badGhost  struct{ honest }
	badGroup  struct{ honest }
	badWeight struct{ honest }
	badGemv   struct{ honest }
	badGemm   struct{ honest }
	badShort  struct{ honest }
	badFFT    struct{ honest }
	badAxes   struct{ honest }
)

func (k badSlice) Slice(m mem, lo, hi int) mem {
	if hi < m.N && lo > 0 {
		lo, hi = lo-1, hi-1
	}
	return k.honest.Slice(m, lo, hi)
}

// y is read although b is 0.
func (k badAxpby) Axpby(a complex64, x mem, b complex64, y mem) {
	for i := range y.Host {
		y.Host[i] = a*x.Host[i] + b*y.Host[i]
	}
}

// dst is written before y, which it may be, is read.
func (k badCombine) Combine(dst mem, a complex64, x mem, b complex64, y mem) {
	k.honest.Axpby(a, x, 0, dst)
	k.honest.Axpby(b, y, 1, dst)
}

func (k badMul) Mul(dst, x, y mem, _ bool) { k.honest.Mul(dst, x, y, false) }

func (k badMulAxis) MulAxis(dst, d, x mem, outer, inner int, conj bool) {
	k.honest.MulAxis(dst, d, x, inner, outer, conj)
}

func (k badConj) Conj(dst, x mem) { k.honest.Copy(dst, x) }

// An element on the border stays.
func (k badThreshold) Threshold(dst, x mem, kind device.ThresholdKind, t float64) {
	k.honest.Threshold(dst, x, kind, t*(1-1e-4))
}

// A vector on the border counts, and parts shrink one by one.
func (k badShrink) Shrink(dst, x device.Tuple[complex64], by device.Shrinkage) {
	for i := range x.Count {
		k.honest.Shrink(device.One(dst.Part[i]), device.One(x.Part[i]), by)
	}
}

func (k badShrink) ShrinkSum(x device.Tuple[complex64], by device.Shrinkage) (sum, count float64, err error) {
	sum, _, err = k.honest.ShrinkSum(x, by)
	return sum, float64(x.Part[0].N), err
}

// Sums are in 32 bits.
func (k badDot) Dot(x, y mem, conj bool) (complex128, error) {
	var s complex64
	for i, v := range x.Host {
		s += complex(real(v), -imag(v)) * y.Host[i]
	}
	return complex128(s), nil
}

// The order of the sum depends on where the elements lie.
func (k badSum) Sum(x mem) (complex128, error) {
	var s complex128
	if x.Addr%16 == 0 {
		for _, v := range slices.Backward(x.Host) {
			s += complex128(v) / 3
		}
		return s * 3, nil
	}
	return k.honest.Sum(x)
}

func (k badScale) Norm(x mem, p, scale float64) (float64, error) { return k.honest.Norm(x, p, 1) }

// The largest element hides a NaN.
func (k badNaN) Norm(x mem, p, scale float64) (m float64, err error) {
	if !math.IsInf(p, 1) {
		return k.honest.Norm(x, p, scale)
	}
	for i := range x.Host {
		if r, _ := k.honest.Norm(k.honest.Slice(x, i, i+1), p, 1); r > m {
			m = r
		}
	}
	return m, nil
}

func (k badNormAxis) NormAxis(dst []float64, x mem, outer, n, inner int, p float64) error {
	return k.honest.NormAxis(dst, x, outer*inner, n, 1, p)
}

func (k badSumAxis) SumAxis(dst, x mem, outer, n, inner int) {
	k.honest.SumAxis(dst, x, outer, max(n-1, 0), inner)
}

func (k badScan) ScanAxis(dst, x, start mem, outer, n, inner int, reverse bool) {
	k.honest.ScanAxis(dst, x, mem{}, outer, n, inner, reverse)
}

func (k badAdd) CopyND(dst, src mem, c *strided, add bool) { k.honest.CopyND(dst, src, c, false) }

func (k badEdge) Alloc(n int) (mem, error) {
	m, err := k.honest.Alloc(n)
	*k.last = m
	return m, err
}

// The element before the first is written too.
func (k badEdge) Fill(dst mem, v complex64) {
	k.honest.Fill(dst, v)
	if i := int(dst.Addr-k.last.Addr) / 8; dst.N > 0 && i > 0 {
		k.last.Host[i-1] = v
	}
}

// Ghosts of all outer indices are those of the first.
func (k badGhost) Bands(dst, src, ghost mem, b *banded, group int, add bool) {
	g := *b
	g.Ghosts = slices.Clone(b.Ghosts)
	for i := range g.Ghosts {
		g.Ghosts[i].Rows = 0
	}
	k.honest.Bands(dst, src, ghost, &g, group, add)
}

// A group sets rows of the other to zero.
func (k badGroup) Bands(dst, src, ghost mem, b *banded, group int, add bool) {
	if !add {
		k.honest.Fill(dst, 0)
	}
	k.honest.Bands(dst, src, ghost, b, group, add)
}

func (k badWeight) Gather(dst, src mem, s *sparse) {
	k.honest.Gather(dst, src, &sparse{First: s.First, At: s.At})
}

func (k badGemv) Gemv(op device.Trans, m, n int, alpha complex64, a, x mem, beta complex64, y mem) error {
	if op == device.ConjTrans {
		op = device.Transpose
	}
	return k.honest.Gemv(op, m, n, alpha, a, x, beta, y)
}

// C is read although beta is 0.
func (k badGemm) Gemm(opA, opB device.Trans, m, n, l int, alpha complex64, a, b mem, beta complex64, c mem) error {
	was := slices.Clone(c.Host)
	if err := k.honest.Gemm(opA, opB, m, n, l, alpha, a, b, 0, c); err != nil {
		return err
	}
	for i := range c.Host {
		c.Host[i] += beta * was[i]
	}
	return nil
}

// Memory that is too short is taken as it is.
func (k badShort) Gemm(opA, opB device.Trans, m, n, l int, alpha complex64, a, b mem, beta complex64, c mem) error {
	if len(c.Host) >= m*n && len(a.Host) >= m*l && len(b.Host) >= l*n {
		return k.honest.Gemm(opA, opB, m, n, l, alpha, a, b, beta, c)
	}
	return nil
}

// badWiden rounds one number in a thousand.
type badWiden struct{ device.Kernels[float64] }

func (k badWiden) Widen(dst device.Mem[float64], src device.Mem[float32]) {
	for i, v := range src.Host {
		dst.Host[i] = float64(v)
		if i%1000 == 999 {
			dst.Host[i] = math.Round(1024*dst.Host[i]) / 1024
		}
	}
}

func (k badFFT) PlanFFT(t *device.DFT) error { return device.PlanFFT(k.honest, t) }

// The sign of the kernel is always the same.
func (k badFFT) FFT(dst, src mem, t *device.DFT, _ bool) error {
	return device.FFT(k.honest, dst, src, t, false)
}

func (k badAxes) PlanFFT(t *device.DFT) error { return device.PlanFFT(k.honest, t) }

// A transform is always along the last axis.
func (k badAxes) FFT(dst, src mem, t *device.DFT, inverse bool) error {
	return device.FFT(k.honest, dst, src, &device.DFT{Dims: t.Dims, Axes: []int{len(t.Dims) - 1}}, inverse)
}

// badRays is one pixel off. badLength forgets that slanting rays are longer.
type (
	badRays   struct{ honest }
	badLength struct{ honest }
)

func (k badRays) Project(y, x mem, r *device.Rays) {
	short := device.Rays{Rows: r.Rows, Cols: r.Cols, Views: r.Views, Detectors: r.Detectors, Bundles: slices.Clone(r.Bundles)}
	for i := range short.Bundles {
		short.Bundles[i].At++
	}
	_ = device.Project(k.honest, y, x, &short)
}

func (k badRays) BackProject(x, y mem, r *device.Rays) { _ = device.BackProject(k.honest, x, y, r) }

func (k badLength) Project(y, x mem, r *device.Rays) { _ = device.Project(k.honest, y, x, r) }

func (k badLength) BackProject(x, y mem, r *device.Rays) {
	bad := device.Rays{Rows: r.Rows, Cols: r.Cols, Views: r.Views, Detectors: r.Detectors, Bundles: slices.Clone(r.Bundles)}
	for i := range bad.Bundles {
		k := bad.Bundles[i].Slope(0)
		bad.Bundles[i].Length /= math.Sqrt(1 + k*k)
	}
	_ = device.BackProject(k.honest, x, y, &bad)
}

// TestLiars wants each fault to be found by its case, and none in honest kernels,
// of which others run the whole suite.
func TestLiars(t *testing.T) {
	d, err := cpu.New(cpu.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	k, err := device.KernelsFor[complex64](d)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct {
		name string
		liar honest
	}{
		{"memory", badSlice{k}}, {"axpby", badAxpby{k}}, {"combine", badCombine{k}}, {"mul", badMul{k}},
		{"mulaxis", badMulAxis{k}}, {"conj", badConj{k}}, {"threshold", badThreshold{k}}, {"shrink", badShrink{k}}, {"shrink sum", badShrink{k}}, {"dot", badDot{k}},
		{"wide sums", badDot{k}}, {"repeat", badSum{k}}, {"norm", badScale{k}}, {"nan", badNaN{k}},
		{"normaxis", badNormAxis{k}}, {"sumaxis", badSumAxis{k}}, {"scanaxis", badScan{k}}, {"copynd", badAdd{k}},
		{"transpose", badAdd{k}}, {"fill", badEdge{k, new(mem)}}, {"random bands", badGhost{k}}, {"bands", badGroup{k}},
		{"gather", badWeight{k}}, {"gemv", badGemv{k}}, {"gemm", badGemm{k}}, {"short", badShort{k}},
		{"fft", badFFT{k}}, {"fft", badAxes{k}}, {"project", badRays{k}}, {"project", badLength{k}},
	} {
		if passes(t, l.name, l.liar) {
			t.Errorf("case %q does not find %T", l.name, l.liar)
		}
	}
	f64, err := device.KernelsFor[float64](d)
	if err != nil {
		t.Fatal(err)
	}
	if passesOn[float64](t, "widen", d, badWiden{f64}) {
		t.Error(`case "widen" does not find a number that it rounds`)
	}
	for _, name := range []string{"fill", "repeat", "copynd", "fft", "project"} {
		if !passes(t, name, k) {
			t.Errorf("case %q finds a fault in honest kernels", name)
		}
	}
}
