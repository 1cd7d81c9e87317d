package fft

import "unsafe"

//go:generate go run generate.go emitter.go butterfly.go passes.go copies.go

// unit is the loops of a vector unit for one element type.
type unit struct {
	lanes int // numbers in a register, and lines in a tile
	// pass and last are passes of each radix: last is for m = 1.
	pass, last [maxVectorRadix + 1]passFunc
	// head is a first pass that reads rows of memory, tail a last pass that writes them, and
	// column the first half of a line; or nil.
	head                  [maxVectorRadix + 1]headFunc
	tail                  [maxVectorRadix + 1]tailFunc
	column                [maxVectorRadix + 1]columnFunc
	apart, joined         [2]orders      // for head and column, and for tail: forward and inverse
	product               [2]productFunc // by factors, and by their conjugates
	turn                  func(dst, src, factors unsafe.Pointer, blocks, group int)
	ends                  func(dst, dstEnd, src, srcEnd, w, h unsafe.Pointer, blocks int)
	mulRows               func(dstRe, dstIm, srcRe, srcIm, factors unsafe.Pointer, n int)
	odd                   func(dst, src, room, cosines, tw unsafe.Pointer, half, srcStep, dstStep int)
	loadLines, storeLines func(even, odd unsafe.Pointer, step int, lines unsafe.Pointer, apart, blocks int)
	loadRows, storeRows   func(re, im, rows unsafe.Pointer, apart, n int)
	unpack, pack          func(x, y, tw unsafe.Pointer, n int)
}

type (
	passFunc    func(dst, src, tw unsafe.Pointer, m, s int)
	headFunc    func(dst, src, tw unsafe.Pointer, m, apart int, orders unsafe.Pointer)
	tailFunc    func(dst, src unsafe.Pointer, s, apart int, orders unsafe.Pointer)
	productFunc func(dst, x, w unsafe.Pointer, blocks int)
	columnFunc  func(dst, src, factors unsafe.Pointer, apart, group int, orders unsafe.Pointer)
)

// maxVectorRadix is the largest radix with a pass in registers.
const maxVectorRadix = 16

// orders say which numbers of two registers make two others, in 64 bytes each.
type orders [128]byte

// set makes lane l of a result number k of both registers.
func (o *orders) set(result, l, k, bytes int) { o[64*result+l*bytes] = byte(k) }

// apartOrders separate real from imaginary parts. They change places for the inverse.
func apartOrders(lanes, bytes int) (o [2]orders) {
	for l := range lanes {
		for part := range 2 {
			o[0].set(part, l, 2*l+part, bytes)
			o[1].set(1-part, l, 2*l+part, bytes)
		}
	}
	return o
}

// joinedOrders are the way back of apartOrders.
func joinedOrders(lanes, bytes int) (o [2]orders) {
	for l := range lanes {
		for part := range 2 {
			to := 2*l + part
			o[0].set(to/lanes, to%lanes, part*lanes+l, bytes)
			o[1].set(to/lanes, to%lanes, (1-part)*lanes+l, bytes)
		}
	}
	return o
}

// size returns the bytes of an F.
func size[F Float]() int { return int(unsafe.Sizeof(F(0))) }

func ptr[F Float](a []F) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(a)) }

func (u *unit) hasPass(r int) bool { return r <= maxVectorRadix && u.pass[r] != nil }

// runVector sets dst to a pass over src.
func runVector[F Float](u *unit, p *pass[F], dst, src, room []F) {
	dst, src = dst[:2*p.r*p.m*p.s*u.lanes], src[:2*p.r*p.m*p.s*u.lanes]
	switch {
	case u.hasPass(p.r) && p.m == 1:
		u.last[p.r](ptr(dst), ptr(src), ptr(p.twiddle), p.m, p.s)
	case u.hasPass(p.r):
		u.pass[p.r](ptr(dst), ptr(src), ptr(p.twiddle), p.m, p.s)
	default:
		room = room[:2*p.r*u.lanes]
		e := 2 * u.lanes
		bytes := e * size[F]()
		for i := range p.m {
			tw := p.twiddle[2*(p.r-1)*i:]
			for q := range p.s {
				u.odd(ptr(dst[(q+p.s*p.r*i)*e:]), ptr(src[(q+p.s*i)*e:]), ptr(room), ptr(p.cosines), ptr(tw), p.r/2, p.s*p.m*bytes, p.s*bytes)
			}
		}
	}
}

func mulRowsVector[F Float](u *unit, a, factors []F, n, from, to int) {
	w := u.lanes
	_, _ = a[2*n*w-1], factors[2*n-1]
	u.mulRows(ptr(a[to:]), ptr(a[w-to:]), ptr(a[from:]), ptr(a[w-from:]), ptr(factors), n)
}

// turnVector multiplies samples of a tile by factors that lie like them. It transposes
// whole squares of samples and lines, and puts each at the beginning of a group in dst.
func turnVector[F Float](u *unit, dst, a, factors []F, n, group int) {
	n -= n % u.lanes
	_, _, _ = dst[(n/u.lanes-1)*group+2*u.lanes*u.lanes-1], a[2*n*u.lanes-1], factors[2*n*u.lanes-1]
	u.turn(ptr(dst), ptr(a), ptr(factors), n/u.lanes, group*size[F]())
}

// productVector sets dst to the products of complex numbers x and w, or the conjugates of w.
func productVector[F Float](u *unit, dst, x, w []F, conj bool) {
	n := len(x) / u.lanes
	_, _ = dst[len(x)-1], w[len(x)-1]
	sign := F(1)
	f := u.product[0]
	if conj {
		sign, f = -1, u.product[1]
	}
	if n > 0 {
		f(ptr(dst), ptr(x), ptr(w), n)
	}
	for i := n * u.lanes; i < len(x); i += 2 {
		r, v, c, d := x[i], x[i+1], w[i], sign*w[i+1]
		dst[i], dst[i+1] = r*c-v*d, r*d+v*c
	}
}
