package cpu

import "unsafe"

// packStrips copies strips lo to hi of an operand. A strip has width lanes × depth
// elements with padding. It starts at element at of m, with strides dl along the lanes
// and dd along the depth. lanes is the number of lanes of all strips.
func (k *kernels[T, F]) packStrips(dst []F, lo, hi, width, lanes int, m *operand[F], at, dl, dd int) {
	g := &k.mm
	depth, size := g.depth-g.padding, width*g.depth*k.components
	if k.components == 1 && dl == 1 {
		first, last := lo*width, min(hi*width, lanes)
		if g.padding > 0 || last < hi*width {
			clear(dst[lo*size : hi*size])
		}
		packAlong(dst[lo*size:hi*size], width, g.depth, m.x[at+first:], last-first, depth, dd)
		return
	}
	for i := lo; i < hi; i++ {
		first := i * width
		k.pack(dst[i*size:(i+1)*size], width, m, at+first*dl, min(width, lanes-first), depth, dl, dd)
	}
}

// packAlong packs lanes that are neighbours in src. It takes all of a row before
// the next: rows far apart evict each other from the cache.
func packAlong[F float](dst []F, width, padded int, src []F, lanes, depth, dd int) {
	switch width {
	case 16:
		packRows[[16]F](dst, width, padded, src, lanes, depth, dd)
	case 8:
		packRows[[8]F](dst, width, padded, src, lanes, depth, dd)
	case 6:
		packRows[[6]F](dst, width, padded, src, lanes, depth, dd)
	case tileRows:
		packRows[[tileRows]F](dst, width, padded, src, lanes, depth, dd)
	default:
		packRows[[tileCols]F](dst, width, padded, src, lanes, depth, dd)
	}
}

// packRows is packAlong for strips whose lanes are a W.
func packRows[W any, F float](dst []F, width, padded int, src []F, lanes, depth, dd int) {
	for i := range depth {
		row, to := src[i*dd:][:lanes], i*width
		for ; len(row) >= width; row, to = row[width:], to+padded*width {
			*(*W)(unsafe.Pointer(&dst[to : to+width][0])) = *(*W)(unsafe.Pointer(&row[0]))
		}
		if len(row) > 0 {
			copy(dst[to:], row)
		}
	}
}

// packReal copies lanes × depth elements into a strip. A lane is a run of src.
func packReal[F float](dst []F, width int, src []F, lanes, depth, dl int) {
	l := 0
	for ; l+4 <= lanes; l += 4 {
		s0, s1, s2, s3 := src[l*dl:][:depth], src[(l+1)*dl:][:depth], src[(l+2)*dl:][:depth], src[(l+3)*dl:][:depth]
		to := l
		for i := range s0 {
			d := dst[to : to+4 : to+4]
			d[0], d[1], d[2], d[3] = s0[i], s1[i], s2[i], s3[i]
			to += width
		}
	}
	for ; l+2 <= lanes; l += 2 {
		s0, s1 := src[l*dl:][:depth], src[(l+1)*dl:][:depth]
		to := l
		for i := range s0 {
			d := dst[to : to+2 : to+2]
			d[0], d[1] = s0[i], s1[i]
			to += width
		}
	}
	for ; l < lanes; l++ {
		to := l
		for _, v := range src[l*dl:][:depth] {
			dst[to] = v
			to += width
		}
	}
}
