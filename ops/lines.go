package ops

import (
	"context"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// lines are one direction of a sum of matrices along several axes.
type lines[T scalar.Scalar] struct {
	each []*line[T]
	all  device.BandedSum[T]
}

func (l *lines[T]) add(p *line[T]) {
	l.each = append(l.each, p)
	l.all.Parts = append(l.all.Parts, device.BandedPart[T]{Banded: p.b, Ghost: p.ghost.Mem()})
}

// run sets dst = Σ m·src: in one pass over memory where the device can, with the
// rows of others along all axes at hand, and otherwise in one for each axis.
func (l *lines[T]) run(ctx context.Context, dst, src array.Array[T]) error {
	k, ok := dst.Kernels().(device.StencilSum[T])
	if !ok {
		for i, p := range l.each {
			if err := p.run(ctx, dst, src, i > 0); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range l.each {
		if err := p.post(ctx, src); err != nil {
			return l.giveUp(ctx, err)
		}
	}
	for _, p := range l.each {
		if err := p.arrive(ctx); err != nil {
			return l.giveUp(ctx, err)
		}
	}
	k.BandsSum(dst.Mem(), src.Mem(), &l.all)
	for _, p := range l.each {
		if err := p.leave(ctx); err != nil {
			return l.giveUp(ctx, err)
		}
	}
	return nil
}

// giveUp ends the messages of all axes. Those of an earlier call are done.
func (l *lines[T]) giveUp(ctx context.Context, err error) error {
	for _, p := range l.each {
		_ = p.giveUp(ctx, err)
	}
	return err
}
