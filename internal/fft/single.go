package fft

import "unsafe"

// whole returns memory for one line and the rest, which begins where a register fits.
func (p *Plan[F]) whole(scratch []F) (x, rest []F) {
	n := 2*p.n + 2
	return scratch[:n], scratch[roundUp(n, 64):]
}

// one transforms a single line. Its samples are inner elements apart.
func (p *Plan[F]) one(dst, src []F, inner int, inverse bool, scratch []F) {
	if inner == 1 {
		p.line.run(dst, src, scratch, inverse)
		return
	}
	x, scratch := p.whole(scratch)
	x = x[:2*p.n]
	for i, at := 0, 0; i < len(x); i, at = i+2, at+2*inner {
		x[i], x[i+1] = src[at], src[at+1]
	}
	p.line.run(x, x, scratch, inverse)
	for i, at := 0, 0; i < len(x); i, at = i+2, at+2*inner {
		dst[at], dst[at+1] = x[i], x[i+1]
	}
}

// oneForward is Forward for a single line.
func (p *Plan[F]) oneForward(dst, src []F, inner int, scratch []F) {
	x, scratch := p.whole(scratch)
	if p.half == nil {
		for i := range p.n {
			x[2*i], x[2*i+1] = src[i*inner], 0
		}
		p.line.run(x, x, scratch, false)
		for i, at := 0, 0; i <= p.n/2; i, at = i+1, at+2*inner {
			dst[at], dst[at+1] = x[2*i], x[2*i+1]
		}
		return
	}
	if inner == 1 {
		p.line.run(x, src, scratch, false)
	} else {
		for i := range p.n {
			x[i] = src[i*inner]
		}
		p.line.run(x, x, scratch, false)
	}
	x[p.n], x[p.n+1] = x[0], x[1]
	p.ends(0, dst, x, inner, 1) // as unpack
	dst[1], dst[p.n*inner+1] = 0, 0
}

// oneBackward is Backward for a single line.
func (p *Plan[F]) oneBackward(dst, src []F, inner int, scratch []F) {
	x, scratch := p.whole(scratch)
	if p.half == nil {
		x[0], x[1] = src[0], 0
		for k, at := 1, 2*inner; k <= p.n/2; k, at = k+1, at+2*inner {
			x[2*k], x[2*k+1] = src[at], src[at+1]
			x[2*(p.n-k)], x[2*(p.n-k)+1] = src[at], -src[at+1]
		}
		p.line.run(x, x, scratch, true)
		for i := range p.n {
			dst[i*inner] = x[2*i]
		}
		return
	}
	first, last := src[1], src[p.n*inner+1]
	src[1], src[p.n*inner+1] = 0, 0
	p.ends(1, x, src, 1, inner) // as pack
	src[1], src[p.n*inner+1] = first, last
	p.line.run(x, x, scratch, true)
	for i := range p.n {
		dst[i*inner] = x[i]
	}
}

// ends sets dst[k] = h·e + w[k]·o and dst[m-k] = conj(h·e - w[k]·o) with m = n/2,
// e = src[k] + conj src[m-k] and o = src[k] - conj src[m-k]. h and w are those of unpack,
// or of pack if way is 1.
func (p *Plan[F]) ends(way int, dst, src []F, dstBy, srcBy int) {
	m, from, h, w := p.n/2, 0, p.scale[way], p.turned[way]
	if u := p.tile.unit; u != nil && dstBy == 1 && srcBy == 1 {
		c := u.lanes / 2
		if blocks := (m/2 + 1) / c; blocks > 0 {
			end := 2 * (m - c + 1)
			_, _ = dst[2*m+1], src[2*m+1]
			u.ends(ptr(dst), ptr(dst[end:]), ptr(src), ptr(src[end:]), ptr(w), unsafe.Pointer(&p.scale[way]), blocks)
			from = blocks * c
		}
	}
	for k, j := from, m-from; k <= j; k, j = k+1, j-1 {
		a, b, c, d := 2*k*srcBy, 2*j*srcBy, 2*k*dstBy, 2*j*dstBy
		er, ei := h*(src[a]+src[b]), h*(src[a+1]-src[b+1])
		or, oi := src[a]-src[b], src[a+1]+src[b+1]
		or, oi = w[2*k]*or-w[2*k+1]*oi, w[2*k]*oi+w[2*k+1]*or
		dst[c], dst[c+1] = er+or, ei+oi
		dst[d], dst[d+1] = er-or, oi-ei
	}
}
