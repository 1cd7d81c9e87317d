package ops

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// axisSum is one direction of a sum of matrices along several axes.
type axisSum[T scalar.Scalar] struct {
	axes   []*axisApply[T]
	kernel device.BandedSum[T]
}

func (l *axisSum[T]) add(p *axisApply[T]) {
	l.axes = append(l.axes, p)
	l.kernel.Parts = append(l.kernel.Parts, device.BandedPart[T]{Banded: p.b, Ghost: p.ghost.Mem()})
}

// apply sets dst = Σ m·src. If the device supports it, there is one fused pass over
// memory after all ghosts have arrived. Otherwise there is one pass per axis.
func (l *axisSum[T]) apply(ctx context.Context, dst, src array.Array[T]) error {
	k, ok := dst.Kernels().(device.StencilSum[T])
	if !ok {
		for i, p := range l.axes {
			if err := p.apply(ctx, dst, src, i > 0); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range l.axes {
		if err := p.start(ctx, src); err != nil {
			return l.cancel(ctx, err)
		}
	}
	for _, p := range l.axes {
		if err := p.waitReceived(ctx); err != nil {
			return l.cancel(ctx, err)
		}
	}
	k.BandsSum(dst.Mem(), src.Mem(), &l.kernel)
	for _, p := range l.axes {
		if err := p.waitSent(ctx); err != nil {
			return l.cancel(ctx, err)
		}
	}
	return nil
}

// cancel ends the messages of all axes.
func (l *axisSum[T]) cancel(ctx context.Context, err error) error {
	for _, p := range l.axes {
		_ = p.cancel(ctx, err)
	}
	return err
}
