//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
)

// unit is a vector unit and an element type.
type unit struct {
	wide  bool // registers of 512 bits, not 256
	evex  bool // AVX-512: 32 registers, and factors from memory
	bytes int  // of a component: 4 or 8
}

func (u unit) lanes() int { return u.vector() / u.bytes }
func (u unit) vector() int {
	if u.wide {
		return 64
	}
	return 32
}
func (u unit) name() string {
	return fmt.Sprintf("F%dx%d", 8*u.bytes, u.lanes()) + map[bool]string{true: "v"}[u.evex && !u.wide]
}
func (u unit) p() string { return map[int]string{4: "PS", 8: "PD"}[u.bytes] }
func (u unit) s() string { return map[int]string{4: "SS", 8: "SD"}[u.bytes] }
func (u unit) regs() int {
	if u.evex {
		return 32
	}
	return 16
}
func (u unit) reg(i int) string {
	if u.wide {
		return fmt.Sprintf("Z%d", i)
	}
	return fmt.Sprintf("Y%d", i)
}

// op is one instruction. A text has %d for the destination and %0, %1, ... for its arguments. If
// acc, argument 0 is changed in place.
type op struct {
	text string
	args []int
	dst  int // -1 for none
	acc  bool
}

// function is one function in assembly.
type function struct {
	unit
	name  string
	ops   []op
	body  bytes.Buffer
	slots int
	next  int
	taken int // registers at the end that keep their values
}

func (f *function) value(text string, args ...int) int {
	f.ops = append(f.ops, op{text: text, args: args, dst: f.next})
	f.next++
	return f.next - 1
}

func (f *function) load(mem string) int { return f.value("VMOVU" + f.p() + " " + mem + ", %d") }
func (f *function) store(v int, mem string) {
	f.ops = append(f.ops, op{text: "VMOVU" + f.p() + " %0, " + mem, args: []int{v}, dst: -1})
}
func (f *function) add(a, b int) int { return f.value("VADD"+f.p()+" %1, %0, %d", a, b) }
func (f *function) sub(a, b int) int { return f.value("VSUB"+f.p()+" %1, %0, %d", a, b) }
func (f *function) two(name string, a, b int) int {
	return f.value(name+" %1, %0, %d", a, b) // name A, B: as Intel has it, B is the last operand
}

// mul returns a times the number at mem.
func (f *function) mul(a int, mem string) int {
	if f.evex {
		return f.value("VMUL"+f.p()+".BCST "+mem+", %0, %d", a)
	}
	c := f.value("VBROADCAST" + f.s() + " " + mem + ", %d")
	return f.value("VMUL"+f.p()+" %1, %0, %d", a, c)
}

// fma returns acc plus, or minus, a times the number at mem.
func (f *function) fma(acc, a int, mem string, minus bool) int {
	name := "VFMADD231"
	if minus {
		name = "VFNMADD231"
	}
	o := op{text: name + f.p() + ".BCST " + mem + ", %1, %d", args: []int{acc, a}, dst: f.next, acc: true}
	if !f.evex {
		c := f.value("VBROADCAST" + f.s() + " " + mem + ", %d")
		o = op{text: name + f.p() + " %2, %1, %d", args: []int{acc, a, c}, dst: f.next, acc: true}
	}
	f.ops = append(f.ops, o)
	f.next++
	return f.next - 1
}

// emit gives values registers and writes the operations so far.
func (f *function) emit() {
	last := map[int]int{}
	for i, o := range f.ops {
		for _, a := range o.args {
			last[a] = i
		}
	}
	where := map[int]int{} // register of a value
	slot := map[int]int{}  // on the stack
	free := []int{}
	for r := f.regs() - f.taken - 1; r >= 0; r-- {
		free = append(free, r)
	}
	slots, used := []int{}, 0
	nextUse := func(v, from int) int {
		for i := from; i < len(f.ops); i++ {
			if slices.Contains(f.ops[i].args, v) {
				return i
			}
		}
		return math.MaxInt
	}
	take := func(i int, keep ...int) int {
		if len(free) == 0 {
			worst, far := -1, -1
			for v := range where {
				if n := nextUse(v, i); !slices.Contains(keep, v) && (n > far || n == far && v < worst) {
					worst, far = v, n
				}
			}
			r := where[worst]
			if _, there := slot[worst]; !there {
				if len(slots) == 0 {
					slots = append(slots, used)
					used++
				}
				slot[worst] = slots[len(slots)-1]
				slots = slots[:len(slots)-1]
				fmt.Fprintf(&f.body, "\tVMOVU%s %s, %d(SP)\n", f.p(), f.reg(r), slot[worst]*f.vector())
			}
			delete(where, worst)
			free = append(free, r)
		}
		r := free[len(free)-1]
		free = free[:len(free)-1]
		return r
	}
	for i, o := range f.ops {
		for _, a := range o.args {
			if _, there := where[a]; !there {
				r := take(i, o.args...)
				where[a] = r
				fmt.Fprintf(&f.body, "\tVMOVU%s %d(SP), %s\n", f.p(), slot[a]*f.vector(), f.reg(r))
			}
		}
		text := o.text
		for k, a := range o.args {
			text = strings.ReplaceAll(text, fmt.Sprintf("%%%d", k), f.reg(where[a]))
		}
		release := func(skip int) {
			for _, a := range o.args {
				if r, there := where[a]; there && last[a] == i && a != skip {
					free = append(free, r)
					delete(where, a)
					if s, spilled := slot[a]; spilled {
						slots = append(slots, s)
						delete(slot, a)
					}
				}
			}
		}
		if o.dst >= 0 {
			var r int
			switch {
			case o.acc && last[o.args[0]] == i:
				r = where[o.args[0]]
				delete(where, o.args[0])
				if s, spilled := slot[o.args[0]]; spilled {
					slots = append(slots, s)
					delete(slot, o.args[0])
				}
				release(-1)
			case o.acc:
				r = take(i, o.args...)
				fmt.Fprintf(&f.body, "\tVMOVAPD %s, %s\n", f.reg(where[o.args[0]]), f.reg(r))
				release(-1)
			default:
				release(-1)
				r = take(i, o.args...)
			}
			where[o.dst] = r
			text = strings.ReplaceAll(text, "%d", f.reg(r))
			if _, needed := last[o.dst]; !needed {
				free = append(free, r)
				delete(where, o.dst)
			}
		} else {
			release(-1)
		}
		fmt.Fprintf(&f.body, "\t%s\n", text)
	}
	f.slots = max(f.slots, used)
	f.ops = nil
}

func (f *function) line(format string, args ...any) { fmt.Fprintf(&f.body, "\t"+format+"\n", args...) }
func (f *function) label(name string)               { fmt.Fprintf(&f.body, "%s:\n", name) }

// pair is a complex number in two registers.
type pair struct{ r, i int }

func (f *function) loadPair(mem func(off int) string) pair {
	return pair{f.load(mem(0)), f.load(mem(f.vector()))}
}
func (f *function) storePair(v pair, mem func(off int) string) {
	f.store(v.r, mem(0))
	f.store(v.i, mem(f.vector()))
}
func (f *function) addPair(a, b pair) pair { return pair{f.add(a.r, b.r), f.add(a.i, b.i)} }
func (f *function) subPair(a, b pair) pair { return pair{f.sub(a.r, b.r), f.sub(a.i, b.i)} }

// addTurned returns a - i·b, subTurned a + i·b.
func (f *function) addTurned(a, b pair) pair { return pair{f.add(a.r, b.i), f.sub(a.i, b.r)} }
func (f *function) subTurned(a, b pair) pair { return pair{f.sub(a.r, b.i), f.add(a.i, b.r)} }

// times returns a times the complex number at mem.
func (f *function) times(a pair, re, im string) pair {
	r := f.fma(f.mul(a.r, re), a.i, im, true)
	i := f.fma(f.mul(a.r, im), a.i, re, false)
	return pair{r, i}
}

// constants are those of all functions, by unit size.
var constants = map[int][]float64{}

func (f *function) constant(v float64) string {
	all := constants[f.bytes]
	i := slices.Index(all, v)
	if i < 0 {
		i = len(all)
		constants[f.bytes] = append(all, v)
	}
	return fmt.Sprintf("numbers%d<>+%d(SB)", 8*f.bytes, i*f.bytes)
}

// transpose returns the columns of a square of values.
func (f *function) transpose(x []int) []int {
	var groups [][]int // of columns modulo 2 or 4, one list for each group of lines
	if f.bytes == 8 {
		groups = make([][]int, 2)
		for i := 0; i < len(x); i += 2 {
			groups[0] = append(groups[0], f.two("VUNPCKLPD", x[i], x[i+1]))
			groups[1] = append(groups[1], f.two("VUNPCKHPD", x[i], x[i+1]))
		}
	} else {
		groups = make([][]int, 4)
		for i := 0; i < len(x); i += 4 {
			a, b := f.two("VUNPCKLPS", x[i], x[i+1]), f.two("VUNPCKLPS", x[i+2], x[i+3])
			c, d := f.two("VUNPCKHPS", x[i], x[i+1]), f.two("VUNPCKHPS", x[i+2], x[i+3])
			groups[0] = append(groups[0], f.two("VUNPCKLPD", a, b))
			groups[1] = append(groups[1], f.two("VUNPCKHPD", a, b))
			groups[2] = append(groups[2], f.two("VUNPCKLPD", c, d))
			groups[3] = append(groups[3], f.two("VUNPCKHPD", c, d))
		}
	}
	y := make([]int, len(x))
	for c, g := range groups {
		if len(g) == 2 && f.evex {
			y[c], y[c+len(groups)] = f.two("VSHUFF64X2 $0,", g[0], g[1]), f.two("VSHUFF64X2 $3,", g[0], g[1])
			continue
		}
		if len(g) == 2 {
			y[c], y[c+len(groups)] = f.two("VPERM2F128 $0x20,", g[0], g[1]), f.two("VPERM2F128 $0x31,", g[0], g[1])
			continue
		}
		s := "VSHUFF64X2 "
		a, b := f.two(s+"$0x88,", g[0], g[1]), f.two(s+"$0xDD,", g[0], g[1])
		d, e := f.two(s+"$0x88,", g[2], g[3]), f.two(s+"$0xDD,", g[2], g[3])
		y[c], y[c+2*len(groups)] = f.two(s+"$0x88,", a, d), f.two(s+"$0xDD,", a, d)
		y[c+len(groups)], y[c+3*len(groups)] = f.two(s+"$0x88,", b, e), f.two(s+"$0xDD,", b, e)
	}
	return y
}

// changed returns acc plus or minus a·b.
func (f *function) changed(name string, acc, a, b int) int {
	f.ops = append(f.ops, op{text: name + f.p() + " %2, %1, %d", args: []int{acc, a, b}, dst: f.next, acc: true})
	f.next++
	return f.next - 1
}

// orders sets the last two registers to orders of lanes for apart or joined.
func (f *function) orders(arg string) {
	f.taken = 2
	f.line("MOVQ %s, AX", arg)
	f.line("VMOVUPD (AX), %s", f.reg(30))
	f.line("VMOVUPD 64(AX), %s", f.reg(31))
}

func (f *function) loadComplex(mem func(off int) string) pair {
	r, i := f.mixed(f.load(mem(0)), f.load(mem(f.vector())))
	return pair{r, i}
}

func (f *function) storeComplex(v pair, mem func(off int) string) {
	lo, hi := f.mixed(v.r, v.i)
	f.store(lo, mem(0))
	f.store(hi, mem(f.vector()))
}

// mixed returns lanes of a and b, in both orders.
func (f *function) mixed(a, b int) (c, d int) {
	name := "VPERMT2" + f.p() + " %1, " + f.reg(30) + ", %d"
	f.ops = append(f.ops, op{text: name, args: []int{a, b}, dst: f.next, acc: true},
		op{text: strings.Replace(name, f.reg(30), f.reg(31), 1), args: []int{a, b}, dst: f.next + 1, acc: true})
	f.next += 2
	return f.next - 2, f.next - 1
}

// reversed returns complex numbers in the other order.
func (f *function) reversed(a int) int {
	switch {
	case f.wide && f.bytes == 8:
		return f.two("VSHUFF64X2 $0x1B,", a, a)
	case f.wide:
		a = f.value("VPERMPD $0x1B, %0, %d", a)
		return f.two("VSHUFF64X2 $0x4E,", a, a)
	case f.bytes == 8:
		return f.two("VPERM2F128 $0x01,", a, a)
	}
	return f.value("VPERMPD $0x1B, %0, %d", a)
}
