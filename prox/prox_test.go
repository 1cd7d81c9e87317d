package prox_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/mpirun"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/prox/proxtest"
	"github.com/golops/golops/scalar"
)

// homes are layouts: whole, split evenly and not, by a grid, partly and fully
// replicated, and with a mask.
var homes = []struct {
	ranks  int
	layout dist.Layout
	dims   []int
}{
	{1, dist.Layout{}, []int{3, 4, 5}},
	{2, dist.Layout{}, []int{11}},
	{3, dist.Layout{Counts: [][]int{{1, 0, 6}}}, []int{7, 5}},
	{4, dist.Layout{Grid: []int{2, 2}, Axes: []int{dist.NoAxis, 0}}, []int{7, 3, 2}},
	{3, dist.Replicated, []int{6, 4}},
	{4, dist.Layout{Grid: []int{2, 2}}, []int{7, 5}},
	{4, dist.Layout{Mask: []int{0, 1, 0, 1}}, []int{9, 2}},
}

// each runs f for every form on a space.
func each[T scalar.Scalar](ctx context.Context, x *dist.Space, gpu bool, f func(form[T], prox.Function[T]) error) error {
	var errs []error
	for _, m := range forms[T]() {
		if m.realOnly && scalar.Of[T]().IsComplex() || m.notFor(x) {
			continue
		}
		fn, err := m.make(ctx, x)
		switch {
		case m.hostOnly && gpu:
			if !errors.Is(err, device.ErrUnsupported) || !strings.Contains(err.Error(), "kernel SVD") {
				return fmt.Errorf("%s: error %v on a GPU, want one that names the kernel", m.name, err)
			}
			continue
		case err == nil:
			err = f(m, fn)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err))
		}
	}
	return errors.Join(errs...)
}

// notFor reports whether a function is not for a layout: whole matrices, and an
// operator that sends messages between ranks of different colors.
func (m form[T]) notFor(x *dist.Space) bool {
	n := x.Shape().NDim()
	if strings.HasPrefix(m.name, "Nuclear") {
		a, _ := x.SplitBy(n - 1)
		b, _ := x.SplitBy(n - 2)
		return n < 2 || a != dist.NoAxis || b != dist.NoAxis
	}
	return x.Layout().Mask != nil && (m.name == "TV" || m.name == "L2Operator" || m.name == "Quadratic")
}

// suite runs the exported suite over every function.
func suite[T scalar.Scalar](ctx context.Context, x *dist.Space) error {
	return each(ctx, x, testdevices.OnGPU(), func(m form[T], f prox.Function[T]) error {
		return proxtest.AllWith(ctx, m.config, f, f.Space())
	})
}

func TestSuite(t *testing.T) {
	for i, h := range homes {
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
			if err != nil {
				return err
			}
			if i%2 == 0 {
				return errors.Join(suite[float64](ctx, x), suite[complex64](ctx, x))
			}
			return errors.Join(suite[float32](ctx, x), suite[complex128](ctx, x))
		})
		if err != nil {
			t.Errorf("ranks=%d/shape=%v/layout=%+v: %v", h.ranks, h.dims, h.layout, err)
		}
	}
}

// same wants the proxes, values and gradients of all functions to be those of one rank.
func same[T scalar.Scalar](ctx context.Context, x *dist.Space, gpu bool, seed uint64) error {
	alone := must(dist.NewSpace(ctx, x.Proc().Alone(), dist.Layout{}, x.Shape().Dims()...))
	var refs []prox.Function[T]
	err := each(ctx, alone, gpu, func(_ form[T], f prox.Function[T]) error { refs = append(refs, f); return nil })
	if err != nil {
		return err
	}
	tol := 1e-9
	if is32[T]() {
		tol = 1e-3
	}
	return each(ctx, x, gpu, func(m form[T], f prox.Function[T]) error {
		var ref prox.Function[T]
		for i, g := range refs {
			if g.Space().Size() == f.Space().Size() && strings.HasPrefix(g.String(), strings.Split(f.String(), " of ")[0]+" of") {
				ref, refs = g, append(refs[:i:i], refs[i+1:]...)
				break
			}
		}
		if ref == nil {
			return errors.New("no function of one rank")
		}
		got, v, err := results(ctx, f, seed)
		if err != nil {
			return err
		}
		want, w, err := results(ctx, ref, seed)
		if err != nil {
			return err
		}
		if math.Abs(v-w) > max(tol, m.config.Tol)*(1+math.Abs(w)) {
			return fmt.Errorf("the value is %.15g, on one rank %.15g", v, w)
		}
		for i := range want {
			if d := scalar.Complex(got[i] - want[i]); math.Hypot(real(d), imag(d)) > max(tol, m.config.Tol)*10 {
				return fmt.Errorf("element %d of the prox is %v, on one rank %v", i, got[i], want[i])
			}
		}
		return nil
	})
}

// results returns all elements of a prox and the value there.
func results[T scalar.Scalar](ctx context.Context, f prox.Function[T], seed uint64) (all []T, v float64, err error) {
	x, err := dist.Random[T](ctx, f.Space(), seed)
	if err == nil {
		dist.Scale(x, scalar.From[T](2), x)
		err = f.Prox(ctx, x, 0.6, x)
	}
	if err == nil {
		v, err = f.Value(ctx, x)
	}
	if err != nil {
		return nil, 0, err
	}
	for i := range x.NumLeaves() {
		part, err := dist.AllGather(ctx, x.Leaf(i))
		if err != nil {
			return nil, 0, err
		}
		all = append(all, part...)
	}
	return all, v, nil
}

// TestSameOnAllRanks runs the homes as they are, then random shapes on them.
func TestSameOnAllRanks(t *testing.T) {
	for k := range soak.Or(12, 1000) {
		h, seed, dims := homes[k%len(homes)], rand.Uint64(), homes[k%len(homes)].dims
		if h.layout.Mask != nil {
			continue
		}
		if rng := rand.New(rand.NewPCG(seed, 1)); k >= len(homes) && h.layout.Counts == nil {
			dims = slices.Clone(dims)
			for i := range dims {
				dims[i] = 1 + rng.IntN(8)
			}
		}
		err := testdevices.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
			x, err := dist.NewSpace(ctx, r, h.layout, dims...)
			if err != nil {
				return err
			}
			if k%2 == 0 {
				return errors.Join(same[float64](ctx, x, testdevices.OnGPU(), seed), same[complex64](ctx, x, testdevices.OnGPU(), seed))
			}
			return errors.Join(same[float32](ctx, x, testdevices.OnGPU(), seed), same[complex128](ctx, x, testdevices.OnGPU(), seed))
		})
		if err != nil {
			t.Errorf("seed %d, ranks=%d/shape=%v/layout=%+v: %v", seed, h.ranks, dims, h.layout, err)
		}
	}
}

// Functions do the same on devices of other kinds.
func TestDevices(t *testing.T) {
	const seed = 77
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for i, h := range homes[:4] {
			if p.Slow && i != 1 {
				continue
			}
			err := p.Local(t.Context(), h.ranks, func(ctx context.Context, r dist.Proc) error {
				x, err := dist.NewSpace(ctx, r, h.layout, h.dims...)
				if err != nil {
					return err
				}
				if p.Slow {
					return errors.Join(same[float32](ctx, x, true, seed), same[complex64](ctx, x, true, seed))
				}
				return errors.Join(same[float64](ctx, x, true, seed), same[complex64](ctx, x, true, seed))
			})
			if err != nil {
				t.Errorf("ranks=%d/shape=%v: %v", h.ranks, h.dims, err)
			}
		}
	})
}

const childVar = "GOLOPS_PROX_CHILD"

// TestMain lets a copy of this program, started by mpirun, be a rank.
func TestMain(m *testing.M) {
	if os.Getenv(childVar) == "" {
		os.Exit(m.Run())
	}
	err := testdevices.World(context.Background(), launch.Config{Checked: true}, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
		if err != nil {
			return err
		}
		return errors.Join(same[float64](ctx, x, testdevices.OnGPU(), 77), same[complex64](ctx, x, testdevices.OnGPU(), 77))
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED", err)
		os.Exit(1)
	}
}

func TestUnderMPI(t *testing.T) {
	mpirun.Each(t, []string{"openmpi", "mpich"}, func(t *testing.T, m mpirun.MPI) {
		c := m.Command(t.Context(), 2, os.Args[0])
		c.Env = append(c.Env, childVar+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
