//go:build ignore

package main

import "fmt"

// mulRows is the function of the same name.
func mulRows(u unit) *function {
	f := &function{unit: u, name: "mulRows" + u.name()}
	f.line("MOVQ dstRe+0(FP), DI")
	f.line("MOVQ dstIm+8(FP), SI")
	f.line("MOVQ srcRe+16(FP), R8")
	f.line("MOVQ srcIm+24(FP), R9")
	f.line("MOVQ factors+32(FP), DX")
	f.line("MOVQ n+40(FP), CX")
	f.label("rows")
	y := f.times(pair{f.load("(R8)"), f.load("(R9)")}, "(DX)", fmt.Sprintf("%d(DX)", u.bytes))
	f.store(y.r, "(DI)")
	f.store(y.i, "(SI)")
	f.emit()
	for _, r := range []string{"DI", "SI", "R8", "R9"} {
		f.line("ADDQ $%d, %s", 2*u.vector(), r)
	}
	f.line("ADDQ $%d, DX", 2*u.bytes)
	f.line("DECQ CX")
	f.line("JNZ rows")
	return f
}

// lines copies blocks of as many numbers as a register has from lines to a tile, or
// back. Numbers of even places go to even, those of odd places to odd, both with a step.
func lines(u unit, back bool) *function {
	f := &function{unit: u, name: "loadLines" + u.name()}
	if back {
		f.name = "storeLines" + u.name()
	}
	n := u.lanes()
	f.line("MOVQ even+0(FP), DI")
	f.line("MOVQ odd+8(FP), DX")
	f.line("MOVQ step+16(FP), R10")
	f.line("MOVQ lines+24(FP), SI")
	f.line("MOVQ apart+32(FP), R9")
	f.line("MOVQ blocks+40(FP), CX")
	f.multiples(inStep, n)
	f.multiples(outStep, n/2)
	if n > 8 {
		f.line("LEAQ (SI)(R9*8), BX")
	}
	line := func(l int) string {
		if l >= 8 {
			return rowAt("BX", l-8, 0, inStep)
		}
		return rowAt("SI", l, 0, inStep)
	}
	sample := func(j int) string { return rowAt([]string{"DI", "DX"}[j%2], j/2, 0, outStep) }
	from, to := line, sample
	if back {
		from, to = sample, line
	}
	f.label("blocks")
	x := make([]int, n)
	for i := range x {
		x[i] = f.load(from(i))
	}
	for i, y := range f.transpose(x) {
		f.store(y, to(i))
	}
	f.emit()
	f.line("ADDQ $%d, SI", u.vector())
	if n > 8 {
		f.line("ADDQ $%d, BX", u.vector())
	}
	shift := map[int]int{4: 1, 8: 2, 16: 3}[n] // a block has n/2 of each
	for _, r := range []string{"DI", "DX"} {
		f.line("LEAQ (%s)(R10*%d), %s", r, 1<<shift, r)
	}
	f.line("DECQ CX")
	f.line("JNZ blocks")
	return f
}

// rows copies complex numbers, as many as a register has lanes, from rows to samples
// of a tile, or back.
func rows(u unit, back bool) *function {
	f := &function{unit: u, name: "loadRows" + u.name()}
	if back {
		f.name = "storeRows" + u.name()
	}
	f.line("MOVQ re+0(FP), DI")
	f.line("MOVQ im+8(FP), DX")
	f.line("MOVQ rows+16(FP), SI")
	f.line("MOVQ apart+24(FP), R9")
	f.line("MOVQ n+32(FP), CX")
	f.label("samples")
	v := u.vector()
	if back {
		re, im := f.load("(DI)"), f.load("(DX)")
		lo, hi := f.two("VUNPCKL"+f.p(), re, im), f.two("VUNPCKH"+f.p(), re, im)
		a, b := 0, 0
		if u.wide {
			lo, hi = f.two("VSHUFF64X2 $0x44,", lo, hi), f.two("VSHUFF64X2 $0xEE,", lo, hi)
			a, b = f.two("VSHUFF64X2 $0xD8,", lo, lo), f.two("VSHUFF64X2 $0xD8,", hi, hi)
		} else {
			a, b = f.two("VPERM2F128 $0x20,", lo, hi), f.two("VPERM2F128 $0x31,", lo, hi)
		}
		f.store(a, "(SI)")
		f.store(b, fmt.Sprintf("%d(SI)", v))
	} else {
		a, b := f.load("(SI)"), f.load(fmt.Sprintf("%d(SI)", v))
		if u.wide {
			a, b = f.two("VSHUFF64X2 $0x88,", a, b), f.two("VSHUFF64X2 $0xDD,", a, b)
		} else {
			a, b = f.two("VPERM2F128 $0x20,", a, b), f.two("VPERM2F128 $0x31,", a, b)
		}
		re, im := "VUNPCKLPD", "VUNPCKHPD"
		if u.bytes == 4 {
			re, im = "VSHUFPS $0x88,", "VSHUFPS $0xDD,"
		}
		f.store(f.two(re, a, b), "(DI)")
		f.store(f.two(im, a, b), "(DX)")
	}
	f.emit()
	f.line("ADDQ $%d, DI", 2*v)
	f.line("ADDQ $%d, DX", 2*v)
	f.line("ADDQ R9, SI")
	f.line("DECQ CX")
	f.line("JNZ samples")
	return f
}

// turn is turnVector.
func turn(u unit) *function {
	f := &function{unit: u, name: "turn" + u.name()}
	f.line("MOVQ dst+0(FP), DI")
	f.line("MOVQ src+8(FP), SI")
	f.line("MOVQ factors+16(FP), DX")
	f.line("MOVQ blocks+24(FP), CX")
	f.line("MOVQ group+32(FP), R9")
	f.label("blocks")
	n, v := u.lanes(), u.vector()
	mem := func(base string, row, part int) string { return fmt.Sprintf("%d(%s)", (2*row+part)*v, base) }
	var re, im []int
	for k := range n {
		x := pair{f.load(mem("SI", k, 0)), f.load(mem("SI", k, 1))}
		w := pair{f.load(mem("DX", k, 0)), f.load(mem("DX", k, 1))}
		re = append(re, f.changed("VFNMADD231", f.two("VMUL"+f.p(), x.r, w.r), x.i, w.i))
		im = append(im, f.changed("VFMADD231", f.two("VMUL"+f.p(), x.r, w.i), x.i, w.r))
	}
	for j, y := range f.transpose(re) {
		f.store(y, mem("DI", j, 0))
	}
	for j, y := range f.transpose(im) {
		f.store(y, mem("DI", j, 1))
	}
	f.emit()
	f.line("ADDQ $%d, SI", 2*n*v)
	f.line("ADDQ $%d, DX", 2*n*v)
	f.line("ADDQ R9, DI")
	f.line("DECQ CX")
	f.line("JNZ blocks")
	return f
}

// realPairs is Plan.unpack or, if back, Plan.pack: x goes up from sample 0, y down from the
// last.
func realPairs(u unit, back bool) *function {
	f := &function{unit: u, name: "unpack" + u.name()}
	re, im := 0, u.vector()
	if back {
		f.name = "pack" + u.name()
		re, im = im, re
	}
	f.line("MOVQ x+0(FP), DI")
	f.line("MOVQ y+8(FP), SI")
	f.line("MOVQ tw+16(FP), DX")
	f.line("MOVQ n+24(FP), CX")
	f.label("rows")
	mem := func(base string, off int) string { return fmt.Sprintf("%d(%s)", off, base) }
	x, y := pair{f.load(mem("DI", re)), f.load(mem("DI", im))}, pair{f.load(mem("SI", re)), f.load(mem("SI", im))}
	e := pair{f.add(x.r, y.r), f.sub(x.i, y.i)}
	o := pair{f.sub(x.r, y.r), f.add(x.i, y.i)}
	c, s := "(DX)", mem("DX", u.bytes)
	if back { // e + i·conj(w)·o
		t := pair{f.fma(f.mul(o.r, s), o.i, c, true), f.fma(f.mul(o.r, c), o.i, s, false)}
		f.store(f.add(e.r, t.r), mem("DI", re))
		f.store(f.add(e.i, t.i), mem("DI", im))
		f.store(f.sub(e.r, t.r), mem("SI", re))
		f.store(f.sub(t.i, e.i), mem("SI", im))
	} else { // e/2 - i·w·o, of which the table has w/2
		half := f.constant(0.5)
		t := pair{f.fma(f.mul(o.i, c), o.r, s, false), f.fma(f.mul(o.i, s), o.r, c, true)}
		e = pair{f.mul(e.r, half), f.mul(e.i, half)}
		f.store(f.add(e.r, t.r), mem("DI", re))
		f.store(f.add(e.i, t.i), mem("DI", im))
		f.store(f.sub(e.r, t.r), mem("SI", re))
		f.store(f.sub(t.i, e.i), mem("SI", im))
	}
	f.emit()
	f.line("ADDQ $%d, DI", 2*u.vector())
	f.line("SUBQ $%d, SI", 2*u.vector())
	f.line("ADDQ $%d, DX", 2*u.bytes)
	f.line("DECQ CX")
	f.line("JNZ rows")
	return f
}

// ends combines coefficients from both ends of a line, each with its mirror image: with
// e = x + conj(y) and o = x - conj(y), x becomes h·e + w·o and y the conjugate of h·e - w·o.
// A block is one register of complex numbers of each.
func ends(u unit) *function {
	f := &function{unit: u, name: "ends" + u.name()}
	f.line("MOVQ dst+0(FP), DI")
	f.line("MOVQ dstEnd+8(FP), BX")
	f.line("MOVQ src+16(FP), SI")
	f.line("MOVQ srcEnd+24(FP), DX")
	f.line("MOVQ w+32(FP), R8")
	f.line("MOVQ h+40(FP), R9")
	f.line("MOVQ blocks+48(FP), CX")
	f.label("blocks")
	x, y := f.load("(SI)"), f.reversed(f.load("(DX)"))
	conj := f.load("signs<>(SB)")
	if u.bytes == 4 {
		conj = f.load("signs<>+64(SB)")
	}
	y = f.two("VXORPD", y, conj)
	e, o := f.mul(f.add(x, y), "(R9)"), f.sub(x, y)
	w := f.load("(R8)")
	re, im, swapped := f.parts(w, o)
	t := f.two("VMUL"+f.p(), swapped, im)
	t = f.changed("VFMADDSUB231", t, o, re) // o·re - t in real parts, + t in imaginary ones
	f.store(f.add(e, t), "(DI)")
	f.store(f.reversed(f.two("VXORPD", f.sub(e, t), conj)), "(BX)")
	f.emit()
	for _, r := range []string{"DI", "SI", "R8"} {
		f.line("ADDQ $%d, %s", u.vector(), r)
	}
	for _, r := range []string{"BX", "DX"} {
		f.line("SUBQ $%d, %s", u.vector(), r)
	}
	f.line("DECQ CX")
	f.line("JNZ blocks")
	return f
}

// product is productVector. A block is one register of complex numbers.
func product(u unit, conj bool) *function {
	f := &function{unit: u, name: "product" + u.name()}
	name := "VFMADDSUB231"
	if conj {
		f.name, name = "productConj"+u.name(), "VFMSUBADD231"
	}
	f.line("MOVQ dst+0(FP), DI")
	f.line("MOVQ x+8(FP), SI")
	f.line("MOVQ w+16(FP), DX")
	f.line("MOVQ blocks+24(FP), CX")
	f.label("blocks")
	x, w := f.load("(SI)"), f.load("(DX)")
	re, im, swapped := f.parts(w, x)
	f.store(f.changed(name, f.two("VMUL"+f.p(), swapped, im), x, re), "(DI)")
	f.emit()
	for _, r := range []string{"DI", "SI", "DX"} {
		f.line("ADDQ $%d, %s", u.vector(), r)
	}
	f.line("DECQ CX")
	f.line("JNZ blocks")
	return f
}

// parts returns the real parts of complex numbers w, each twice, their imaginary parts, and
// x with both parts changed over.
func (f *function) parts(w, x int) (re, im, swapped int) {
	if f.bytes == 8 {
		return f.value("VMOVDDUP %0, %d", w), f.value("VPERMILPD $0xFF, %0, %d", w), f.value("VPERMILPD $0x55, %0, %d", x)
	}
	return f.value("VMOVSLDUP %0, %d", w), f.value("VMOVSHDUP %0, %d", w), f.value("VPERMILPS $0xB1, %0, %d", x)
}

// odd is one butterfly of an odd radix; see pass.odd. half is r/2.
func odd(u unit) *function {
	f := &function{unit: u, name: "odd" + u.name()}
	e := 2 * u.vector()
	f.line("MOVQ src+8(FP), SI")
	f.line("MOVQ room+16(FP), R8")
	f.line("MOVQ half+40(FP), CX")
	f.line("MOVQ srcStep+48(FP), R9")
	f.line("MOVQ SI, BX") // the sample opposite to the first
	f.line("MOVQ CX, AX")
	f.line("ADDQ AX, AX")
	f.line("IMULQ R9, AX")
	f.line("ADDQ AX, BX")
	f.line("VMOVUPD (SI), %s", u.reg(0))
	f.line("VMOVUPD %d(SI), %s", u.vector(), u.reg(1))
	f.label("sums")
	f.line("ADDQ R9, SI")
	for part := range 2 {
		off := part * u.vector()
		f.line("VMOVUPD %d(SI), %s", off, u.reg(2))
		f.line("VMOVUPD %d(BX), %s", off, u.reg(3))
		f.line("VADD%s %s, %s, %s", u.p(), u.reg(3), u.reg(2), u.reg(4))
		f.line("VSUB%s %s, %s, %s", u.p(), u.reg(3), u.reg(2), u.reg(5))
		f.line("VADD%s %s, %s, %s", u.p(), u.reg(4), u.reg(part), u.reg(part))
		f.line("VMOVUPD %s, %d(R8)", u.reg(4), off)
		f.line("VMOVUPD %s, %d(R8)", u.reg(5), e+off)
	}
	f.line("SUBQ R9, BX")
	f.line("ADDQ $%d, R8", 2*e)
	f.line("DECQ CX")
	f.line("JNZ sums")
	f.line("MOVQ dst+0(FP), DI")
	f.line("VMOVUPD %s, (DI)", u.reg(0))
	f.line("VMOVUPD %s, %d(DI)", u.reg(1), u.vector())
	// DI and BX are where results k and r-k go, DX and R10 their twiddle factors.
	f.line("MOVQ half+40(FP), CX")
	f.line("MOVQ dstStep+56(FP), R9")
	f.line("MOVQ tw+32(FP), DX")
	f.line("MOVQ CX, AX")
	f.line("ADDQ AX, AX")
	f.line("MOVQ AX, R10")
	f.line("DECQ R10")
	f.line("SHLQ $%d, R10", map[int]int{4: 3, 8: 4}[u.bytes])
	f.line("ADDQ DX, R10")
	f.line("IMULQ R9, AX")
	f.line("LEAQ (DI)(AX*1), BX")
	f.line("ADDQ R9, DI")
	f.line("MOVQ cosines+24(FP), R11")
	f.line("MOVQ CX, R13") // bytes of the cosines of one k
	f.line("SHLQ $%d, R13", map[int]int{4: 3, 8: 4}[u.bytes])
	for _, ks := range []int{2, 1} {
		f.label(fmt.Sprintf("next%d", ks))
		f.line("CMPQ CX, $%d", ks)
		f.line("JLT done%d", ks)
		f.line("MOVQ src+8(FP), SI")
		f.line("MOVQ room+16(FP), R8")
		f.line("MOVQ half+40(FP), AX")
		// Registers 4k to 4k+3 are the sums of cosines and of sines, 8 to 11 sums and differences.
		for k := range ks {
			f.line("VMOVUPD (SI), %s", u.reg(4*k))
			f.line("VMOVUPD %d(SI), %s", u.vector(), u.reg(4*k+1))
			f.line("VXORPD %s, %s, %s", u.reg(4*k+2), u.reg(4*k+2), u.reg(4*k+2))
			f.line("VXORPD %s, %s, %s", u.reg(4*k+3), u.reg(4*k+3), u.reg(4*k+3))
		}
		f.label(fmt.Sprintf("terms%d", ks))
		for i := range 4 {
			f.line("VMOVUPD %d(R8), %s", i*u.vector(), u.reg(8+i))
		}
		for k := range ks {
			for part := range 2 {
				mem := fmt.Sprintf("%d(R11)", part*u.bytes)
				if k == 1 {
					mem = fmt.Sprintf("%d(R11)(R13*1)", part*u.bytes)
				}
				f.line("VBROADCAST%s %s, %s", u.s(), mem, u.reg(12+2*k+part))
				for i := range 2 {
					f.line("VFMADD231%s %s, %s, %s", u.p(), u.reg(12+2*k+part), u.reg(8+2*part+i), u.reg(4*k+2*part+i))
				}
			}
		}
		f.line("ADDQ $%d, R8", 2*e)
		f.line("ADDQ $%d, R11", 2*u.bytes)
		f.line("DECQ AX")
		f.line("JNZ terms%d", ks)
		for k := range ks {
			c, s := u.reg(4*k), u.reg(4*k+2)
			ci, si := u.reg(4*k+1), u.reg(4*k+3)
			f.line("VADD%s %s, %s, %s", u.p(), si, c, u.reg(8))
			f.line("VSUB%s %s, %s, %s", u.p(), s, ci, u.reg(9))
			f.line("VSUB%s %s, %s, %s", u.p(), si, c, u.reg(10))
			f.line("VADD%s %s, %s, %s", u.p(), s, ci, u.reg(11))
			for side, r := range []string{"DX", "R10"} {
				to := []string{"DI", "BX"}[side]
				ur, ui := u.reg(8+2*side), u.reg(9+2*side)
				f.line("VBROADCAST%s (%s), %s", u.s(), r, u.reg(12))
				f.line("VBROADCAST%s %d(%s), %s", u.s(), u.bytes, r, u.reg(13))
				f.line("VMUL%s %s, %s, %s", u.p(), u.reg(12), ur, u.reg(14))
				f.line("VFNMADD231%s %s, %s, %s", u.p(), u.reg(13), ui, u.reg(14))
				f.line("VMUL%s %s, %s, %s", u.p(), u.reg(13), ur, u.reg(15))
				f.line("VFMADD231%s %s, %s, %s", u.p(), u.reg(12), ui, u.reg(15))
				f.line("VMOVUPD %s, (%s)", u.reg(14), to)
				f.line("VMOVUPD %s, %d(%s)", u.reg(15), u.vector(), to)
			}
			f.line("ADDQ R9, DI")
			f.line("SUBQ R9, BX")
			f.line("ADDQ $%d, DX", 2*u.bytes)
			f.line("SUBQ $%d, R10", 2*u.bytes)
		}
		if ks == 2 {
			f.line("ADDQ R13, R11") // the second k
		}
		f.line("SUBQ $%d, CX", ks)
		f.line("JMP next%d", ks)
		f.label(fmt.Sprintf("done%d", ks))
	}
	return f
}
