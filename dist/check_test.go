package dist_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/shape"
)

// Moves and halos refuse what other operators refuse.
func TestMovesRefuse(t *testing.T) {
	for _, ranks := range []int{1, 2} {
		onRanks(t, ranks, func(ctx context.Context, r dist.Proc) error {
			s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6, 4)
			if err != nil {
				return err
			}
			to, err := s.Like(dist.Split(1), 6, 4)
			if err != nil {
				return err
			}
			m, err := dist.NewRedistribution[float32](s, to)
			if err != nil {
				return err
			}
			h, err := dist.NewHalo[float32](s, []int{1, 2}, []int{1, 0}, true)
			if err != nil {
				return err
			}
			if err := optest.Refuses[float32, float32](ctx, m); err != nil {
				return err
			}
			return optest.Refuses[float32, float32](ctx, h)
		})
	}
}

// Check finds parts of stacks and arrays of another element type in the same
// memory, and lets neighbours pass.
func TestCheckOverlap(t *testing.T) {
	onRanks(t, 1, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6)
		if err != nil {
			return err
		}
		stack, err := dist.Stack(s, s)
		if err != nil {
			return err
		}
		again, err := dist.NewSpace(ctx, r, dist.Layout{}, 6)
		if err != nil {
			return err
		}
		block, err := array.New[complex128](r.Device, shape.Of(24))
		if err != nil {
			return err
		}
		at := func(i int) dist.Array[complex128] { return dist.Wrap(s, block.Slice(i, i+6)) }
		reals := func(i int) dist.Array[float64] {
			return dist.Wrap(s, array.Parts[float64](block.Slice(i, i+3)).Reshape(shape.Of(6)))
		}
		pair := func(i, j int) dist.Array[complex128] {
			x, err := dist.StackOf(at(i), at(j))
			if err != nil {
				panic(err)
			}
			return x
		}
		check := func(dst dist.Array[complex128], to *dist.Space, src dist.Array[complex128], from *dist.Space) error {
			return dist.Check("x", "y", &dst, to, &src, from)
		}
		for _, c := range []struct {
			name string
			err  error
			want string
		}{
			{"neighbours", check(at(0), s, at(6), s), ""},
			{"neighbours of a space made again", check(at(0), again, at(6), s), ""},
			{"the same", check(at(3), s, at(3), s), "x: y: dst and src share memory"},
			{"one element, before", check(at(0), s, at(5), again), "share memory"},
			{"one element, behind", check(at(5), s, at(0), s), "share memory"},
			{"reals behind", dist.Check("x", "y", new(at(0)), s, new(reals(6)), s), ""},
			{"reals within", dist.Check("x", "y", new(reals(5)), s, new(at(0)), s), "share memory"},
			{"stacks", check(pair(0, 6), stack, pair(12, 18), stack), ""},
			{"stacks crosswise", check(pair(0, 6), stack, pair(12, 1), stack), "share memory"},
			{"a part", check(pair(0, 6), stack, at(11), s), "share memory"},
			{"into a part", check(at(11), s, pair(0, 6), stack), "share memory"},
			{"stack for none", check(pair(0, 6), s, at(12), s), "dst is of stack{"},
			{"none for stack", check(at(0), s, at(12), stack), "src is of shape"},
			{"no space", check(at(0), nil, at(12), s), "the operator gives <nil>"},
			{"no dst", check(dist.Array[complex128]{}, nil, at(12), s), "dst is no array"},
			{"no src", check(at(0), s, dist.Array[complex128]{}, nil), "src is no array"},
		} {
			if c.want == "" && c.err != nil || c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)) {
				return fmt.Errorf("%s: got error %v, want %q", c.name, c.err, c.want)
			}
		}
		x, y, p, q := at(0), at(6), pair(0, 6), pair(12, 18)
		n := testing.AllocsPerRun(100, func() {
			_ = dist.Check("x", "y", &x, s, &y, s)
			_ = dist.Check("x", "y", &x, again, &y, again)
			_ = dist.Check("x", "y", &p, stack, &q, stack)
		})
		if n != 0 {
			return fmt.Errorf("%g allocations", n)
		}
		return nil
	})
}

// An array that was never made, or no space, is a panic that says so.
func TestZeroArray(t *testing.T) {
	onRanks(t, 1, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 4)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		red := dist.NewReduction(s, 2)
		type A = dist.Array[float64]
		var zero A
		for name, f := range map[string]func(){
			"Norm 2": func() { dist.Norm(ctx, zero, 2) }, "Norm 1": func() { dist.Norm(ctx, zero, 1) },
			"NormAlong": func() { dist.NormAlong(ctx, zero, 2, 0) },
			"Sum":       func() { dist.Sum(ctx, zero) }, "MinMax": func() { dist.MinMax(ctx, zero) },
			"Dot": func() { dist.Dot(ctx, zero, zero) }, "Dot one": func() { dist.Dot(ctx, x, zero) },
			"DotT": func() { dist.DotT(ctx, zero, x) }, "AddNorm2": func() { dist.AddNorm2(red, zero) },
			"AddDot": func() { dist.AddDot(red, zero, zero) }, "AddDot one": func() { dist.AddDot(red, x, zero) },
			"AddAxpyNorm2": func() { dist.AddAxpyNorm2(red, 1, zero, zero) }, "AddSum": func() { dist.AddSum(red, zero) },
			"AddNorm": func() { dist.AddNorm(red, zero, 2) }, "AddMinMax": func() { dist.AddMinMax(red, zero) },
			"Copy": func() { dist.Copy(zero, zero) }, "Fill": func() { dist.Fill(zero, 1) }, "Zero": func() { dist.Zero(zero) },
			"Axpby": func() { dist.Axpby(1, zero, 1, zero) }, "Combine": func() { dist.Combine(zero, 1, zero, 1, zero) },
			"Add": func() { dist.Add(zero, x, x) }, "Sub": func() { dist.Sub(x, x, zero) }, "Scale": func() { dist.Scale(zero, 1, zero) },
			"Neg": func() { dist.Neg(zero, zero) }, "Mul": func() { dist.Mul(zero, zero, zero) }, "MulConj": func() { dist.MulConj(x, zero, x) },
			"Conj": func() { dist.Conj(zero, zero) }, "Threshold": func() { dist.Threshold(zero, zero, device.SoftThreshold, 1) },
			"Gather": func() { dist.Gather(ctx, zero, 0) }, "AllGather": func() { dist.AllGather(ctx, zero) },
			"Redistribute": func() { dist.Redistribute(ctx, zero, s) }, "Redistribute to nil": func() { dist.Redistribute(ctx, x, nil) },
			"AddGhosts": func() { dist.AddGhosts(ctx, zero, []int{1}, []int{1}) },
			"Sync":      func() { zero.Sync(ctx) }, "Host": func() { zero.Host() }, "Alone": func() { zero.Alone(s) }, "Alone in nil": func() { x.Alone(nil) },
			"Reshape": func() { zero.Reshape(4) }, "Ravel": func() { zero.Ravel() },
			"Local": func() { zero.Local() }, "Part": func() { x.Part(0) }, "Part of none": func() { zero.Part(1) },
			"Leaf": func() { zero.Leaf(0) }, "NumLeaves": func() { zero.NumLeaves() },
			"New": func() { dist.New[float64](nil) }, "FromBlock": func() { dist.FromBlock(ctx, nil, []float64{1}) },
			"FromFunc": func() { dist.FromFunc(ctx, nil, func([]int) float64 { return 1 }) }, "Scatter": func() { dist.Scatter(ctx, nil, []float64{1}) },
			"Of": func() { dist.Wrap(s, array.Array[float64]{}) }, "Of nil": func() { dist.Wrap(nil, x.Local()) },
			"NewReduction": func() { dist.NewReduction(nil, 1) }, "NewRedistribution": func() { dist.NewRedistribution[float64](nil, s) }, "NewRedistribution to": func() { dist.NewRedistribution[float64](s, nil) },
			"NewHalo": func() { dist.NewHalo[float64](nil, []int{1}, []int{1}, true) },
		} {
			err := recovered(f)
			if _, ok := err.(dist.LayoutError); !ok || !strings.HasPrefix(err.Error(), "dist: ") {
				return fmt.Errorf("%s: panic %v, want a LayoutError", name, err)
			}
		}
		if _, err := dist.StackOf(zero); err == nil {
			return fmt.Errorf("a stack of an array that was never made: no error")
		}
		zero.Free()
		return nil
	})
}

func BenchmarkCheck(b *testing.B) {
	onRanks(b, 1, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 6)
		if err != nil {
			return err
		}
		again, err := dist.NewSpace(ctx, r, dist.Layout{}, 6)
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		y, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		for name, to := range map[string]*dist.Space{"same space": s, "space made again": again} {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := dist.Check("x", "forward", &x, to, &y, s); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		return nil
	})
}
