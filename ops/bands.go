package ops

import (
	"cmp"
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
)

// matrix is a sparse matrix that acts along one axis of an array, as bands of rows
// with the same taps. Derivatives, filters, flips and rolls are such matrices. Their
// adjoint is computed by transposing the matrix, so no operator writes its own.
type matrix[T scalar.Scalar] struct {
	rows, cols int
	bands      []band[T] // in order of rows; a row outside all bands is zero
}

// band is rows lo to hi: row i is Σ c·(row at+step·(i-lo) of the argument).
type band[T scalar.Scalar] struct {
	lo, hi int
	taps   []tap[T]
}

type tap[T scalar.Scalar] struct {
	at, step int
	c        T
}

// last returns the source row of the last of n rows.
func (t tap[T]) last(n int) int { return t.at + t.step*(n-1) }

// moved returns the tap for the row n rows after the first.
func (t tap[T]) moved(n int) tap[T] {
	t.at += t.step * n
	return t
}

// add appends rows lo to hi with these taps, unless there are no such rows. The taps
// are those of row lo.
func (m *matrix[T]) add(lo, hi int, taps ...tap[T]) {
	if lo < hi {
		m.bands = append(m.bands, band[T]{lo, hi, taps})
	}
}

// stencil returns the taps of row lo of a band at consecutive rows from lo+first on.
// It leaves out coefficients that are zero.
func stencil[T scalar.Scalar](lo, first int, coefs ...float64) []tap[T] {
	var taps []tap[T]
	for k, c := range coefs {
		if c != 0 {
			taps = append(taps, tap[T]{lo + first + k, 1, scalar.From[T](complex(c, 0))})
		}
	}
	return taps
}

// tapRange is rows lo to hi to which one tap contributes. The tap is that of row lo.
type tapRange[T scalar.Scalar] struct {
	lo, hi int
	t      tap[T]
}

// fromRanges returns the matrix of these ranges, which may be in any order. A band
// ends where a range begins or ends.
func fromRanges[T scalar.Scalar](rows, cols int, runs []tapRange[T]) matrix[T] {
	runs = slices.DeleteFunc(runs, func(r tapRange[T]) bool { return r.lo >= r.hi })
	var cuts []int
	for _, r := range runs {
		cuts = append(cuts, r.lo, r.hi)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	slices.SortStableFunc(runs, func(a, b tapRange[T]) int { return cmp.Compare(a.lo, b.lo) })
	out := matrix[T]{rows: rows, cols: cols}
	var live []tapRange[T]
	for i := 0; i+1 < len(cuts); i++ {
		lo, hi := cuts[i], cuts[i+1]
		live = slices.DeleteFunc(live, func(r tapRange[T]) bool { return r.hi <= lo })
		for len(runs) > 0 && runs[0].lo == lo {
			live = append(live, runs[0])
			runs = runs[1:]
		}
		if len(live) == 0 {
			continue
		}
		b := band[T]{lo: lo, hi: hi}
		for _, r := range live {
			b.taps = append(b.taps, r.t.moved(lo-r.lo))
		}
		// Taps in the order of their rows read memory in order.
		slices.SortStableFunc(b.taps, func(a, b tap[T]) int { return cmp.Compare(a.at, b.at) })
		out.bands = append(out.bands, b)
	}
	return out
}

// adjoint returns the conjugate transpose of m. Each tap of a band covers a range of
// columns.
func (m matrix[T]) adjoint() matrix[T] {
	var runs []tapRange[T]
	for _, b := range m.bands {
		for _, t := range b.taps {
			c := scalar.Conj(t.c)
			first, last := t.at, t.last(b.hi-b.lo)
			switch {
			case t.step > 0:
				runs = append(runs, tapRange[T]{first, last + 1, tap[T]{b.lo, 1, c}})
			case t.step < 0:
				runs = append(runs, tapRange[T]{last, first + 1, tap[T]{b.hi - 1, -1, c}})
			default:
				for i := b.lo; i < b.hi; i++ {
					runs = append(runs, tapRange[T]{t.at, t.at + 1, tap[T]{i, 1, c}})
				}
			}
		}
	}
	return fromRanges(m.cols, m.rows, runs)
}

// cut returns the bands of rows lo to hi. It splits bands so that each tap reads rows
// of one interval of ends only. ends is sorted.
func (m matrix[T]) cut(lo, hi int, ends []int) []band[T] {
	var out []band[T]
	first, _ := slices.BinarySearchFunc(m.bands, lo, func(b band[T], lo int) int { return cmp.Compare(b.hi, lo+1) })
	for _, b := range m.bands[first:] {
		if b.lo >= hi {
			break
		}
		from, to := max(b.lo, lo), min(b.hi, hi)
		at := []int{from, to}
		for _, t := range b.taps {
			if t.step == 0 {
				continue
			}
			for _, e := range ends {
				// i is the first row whose tap reads beyond e.
				i := b.lo + t.step*(e-t.at)
				if t.step < 0 {
					i++
				}
				if i > from && i < to {
					at = append(at, i)
				}
			}
		}
		slices.Sort(at)
		at = slices.Compact(at)
		for k := 0; k+1 < len(at); k++ {
			p := band[T]{at[k], at[k+1], make([]tap[T], len(b.taps))}
			for j, t := range b.taps {
				p.taps[j] = t.moved(at[k] - b.lo)
			}
			out = append(out, p)
		}
	}
	return out
}

// needs returns the rows that rows lo to hi of m read from each interval of ends, in
// order and without overlap.
func (m matrix[T]) needs(lo, hi int, ends []int) [][]dist.Rows {
	out := make([][]dist.Rows, len(ends)-1)
	for _, b := range m.cut(lo, hi, ends) {
		for _, t := range b.taps {
			s := dist.Rows{Lo: min(t.at, t.last(b.hi-b.lo)), Hi: max(t.at, t.last(b.hi-b.lo)) + 1}
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
	for _, b := range m.cut(lo, hi, ends) {
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
