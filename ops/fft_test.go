package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// fftForm is a transform of x: its axes and options.
type fftForm struct {
	axes []int
	o    ops.FFTOptions
}

// fftForms returns transforms of arrays of these extents.
func fftForms(dims []int) []fftForm {
	last, all, padded := []int{-1}, []int{}, []int{}
	for a, n := range dims {
		all, padded = append(all, a), append(padded, n+a+1)
	}
	back := slices.Clone(all)
	slices.Reverse(back)
	return []fftForm{
		{[]int{0}, ops.FFTOptions{}},
		{last, ops.FFTOptions{Norm: ops.FFTNormOneOverN, Sizes: []int{dims[len(dims)-1] + 4}, ShiftBefore: last}},
		{all, ops.FFTDefaults()},
		{back, ops.FFTOptions{Norm: ops.FFTNormOrtho, ShiftBefore: all, ShiftAfter: all, Transposed: true}},
		{all, ops.FFTOptions{Sizes: padded, ShiftAfter: []int{0}}},
	}
}

// eachFFT checks the transforms of x that take T to C.
func eachFFT[C, R scalar.Scalar](ctx ctxt, x space, whole func(ctxt, linop.Operator[C], fftForm) error, half func(ctxt, linop.Map[R, C], fftForm) error) error {
	for _, f := range fftForms(x.Shape().Dims()) {
		a, err := ops.FFTND[C](ctx, x, f.axes, f.o)
		if err == nil {
			err = whole(ctx, a, f)
		}
		if err != nil {
			return fmt.Errorf("FFT of %v along %v, %+v: %w", scalar.Of[C](), f.axes, f.o, err)
		}
		b, err := ops.RealFFTND[C, R](ctx, x, f.axes, f.o)
		if err == nil {
			err = half(ctx, b, f)
		}
		if err != nil {
			return fmt.Errorf("FFT of %v along %v, %+v: %w", scalar.Of[R](), f.axes, f.o, err)
		}
	}
	return nil
}

func TestFFT(t *testing.T) {
	eachHome(t, func(ctx context.Context, x *dist.Space) error {
		return errors.Join(eachFFT(ctx, x, checkFFT[complex128, complex128], checkFFT[complex128, float64]),
			eachFFT(ctx, x, dotOf[complex64, complex64], dotOf[complex64, float32]))
	})
}

// Arrays of one axis that ranks share evenly stay split, in all norms: each rank sends
// something to each other one, three times. Neighbours send more where shares are no whole rows.
func TestFFTSplitLine(t *testing.T) {
	for _, c := range []struct{ ranks, n int }{{2, 4}, {2, 60}, {3, 45}, {4, 96}, {7, 49}, {2, 6}, {2, 26}, {3, 50}, {4, 56}, {4, 1000}, {5, 33}} {
		for norm := ops.FFTNormNone; norm <= ops.FFTNormOneOverN; norm++ {
			if err := testdevices.Local(t.Context(), c.ranks, splitLine(c.n, norm, optest.Allocs[complex128, complex128])); err != nil {
				t.Errorf("ranks=%d/n=%d/norm=%v: %v", c.ranks, c.n, norm, err)
			}
		}
	}
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		if err := p.Local(t.Context(), 2, splitLine(60, ops.FFTNormOrtho, optest.Dot[complex128, complex128])); err != nil {
			t.Error(err)
		}
	})
}

func splitLine(n int, norm ops.FFTNorm, more func(ctxt, op[complex128]) error) func(context.Context, dist.Proc) error {
	return func(ctx context.Context, r dist.Proc) error {
		count := commtest.NewCounter(r.Comm)
		counted, err := dist.NewProc(ctx, count.Comm, r.Device)
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, counted, dist.Layout{}, n)
		if err != nil {
			return err
		}
		f := fftForm{[]int{0}, ops.FFTOptions{Norm: norm}}
		a, err := ops.FFT[complex128](ctx, x, 0, f.o)
		if err != nil {
			return err
		}
		b, err := ops.FFT[complex64](ctx, x, 0, f.o)
		if err != nil {
			return err
		}
		u, err := dist.Random[complex128](ctx, x, 1)
		if err != nil {
			return err
		}
		v, err := dist.New[complex128](x)
		if err != nil {
			return err
		}
		count.Reset()
		if err := a.Forward(ctx, v, u); err != nil {
			return err
		}
		if got, want := count.Total(), 3*(r.Size()-1); n%(r.Size()*r.Size()) == 0 && got != want {
			return fmt.Errorf("rank %d sent %d messages, want %d", r.Rank(), got, want)
		}
		return errors.Join(checkFFT(ctx, a, f), optest.Dot(ctx, b), optest.KeepsType(ctx, b, a), more(ctx, a))
	}
}

func dotOf[D, R scalar.Scalar](ctx ctxt, a linop.Map[R, D], _ fftForm) error {
	return errors.Join(optest.Dot(ctx, a), optest.Refuses(ctx, a))
}

// checkFFT runs all checks of a transform and compares it with its definition.
func checkFFT[C, D scalar.Scalar](ctx ctxt, a linop.Map[D, C], f fftForm) error {
	if err := optest.All(ctx, a); err != nil {
		return err
	}
	u, err := dist.Random[D](ctx, a.Domain(), 1)
	if err != nil {
		return err
	}
	in, err := gather(ctx, u)
	if err != nil {
		return err
	}
	y, err := linop.Apply(ctx, a, u)
	if err != nil {
		return err
	}
	got, err := gather(ctx, y)
	if err != nil {
		return err
	}
	from, to := a.Domain().Shape(), a.Range().Shape()
	x := make([]complex128, len(in))
	for i, v := range in {
		x[i] = scalar.Complex(v)
	}
	n, c := 1, 1.0
	for i, axis := range f.axes {
		at := (axis + from.NDim()) % from.NDim()
		size := from.Dim(at)
		if f.o.Sizes != nil {
			size = f.o.Sizes[i]
		}
		n *= size
		x = slowAxis(x, from, at, size, to.Dim(at), contains(f.o.ShiftBefore, axis, at), contains(f.o.ShiftAfter, axis, at))
		from = from.With(at, to.Dim(at))
		if !scalar.Of[D]().IsComplex() && i == len(f.axes)-1 {
			scaleMiddle(x, from, at, size, contains(f.o.ShiftAfter, axis, at))
		}
	}
	switch f.o.Norm {
	case ops.FFTNormOrtho:
		c = 1 / math.Sqrt(float64(n))
	case ops.FFTNormOneOverN:
		c = 1 / float64(n)
	}
	want := make([]C, len(x))
	for i, v := range x {
		want[i] = scalar.From[C](complex(c, 0) * v)
	}
	return near(got, want, 1e-13)
}

func contains(list []int, axis, front int) bool {
	return slices.Contains(list, axis) || slices.Contains(list, front)
}

// slowAxis transforms one axis, of samples with zeros, to count coefficients.
func slowAxis(x []complex128, s shape.Shape, axis, samples, count int, before, after bool) []complex128 {
	outer, n, inner := s.Around(axis)
	y := make([]complex128, outer*count*inner)
	for o := range outer {
		for j := range inner {
			for k := range count {
				to := k
				if after {
					to = (k + count/2) % count
				}
				for i := range n {
					from := i
					if before {
						from = (i + n/2) % n
					}
					y[(o*count+to)*inner+j] += x[(o*n+from)*inner+j] * cmplx.Rect(1, -2*math.Pi*float64(i*k%samples)/float64(samples))
				}
			}
		}
	}
	return y
}

// scaleMiddle multiplies coefficients that stand for two by √2.
func scaleMiddle(x []complex128, s shape.Shape, axis, samples int, after bool) {
	_, n, inner := s.Around(axis)
	for i := range x {
		k := i / inner % n
		if after {
			k = (k - n/2 + n) % n
		}
		if k > 0 && 2*k < samples {
			x[i] *= math.Sqrt2
		}
	}
}

// Transforms allocate nothing and keep the precision of their type.
func TestFFTAllocsAndTypes(t *testing.T) {
	for _, h := range homes {
		if h.ranks > 3 {
			continue
		}
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
			if err != nil {
				return err
			}
			return eachFFT(ctx, x, func(ctx ctxt, a op[complex64], f fftForm) error {
				b, err := ops.FFTND[complex128](ctx, x, f.axes, f.o)
				return errors.Join(err, optest.Allocs(ctx, a), optest.KeepsType(ctx, a, b))
			}, func(ctx ctxt, a linop.Map[float32, complex64], f fftForm) error {
				b, err := ops.RealFFTND[complex128, float64](ctx, x, f.axes, f.o)
				return errors.Join(err, optest.Allocs(ctx, a), optest.KeepsType(ctx, a, b))
			})
		})
		if err != nil {
			t.Errorf("ranks=%d/shape=%v: %v", h.ranks, h.dims, err)
		}
	}
}

// Transforms do the same on devices of other kinds.
func TestFFTDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, h := range homes {
			if p.Slow && (h.ranks != 2 || len(h.dims) == 1) {
				continue
			}
			err := p.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
				x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
				if err != nil {
					return err
				}
				return eachFFT(ctx, x, checkFFT[complex128, complex128], checkFFT[complex128, float64])
			})
			if err != nil {
				t.Errorf("ranks=%d/shape=%v/grid=%v: %v", h.ranks, h.dims, h.layout.Grid, err)
			}
		}
	})
}

// Bad arguments are errors on every rank, with the value and what would do.
func TestFFTBadInput(t *testing.T) {
	type c = complex64
	for name, bad := range map[string]struct {
		make func(ctx ctxt, x space, me int) (any, error)
		want []string
	}{
		"no space":  {func(ctx ctxt, _ space, _ int) (any, error) { return ops.FFT[c](ctx, nil, 0, ops.FFTOptions{}) }, []string{"FFT", "no space"}},
		"real type": {func(ctx ctxt, x space, _ int) (any, error) { return ops.FFT[float64](ctx, x, 0, ops.FFTOptions{}) }, []string{"float64", "RealFFT"}},
		"other types": {func(ctx ctxt, x space, _ int) (any, error) {
			return ops.RealFFT[c, float64](ctx, x, 0, ops.FFTOptions{})
		}, []string{"float64", "complex64"}},
		"axis": {func(ctx ctxt, x space, _ int) (any, error) { return ops.FFT[c](ctx, x, 2, ops.FFTOptions{}) }, []string{"axis 2"}},
		"axis twice": {func(ctx ctxt, x space, _ int) (any, error) {
			return ops.FFT2D[c](ctx, x, [2]int{1, -1}, ops.FFTOptions{})
		}, []string{"axis -1", "twice"}},
		"no axes": {func(ctx ctxt, x space, _ int) (any, error) { return ops.FFTND[c](ctx, x, nil, ops.FFTOptions{}) }, []string{"no axes"}},
		"norm":    {func(ctx ctxt, x space, _ int) (any, error) { return ops.FFT[c](ctx, x, 0, ops.FFTOptions{Norm: 7}) }, []string{"norm is 7", "FFTNormOrtho"}},
		"negative": {func(ctx ctxt, x space, _ int) (any, error) {
			return ops.FFT[c](ctx, x, 0, ops.FFTOptions{Sizes: []int{-4}})
		}, []string{"-4", "at least 1"}},
		"small": {func(ctx ctxt, x space, _ int) (any, error) {
			return ops.FFT[c](ctx, x, 0, ops.FFTOptions{Sizes: []int{6}})
		}, []string{"size 6", "axis 0", "at least 7"}},
		"sizes": {func(ctx ctxt, x space, _ int) (any, error) {
			return ops.FFT[c](ctx, x, 0, ops.FFTOptions{Sizes: []int{8, 8}})
		}, []string{"[8 8]", "one for each"}},
		"shift": {func(ctx ctxt, x space, _ int) (any, error) {
			return ops.FFT[c](ctx, x, 0, ops.FFTOptions{ShiftAfter: []int{1}})
		}, []string{"axis 1", "not transformed"}},
		"other axis": {func(ctx ctxt, x space, me int) (any, error) {
			return ops.FFT[c](ctx, x, onRank1(me, 0, 1), ops.FFTOptions{})
		}, []string{"disagree"}},
		"bad on one": {func(ctx ctxt, x space, me int) (any, error) {
			return ops.FFT[c](ctx, x, onRank1(me, 0, 9), ops.FFTOptions{})
		}, []string{"axis 9"}},
		"huge": {func(ctx ctxt, x space, _ int) (any, error) {
			return ops.FFT[c](ctx, x, 0, ops.FFTOptions{Sizes: []int{math.MaxInt}})
		}, []string{"9223372036854775807"}},
	} {
		err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
			if err != nil {
				return err
			}
			_, err = bad.make(ctx, x, r.Rank())
			if err == nil {
				return errors.New("got no error")
			}
			for _, w := range bad.want {
				if !strings.Contains(err.Error(), w) {
					return fmt.Errorf("error %q does not contain %q", err, w)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFrequencies(t *testing.T) {
	for _, c := range []struct{ got, want []float64 }{
		{ops.Frequencies(4, 0.5, false), []float64{0, 0.5, -1, -0.5}},
		{ops.Frequencies(5, 0.2, false), []float64{0, 1, 2, -2, -1}},
		{ops.Frequencies(4, 0.5, true), []float64{-1, -0.5, 0, 0.5}},
		{ops.Frequencies(5, 0.2, true), []float64{-2, -1, 0, 1, 2}},
		{ops.RealFrequencies(4, 0.5), []float64{0, 0.5, 1}},
		{ops.RealFrequencies(5, 0.2), []float64{0, 1, 2}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func ExampleFFT() {
	show([]int{4}, []complex128{1, 2, 3, 4}, func(ctx ctxt, x space) (op[complex128], error) {
		return ops.FFT[complex128](ctx, x, 0, ops.FFTOptions{})
	})
	// Output: [(10+0i) (-2+2i) (-2+0i) (-2-2i)]
}

func ExampleFFT2D() {
	show([]int{2, 2}, []complex128{1, 2, 3, 4}, func(ctx ctxt, x space) (op[complex128], error) {
		return ops.FFT2D[complex128](ctx, x, [2]int{0, 1}, ops.FFTOptions{})
	})
	// Output: [(10+0i) (-2+0i) (-4+0i) (0+0i)]
}

func ExampleFFTND() {
	show([]int{2, 2}, []complex128{1, 2, 3, 4}, func(ctx ctxt, x space) (op[complex128], error) {
		return ops.FFTND[complex128](ctx, x, []int{0, 1}, ops.FFTOptions{ShiftAfter: []int{0, 1}})
	})
	// Output: [(0+0i) (-4+0i) (-2+0i) (10+0i)]
}

func ExampleRealFFT() {
	show([]int{4}, []float32{1, 3, 3, 2}, func(ctx ctxt, x space) (linop.Map[float32, complex64], error) {
		return ops.RealFFT[complex64, float32](ctx, x, 0, ops.FFTOptions{})
	})
	// Output: [(9+0i) (-2.828427-1.4142135i) (-1+0i)]
}

func ExampleRealFFT2D() {
	show([]int{2, 2}, []float32{1, 2, 3, 4}, func(ctx ctxt, x space) (linop.Map[float32, complex64], error) {
		return ops.RealFFT2D[complex64, float32](ctx, x, [2]int{0, 1}, ops.FFTOptions{})
	})
	// Output: [(10+0i) (-2+0i) (-4+0i) (0+0i)]
}

func ExampleRealFFTND() {
	show([]int{2, 2}, []float64{1, 2, 3, 4}, func(ctx ctxt, x space) (linop.Map[float64, complex128], error) {
		return ops.RealFFTND[complex128, float64](ctx, x, []int{1, 0}, ops.FFTOptions{})
	})
	// Output: [(10+0i) (-2+0i) (-4+0i) (0+0i)]
}

// Transforms give the numbers of PyLops and PyLops-MPI on every layout. Those of real vectors are
// its transforms with real=True.
func TestGoldenFFT(t *testing.T) {
	for _, name := range []string{"FFT", "FFT2D", "FFTND", "MPIFFT2D", "MPIFFTND"} {
		for i, c := range golden.Cases(t, name) {
			for j, p := range testLayouts {
				if (i+j)%soak.Or(2, 1) != 0 {
					continue
				}
				err := testdevices.Local(t.Context(), p.ranks, func(ctx context.Context, r dist.Proc) error {
					switch c.DType {
					case scalar.Float32:
						return goldenFFT(t, ctx, r, p, c, 2e-6, ops.RealFFTND[complex64, float32])
					case scalar.Float64:
						return goldenFFT(t, ctx, r, p, c, 1e-14, ops.RealFFTND[complex128, float64])
					case scalar.Complex64:
						return goldenFFT(t, ctx, r, p, c, 2e-6, ops.FFTND[complex64])
					}
					return goldenFFT(t, ctx, r, p, c, 1e-14, ops.FFTND[complex128])
				})
				if err != nil {
					t.Errorf("%s on %v: %v", c.Name, p, err)
				}
			}
		}
	}
}

func goldenFFT[D, C scalar.Scalar](t *testing.T, ctx ctxt, r dist.Proc, p testLayout, c golden.Case, tol float64,
	make func(ctxt, space, []int, ops.FFTOptions) (linop.Map[D, C], error)) error {
	layout, fits := p.layout(len(c.Dims))
	if !fits {
		return nil
	}
	x, err := dist.NewSpace(ctx, r, layout, c.Dims...)
	if err != nil {
		return err
	}
	key, size := "axes", "nffts"
	if c.Op == "FFT" {
		key, size = "axis", "nfft"
	}
	var axes []int
	o := ops.FFTOptions{Norm: map[string]ops.FFTNorm{"none": ops.FFTNormNone, "ortho": ops.FFTNormOrtho, "1/n": ops.FFTNormOneOverN}[c.String("norm")]}
	if axes = c.Ints(key); c.Params[size] != nil {
		o.Sizes = c.Ints(size)
	}
	if c.Bool("ifftshift_before") {
		o.ShiftBefore = axes
	}
	if c.Bool("fftshift_after") {
		o.ShiftAfter = axes
	}
	a, err := make(ctx, x, axes, o)
	if err != nil {
		return err
	}
	if err := imageOf(t, ctx, c, "x", "y", a, tol); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	if err := imageOf(t, ctx, c, "u", "v", linop.H(a), tol); err != nil {
		return fmt.Errorf("adjoint: %w", err)
	}
	return nil
}
