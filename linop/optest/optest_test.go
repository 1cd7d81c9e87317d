package optest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/golops/golops/array"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/scalar"
)

const rows = 11

// half is one way of an operator.
type half[T scalar.Scalar] func(dst, src dist.Array[T])

func space(ctx context.Context, r dist.Proc) (*dist.Space, error) {
	counts := make([]int, r.Size())
	counts[0] = 4
	counts[r.Size()-1] += rows - 4
	return dist.NewSpace(ctx, r, dist.Layout{Counts: [][]int{counts}}, rows)
}

func operator[T scalar.Scalar](ctx context.Context, r dist.Proc, forward, adjoint half[T]) (linop.Operator[T], error) {
	s, err := space(ctx, r)
	if err != nil {
		return nil, err
	}
	way := func(h half[T]) func(context.Context, dist.Array[T], dist.Array[T]) error {
		return func(_ context.Context, dst, src dist.Array[T]) error {
			h(dst, src)
			return nil
		}
	}
	return linop.Func("test: functions", s, s, way(forward), way(adjoint))
}

// times multiplies by c.
func times[T scalar.Scalar](c complex128) half[T] {
	v := scalar.From[T](c)
	return func(dst, src dist.Array[T]) { dist.Scale(dst, v, src) }
}

var sink []byte

// The ways in which an operator can be wrong, each as its forward or adjoint.
func allocate[T scalar.Scalar](dst, src dist.Array[T]) {
	sink = make([]byte, 100)
	dist.Copy(dst, src)
}

func accumulate[T scalar.Scalar](dst, src dist.Array[T]) { dist.Axpby(1, src, 1, dst) }

// forget leaves the last element of the last rank as it is.
func forget[T scalar.Scalar](dst, src dist.Array[T]) {
	n := dst.Local().Len()
	if c := dst.Space().Comm(); c.Rank() == c.Size()-1 {
		n--
	}
	array.Copy(dst.Local().Slice(0, n), src.Local().Slice(0, n))
}

func spoil[T scalar.Scalar](dst, src dist.Array[T]) {
	dist.Copy(dst, src)
	dist.Scale(src, 2, src)
}

func shift[T scalar.Scalar](dst, src dist.Array[T]) {
	dist.Fill(dst, 1)
	dist.Axpby(1, src, 1, dst)
}

func square[T scalar.Scalar](dst, src dist.Array[T]) { dist.Mul(dst, src, src) }

// realPart keeps the real part, which is linear over the real numbers only.
func realPart[T scalar.Scalar](dst, src dist.Array[T]) {
	dist.Conj(dst, src)
	dist.Combine(dst, scalar.From[T](0.5), src, scalar.From[T](0.5), dst)
}

// onHost sets dst = f(src), element by element.
func onHost[T scalar.Scalar](dst, src dist.Array[T], f func(T) T) {
	h, err := src.Host()
	for i, v := range h {
		h[i] = f(v)
	}
	if err = errors.Join(err, dst.Local().CopyIn(h)); err != nil {
		panic(err)
	}
}

// lax is an operator that takes what it gets.
type lax struct{ linop.Spaces }

func (lax) Forward(_ context.Context, dst, src dist.Array[float64]) error {
	n := min(dst.Local().Len(), src.Local().Len())
	array.Copy(dst.Local().Slice(0, n), src.Local().Slice(0, n))
	return nil
}

func (l lax) Adjoint(ctx context.Context, dst, src dist.Array[float64]) error {
	return l.Forward(ctx, dst, src)
}

// strict checks before it does the same.
type strict struct{ lax }

func (s strict) Forward(ctx context.Context, dst, src dist.Array[float64]) error {
	if err := dist.Check("strict", "forward", &dst, s.Rng, &src, s.Dom); err != nil {
		return err
	}
	return s.lax.Forward(ctx, dst, src)
}

func (s strict) Adjoint(ctx context.Context, dst, src dist.Array[float64]) error {
	if err := dist.Check("strict", "adjoint", &dst, s.Dom, &src, s.Rng); err != nil {
		return err
	}
	return s.lax.Adjoint(ctx, dst, src)
}

// half of it checks.
type halfStrict struct{ strict }

func (h halfStrict) Adjoint(ctx context.Context, dst, src dist.Array[float64]) error {
	return h.lax.Adjoint(ctx, dst, src)
}

func TestRefuses(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
			s, err := space(ctx, r)
			if err != nil {
				return err
			}
			l := lax{linop.Spaces{Dom: s, Rng: s}}
			if err := optest.Refuses[float64, float64](ctx, l); err == nil || !strings.Contains(err.Error(), "refusing by forward") {
				return fmt.Errorf("an operator that checks nothing: got error %v", err)
			}
			for _, want := range []string{"panic instead of an error", "no error", "was written to", "in the memory of dst"} {
				if err := optest.Refuses[float64, float64](ctx, l); ranks == 1 && !strings.Contains(err.Error(), want) {
					return fmt.Errorf("an operator that checks nothing: error %q, want %q", err, want)
				}
			}
			if err := optest.Refuses[float64, float64](ctx, halfStrict{strict{l}}); err == nil || !strings.Contains(err.Error(), "refusing by adjoint") {
				return fmt.Errorf("an adjoint that checks nothing: got error %v", err)
			}
			return optest.Refuses[float64, float64](ctx, strict{l})
		})
		if err != nil {
			t.Errorf("ranks=%d: %v", ranks, err)
		}
	}
}

func checks[T scalar.Scalar](ctx context.Context, r dist.Proc) error {
	good := times[T](1)
	phase := times[T](0.5 + 2i)
	for _, c := range []struct {
		name             string
		forward, adjoint half[T]
		fails            string // a check that must fail, "" for none
		only             bool   // for complex elements
	}{
		{"identity", good, good, "", false},
		{"complex factor", phase, times[T](0.5 - 2i), "", false},
		{"wrong factor", times[T](2), times[T](3), "dot test: ⟨Au,v⟩", false},
		{"sign", times[T](2), times[T](-2), "dot test: ⟨Au,v⟩", false},
		{"no conjugate", phase, phase, "dot test: ⟨Au,v⟩", true},
		{"allocating", allocate[T], good, "allocations of forward", false},
		{"allocating adjoint", good, allocate[T], "allocations of adjoint", false},
		{"accumulating", accumulate[T], good, "overwriting by forward", false},
		{"accumulating adjoint", good, accumulate[T], "overwriting by adjoint", false},
		{"forgetful", forget[T], forget[T], "overwriting by forward", false},
		{"spoiling", spoil[T], good, "overwriting by forward", false},
		{"spoiling adjoint", good, spoil[T], "overwriting by adjoint", false},
		{"shifting", shift[T], good, "linearity of forward", false},
		{"squaring adjoint", good, square[T], "linearity of adjoint", false},
		{"real part", realPart[T], realPart[T], "linearity of forward", true},
	} {
		op, err := operator(ctx, r, c.forward, c.adjoint)
		if err != nil {
			return err
		}
		want := c.fails
		if c.only && !scalar.Of[T]().IsComplex() {
			want = ""
		}
		err = optest.All(ctx, op)
		switch {
		case want == "" && err != nil:
			return fmt.Errorf("%s: %w", c.name, err)
		case want != "" && err == nil:
			return fmt.Errorf("%s on rank %d: no error, want %q", c.name, r.Rank(), want)
		case want != "" && !strings.Contains(err.Error(), want):
			return fmt.Errorf("%s on rank %d: error %q, want %q", c.name, r.Rank(), err, want)
		}
		if c.name == "real part" {
			if err := optest.AllWith(ctx, optest.DotConfig{Real: true, Seed: 5}, op); err != nil {
				return fmt.Errorf("%s over the real numbers: %w", c.name, err)
			}
		}
	}
	return nil
}

func TestChecks(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 4}[:soak.Or(4, 5)] {
		for _, c := range []struct {
			name string
			prog launch.Program
		}{{"float32", checks[float32]}, {"float64", checks[float64]}, {"complex64", checks[complex64]}, {"complex128", checks[complex128]}} {
			t.Run(fmt.Sprintf("ranks=%d/%s", n, c.name), func(t *testing.T) {
				if err := testdevices.Local(t.Context(), n, c.prog); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// on runs a program on three ranks.
func on(t *testing.T, prog launch.Program) {
	t.Helper()
	if err := testdevices.Local(t.Context(), 3, prog); err != nil {
		t.Error(err)
	}
}

// wants returns an error unless err says all of the words.
func wants(err error, words ...string) error {
	if err == nil {
		return fmt.Errorf("no error, want %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			return fmt.Errorf("error %q does not say %q", err, w)
		}
	}
	return nil
}

// The error of a dot test has what is needed to repeat it.
func TestDotText(t *testing.T) {
	on(t, func(ctx context.Context, r dist.Proc) error {
		op, err := operator(ctx, r, times[float64](2), times[float64](3))
		if err != nil {
			return err
		}
		err = optest.DotWith(ctx, optest.DotConfig{Seed: 77}, op)
		if err := wants(err, "seed 77", "shape [11], axis 0 split [4 0 7]", "⟨u,Aᴴv⟩"); err != nil {
			return err
		}
		if err := optest.DotWith(ctx, optest.DotConfig{Tol: 1}, op); err != nil {
			return fmt.Errorf("with a tolerance of 1: %w", err)
		}
		op, err = operator(ctx, r, times[float64](1e-13), times[float64](0)) // such as rounding leaves of zero
		if err != nil {
			return err
		}
		if err := optest.DotWith(ctx, optest.DotConfig{Norm: 1}, op); err != nil {
			return fmt.Errorf("rounding of an operator of norm 1: %w", err)
		}
		if err := wants(optest.DotWith(ctx, optest.DotConfig{Norm: 1e-3}, op), "they differ"); err != nil {
			return err
		}
		return wants(optest.Dot[float64, float64](ctx, nil), "nil")
	})
}

// An operator that fails on one rank fails the checks of all.
func TestErrorsReachAll(t *testing.T) {
	on(t, func(ctx context.Context, r dist.Proc) error {
		s, err := space(ctx, r)
		if err != nil {
			return err
		}
		fail := func(_ context.Context, dst, src dist.Array[float64]) error {
			dist.Copy(dst, src)
			if r.Rank() == 1 {
				return fmt.Errorf("no ink")
			}
			return nil
		}
		op, err := linop.Func("test: functions", s, s, fail, fail)
		if err != nil {
			return err
		}
		return wants(optest.Dot(ctx, op), "rank 1", "no ink")
	})
}

func TestMatchesDense(t *testing.T) {
	on(t, func(ctx context.Context, r dist.Proc) error {
		op, err := operator(ctx, r, times[complex128](2i), times[complex128](-2i))
		if err != nil {
			return err
		}
		m := make([]complex128, rows*rows)
		for i := range rows {
			m[i*rows+i] = 2i
		}
		if err := optest.MatchesDense(ctx, op, m); err != nil {
			return err
		}
		m[5*rows+6] = 1e-6
		if err := wants(optest.MatchesDense(ctx, op, m), "forward", "element 5"); err != nil {
			return err
		}
		m[5*rows+6] = 0
		if err := wants(optest.MatchesDense(ctx, op, m[1:]), "120 elements", "11 rows"); err != nil {
			return err
		}
		op, err = operator(ctx, r, times[complex128](2i), times[complex128](2i))
		if err != nil {
			return err
		}
		return wants(optest.MatchesDense(ctx, op, m), "adjoint", "element 0")
	})
}

// narrow works in 32 bits, whole in integers.
func narrow(dst, src dist.Array[float64]) {
	onHost(dst, src, func(v float64) float64 { return float64(float32(v)) })
}

func whole(dst, src dist.Array[float32]) {
	onHost(dst, src, func(v float32) float32 { return float32(int(1000*v)) / 1000 })
}

func TestKeepsType(t *testing.T) {
	on(t, func(ctx context.Context, r dist.Proc) error {
		good64, bad64 := times[float64](1), half[float64](narrow)
		good32, bad32 := times[float32](1), half[float32](whole)
		for _, c := range []struct {
			f32, a32 half[float32]
			f64, a64 half[float64]
			want     []string
		}{
			{good32, good32, good64, good64, nil},
			{bad32, good32, good64, good64, []string{"forward", "32-bit result differs"}},
			{good32, bad32, good64, good64, []string{"adjoint", "32-bit result differs"}},
			{good32, good32, bad64, good64, []string{"forward", "digits beyond 32 bits are lost"}},
			{good32, good32, good64, bad64, []string{"adjoint", "digits beyond 32 bits are lost"}},
		} {
			op32, err := operator(ctx, r, c.f32, c.a32)
			if err != nil {
				return err
			}
			op64, err := operator(ctx, r, c.f64, c.a64)
			if err != nil {
				return err
			}
			err = optest.KeepsType(ctx, op32, op64)
			if c.want == nil && err != nil {
				return err
			}
			if c.want != nil {
				if err := wants(err, c.want...); err != nil {
					return err
				}
			}
			if err := wants(optest.KeepsType(ctx, op64, op32), "give the 32-bit one first"); err != nil {
				return err
			}
		}
		return nil
	})
}
