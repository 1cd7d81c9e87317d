package ops

import (
	"cmp"
	"maps"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// matrix is a sparse matrix that acts along one axis of an array. Derivatives,
// filters, flips and rolls are such matrices. Their adjoint is computed by transposing
// the matrix, so no operator writes its own.
type matrix[T scalar.Scalar] struct {
	axis, rows, cols int
	taps             []tap[T] // in any order
}

// along returns a square matrix without taps along an axis of x that a user names.
func along[T scalar.Scalar](x *dist.Space, axis int) (matrix[T], error) {
	a, n, err := axisOf(x, axis)
	return matrix[T]{axis: a, rows: n, cols: n}, err
}

// tap adds c·(row at+step·(i-lo) of the argument) to each row i from lo to hi. step is
// 1 or -1.
type tap[T scalar.Scalar] struct {
	lo, hi, at, step int
	c                T
}

// last returns the row of the argument that the last row reads.
func (t tap[T]) last() int { return t.at + t.step*(t.hi-1-t.lo) }

// within returns the tap for rows lo to hi only.
func (t tap[T]) within(lo, hi int) tap[T] {
	skip := max(lo-t.lo, 0)
	return tap[T]{t.lo + skip, min(t.hi, hi), t.at + t.step*skip, t.step, t.c}
}

// add appends a tap, unless it has no rows.
func (m *matrix[T]) add(lo, hi, at, step int, c T) {
	if lo < hi {
		m.taps = append(m.taps, tap[T]{lo, hi, at, step, c})
	}
}

// stencil adds to row i, from lo to hi, coefs times the rows from i+first on. It
// leaves out coefficients that are zero.
func (m *matrix[T]) stencil(lo, hi, first int, coefs ...float64) {
	for k, c := range coefs {
		if c != 0 {
			m.add(lo, hi, lo+first+k, 1, scalar.From[T](complex(c, 0)))
		}
	}
}

// adjoint returns the conjugate transpose of m.
func (m matrix[T]) adjoint() matrix[T] {
	out := matrix[T]{axis: m.axis, rows: m.cols, cols: m.rows}
	for _, t := range m.taps {
		if c := scalar.Conj(t.c); t.step > 0 {
			out.add(t.at, t.last()+1, t.lo, 1, c)
		} else {
			out.add(t.last(), t.at+1, t.hi-1, -1, c)
		}
	}
	return out
}

// times returns the product m·n. All taps of both have step 1.
func (m matrix[T]) times(n matrix[T]) matrix[T] {
	out := matrix[T]{axis: m.axis, rows: m.rows, cols: n.cols}
	diagonals := map[int]*matrix[T]{} // by column minus row
	for _, t := range m.taps {
		for _, u := range n.taps {
			d := t.at - t.lo + u.at - u.lo
			if diagonals[d] == nil {
				diagonals[d] = &matrix[T]{}
			}
			lo := max(t.lo, t.lo+u.lo-t.at)
			diagonals[d].add(lo, min(t.hi, t.lo+u.hi-t.at), lo+d, 1, t.c*u.c)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(diagonals)) {
		for _, b := range diagonals[d].bands(0, m.rows, nil) {
			var sum T
			for _, t := range b.taps {
				sum += t.c
			}
			out.add(b.lo, b.hi, b.lo+d, 1, sum)
		}
	}
	return out
}

// band is rows lo to hi with these taps.
type band[T scalar.Scalar] struct {
	lo, hi int
	taps   []tap[T]
}

// bands returns rows lo to hi of m. Each tap of a band reads rows of one interval of
// ends only, which are sorted. A row outside all bands is zero.
func (m matrix[T]) bands(lo, hi int, ends []int) (out []band[T]) {
	var taps, live []tap[T]
	var cuts []int // where bands begin and end
	for _, t := range m.taps {
		if t = t.within(lo, hi); t.lo >= t.hi {
			continue
		}
		taps, cuts = append(taps, t), append(cuts, t.lo, t.hi)
		for _, e := range ends {
			// i is the first row whose tap reads beyond e.
			i := t.lo + t.step*(e-t.at)
			if t.step < 0 {
				i++
			}
			if i > t.lo && i < t.hi {
				cuts = append(cuts, i)
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	slices.SortStableFunc(taps, func(a, b tap[T]) int { return cmp.Compare(a.lo, b.lo) })
	for k := 0; k+1 < len(cuts); k++ {
		b := band[T]{lo: cuts[k], hi: cuts[k+1]}
		live = slices.DeleteFunc(live, func(t tap[T]) bool { return t.hi <= b.lo })
		for len(taps) > 0 && taps[0].lo == b.lo {
			live, taps = append(live, taps[0]), taps[1:]
		}
		for _, t := range live {
			b.taps = append(b.taps, t.within(b.lo, b.hi))
		}
		// Taps in the order of their rows read memory in order.
		slices.SortStableFunc(b.taps, func(a, b tap[T]) int { return cmp.Compare(a.at, b.at) })
		if len(live) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// needs returns the rows that rows lo to hi of m read from each interval of ends, in
// order and without overlap.
func (m matrix[T]) needs(lo, hi int, ends []int) [][]dist.Rows {
	out := make([][]dist.Rows, len(ends)-1)
	for _, b := range m.bands(lo, hi, ends) {
		for _, t := range b.taps {
			s := dist.Rows{Lo: min(t.at, t.last()), Hi: max(t.at, t.last()) + 1}
			o := owner(ends, s.Lo)
			out[o] = append(out[o], s)
		}
	}
	for o, s := range out {
		out[o] = merge(s)
	}
	return out
}

// merge sorts ranges of rows and joins those that touch.
func merge(s []dist.Rows) []dist.Rows {
	slices.SortFunc(s, func(a, b dist.Rows) int { return cmp.Compare(a.Lo, b.Lo) })
	var out []dist.Rows
	for _, x := range s {
		if n := len(out); n > 0 && x.Lo <= out[n-1].Hi {
			out[n-1].Hi = max(out[n-1].Hi, x.Hi)
		} else {
			out = append(out, x)
		}
	}
	return out
}

// owner returns the interval of ends that holds row i.
func owner(ends []int, i int) int {
	at, found := slices.BinarySearch(ends, i)
	if !found {
		return at - 1
	}
	for at+1 < len(ends) && ends[at+1] == i { // empty intervals end at i too
		at++
	}
	return at
}

// rowWithin returns the position of row i in an array of the rows of all ranges.
func rowWithin(s []dist.Rows, i int) int {
	n := 0
	for _, x := range s {
		if i < x.Hi {
			return n + i - x.Lo
		}
		n += x.Hi - x.Lo
	}
	return n
}

// banded lists the bands of rows lo to hi for the kernel. Rows outside all bands
// become bands without taps. needs are the rows that they read from each owner, at
// where those of owners other than me lie in the ghost memory.
func banded[T scalar.Scalar](m matrix[T], lo, hi int, ends []int, me int, needs [][]dist.Rows, at []int) *device.Banded[T] {
	out := &device.Banded[T]{DstRows: hi - lo, SrcRows: ends[me+1] - ends[me]}
	ghost := make([]int, len(needs)) // the number of each owner's block, from 1
	for o, s := range needs {
		if o != me && len(s) > 0 {
			out.Ghosts = append(out.Ghosts, device.Ghost{At: at[o], Rows: dist.CountRows(s)})
			ghost[o] = len(out.Ghosts)
		}
	}
	next := lo
	zero := func(to int) {
		if next < to {
			out.Groups[0] = append(out.Groups[0], device.Band{Lo: next - lo, Hi: to - lo})
		}
	}
	for _, b := range m.bands(lo, hi, ends) {
		zero(b.lo)
		next = b.hi
		d := device.Band{Lo: b.lo - lo, Hi: b.hi - lo, First: len(out.Taps)}
		group := 0
		for _, t := range b.taps {
			k := device.Tap[T]{At: t.at - ends[me], Step: t.step, Coef: t.c}
			if o := owner(ends, t.at); o != me {
				k.At, k.Ghost = rowWithin(needs[o], t.at), ghost[o]
				group = 1
			}
			out.Taps = append(out.Taps, k)
		}
		d.Last = len(out.Taps)
		out.Groups[group] = append(out.Groups[group], d)
	}
	zero(hi)
	return out
}
