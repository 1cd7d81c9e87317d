// Package fft computes Fourier transforms of any length, several lines at a time.
//
// A tile holds a few lines side by side: sample after sample, of each the real
// parts of all lines and then their imaginary parts. Passes over a tile use whole vector
// registers, whatever the length of a line, and twiddle factors are the same for
// all lines. Lines are transposed when they come into a tile and when they leave it.
//
// Tiles are transformed with the kernel exp(-2πi·jk/n). For the other sign, real and
// imaginary parts change places on the way in and on the way out.
package fft

// Float is the type of the parts of a complex number.
type Float interface{ float32 | float64 }

// Plan transforms lines of one length. Several goroutines may use it at once, each
// with its own scratch memory.
type Plan[F Float] struct {
	n      int      // samples of a line
	tile   *tile[F] // of n samples, or n/2 if real and even
	half   []F      // exp(-2πi·k/n) for k up to n/4, if real and even
	halved []F      // the half of them
	turned [2][]F   // -i times the half of them, and i times their conjugates, for single lines
	scale  [2]F     // 1/2 and 1
	width  int      // lines in a tile
	line   *line[F] // of as many samples as the tile, for few lines and long ones; or nil
	alone  bool     // each line alone is faster than a tile of lines one behind the other
}

// New plans transforms of complex lines of n samples.
func New[F Float](n int) *Plan[F] { return newPlan[F](n, false, unitOf[F]()) }

// NewReal plans transforms of real lines of n samples.
func NewReal[F Float](n int) *Plan[F] { return newPlan[F](n, true, unitOf[F]()) }

func newPlan[F Float](n int, real bool, u *unit) *Plan[F] {
	p := &Plan[F]{n: n, scale: [2]F{0.5, 1}}
	if real && n > 0 && n%2 == 0 {
		p.half = roots[F](n/4+1, n)
		for _, v := range p.half {
			p.halved = append(p.halved, v/2)
		}
		for i := 0; i < len(p.half); i += 2 {
			c, s := p.half[i], p.half[i+1]
			p.turned[0] = append(p.turned[0], s/2, -c/2)
			p.turned[1] = append(p.turned[1], s, c)
		}
		n /= 2
	}
	p.tile = newTile[F](n, u)
	p.width = p.tile.width
	p.line = newLine[F](n, u)
	p.alone = p.aloneIsFaster() && (!real || p.half != nil || p.tile.chirp != nil)
	return p
}

// Scratch returns the length of the memory that each call needs.
func (p *Plan[F]) Scratch() int {
	n := p.tile.scratch()
	if p.line != nil {
		n = max(n, roundUp(2*p.n+2, 64)+p.line.scratch())
	}
	return n
}

// single reports whether lines are transformed one by one: few of them would fill a small
// part of the registers, and a tile of long ones does not stay in the cache.
func (p *Plan[F]) single(count, inner int) bool {
	return p.line != nil && (count <= p.width/4 || inner == 1 && p.alone)
}

// aloneIsFaster reports whether a line takes less time than its part of a tile whose lines lie
// one behind the other. All lines of a tile share few places of the cache if they are a
// multiple of 4096 bytes apart.
func (p *Plan[F]) aloneIsFaster() bool {
	t, n := p.tile, p.tile.n
	if p.line == nil || t.chirp != nil {
		return p.line != nil
	}
	const cache = 64 << 10
	tiled := (3.5 + work(factor(n, t.unit))) * float64(n) / float64(t.width)
	bytes := 2 * n * size[F]()
	switch {
	case 2*bytes*t.width > cache && bytes%4096 == 0:
		tiled *= 1.5
	case 2*bytes*t.width > cache:
		tiled *= 1.2
	}
	alone := 64 + 1.3*p.line.work // the model is that rough
	if p.half != nil {            // ends against pack and unpack
		alone += float64(n) / 3
	}
	return alone < tiled
}

// Width returns how many lines a call transforms at a time.
func (p *Plan[F]) Width() int { return p.width }

// Transform sets dst to the unscaled transforms of lines lo to hi of src. Both are
// blocks of n × inner complex numbers, one after the other, and lines are counted in
// the order of their first samples. dst may be src.
func (p *Plan[F]) Transform(dst, src []F, inner, lo, hi int, inverse bool, scratch []F) {
	for ; lo < hi; lo += p.width {
		l := p.lines(lo, hi, inner)
		if p.single(l.count, inner) {
			for i := range l.count {
				at := 2 * l.start(i, p.n)
				p.one(dst[at:], src[at:], inner, inverse, scratch)
			}
			continue
		}
		a, b, room := p.tile.buffers(scratch)
		a, b, done := p.tile.load(&l, src, inverse, a, b)
		p.tile.store(&l, dst, inverse, a, b, room, done)
	}
}

// Forward sets dst to the first n/2+1 coefficients of real lines lo to hi of src, which
// has blocks of n × inner numbers.
func (p *Plan[F]) Forward(dst, src []F, inner, lo, hi int, scratch []F) {
	w := p.width
	for ; lo < hi; lo += w {
		l := p.lines(lo, hi, inner)
		if p.single(l.count, inner) {
			for i := range l.count {
				p.oneForward(dst[2*l.start(i, p.n/2+1):], src[l.start(i, p.n):], inner, scratch)
			}
			continue
		}
		a, b, room := p.tile.buffers(scratch)
		l.loadReal(a, src, p.n, p.half != nil)
		if p.half == nil {
			clearImag(a, p.n, w)
		}
		a, _ = p.tile.run(a, b, room, 0)
		if p.half != nil {
			p.unpack(a)
		}
		l.store(dst, a, p.n/2+1, p.n/2+1, 0, w)
	}
}

// Backward is the inverse of Forward times n. It takes the imaginary parts of the first
// coefficient, and of the last if n is even, as zero.
func (p *Plan[F]) Backward(dst, src []F, inner, lo, hi int, scratch []F) {
	w := p.width
	for ; lo < hi; lo += w {
		l := p.lines(lo, hi, inner)
		if p.single(l.count, inner) {
			for i := range l.count {
				p.oneBackward(dst[l.start(i, p.n):], src[2*l.start(i, p.n/2+1):], inner, scratch)
			}
			continue
		}
		a, b, room := p.tile.buffers(scratch)
		l.load(a, src, p.n/2+1, p.n/2+1, w, 0) // parts change places
		clear(a[:w])
		if p.half != nil {
			clear(a[p.n*w:][:w])
			p.pack(a)
		} else {
			mirror(a, p.n, w)
		}
		a, _ = p.tile.run(a, b, room, 0)
		l.storeReal(dst, a, p.n, p.half != nil)
	}
}

// clearImag sets the imaginary parts of n samples to zero.
func clearImag[F Float](a []F, n, w int) {
	for i := range n {
		clear(a[(2*i+1)*w:][:w])
	}
}

// mirror adds coefficients n/2+1 to n-1 of real lines of odd length. Parts have
// changed places.
func mirror[F Float](a []F, n, w int) {
	for k := 1; k <= n/2; k++ {
		from, to := a[2*k*w:][:2*w], a[2*(n-k)*w:][:2*w]
		copy(to[w:], from[w:])
		for l := range w {
			to[l] = -from[l]
		}
	}
}

// unpack makes coefficients k = 0 to m of real lines x of n = 2m samples out of the
// transforms Z of x[2j] + i·x[2j+1]:
// X[k] = (Z[k] + conj Z[m-k])/2 - i·exp(-2πi·k/n)·(Z[k] - conj Z[m-k])/2, Z[m] = Z[0].
func (p *Plan[F]) unpack(a []F) {
	m, w := p.n/2, p.width
	copy(a[2*m*w:], a[:2*w])
	if u := p.tile.unit; u != nil {
		u.unpack(ptr(a), ptr(a[2*m*w:]), ptr(p.halved), m/2+1)
	}
	for k := 0; 2*k <= m && p.tile.unit == nil; k++ {
		c, s := p.halved[2*k], p.halved[2*k+1]
		x, y := a[2*k*w:][:2*w], a[2*(m-k)*w:][:2*w]
		for l := range w {
			er, ei := (x[l]+y[l])/2, (x[l+w]-y[l+w])/2
			or, oi := x[l]-y[l], x[l+w]+y[l+w]
			or, oi = c*oi+s*or, s*oi-c*or // times -i·exp(-2πi·k/n)/2
			x[l], x[l+w] = er+or, ei+oi
			y[l], y[l+w] = er-or, oi-ei
		}
	}
	clear(a[w : 2*w]) // exactly real
	clear(a[(2*m+1)*w : (2*m+2)*w])
}

// pack is the inverse of unpack, times 2. Parts have changed places, before and after:
// Z[k] = X[k] + conj X[m-k] + i·exp(2πi·k/n)·(X[k] - conj X[m-k]).
func (p *Plan[F]) pack(a []F) {
	m, w := p.n/2, p.width
	if u := p.tile.unit; u != nil {
		u.pack(ptr(a), ptr(a[2*m*w:]), ptr(p.half), m/2+1)
		return
	}
	for k := 0; 2*k <= m; k++ {
		c, s := p.half[2*k], p.half[2*k+1]
		x, y := a[2*k*w:][:2*w], a[2*(m-k)*w:][:2*w]
		for l := range w {
			er, ei := x[l+w]+y[l+w], x[l]-y[l]
			or, oi := x[l+w]-y[l+w], x[l]+y[l]
			or, oi = s*or-c*oi, c*or+s*oi // times i·exp(2πi·k/n)
			x[l+w], x[l] = er+or, ei+oi
			y[l+w], y[l] = er-or, oi-ei
		}
	}
}
