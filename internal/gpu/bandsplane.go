package gpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/golops/golops/scalar"
)

// Sums of bands over large blocks are compiled for the shape of a plane and for the
// rows that their taps read. bandsPlane applies the main bands of all parts.
// bandsRest does the rest, near the ends of axes.

const (
	planeFrom  = 1 << 16 // elements from which a compilation pays
	planeX     = 64      // threads of a tile along x
	planeY     = 4
	planeReach = 2  // rows between a tap and its row, at most
	planeTaps  = 5  // taps of a part, at most
	planeChunk = 64 // planes of a block of threads
)

// The types here mirror those of bandsplane.cu and bandsum.cu.
type (
	planeArgs[T scalar.Scalar] struct {
		dst, src           uintptr
		outer, rows        int
		lo, hi             int
		xLo, xHi, yLo, yHi int
		chunk, _           int
		coef               [16]T
	}

	bandsRestArgs[T scalar.Scalar] struct {
		sum                        bandsSumArgs[T]
		lo, hi, xLo, xHi, yLo, yHi int
		wide                       int
	}
)

// planeSum is a sum that is computed plane by plane.
type planeSum[T scalar.Scalar] struct {
	f              function
	grid, restGrid grid
	args           planeArgs[T]
	rest           bandsRestArgs[T]
}

// planWithPlanes returns a plan that computes a sum plane by plane. It returns nil if
// that is impossible or does not pay. Planes are rows of the first part. The other
// parts act along the axes of a plane.
func (k *kernels[T, F]) planWithPlanes(s *bandsSumArgs[T]) *planeSum[T] {
	first := &s.part[0]
	if s.outer*first.rows*first.inner < planeFrom || s.parts > 3 || first.lo >= first.hi {
		return nil
	}
	var along [3]*bandsPart // the axis of planes, y and x
	along[0] = first
	wide := first.inner
	for i := 1; i < int(s.parts); i++ {
		switch p := &s.part[i]; {
		case p.inner == 1:
			along[2], wide = p, p.rows
		case p.inner*p.rows == first.inner:
			along[1], wide = p, p.inner
		default:
			return nil
		}
	}
	if y, x := along[1], along[2]; y != nil && x != nil && y.inner != x.rows || wide < planeX/2 {
		return nil
	}
	p := &planeSum[T]{}
	tall := first.inner / wide
	a := &p.args
	*a = planeArgs[T]{outer: s.outer, rows: first.rows, lo: first.lo, hi: first.hi, xHi: wide, yHi: tall, chunk: planeChunk}
	options := []string{fmt.Sprintf("-DGOLOPS_X=%d", wide), fmt.Sprintf("-DGOLOPS_Y=%d", tall)}
	taps := 0
	var reach [3]int
	for i, name := range []string{"0", "Y", "X"} {
		part := along[i]
		if part == nil {
			continue
		}
		var rows []string
		for t := part.first; t < part.last; t++ {
			rows = append(rows, strconv.Itoa(s.at[t]/part.inner))
			if taps == len(a.coef) {
				return nil
			}
			a.coef[taps] = s.coef[t]
			taps++
		}
		if reach[i] = reachOf(s.at[part.first:part.last], part.inner); reach[i] > planeReach {
			return nil
		}
		if len(rows) == 0 || len(rows) > planeTaps || part.lo >= part.hi {
			return nil
		}
		options = append(options, fmt.Sprintf("-DGOLOPS_ROWS%s=%s", name, strings.Join(rows, ",")))
	}
	if along[1] != nil {
		a.yLo, a.yHi = along[1].lo, along[1].hi
	}
	if along[2] != nil {
		a.xLo, a.xHi = along[2].lo, along[2].hi
	}
	if 2*reach[1]*planeX+2*reach[2]*planeY > planeX*planeY {
		return nil // a thread loads one element of the margin
	}
	x := (wide + planeX - 1) / planeX * ((tall + planeY - 1) / planeY)
	if x > math.MaxInt32 {
		return nil
	}
	p.f = k.function("bandsplane.cu", "bandsPlane", options...)
	p.grid = grid{x, min(s.outer*((a.hi-a.lo+planeChunk-1)/planeChunk), maxGridY)}
	p.rest = bandsRestArgs[T]{lo: a.lo, hi: a.hi, xLo: a.xLo, xHi: a.xHi, yLo: a.yLo, yHi: a.yHi, wide: wide}
	rest := first.rows*first.inner - (a.hi-a.lo)*(a.yHi-a.yLo)*(a.xHi-a.xLo)
	p.restGrid = blocks(s.outer*rest, bandBlock)
	p.restGrid.x = min(p.restGrid.x, maxGridY)
	return p
}

// reachOf returns the largest distance of a tap from its row, in rows.
func reachOf(at []int, inner int) int {
	r := 0
	for _, a := range at {
		r = max(r, a/inner, -a/inner)
	}
	return r
}

// planeSum launches a sum by planes, with the addresses of s.
func (k *kernels[T, F]) planeSum(p *planeSum[T], s *bandsSumArgs[T]) {
	p.args.dst, p.args.src = s.dst, s.src
	launch(k.d, &p.f, p.grid, planeX*planeY, 0, &p.args)
	p.rest.sum = *s
	launch(k.d, &k.bands.rest, p.restGrid, bandBlock, 0, &p.rest)
}
