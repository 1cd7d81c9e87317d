package fft

// long is how many bytes a line has that caches do not hold.
const long = 256 << 10

// one transforms a single line. Its samples are inner elements apart.
func (p *Plan[F]) one(dst, src []F, inner int, inverse bool, scratch []F) {
	x, scratch := scratch[:2*p.n], scratch[2*p.n:]
	switch {
	case inner == 1 && 2*p.n*size[F]() < long:
		p.line.run(dst, src, scratch, inverse)
		return
	case inner == 1: // read and write memory in its order, and columns in the cache
		copy(x, src)
		p.line.run(x, x, scratch, inverse)
		copy(dst, x)
		return
	}
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
	x, scratch := scratch[:2*p.n+2], scratch[2*p.n+2:]
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
	switch {
	case inner == 1 && p.n*size[F]() < long:
		p.line.run(x, src, scratch, false)
	case inner == 1:
		copy(x[:p.n], src)
		p.line.run(x, x, scratch, false)
	default:
		for i := range p.n {
			x[i] = src[i*inner]
		}
		p.line.run(x, x, scratch, false)
	}
	x[p.n], x[p.n+1] = x[0], x[1]
	for k, j := 0, p.n/2; k <= j; k, j = k+1, j-1 { // as unpack
		c, s := p.halved[2*k], p.halved[2*k+1]
		er, ei := (x[2*k]+x[2*j])/2, (x[2*k+1]-x[2*j+1])/2
		or, oi := x[2*k]-x[2*j], x[2*k+1]+x[2*j+1]
		or, oi = c*oi+s*or, s*oi-c*or
		dst[2*k*inner], dst[2*k*inner+1] = er+or, ei+oi
		dst[2*j*inner], dst[2*j*inner+1] = er-or, oi-ei
	}
	dst[1], dst[p.n*inner+1] = 0, 0
}

// oneBackward is Backward for a single line.
func (p *Plan[F]) oneBackward(dst, src []F, inner int, scratch []F) {
	x, scratch := scratch[:2*p.n+2], scratch[2*p.n+2:]
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
	for k, j := 0, p.n/2; k <= j; k, j = k+1, j-1 { // as pack
		c, s := p.half[2*k], p.half[2*k+1]
		xr, xi, yr, yi := src[2*k*inner], src[2*k*inner+1], src[2*j*inner], src[2*j*inner+1]
		if k == 0 {
			xi, yi = 0, 0
		}
		er, ei, or, oi := xr+yr, xi-yi, xr-yr, xi+yi
		or, oi = s*or-c*oi, c*or+s*oi
		x[2*k], x[2*k+1] = er+or, ei+oi
		x[2*j], x[2*j+1] = er-or, oi-ei
	}
	p.line.run(x, x, scratch, true)
	for i := range p.n {
		dst[i*inner] = x[i]
	}
}
