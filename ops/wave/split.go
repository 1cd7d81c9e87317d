package wave

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// KirchhoffBySource returns Kirchhoff modelling with the sources spread evenly over
// ranks: the image is replicated, data are split by source. Forward sends
// nothing; the adjoint adds up one image over the ranks. It is collective.
func KirchhoffBySource[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions) (linop.Operator[T], error) {
	counts := dist.Balanced(len(k.Sources), r.Size())
	lo := 0
	for _, c := range counts[:r.Rank()] {
		lo += c
	}
	var err error
	if len(k.Sources) == 0 {
		err = errors.New("no sources given")
	}
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", err, len(k.Sources), " sources, ", len(k.Receivers), " receivers, ", k.Samples, " samples"); err != nil {
		return nil, err
	}
	mine := k
	mine.Sources = k.Sources[lo : lo+counts[r.Rank()]]
	var ops []linop.Operator[T]
	if len(mine.Sources) > 0 {
		var op linop.Operator[T]
		if op, err = Kirchhoff[T](ctx, r.Alone(), mine); err == nil {
			ops = append(ops, op)
		}
	}
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", err); err != nil {
		return nil, err
	}
	return linop.VStackRanks(ctx, r, ops...)
}

// KirchhoffByModel returns Kirchhoff modelling with the image spread over ranks along
// its first axis: data are replicated. Forward adds up data over the ranks; the
// adjoint sends nothing. It fits images that one rank cannot hold. It is
// collective. times makes the travel times for the part of the grid from row lo
// to hi of its first axis.
func KirchhoffByModel[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions, g Grid, times func(lo, hi int) (TravelTimes, error)) (linop.Operator[T], error) {
	err := g.Validate()
	var rows, lo int
	if err == nil {
		counts := dist.Balanced(g.Shape()[0], r.Size())
		for _, c := range counts[:r.Rank()] {
			lo += c
		}
		rows = counts[r.Rank()]
	}
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", err, g.Shape(), len(k.Sources), " sources, ", len(k.Receivers), " receivers, ", k.Samples, " samples"); err != nil {
		return nil, err
	}
	var ops []linop.Operator[T]
	if rows > 0 {
		if k.Times, err = times(lo, lo+rows); err == nil && k.Times.Grid().Shape()[0] != rows {
			err = fmt.Errorf("travel times for rows %d to %d have %d rows", lo, lo+rows, k.Times.Grid().Shape()[0])
		}
		var op linop.Operator[T]
		if err == nil {
			op, err = Kirchhoff[T](ctx, r.Alone(), k)
		}
		ops = append(ops, op)
	}
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", err); err != nil {
		return nil, err
	}
	return linop.HStackRanks(ctx, r, ops...)
}
