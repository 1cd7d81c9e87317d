package cpu

// Bands that only copy single elements. A restriction along the last axis has thousands
// of them, the same for all outer indices.

// move is the copy of one element. A negative from sets it to zero.
type move struct{ to, from int32 }

// movesPart moves the elements of some outer indices.
func (k *kernels[T, F]) movesPart(lo, hi int) {
	a := &k.bd
	for o := lo; o < hi; o++ {
		dst, src := a.dst[o*a.rows:(o+1)*a.rows], a.src[o*a.b.SrcRows*k.components:(o+1)*a.b.SrcRows*k.components]
		if k.components == 1 {
			moveAll(dst, src, k.moves)
		} else {
			moveAll(pairs(dst), pairs(src), k.moves)
		}
	}
}

func moveAll[E any](dst, src []E, moves []move) {
	for _, m := range moves {
		var v E
		if m.from >= 0 {
			v = src[m.from]
		}
		dst[m.to] = v
	}
}

// moveBands applies bands that only copy elements. It returns false for other bands. A
// list of moves pays if several outer indices share it and runs of elements are short.
func (k *kernels[T, F]) moveBands() bool {
	const few = 8
	a := &k.bd
	if a.add || a.b.Inner != 1 || a.b.Outer < few || len(a.bands) < few || max(a.b.DstRows, a.b.SrcRows) > 1<<30 {
		return false
	}
	k.moves = k.moves[:0]
	for i := range a.bands {
		band := &a.bands[i]
		from, step := -1, 0
		if band.Last > band.First {
			t := &a.b.Taps[band.First]
			if band.Last > band.First+1 || t.Ghost != 0 || t.Coef != 1 {
				return false
			}
			from, step = t.At, t.Step
		}
		if len(k.moves)+band.Hi-band.Lo > few*len(a.bands) {
			return false
		}
		for row := band.Lo; row < band.Hi; row++ {
			k.moves = append(k.moves, move{int32(row), int32(from)})
			from += step
		}
	}
	k.pool.run(a.b.Outer, 1+vectorGrain/(1+len(k.moves)), k.loops.moves)
	return true
}
