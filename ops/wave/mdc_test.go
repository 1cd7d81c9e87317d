package wave_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
)

// ways are layouts of the kernel and of x.
var ways = []struct {
	name string
	g, x dist.Layout
}{
	{"as in PyLops-MPI", dist.Split(0), dist.Replicated},
	{"frequencies and virtual sources", dist.Split(0), dist.Split(2)},
	{"frequencies and receivers", dist.Split(0), dist.Split(1)},
	{"frequencies and time", dist.Split(0), dist.Split(0)},
	{"sources and virtual sources", dist.Split(1), dist.Split(2)},
	{"kernel on every rank", dist.Replicated, dist.Split(2)},
}

// mdcOver makes the operator with element g(f, s, r) of the kernel.
func mdcOver[C, R scalar.Scalar](ctx context.Context, r dist.Proc, gl, xl dist.Layout, shape, dims []int, g func(i []int) C, o wave.MDCOptions) (linop.Operator[R], error) {
	x, err := dist.NewSpace(ctx, r, xl, dims...)
	if err != nil {
		return nil, err
	}
	s, err := x.Like(gl, shape...)
	if err != nil {
		return nil, err
	}
	kernel, err := dist.FromFunc(ctx, s, g)
	if err != nil {
		return nil, err
	}
	return wave.MDC[C, R](ctx, kernel, x, o)
}

// The numbers of PyLops-MPI, in layouts that it has and in others.
func TestGoldenMDC(t *testing.T) {
	cases := golden.Cases(t, "MPIMDC")
	if len(cases) != 18 {
		t.Errorf("%d cases, want 18", len(cases))
	}
	for _, ranks := range []int{1, 2, 3, 7} {
		err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
			for i, c := range cases {
				w := ways[i%len(ways)]
				var err error
				if c.DType == scalar.Float32 {
					err = goldenMDC[complex64, float32](t, ctx, r, c, w.g, w.x, 2e-5)
				} else {
					err = goldenMDC[complex128, float64](t, ctx, r, c, w.g, w.x, 1e-12)
				}
				if err != nil {
					return fmt.Errorf("%s, %s: %w", c.Name, w.name, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("ranks=%d: %v", ranks, err)
		}
	}
}

func goldenMDC[C, R scalar.Scalar](t *testing.T, ctx context.Context, r dist.Proc, c golden.Case, gl, xl dist.Layout, tol float64) error {
	sh, g := golden.Array[C](t, c, "G")
	o := wave.MDCOptions{Interval: c.Float("dt"), Spacing: c.Float("dr"), TwoSided: c.Bool("twosided"), Conj: c.Bool("conj"), Prescaled: c.Bool("prescaled")}
	op, err := mdcOver[C, R](ctx, r, gl, xl, sh, c.Dims, func(i []int) C { return g[(i[0]*sh[1]+i[1])*sh[2]+i[2]] }, o)
	if err != nil {
		return err
	}
	if err := becomes(t, ctx, c, "x", op.Domain(), "y", op.Range(), op.Forward, tol); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	if err := becomes(t, ctx, c, "u", op.Range(), "v", op.Domain(), op.Adjoint, tol); err != nil {
		return fmt.Errorf("adjoint: %w", err)
	}
	return optest.All(ctx, op)
}

// becomes compares what f makes of one golden array with another.
func becomes[R scalar.Scalar](t *testing.T, ctx context.Context, c golden.Case, from string, in *dist.Space, to string, out *dist.Space,
	f func(context.Context, dist.Array[R], dist.Array[R]) error, tol float64) error {
	_, src := golden.Array[R](t, c, from)
	_, want := golden.Array[R](t, c, to)
	strides := in.Shape().Strides()
	x, err := dist.FromFunc(ctx, in, func(i []int) R {
		at := 0
		for a, k := range i {
			at += k * strides[a]
		}
		return src[at]
	})
	if err != nil {
		return err
	}
	y, err := dist.New[R](out)
	if err != nil {
		return err
	}
	if err := f(ctx, y, x); err != nil {
		return err
	}
	got, err := dist.AllGather(ctx, y)
	if err != nil {
		return err
	}
	for i := range want {
		if d := real(scalar.Complex(got[i] - want[i])); !(math.Abs(d) <= tol*10) {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

// A kernel of one pulse at every time lag shifts a wavefield in a circle.
func TestMDCShifts(t *testing.T) {
	const nt, lag = 9, 2
	err := launch.Config{Ranks: 3}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
		pulse := func(i []int) complex128 {
			sin, cos := math.Sincos(-2 * math.Pi * lag * float64(i[0]) / nt)
			return complex(cos, sin)
		}
		op, err := mdcOver[complex128, float64](ctx, r, dist.Split(0), dist.Split(2), []int{nt/2 + 1, 1, 1}, []int{nt, 1, 4}, pulse, wave.MDCOptions{Prescaled: true})
		if err != nil {
			return err
		}
		x, err := dist.Random[float64](ctx, op.Domain(), 1)
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, op, x)
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, x)
		if err != nil {
			return err
		}
		got, err := dist.AllGather(ctx, y)
		for i := range got {
			t, v := i/4, i%4
			if want := all[(t+nt-lag)%nt*4+v]; math.Abs(got[i]-want) > 1e-13 {
				return fmt.Errorf("sample %d of virtual source %d is %g, want %g", t, v, got[i], want)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMDCRefuses(t *testing.T) {
	good := wave.MDCDefaults()
	for _, c := range []struct {
		name     string
		g, x     []int
		o        wave.MDCOptions
		fragment []string
	}{
		{"axes of the kernel", []int{4, 2}, []int{7, 2, 1}, good, []string{"[4 2]", "frequencies, sources and receivers"}},
		{"axes of x", []int{4, 3, 2}, []int{7}, good, []string{"[7]", "time and receiver"}},
		{"receivers", []int{4, 3, 2}, []int{7, 5, 1}, good, []string{"2 receivers", "x has 5"}},
		{"frequencies", []int{6, 3, 2}, []int{7, 2, 1}, good, []string{"6 frequencies", "7 samples has 4", "last 2"}},
		{"no frequencies", []int{0, 3, 2}, []int{7, 2, 1}, good, []string{"0 frequencies"}},
		{"even", []int{4, 3, 2}, []int{8, 2, 1}, wave.MDCOptions{Prescaled: true, TwoSided: true}, []string{"8 samples", "odd"}},
		{"interval", []int{4, 3, 2}, []int{7, 2, 1}, wave.MDCOptions{Interval: -1, Spacing: 1}, []string{"Interval is -1", "positive"}},
		{"spacing", []int{4, 3, 2}, []int{7, 2, 1}, wave.MDCOptions{Interval: 1, Spacing: math.NaN()}, []string{"Spacing is NaN", "positive"}},
		{"kind", []int{4, 3, 2}, []int{7, 2, 1}, wave.MDCOptions{Prescaled: true, Product: ops.ProductOptions{Kind: 77}}, []string{"kind 77"}},
	} {
		err := launch.Config{Ranks: 3}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			_, err := mdcOver[complex128, float64](ctx, r, dist.Split(0), dist.Replicated, c.g, c.x, func([]int) complex128 { return 1 }, c.o)
			for _, w := range append(c.fragment, "wave: MDC") {
				if err == nil || !strings.Contains(err.Error(), w) {
					return fmt.Errorf("rank %d: error %v, want %q in it", r.Rank(), err, w)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := wave.MDC[complex64, float32](t.Context(), dist.Array[complex64]{}, nil, good); err == nil {
		t.Error("neither kernel nor space: no error")
	}
}

// A wavefield that is heard one sample later and half as loud.
func ExampleMDC() {
	err := launch.Config{Ranks: 2}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		const nt = 5
		echo := func(i []int) complex128 {
			sin, cos := math.Sincos(-2 * math.Pi * float64(i[0]) / nt)
			return complex(cos/2, sin/2)
		}
		op, err := mdcOver[complex128, float64](ctx, r, dist.Split(0), dist.Split(2), []int{3, 1, 1}, []int{nt, 1, 2}, echo, wave.MDCOptions{Prescaled: true})
		if err != nil {
			return err
		}
		x, err := dist.FromFunc(ctx, op.Domain(), func(i []int) float64 { return float64(i[0] * (1 + i[2])) })
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, op, x)
		if err != nil {
			return err
		}
		all, err := dist.Gather(ctx, y, 0)
		for i := range all {
			all[i] = math.Round(10*all[i])/10 + 0 // no -0
		}
		if r.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [2 4 0 0 0.5 1 1 2 1.5 3]
}
