package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

var orders = []float64{0, 1, 2, 3, 0.5, -1, math.Inf(1), math.Inf(-1)}

// reduceCase compares sums, dots and norms with the serial computation.
func reduceCase[T scalar.Scalar](ctx context.Context, r dist.Proc, g gen) error {
	s, err := g.space(ctx, r, g.dims())
	if err != nil {
		return err
	}
	x, err := filled[T](ctx, s, 1)
	if err != nil {
		return err
	}
	y, err := filled[T](ctx, s, 2)
	if err != nil {
		return err
	}
	return reductions(ctx, x, y, valuesOf[T](1, s.Size()), valuesOf[T](2, s.Size()))
}

// reductions checks all that turns x and y, whose elements are p and q in some
// order, into numbers.
func reductions[T scalar.Scalar](ctx context.Context, x, y dist.Array[T], p, q []T) error {
	var dot, dotT, sum complex128
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range p {
		a, b := wide(p[i]), wide(q[i])
		dot += cmplx.Conj(a) * b
		dotT += a * b
		sum += a
		lo, hi = min(lo, real(a)), max(hi, real(a))
	}
	s := x.Space()
	for _, k := range []struct {
		name string
		call func() (T, error)
		want complex128
	}{
		{"Dot", func() (T, error) { return dist.Dot(ctx, x, y) }, dot},
		{"DotT", func() (T, error) { return dist.DotT(ctx, x, y) }, dotT},
		{"Sum", func() (T, error) { return dist.Sum(ctx, x) }, sum},
	} {
		if got, err := k.call(); err != nil || wide(got) != k.want {
			return fmt.Errorf("%s of %v: got %v, want %v: %w", k.name, s, got, k.want, err)
		}
	}
	for _, o := range orders {
		got, err := dist.Norm(ctx, x, o)
		if want := serialNorm(p, o); err != nil || !near[T](got, want) {
			return fmt.Errorf("norm %v of %v: got %v, want %v: %w", o, s, got, want, err)
		}
	}
	gotLo, gotHi, err := dist.MinMax(ctx, x)
	if scalar.Of[T]().IsComplex() {
		if !errors.Is(err, device.ErrUnsupported) {
			return fmt.Errorf("MinMax of %v: %v, want ErrUnsupported", scalar.Of[T](), err)
		}
	} else if err != nil || gotLo != lo || gotHi != hi {
		return fmt.Errorf("MinMax of %v: got %v and %v, want %v and %v: %w", s, gotLo, gotHi, lo, hi, err)
	}
	return nil
}

// serialNorm is the p-norm as the documentation has it.
func serialNorm[T scalar.Scalar](v []T, p float64) float64 {
	sum, lo, hi, count := 0.0, math.Inf(1), 0.0, 0.0
	for _, e := range v {
		r := cmplx.Abs(wide(e))
		lo, hi = min(lo, r), max(hi, r)
		if r != 0 {
			count++
		}
		sum += math.Pow(r, p)
	}
	switch {
	case math.IsInf(p, 1):
		return hi
	case math.IsInf(p, -1):
		return lo
	case p == 0:
		return count
	}
	return math.Pow(sum, 1/p)
}

// near reports whether two norms of elements of T agree.
func near[T scalar.Scalar](got, want float64) bool {
	tol := 1e-13
	if dt := scalar.Of[T](); dt == scalar.Float32 || dt == scalar.Complex64 {
		tol = 1e-6
	}
	return got == want || math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= tol*math.Abs(want)
}

// TestNormExtremes takes norms of numbers whose squares do not fit a float64, on
// one rank and with the ranks' numbers far apart.
func TestNormExtremes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x                         []float64
		norm2, norm1, most, least float64
	}{
		{[]float64{3e200, 4e200, 0, 0}, 5e200, 7e200, 4e200, 0},
		{[]float64{3e-200, 0, 0, 4e-200}, 5e-200, 7e-200, 4e-200, 0},
		{[]float64{3e-320, 0, 4e-320, 0}, 5e-320, 7e-320, 4e-320, 0},
		{[]float64{5e-324, 0, 0, 0}, 5e-324, 5e-324, 5e-324, 0},
		{[]float64{1e300, 1, 1e-300, 1}, 1e300, 1e300, 1e300, 1e-300},
		{[]float64{1, 1e-200, 1e-200, 1e-200}, 1, 1, 1, 1e-200},
		{[]float64{1e154, 1e154, 1e154, 1e154}, 2e154, 4e154, 1e154, 1e154},
		{[]float64{math.MaxFloat64, 0, 0, 0}, math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, 0},
		{[]float64{0, 0, 0, 0}, 0, 0, 0, 0},
		{[]float64{1, inf, 1, 1}, inf, inf, inf, 1},
		{[]float64{1, -inf, 1e-300, 1}, inf, inf, inf, 1e-300},
		{[]float64{1, nan, 1, 1}, nan, nan, nan, nan},
		{[]float64{inf, 0, 0, nan}, nan, nan, nan, nan},
		{[]float64{nan, 1e300, 1e300, 1e-300}, nan, nan, nan, nan},
	} {
		for _, ranks := range []int{1, 2, 3, 4} {
			onRanks(t, ranks, func(ctx context.Context, r dist.Proc) error {
				if err := extremes(ctx, r, c.x, c.norm2, c.norm1, c.most, c.least); err != nil {
					return fmt.Errorf("%v: %w", c.x, err)
				}
				return nil
			})
		}
	}
}

func extremes(ctx context.Context, r dist.Proc, x []float64, norm2, norm1, most, least float64) error {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, len(x))
	if err != nil {
		return err
	}
	a, err := dist.FromFunc(ctx, s, func(i []int) float64 { return x[i[0]] })
	if err != nil {
		return err
	}
	z, err := dist.FromFunc(ctx, s, func(i []int) complex128 { return complex(0, x[i[0]]) })
	if err != nil {
		return err
	}
	both, err := dist.StackOf(a, a)
	if err != nil {
		return err
	}
	for _, k := range []struct{ p, want float64 }{{2, norm2}, {1, norm1}, {math.Inf(1), most}, {math.Inf(-1), least}} {
		got, err := dist.Norm(ctx, a, k.p)
		if err != nil || !near[float64](got, k.want) {
			return fmt.Errorf("norm %v: got %v, want %v: %w", k.p, got, k.want, err)
		}
		got, err = dist.Norm(ctx, z, k.p)
		if err != nil || !near[float64](got, k.want) && !math.IsNaN(k.want) {
			return fmt.Errorf("complex norm %v: got %v, want %v: %w", k.p, got, k.want, err)
		}
		if math.IsInf(k.p, 0) {
			if got, err = dist.Norm(ctx, both, k.p); err != nil || !near[float64](got, k.want) {
				return fmt.Errorf("norm %v of a stack: got %v, want %v: %w", k.p, got, k.want, err)
			}
		}
	}
	lo, hi, err := dist.MinMax(ctx, both)
	wantLo, wantHi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		wantLo, wantHi = min(wantLo, v), max(wantHi, v)
	}
	if err != nil || !near[float64](lo, wantLo) || !near[float64](hi, wantHi) {
		return fmt.Errorf("MinMax: got %v and %v, want %v and %v: %w", lo, hi, wantLo, wantHi, err)
	}
	return nil
}

// TestNaNInStack: NaN in one part outlives an infinity in another.
func TestNaNInStack(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		onRanks(t, ranks, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, dist.Layout{}, 4)
			if err != nil {
				return err
			}
			for _, fills := range [][2]float64{{math.Inf(1), math.NaN()}, {math.NaN(), math.Inf(-1)}, {math.NaN(), 0}} {
				var a [2]dist.Array[float64]
				for i := range a {
					if a[i], err = dist.New[float64](s); err != nil {
						return err
					}
					dist.Fill(a[i], fills[i])
				}
				x, err := dist.StackOf(a[:]...)
				if err != nil {
					return err
				}
				for _, p := range []float64{1, 2, math.Inf(1), math.Inf(-1)} {
					if got, err := dist.Norm(ctx, x, p); err != nil || !math.IsNaN(got) {
						return fmt.Errorf("norm %v of %v: got %v, want NaN: %w", p, fills, got, err)
					}
				}
				if lo, hi, err := dist.MinMax(ctx, x); err != nil || !math.IsNaN(lo) || !math.IsNaN(hi) {
					return fmt.Errorf("MinMax of %v: got %v and %v, want NaN: %w", fills, lo, hi, err)
				}
			}
			return nil
		})
	}
}

// TestPrecision adds numbers that a float32 sum would lose.
func TestPrecision(t *testing.T) {
	const n = 1 << 20
	for _, ranks := range []int{1, 2} {
		onRanks(t, ranks, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, dist.Layout{}, n+1)
			if err != nil {
				return err
			}
			x, err := dist.FromFunc(ctx, s, func(i []int) float32 {
				if i[0] == 0 {
					return 1 << 25
				}
				return 1
			})
			if err != nil {
				return err
			}
			if got, err := dist.Sum(ctx, x); err != nil || got != 1<<25+n {
				return fmt.Errorf("sum: got %v, want %v: %w", got, 1<<25+n, err)
			}
			if got, err := dist.Norm(ctx, x, 1); err != nil || got != 1<<25+n {
				return fmt.Errorf("norm 1: got %v, want %v: %w", got, 1<<25+n, err)
			}
			return nil
		})
	}
}

// Where copies of an array differ, as they may by rounding, all ranks get the
// numbers of rank 0's copy.
func TestReductionsOfCopiesThatDiffer(t *testing.T) {
	onRanks(t, 3, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Replicated, 2)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		k := float64(r.Rank())
		if err := x.Local().CopyIn([]float64{3 + 2*k, -4 * (1 + k)}); err != nil {
			return err
		}
		if dots, err := dotsOf(ctx, []dist.Array[float64]{x}, []dist.Array[float64]{x}); err != nil || dots[0] != 25 {
			return fmt.Errorf("a reduction gives %v: %w", dots, err)
		}
		lo, hi, err := dist.MinMax(ctx, x)
		if err != nil || lo != -4 || hi != 3 {
			return fmt.Errorf("MinMax gives %v and %v: %w", lo, hi, err)
		}
		norm := func(p float64) func() (float64, error) {
			return func() (float64, error) { return dist.Norm(ctx, x, p) }
		}
		for _, c := range []struct {
			name string
			f    func() (float64, error)
			want float64
		}{
			{"Dot", func() (float64, error) { return dist.Dot(ctx, x, x) }, 25},
			{"DotT", func() (float64, error) { return dist.DotT(ctx, x, x) }, 25},
			{"Sum", func() (float64, error) { return dist.Sum(ctx, x) }, -1},
			{"norm 0", norm(0), 2},
			{"norm 1", norm(1), 7},
			{"norm 2", norm(2), 5},
			{"norm +Inf", norm(math.Inf(1)), 4},
			{"norm -Inf", norm(math.Inf(-1)), 3},
		} {
			if got, err := c.f(); err != nil || got != c.want {
				return fmt.Errorf("%s is %v on rank %d, want %v: %w", c.name, got, r.Rank(), c.want, err)
			}
		}
		return nil
	})
}
