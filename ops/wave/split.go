package wave

import (
	"context"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// KirchhoffBySource returns Kirchhoff modelling with the traces spread over ranks.
// The image is replicated. Data are sources × receivers × samples. Ranks are a grid
// over sources and receivers: that grid which gives no rank many more traces than
// another. Forward sends nothing, the adjoint adds up one image over the ranks. It is
// collective. All ranks give the whole survey.
func KirchhoffBySource[T scalar.Scalar](ctx context.Context, r dist.Proc, k KirchhoffOptions) (linop.Operator[T], error) {
	return newKirchhoff[T](ctx, r, k, func() split {
		grid := traceGrid(len(k.Sources), len(k.Receivers), r.Size())
		s := split{data: dist.Layout{Grid: grid[:], Axes: []int{0, 1}}, image: dist.Replicated, sumImage: true}
		for i := range r.Size() {
			p := whole(k)
			p.sources = share(len(k.Sources), grid[0], i/grid[1])
			p.receivers = share(len(k.Receivers), grid[1], i%grid[1])
			s.parts = append(s.parts, p)
		}
		return s
	})
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
	return newKirchhoff[T](ctx, r, k, func() split {
		s := split{data: dist.Replicated, sumData: true}
		for i := range r.Size() {
			p := whole(k)
			p.rows = share(k.Times.Grid().rows(), r.Size(), i)
			s.parts = append(s.parts, p)
		}
		return s
	})
}

// split says how the work is spread over ranks.
type split struct {
	data, image       dist.Layout
	parts             []part // of all ranks
	sumData, sumImage bool   // over the ranks
}

// part is the work of one rank.
type part struct{ sources, receivers, rows run }

// run is things lo to hi of a list.
type run struct{ lo, hi int }

func (r run) len() int { return r.hi - r.lo }

// whole returns all work.
func whole(k KirchhoffOptions) part {
	return part{run{0, len(k.Sources)}, run{0, len(k.Receivers)}, run{0, k.Times.Grid().rows()}}
}

// share returns part i of n things that are split over parts as a dist.Layout splits
// rows.
func share(n, parts, i int) run {
	var r run
	for _, c := range dist.Balanced(n, parts)[:i+1] {
		r = run{r.hi, r.hi + c}
	}
	return r
}

// traceGrid returns the grid of ranks whose largest part of sources × receivers is
// smallest. If several are, it has the most rows.
func traceGrid(sources, receivers, ranks int) (grid [2]int) {
	least := 0
	for rows := ranks; rows > 0; rows-- {
		if ranks%rows != 0 {
			continue
		}
		cols := ranks / rows
		most := (sources + rows - 1) / rows * ((receivers + cols - 1) / cols)
		if grid[0] == 0 || most < least {
			grid, least = [2]int{rows, cols}, most
		}
	}
	return grid
}
