package wave

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// KirchhoffBySource returns Kirchhoff modelling with the sources spread evenly over
// ranks. The image is replicated. Data are sources × receivers × samples, split
// along the first axis. Forward sends nothing, the adjoint adds up one image over
// the ranks. It is collective. All ranks give the whole survey.
func KirchhoffBySource[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions) (linop.Operator[T], error) {
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", k.Validate(), k); err != nil {
		return nil, err
	}
	rows := k.Times.Grid().rows()
	lo, hi := share(len(k.Sources), r)
	k.Sources = k.Sources[lo:hi]
	blocks, err := block[T](ctx, r, hi > lo, k, 0, rows)
	if err != nil {
		return nil, err
	}
	return linop.VStackRanks(ctx, r, blocks...)
}

// KirchhoffByModel returns Kirchhoff modelling with the image spread evenly over
// ranks along its first axis. Data are sources × receivers × samples, replicated.
// Forward adds up data over the ranks, the adjoint sends nothing. It is collective.
// All ranks give the whole survey.
//
// It fits tables that one rank cannot hold. A rank computes the times of its rows
// alone if Times is a RowTimes and there are no Weights. Otherwise each of its
// threads needs memory for the times and weights of one point on the whole grid.
func KirchhoffByModel[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions) (linop.Operator[T], error) {
	if err := dist.Agree(ctx, r.Comm, "wave: kirchhoff", k.Validate(), k); err != nil {
		return nil, err
	}
	lo, hi := share(k.Times.Grid().rows(), r)
	blocks, err := block[T](ctx, r, hi > lo, k, lo, hi)
	if err != nil {
		return nil, err
	}
	return linop.HStackRanks(ctx, r, blocks...)
}

// share returns which of n things are those of this rank.
func share(n int, r dist.Proc) (lo, hi int) {
	off := dist.Offsets(dist.Balanced(n, r.Size()))
	return off[r.Rank()], off[r.Rank()+1]
}

// block returns the operator of this rank, none if it has no work, or the error of
// any rank.
func block[T scalar.Scalar](ctx context.Context, r dist.Proc, work bool, k KirchhoffOptions, lo, hi int) ([]linop.Operator[T], error) {
	var ops []linop.Operator[T]
	var err error
	if work {
		var operator makeKirchhoff[T]
		if operator, err = tablesOf[T](ctx, r, k, lo, hi); err == nil {
			ops = make([]linop.Operator[T], 1)
			ops[0], err = operator(ctx, r.Alone(), k)
		}
	}
	return ops, dist.Agree(ctx, r.Comm, "wave: kirchhoff", err)
}
