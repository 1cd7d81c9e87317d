package ops

import (
	"slices"

	"github.com/golops/golops/cost"
	"github.com/golops/golops/dist"
)

// letter is what an axis of the grid splits: a letter of
//
//	Y[b,i,k] = Σⱼ A[b,i,j]·X[b,j,k].
type letter rune

const (
	copied       letter = cost.Copied // nothing: ranks along the axis hold the same
	batchLetter  letter = 'b'
	rowLetter    letter = 'i'
	depthLetter  letter = 'j'
	columnLetter letter = 'k'
)

// productLayout says, for each axis of the grid, how it splits A, X and Y and what
// follows. A has b axes of batches.
type productLayout struct {
	b       int
	grid    []int
	a, x, y []int // the array axis that each grid axis splits, or dist.NoAxis

	aTravels, xTravels int // the grid axis along which panels of A or X travel, or dist.NoAxis
	// Ranks along these grid axes take the panels of j that they have of A, or of X, or a
	// part of all.
	byA, byX, shared []int
	sum, sumBack     []int // grid axes over which the forward product sums Y, and the adjoint X
}

// letterOfA, letterOfX and letterOfY return the letter of an array axis.
func (l *productLayout) letterOfA(axis int) letter { return l.letterOf(axis, rowLetter, depthLetter) }
func (l *productLayout) letterOfX(axis int) letter {
	return l.letterOf(axis, depthLetter, columnLetter)
}
func (l *productLayout) letterOfY(axis int) letter { return l.letterOf(axis, rowLetter, columnLetter) }

// letterOf returns the letter of an axis of an array that has at behind its batches.
func (l *productLayout) letterOf(axis int, at, behind letter) letter {
	switch {
	case axis == dist.NoAxis:
		return copied
	case axis < l.b:
		return batchLetter
	case axis == l.b:
		return at
	}
	return behind
}

// readProduct reads the layouts of A and X. Where they do not fit each other, it
// returns the layout that A or X must have instead. share lets ranks that hold the
// same of both share the sum.
func readProduct(b int, a, x *dist.Space, share bool) (l productLayout, moveA, moveX *dist.Layout) {
	la, lx := a.Layout(), x.Layout()
	l = productLayout{b: b, grid: la.Grid, aTravels: dist.NoAxis, xTravels: dist.NoAxis}
	switch {
	case slices.Equal(la.Grid, lx.Grid):
	case la.Replicate != dist.Scattered:
		l.grid = lx.Grid
		la = allCopied(lx.Grid)
	case lx.Replicate != dist.Scattered:
		lx = allCopied(la.Grid)
	default:
		to := l.partner(la, x.Shape().NDim())
		return l, nil, &to
	}
	l.a, l.x = la.Axes, lx.Axes
	for g := range l.grid {
		fits := l.readAxis(g, la, lx, share)
		if by, _ := a.SplitBy(l.x[g]); !fits && l.letterOfX(l.x[g]) == batchLetter && l.a[g] == dist.NoAxis && by == dist.NoAxis {
			return l, l.withBatch(la, lx, g), nil
		}
		if !fits {
			to := l.partner(la, x.Shape().NDim())
			return l, nil, &to
		}
	}
	return l, nil, nil
}

// withBatch returns the layout of A that also splits the batches that grid axis g splits
// of X.
func (l *productLayout) withBatch(la, lx dist.Layout, g int) *dist.Layout {
	to := dist.Layout{Grid: l.grid, Axes: slices.Clone(la.Axes), Counts: slices.Clone(la.Counts)}
	for i, axis := range to.Axes {
		if axis == l.x[g] { // along one rank
			to.Axes[i], to.Counts[i] = dist.NoAxis, nil
		}
	}
	to.Axes[g], to.Counts[g] = l.x[g], lx.Counts[g]
	return &to
}

// allCopied is the layout of copies on a grid.
func allCopied(grid []int) dist.Layout {
	l := dist.Layout{Grid: grid, Axes: make([]int, len(grid)), Counts: make([][]int, len(grid))}
	for g := range grid {
		l.Axes[g] = dist.NoAxis
	}
	return l
}

// readAxis reads one axis of the grid and reports whether A and X fit along it.
func (l *productLayout) readAxis(g int, la, lx dist.Layout, share bool) (fits bool) {
	a, x, y := l.letterOfA(l.a[g]), l.letterOfX(l.x[g]), dist.NoAxis
	same := slices.Equal(la.Counts[g], lx.Counts[g])
	fits = true
	switch {
	case l.grid[g] == 1 && a == rowLetter:
		y = l.b
	case l.grid[g] == 1 && (x == columnLetter || x == batchLetter):
		y = l.x[g]
	case l.grid[g] == 1:
	case a == batchLetter || x == batchLetter:
		y, fits = l.a[g], l.a[g] == l.x[g] && same
	case a == rowLetter:
		y = l.b
		switch x {
		case copied:
			l.sumBack = append(l.sumBack, g)
		case depthLetter:
			l.xTravels = g
		default:
			fits = false
		}
	case x == columnLetter:
		y = l.x[g]
		if a == depthLetter {
			l.aTravels = g
		}
	case a == depthLetter:
		l.byA, l.sum = append(l.byA, g), append(l.sum, g)
		if fits = x == copied || same; x == copied {
			l.sumBack = append(l.sumBack, g)
		}
	case x == depthLetter:
		l.byX, l.sum = append(l.byX, g), append(l.sum, g)
	case share:
		l.shared, l.sum, l.sumBack = append(l.shared, g), append(l.sum, g), append(l.sumBack, g)
	}
	l.y = append(l.y, y)
	return fits
}

// partner returns a layout of X that fits the layout of A: batches as those of A,
// otherwise split so that no rank holds all of X, as far as X has axes for that.
func (l *productLayout) partner(la dist.Layout, axesOfX int) dist.Layout {
	to := allCopied(la.Grid)
	depth := dist.NoAxis // the grid axis that splits j of both
	for g, axis := range la.Axes {
		switch l.letterOfA(axis) {
		case batchLetter:
			to.Axes[g], to.Counts[g] = axis, la.Counts[g]
		case depthLetter:
			if axesOfX > l.b+1 {
				to.Axes[g] = l.b + 1
			} else {
				to.Axes[g], to.Counts[g], depth = l.b, la.Counts[g], g
			}
		}
	}
	for g, axis := range la.Axes {
		if l.letterOfA(axis) == rowLetter && depth == dist.NoAxis {
			to.Axes[g] = l.b
		}
	}
	return to
}
