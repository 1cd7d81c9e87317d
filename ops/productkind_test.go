package ops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/golden"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// kinds are those that a user may name.
var kinds = []ops.ProductKind{ops.ProductAuto, ops.ProductBlock, ops.ProductSUMMA, ops.ProductOneSidedSUMMA, ops.Product25D}

// The products and Fredholm integrals of PyLops-MPI, by whatever algorithm it made them,
// are those of every kind.
func TestGoldenKinds(t *testing.T) {
	for _, ranks := range []int{1, 2, 4, 6} {
		err := launch.Config{Ranks: ranks, Threads: 1}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			for _, name := range []string{"MPIMatrixMult", "MPIFredholm1"} {
				key := map[string]string{"MPIMatrixMult": "A", "MPIFredholm1": "G"}[name]
				for i, c := range golden.Cases(t, name) {
					o := ops.ProductOptions{Kind: kinds[i%len(kinds)]}
					var err error
					switch c.DType {
					case scalar.Float32:
						err = goldenKind[float32](t, ctx, r, c, key, o, 2e-5)
					case scalar.Float64:
						err = goldenKind[float64](t, ctx, r, c, key, o, 1e-12)
					case scalar.Complex64:
						err = goldenKind[complex64](t, ctx, r, c, key, o, 2e-5)
					default:
						err = goldenKind[complex128](t, ctx, r, c, key, o, 1e-12)
					}
					if err != nil {
						return fmt.Errorf("%s, kind %d: %w", c.Name, o.Kind, err)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("ranks=%d: %v", ranks, err)
		}
	}
}

func goldenKind[T scalar.Scalar](t *testing.T, ctx context.Context, r dist.Proc, c golden.Case, key string, o ops.ProductOptions, tol float64) error {
	sh, values := golden.Array[T](t, c, key)
	aSpace, x, err := ops.ProductSpaces[T, T](ctx, r, sh, c.Dims, o)
	if err != nil {
		return err
	}
	a, err := scatter(ctx, aSpace, values)
	if err != nil {
		return err
	}
	op, err := ops.Product[T](ctx, a, x, o)
	if err != nil {
		return err
	}
	if err := image(t, ctx, c, "x", op.Domain(), "y", op.Range(), op.Forward, tol); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	return image(t, ctx, c, "u", op.Range(), "v", op.Domain(), op.Adjoint, tol)
}

// The text of a product says what was chosen.
func TestProductText(t *testing.T) {
	fast := cost.Defaults() // windows beat messages
	fast.Messages.Latency = 1
	for _, c := range []struct {
		ranks int
		a, x  []int
		o     ops.ProductOptions
		want  string
	}{
		{1, []int{8, 8}, []int{8, 8}, ops.ProductOptions{Kind: ops.ProductSUMMA}, "on 1 rank"},
		{4, []int{8, 8}, []int{8, 8}, ops.ProductOptions{Kind: ops.ProductSUMMA}, "on ranks 2 (i,j,i) × 2 (j,k,k), panels of 256"},
		{4, []int{8, 8}, []int{8, 8}, ops.ProductOptions{Kind: ops.ProductOneSidedSUMMA, Panel: 2}, "on ranks 2 (i,j,i) × 2 (j,k,k), panels of 2, one-sided"},
		{4, []int{8, 8}, []int{8, 8}, ops.ProductOptions{Kind: ops.ProductSUMMA, Way: dist.OneSided}, "on ranks 2 (i,j,i) × 2 (j,k,k), panels of 256, one-sided"},
		{4, []int{64, 8, 8}, []int{64, 8, 8}, ops.ProductOptions{Kind: ops.ProductAuto}, "on ranks 4 (b,b,b)"},
		{4, []int{8, 8}, []int{8, 4096}, ops.ProductOptions{Kind: ops.ProductAuto}, "on ranks 4 (·,k,k)"},
		{4, []int{512, 512}, []int{512, 512}, ops.ProductOptions{Kind: ops.ProductAuto, Memory: 1_500_000}, "4 (j,k,k), panels of "},
		{3, []int{4096, 8}, []int{8}, ops.ProductOptions{Kind: ops.ProductBlock}, "on ranks 3 (i,·,i)"},
		{4, []int{64, 64}, []int{64, 64}, ops.ProductOptions{Kind: ops.ProductSUMMA, Machine: fast, Way: dist.OneSided}, "one-sided"},
		{2, []int{64, 64}, []int{64, 64}, ops.ProductOptions{Kind: ops.Product25D}, "on ranks 2 (·,·,·)"},
	} {
		err := launch.Config{Ranks: c.ranks, Threads: 1}.Local(t.Context(), func(ctx context.Context, r dist.Proc) error {
			aSpace, x, err := ops.ProductSpaces[float64, float32](ctx, r, c.a, c.x, c.o)
			if err != nil {
				return err
			}
			a, err := dist.New[float32](aSpace)
			if err != nil {
				return err
			}
			op, err := ops.Product[float64](ctx, a, x, c.o)
			if err != nil {
				return err
			}
			if got := fmt.Sprint(op); !strings.Contains(got, c.want) || !strings.HasSuffix(got, ", A in float32") {
				return fmt.Errorf("got %q, want %q", got, c.want)
			}
			elsewhere, err := x.Like(dist.Split(0), c.x...)
			if err != nil || elsewhere.Equal(x) {
				return err
			}
			if op, err = ops.Product[float64](ctx, a, elsewhere, c.o); err != nil {
				return err
			}
			if got := fmt.Sprint(op); !strings.Contains(got, c.want) || !strings.HasSuffix(got, ", x moved") {
				return fmt.Errorf("x is split otherwise: got %q, want %q", got, c.want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks, %v · %v: %v", c.ranks, c.a, c.x, err)
		}
	}
}

// A product that cannot be made is an error on every rank, which says why and what to do.
func TestProductRefuses(t *testing.T) {
	kind := func(k ops.ProductKind) ops.ProductOptions { return ops.ProductOptions{Kind: k} }
	for _, c := range []struct {
		name string
		make func(ctx context.Context, r dist.Proc) error
		want []string
	}{
		{"unknown kind", spacesOf[float64, float64]([]int{4, 5}, []int{5, 2}, kind(77)), []string{"kind 77", "ProductSUMMA", "ProductAuto"}},
		{"no kind", spacesOf[float64, float64]([]int{4, 5}, []int{5, 2}, kind(0)), []string{"no kind", "ProductAuto"}},
		{"extents", spacesOf[float64, float64]([]int{4, 6}, []int{5, 2}, kind(ops.ProductSUMMA)), []string{"[4 6]", "[5 2]", "6 columns", "5 rows of x"}},
		{"types", spacesOf[complex64, float32]([]int{4, 5}, []int{5, 2}, kind(ops.ProductSUMMA)), []string{"float32", "complex64", "complex128"}},
		{"wider", spacesOf[float32, float64]([]int{4, 5}, []int{5, 2}, kind(ops.ProductSUMMA)), []string{"matrix of float64", "x of float32"}},
		{"memory", spacesOf[float64, float64]([]int{400, 500}, []int{500, 200}, ops.ProductOptions{Kind: ops.ProductAuto, Memory: 1000}), []string{"1000", "on 3 ranks", "take more ranks"}},
		{"negative memory", spacesOf[float64, float64]([]int{4, 5}, []int{5, 2}, ops.ProductOptions{Kind: ops.ProductAuto, Memory: -1}), []string{"-1 bytes", "not be negative"}},
		{"grid larger than the ranks", func(ctx context.Context, r dist.Proc) error {
			_, err := dist.NewSpace(ctx, r, dist.Layout{Grid: []int{2, 2}}, 4, 5)
			return err
		}, []string{"grid [2 2]", "3 ranks"}},
		{"machine", spacesOf[float64, float64]([]int{4, 5}, []int{5, 2}, ops.ProductOptions{Kind: ops.ProductAuto, Machine: cost.Machine{Gemm: map[string]float64{"float64": 1}}}), []string{"bandwidth_Bps", "positive"}},
	} {
		err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
			err := c.make(ctx, r)
			for _, w := range c.want {
				if err == nil || !strings.Contains(err.Error(), w) {
					return fmt.Errorf("rank %d got error %v, want %q", r.Rank(), err, w)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// spacesOf asks for spaces, and for a product of replicated arrays of the same extents:
// both must fail alike.
func spacesOf[T, A scalar.Scalar](a, x []int, o ops.ProductOptions) func(ctx context.Context, r dist.Proc) error {
	return func(ctx context.Context, r dist.Proc) error {
		_, _, err := ops.ProductSpaces[T, A](ctx, r, a, x, o)
		if err == nil || o.Kind == ops.ProductAsLaidOut {
			return err
		}
		aSpace, e := dist.NewSpace(ctx, r, dist.Replicated, a...)
		if e != nil {
			return e
		}
		xSpace, e := dist.NewSpace(ctx, r, dist.Replicated, x...)
		if e != nil {
			return e
		}
		matrix, e := dist.New[A](aSpace)
		if e != nil {
			return e
		}
		_, e = ops.Product[T](ctx, matrix, xSpace, o)
		if e == nil {
			return errors.New("the product was made")
		}
		if _, text, _ := strings.Cut(e.Error(), "product: "); !strings.HasSuffix(err.Error(), text) {
			return fmt.Errorf("the product says %v, and the spaces %v", e, err)
		}
		return err
	}
}

// A matrix in 32 bits is widened exactly, part by part, whatever part fits.
func TestNarrowParts(t *testing.T) {
	for _, dims := range [][2][]int{{{700, 800}, {800, 3}}, {{9, 300, 200}, {9, 200, 2}}, {{2, 3, 90_000}, {2, 90_000}}} {
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, dist.Split(0), dims[1]...)
			if err != nil {
				return err
			}
			s, err := x.Like(dist.Split(0), dims[0]...)
			if err != nil {
				return err
			}
			narrow, err := dist.Random[float32](ctx, s, 1)
			if err != nil {
				return err
			}
			host, err := narrow.Host()
			if err != nil {
				return err
			}
			same := make([]float64, len(host))
			for i, v := range host {
				same[i] = float64(v)
			}
			wide, err := dist.FromBlock(ctx, s, same)
			if err != nil {
				return err
			}
			a, err := ops.Product[float64](ctx, narrow, x, ops.ProductOptions{})
			if err != nil {
				return err
			}
			b, err := ops.Product[float64](ctx, wide, x, ops.ProductOptions{})
			if err != nil {
				return err
			}
			return errors.Join(optest.Dot(ctx, a), alike(ctx, a, b, 1e-12))
		})
		if err != nil {
			t.Errorf("%v: %v", dims, err)
		}
	}
}

// poorDevice lacks all kernels of float64 that a device may lack.
type poorDevice struct{ device.Device }

func (d poorDevice) Kernels(dt scalar.DType) any {
	if k, ok := d.Device.Kernels(dt).(device.Kernels[float64]); ok {
		return struct{ device.Kernels[float64] }{k}
	}
	return d.Device.Kernels(dt)
}

// A device that cannot widen is an error that names the kernel.
func TestNarrowWithoutKernel(t *testing.T) {
	err := testdevices.On(t.Context(), "host", 2, func(ctx context.Context, r dist.Proc) error {
		r, err := dist.NewProc(ctx, r.Comm, poorDevice{r.Device})
		if err != nil {
			return err
		}
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 4, 3)
		if err != nil {
			return err
		}
		a, err := dist.New[float32](x)
		if err != nil {
			return err
		}
		x, err = dist.NewSpace(ctx, r, dist.Layout{}, 3, 2)
		if err != nil {
			return err
		}
		_, err = ops.Product[float64](ctx, a, x, ops.ProductOptions{})
		if !errors.Is(err, device.ErrUnsupported) || !strings.Contains(err.Error(), "kernel Widen of float32") {
			return fmt.Errorf("got error %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// alike compares two operators, forward and back.
func alike(ctx context.Context, a, b op[float64], tol float64) error {
	for _, way := range []struct {
		from, to *dist.Space
		f, g     func(context.Context, dist.Array[float64], dist.Array[float64]) error
	}{{a.Domain(), a.Range(), a.Forward, b.Forward}, {a.Range(), a.Domain(), a.Adjoint, b.Adjoint}} {
		x, err := dist.Random[float64](ctx, way.from, 3)
		if err != nil {
			return err
		}
		var y [2][]float64
		for i, f := range []func(context.Context, dist.Array[float64], dist.Array[float64]) error{way.f, way.g} {
			to, err := dist.New[float64](way.to)
			if err != nil {
				return err
			}
			if err := f(ctx, to, x); err != nil {
				return err
			}
			if y[i], err = to.Host(); err != nil {
				return err
			}
		}
		if len(y[1]) > 0 {
			if err := near(y[0], y[1], tol); err != nil {
				return errors.New("the operators differ")
			}
		}
	}
	return nil
}
