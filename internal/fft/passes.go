//go:build ignore

package main

import "fmt"

// at returns the address of off bytes in row t, where rows are so many bytes apart: step
// has a register with that number, and with 3, 5 and 7 times as much. If there are more than
// eight rows, the second base is row 8.
func at(base [2]string, t, off int, step [4]string) string {
	return rowAt(base[t/8], t%8, off, step)
}

func rowAt(base string, t, off int, step [4]string) string {
	if t == 0 {
		return fmt.Sprintf("%d(%s)", off, base)
	}
	reg := [...]string{1: step[0], 2: step[0], 3: step[1], 4: step[0], 5: step[2], 6: step[1], 7: step[3]}[t]
	scale := [...]int{1: 1, 2: 2, 3: 1, 4: 4, 5: 1, 6: 2, 7: 1}[t]
	return fmt.Sprintf("%d(%s)(%s*%d)", off, base, reg, scale)
}

// multiples sets registers to 3, 5 and 7 times the first, as far as rows need them.
func (f *function) multiples(step [4]string, rows int) {
	if rows > 3 {
		f.line("LEAQ (%s)(%s*2), %s", step[0], step[0], step[1])
	}
	if rows > 5 {
		f.line("LEAQ (%s)(%s*4), %s", step[0], step[0], step[2])
	}
	if rows > 7 {
		f.line("LEAQ (%s)(%s*2), %s", step[1], step[0], step[3])
		f.line("LEAQ (%s)(%s*2), %s", step[3], step[0], step[3])
	}
}

var (
	inStep  = [4]string{"R9", "R11", "R12", "R13"}
	outStep = [4]string{"R10", "AX", "R14", "R15"}
)

// pass is pass.run of a radix. If last, m is 1, and all twiddle factors are 1.
func pass(u unit, r int, last bool) *function {
	f := &function{unit: u, name: fmt.Sprintf("pass%d%s", r, u.name())}
	if last {
		f.name = fmt.Sprintf("last%d%s", r, u.name())
	}
	in, out := [2]string{"SI", "CX"}, [2]string{"DI", "R8"}
	f.line("MOVQ dst+0(FP), DI")
	f.line("MOVQ src+8(FP), SI")
	f.line("MOVQ tw+16(FP), DX")
	f.line("MOVQ s+32(FP), R10")
	f.line("SHLQ $%d, R10", map[bool]int{false: 6, true: 7}[u.wide]) // bytes of s samples
	f.line("MOVQ R10, R9")
	f.line("IMULQ m+24(FP), R9")
	f.multiples(inStep, r)
	f.multiples(outStep, r+1) // 3 times for the end of a row, too
	if r > 8 {
		f.line("LEAQ (SI)(R9*8), CX")
		f.line("LEAQ (DI)(R10*8), R8")
	}
	f.label("rows")
	f.line("MOVQ s+32(FP), BX")
	f.label("samples")
	x := make([]pair, r)
	for t := range x {
		x[t] = f.loadPair(func(off int) string { return at(in, t, off, inStep) })
	}
	for k, y := range f.butterfly(x) {
		if k > 0 && !last {
			y = f.times(y, fmt.Sprintf("%d(DX)", (2*k-2)*u.bytes), fmt.Sprintf("%d(DX)", (2*k-1)*u.bytes))
		}
		f.storePair(y, func(off int) string { return at(out, k, off, outStep) })
	}
	f.emit()
	bases := []string{"SI", "DI"}
	if r > 8 {
		bases = append(bases, "CX", "R8")
	}
	for _, b := range bases {
		f.line("ADDQ $%d, %s", 2*u.vector(), b)
	}
	f.line("DECQ BX")
	f.line("JNZ samples")
	f.line("LEAQ %s, DI", at(out, r-1, 0, outStep))
	if r > 8 {
		f.line("LEAQ (DI)(R10*8), R8")
	}
	f.line("ADDQ $%d, DX", 2*(r-1)*u.bytes)
	f.line("DECQ m+24(FP)")
	f.line("JNZ rows")
	return f
}

// head is a first pass of a tile whose samples are complex numbers in rows of memory. Orders
// are those that separate real from imaginary parts.
func head(u unit, r int) *function {
	f := &function{unit: u, name: fmt.Sprintf("head%d%s", r, u.name())}
	in := [2]string{"SI", "R8"}
	f.line("MOVQ dst+0(FP), DI")
	f.line("MOVQ src+8(FP), SI")
	f.line("MOVQ tw+16(FP), DX")
	f.line("MOVQ m+24(FP), CX")
	f.line("MOVQ apart+32(FP), BX")
	f.orders("orders+40(FP)")
	f.line("MOVQ BX, R9")
	f.line("IMULQ CX, R9")
	f.multiples(inStep, r)
	f.label("rows")
	if r > 8 {
		f.line("LEAQ (SI)(R9*8), R8")
	}
	x := make([]pair, r)
	for t := range x {
		x[t] = f.loadComplex(func(off int) string { return at(in, t, off, inStep) })
	}
	for k, y := range f.butterfly(x) {
		if k > 0 {
			y = f.times(y, fmt.Sprintf("%d(DX)", (2*k-2)*u.bytes), fmt.Sprintf("%d(DX)", (2*k-1)*u.bytes))
		}
		f.storePair(y, func(off int) string { return fmt.Sprintf("%d(DI)", 2*k*u.vector()+off) })
	}
	f.emit()
	f.line("ADDQ BX, SI")
	f.line("ADDQ $%d, DI", 2*r*u.vector())
	f.line("ADDQ $%d, DX", 2*(r-1)*u.bytes)
	f.line("DECQ CX")
	f.line("JNZ rows")
	return f
}

// tail is the last pass of a tile, into rows of memory. Orders are those that bring real and
// imaginary parts together.
func tail(u unit, r int) *function {
	f := &function{unit: u, name: fmt.Sprintf("tail%d%s", r, u.name())}
	in, out := [2]string{"SI", "DX"}, [2]string{"DI", "R8"}
	f.line("MOVQ dst+0(FP), DI")
	f.line("MOVQ src+8(FP), SI")
	f.line("MOVQ s+16(FP), CX")
	f.line("MOVQ apart+24(FP), BX")
	f.orders("orders+32(FP)")
	f.line("MOVQ CX, R9")
	f.line("SHLQ $%d, R9", map[bool]int{false: 6, true: 7}[u.wide])
	f.line("MOVQ BX, R10")
	f.line("IMULQ CX, R10")
	f.multiples(inStep, r)
	f.multiples(outStep, r)
	f.label("samples")
	if r > 8 {
		f.line("LEAQ (SI)(R9*8), DX")
		f.line("LEAQ (DI)(R10*8), R8")
	}
	x := make([]pair, r)
	for t := range x {
		x[t] = f.loadPair(func(off int) string { return at(in, t, off, inStep) })
	}
	for k, y := range f.butterfly(x) {
		f.storeComplex(y, func(off int) string { return at(out, k, off, outStep) })
	}
	f.emit()
	f.line("ADDQ $%d, SI", 2*u.vector())
	f.line("ADDQ BX, DI")
	f.line("DECQ CX")
	f.line("JNZ samples")
	return f
}

// column is all of the first half of a line: a butterfly over r rows of memory, the product
// with factors, and turn.
func column(u unit, r int) *function {
	f := &function{unit: u, name: fmt.Sprintf("column%d%s", r, u.name())}
	in := [2]string{"SI", "R8"}
	f.line("MOVQ dst+0(FP), DI")
	f.line("MOVQ src+8(FP), SI")
	f.line("MOVQ factors+16(FP), DX")
	f.line("MOVQ apart+24(FP), R9")
	f.orders("orders+40(FP)")
	f.line("MOVQ group+32(FP), AX")
	f.multiples(inStep, r)
	if r > 8 {
		f.line("LEAQ (SI)(R9*8), R8")
	}
	x := make([]pair, r)
	for t := range x {
		x[t] = f.loadComplex(func(off int) string { return at(in, t, off, inStep) })
	}
	n, v := u.lanes(), u.vector()
	y := f.butterfly(x)
	for k := 1; k < r; k++ { // all factors of row 0 are 1
		w := pair{f.load(fmt.Sprintf("%d(DX)", 2*k*v)), f.load(fmt.Sprintf("%d(DX)", (2*k+1)*v))}
		y[k] = pair{f.changed("VFNMADD231", f.two("VMUL"+f.p(), y[k].r, w.r), y[k].i, w.i), f.changed("VFMADD231", f.two("VMUL"+f.p(), y[k].r, w.i), y[k].i, w.r)}
	}
	for b := 0; b < r; b += n {
		for part := range 2 {
			var rows []int
			for _, p := range y[b : b+n] {
				rows = append(rows, []int{p.r, p.i}[part])
			}
			for j, z := range f.transpose(rows) {
				mem := fmt.Sprintf("%d(DI)", (2*j+part)*v)
				if b > 0 {
					mem = fmt.Sprintf("%d(DI)(AX*%d)", (2*j+part)*v, b/n)
				}
				f.store(z, mem)
			}
		}
	}
	f.emit()
	return f
}
