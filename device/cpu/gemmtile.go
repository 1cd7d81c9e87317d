package cpu

import "unsafe"

// tileSums are the sums of one tile, row by row, of any size of tile.
type tileSums[F float] [6 * 16]F

// tilesPart multiplies some groups of tiles of the block.
func (k *kernels[T, F]) tilesPart(lo, hi int) {
	g := &k.mm
	for i := lo; i < hi; i++ {
		row, col := i%g.rowGroups*groupRows, i/g.rowGroups*groupCols
		rowEnd, colEnd := min(row+groupRows, g.rows), min(col+groupCols, g.cols)
		for c := col; c < colEnd; c += g.wide {
			b := g.stripsB[c*g.depth*k.components:][:g.wide*g.depth*k.components]
			for r := row; r < rowEnd; r += g.tall {
				a := g.stripsA[r*g.depth*k.components:][:g.tall*g.depth*k.components]
				if k.components == 1 {
					g.tile(a, b, r, c)
				} else {
					g.tilePairs(a, b, r, c)
				}
			}
		}
	}
}

// tile adds the product of two strips to C.
func (g *gemmArgs[F]) tile(a, b []F, row, col int) {
	h, w := min(g.tall, g.rows-row), min(g.wide, g.cols-col)
	at := (g.row+row)*g.c.di + g.col + col
	if g.vector && h == g.tall && w == g.wide {
		tileVector(g.c.x[at:], a, b, g.c.di, g.depth, g.alpha.re)
		return
	}
	var s tileSums[F]
	g.sums(&s, a, b)
	for i := range h {
		c := g.c.x[at+i*g.c.di:][:w]
		for j := range c {
			c[j] += g.alpha.re * s[i*g.wide+j]
		}
	}
}

// sums sets s to the product of two strips.
func (g *gemmArgs[F]) sums(s *tileSums[F], a, b []F) {
	if g.vector {
		tileVector(s[:], a, b, g.wide, g.depth, 1)
	} else {
		sweep(s, a, b)
	}
}

// tilePairs is tile for complex numbers: four products of components.
func (g *gemmArgs[F]) tilePairs(a, b []F, row, col int) {
	var rr, ii, ri, ir tileSums[F]
	ar, ai, br, bi := a[:len(a)/2], a[len(a)/2:], b[:len(b)/2], b[len(b)/2:]
	g.sums(&rr, ar, br)
	g.sums(&ii, ai, bi)
	g.sums(&ri, ar, bi)
	g.sums(&ir, ai, br)
	h, w := min(g.tall, g.rows-row), min(g.wide, g.cols-col)
	for i := range h {
		c := pairs(g.c.x)[(g.row+row+i)*g.c.di+g.col+col:][:w]
		for j := range c {
			e := i*g.wide + j
			v := times(g.alpha, pair[F]{rr[e] - ii[e], ri[e] + ir[e]})
			c[j] = pair[F]{c[j].re + v.re, c[j].im + v.im}
		}
	}
}

// sweep multiplies a strip of four lanes with one of two. Steps of fixed size let
// the compiler address both with constants and check nothing.
func sweep[F float](s *tileSums[F], a, b []F) {
	p := unsafe.Slice((*[unroll * tileRows]F)(unsafe.Pointer(unsafe.SliceData(a))), len(a)/(unroll*tileRows))
	q := unsafe.Slice((*[unroll * tileCols]F)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/(unroll*tileCols))
	q = q[:len(p)]
	var s00, s01, s10, s11, s20, s21, s30, s31 F
	for i := range p {
		a, b := &p[i], &q[i]
		u, v, x := b[0], b[1], a[0]
		s00, s01 = s00+x*u, s01+x*v
		x = a[1]
		s10, s11 = s10+x*u, s11+x*v
		x = a[2]
		s20, s21 = s20+x*u, s21+x*v
		x = a[3]
		s30, s31 = s30+x*u, s31+x*v
		u, v, x = b[2], b[3], a[4]
		s00, s01 = s00+x*u, s01+x*v
		x = a[5]
		s10, s11 = s10+x*u, s11+x*v
		x = a[6]
		s20, s21 = s20+x*u, s21+x*v
		x = a[7]
		s30, s31 = s30+x*u, s31+x*v
		u, v, x = b[4], b[5], a[8]
		s00, s01 = s00+x*u, s01+x*v
		x = a[9]
		s10, s11 = s10+x*u, s11+x*v
		x = a[10]
		s20, s21 = s20+x*u, s21+x*v
		x = a[11]
		s30, s31 = s30+x*u, s31+x*v
		u, v, x = b[6], b[7], a[12]
		s00, s01 = s00+x*u, s01+x*v
		x = a[13]
		s10, s11 = s10+x*u, s11+x*v
		x = a[14]
		s20, s21 = s20+x*u, s21+x*v
		x = a[15]
		s30, s31 = s30+x*u, s31+x*v
	}
	copy(s[:], []F{s00, s01, s10, s11, s20, s21, s30, s31})
}
