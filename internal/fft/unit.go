package fft

import "unsafe"

//go:generate go run generate.go emitter.go

// unit is the loops of a vector unit for one element type.
type unit struct {
	lanes int // numbers in a register, and lines in a tile
	// pass and last are passes of each radix: last is for m = 1.
	pass, last            [9]passFunc
	turn                  func(dst, src, factors unsafe.Pointer, blocks, group int)
	ends                  func(dst, dstEnd, src, srcEnd, w, h unsafe.Pointer, blocks int)
	mulRows               func(dstRe, dstIm, srcRe, srcIm, factors unsafe.Pointer, n int)
	odd                   func(dst, src, room, cosines, tw unsafe.Pointer, half, srcStep, dstStep int)
	loadLines, storeLines func(even, odd unsafe.Pointer, step int, lines unsafe.Pointer, apart, blocks int)
	loadRows, storeRows   func(re, im, rows unsafe.Pointer, apart, n int)
	unpack, pack          func(x, y, tw unsafe.Pointer, n int)
}

type passFunc func(dst, src, tw unsafe.Pointer, m, s int)

// size returns the bytes of an F.
func size[F Float]() int { return int(unsafe.Sizeof(F(0))) }

func ptr[F Float](a []F) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(a)) }

// runVector sets dst to a pass over src.
func runVector[F Float](u *unit, p *pass[F], dst, src, room []F) {
	dst, src = dst[:2*p.r*p.m*p.s*u.lanes], src[:2*p.r*p.m*p.s*u.lanes]
	switch {
	case p.r < len(u.pass) && p.m == 1:
		u.last[p.r](ptr(dst), ptr(src), ptr(p.twiddle), p.m, p.s)
	case p.r < len(u.pass):
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
// squares of samples and lines, and puts each at the beginning of a group in dst.
func turnVector[F Float](u *unit, dst, a, factors []F, n, group int) {
	_, _, _ = dst[(n/u.lanes-1)*group+2*u.lanes*u.lanes-1], a[2*n*u.lanes-1], factors[2*n*u.lanes-1]
	u.turn(ptr(dst), ptr(a), ptr(factors), n/u.lanes, group*size[F]())
}
