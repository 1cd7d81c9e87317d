package wave_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/linop/optest"
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
)

// small is an acquisition over a small grid, of two or three dimensions.
func small(dims int) (wave.KirchhoffOptions, error) {
	g := wave.Grid{X: wave.Axis{N: 11, Step: 4}, Z: wave.Axis{N: 9, Step: 4}}
	if dims == 3 {
		g.Y = wave.Axis{N: 3, Step: 5}
	}
	c, err := wave.NewConstant(g, 1000)
	k := wave.KirchhoffOptions{Times: c, Samples: 40, Interval: 0.004, Wavelet: []float64{-0.2, 1, -0.3, 0.1}, Centre: 1}
	for i := range 5 {
		k.Sources = append(k.Sources, wave.Point{X: float64(9 * i), Y: 3, Z: 1})
	}
	for i := range 3 {
		k.Receivers = append(k.Receivers, wave.Point{X: float64(13 * i), Y: 1, Z: 2})
	}
	return k, err
}

func dotTests[T scalar.Scalar](ctx context.Context, r dist.Proc, dims int) error {
	k, err := small(dims)
	if err != nil {
		return err
	}
	one, err := wave.Kirchhoff[T](ctx, r.Alone(), k)
	if err != nil {
		return err
	}
	bySource, err := wave.KirchhoffBySource[T](ctx, r, k)
	if err != nil {
		return err
	}
	byModel, err := wave.KirchhoffByModel[T](ctx, r, k)
	if err != nil {
		return err
	}
	for _, op := range []linop.Operator[T]{one, bySource, byModel} {
		if err := errors.Join(optest.Dot(ctx, op), optest.Refuses(ctx, op)); err != nil {
			return err
		}
	}
	return same(ctx, one, bySource, byModel)
}

// same checks that all ways to spread the work model the same data.
func same[T scalar.Scalar](ctx context.Context, ops ...linop.Operator[T]) error {
	var want []T
	for i, op := range ops {
		x, err := dist.Random[T](ctx, op.Domain(), 5)
		if err != nil {
			return err
		}
		y, err := linop.Apply(ctx, op, x)
		if err != nil {
			return err
		}
		got, err := dist.AllGather(ctx, y)
		if err != nil {
			return err
		}
		if i == 0 {
			want = got
		}
		for j := range want {
			d := scalar.Complex(got[j] - want[j])
			if real(d)*real(d)+imag(d)*imag(d) > 1e-9 {
				return fmt.Errorf("way %d: sample %d is %v, want %v", i, j, got[j], want[j])
			}
		}
	}
	return nil
}

func TestDevices(t *testing.T) {
	testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
		for _, ranks := range []int{1, 2} {
			err := p.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				err := errors.Join(dotTests[float32](ctx, r, 2), dotTests[complex128](ctx, r, 2))
				if err != nil || p.Slow {
					return err
				}
				return errors.Join(dotTests[float64](ctx, r, 3), dotTests[complex64](ctx, r, 3))
			})
			if err != nil {
				t.Errorf("ranks=%d: %v", ranks, err)
			}
		}
	})
}

func TestKirchhoff(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7} {
		for _, dims := range []int{2, 3} {
			err := testdevices.Local(t.Context(), ranks, func(ctx context.Context, r dist.Proc) error {
				return errors.Join(dotTests[float32](ctx, r, dims), dotTests[float64](ctx, r, dims),
					dotTests[complex64](ctx, r, dims), dotTests[complex128](ctx, r, dims))
			})
			if err != nil {
				t.Errorf("ranks=%d/dims=%d: %v", ranks, dims, err)
			}
		}
	}
}

// stopping is weights that call stop when the first aperture is asked for.
type stopping struct{ stop func() }

func (stopping) Source(*[2][]float64, wave.Point, []float64) error   { return nil }
func (stopping) Receiver(*[2][]float64, wave.Point, []float64) error { return nil }
func (s stopping) Aperture(_, _ wave.Point) ([]float64, error)       { s.stop(); return nil, nil }

// The end of ctx ends the making of weights, pair by pair too.
func TestKirchhoffStops(t *testing.T) {
	why := errors.New("enough")
	err := testdevices.Local(t.Context(), 1, func(ctx context.Context, r dist.Proc) error {
		k, err := small(2)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(ctx)
		k.Weights = stopping{func() { cancel(why) }}
		_, err = wave.Kirchhoff[float64](ctx, r.Alone(), k)
		return err
	})
	if !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}
