//go:build ignore

package main

import "math"

// butterfly transforms r samples.
func (f *function) butterfly(x []pair) []pair {
	switch len(x) {
	case 2:
		return []pair{f.addPair(x[0], x[1]), f.subPair(x[0], x[1])}
	case 4:
		a, b := f.addPair(x[0], x[2]), f.subPair(x[0], x[2])
		c, d := f.addPair(x[1], x[3]), f.subPair(x[1], x[3])
		return []pair{f.addPair(a, c), f.addTurned(b, d), f.subPair(a, c), f.subTurned(b, d)}
	case 8:
		var a, b [4]pair
		for j := range a {
			a[j], b[j] = f.addPair(x[j], x[j+4]), f.subPair(x[j], x[j+4])
		}
		even := f.butterfly(a[:])
		h := f.constant(math.Sqrt2 / 2)
		p := pair{f.add(b[1].r, b[1].i), f.sub(b[1].i, b[1].r)} // b1·exp(-πi/4)/h
		q := pair{f.sub(b[3].i, b[3].r), f.add(b[3].r, b[3].i)} // b3·exp(-3πi/4)/h, its imaginary part with the other sign
		e0, e2 := f.addTurned(b[0], b[2]), f.subTurned(b[0], b[2])
		s := pair{f.add(p.r, q.r), f.sub(p.i, q.i)}
		d := pair{f.sub(p.r, q.r), f.add(p.i, q.i)}
		y1 := pair{f.fma(e0.r, s.r, h, false), f.fma(e0.i, s.i, h, false)}
		y5 := pair{f.fma(e0.r, s.r, h, true), f.fma(e0.i, s.i, h, true)}
		y3 := pair{f.fma(e2.r, d.i, h, false), f.fma(e2.i, d.r, h, true)}
		y7 := pair{f.fma(e2.r, d.i, h, true), f.fma(e2.i, d.r, h, false)}
		return []pair{even[0], y1, even[1], y3, even[2], y5, even[3], y7}
	case 16:
		return f.butterfly16(x)
	}
	r, half := len(x), len(x)/2
	sum, diff := make([]pair, half), make([]pair, half)
	y := make([]pair, r)
	y[0] = x[0]
	for j := range half {
		sum[j], diff[j] = f.addPair(x[j+1], x[r-1-j]), f.subPair(x[j+1], x[r-1-j])
		y[0] = f.addPair(y[0], sum[j])
	}
	for k := 1; k <= half; k++ {
		c, s := x[0], pair{}
		for j := range half {
			angle := 2 * math.Pi * float64(((j+1)*k)%r) / float64(r)
			co, si := f.constant(math.Cos(angle)), f.constant(math.Sin(angle))
			c = pair{f.fma(c.r, sum[j].r, co, false), f.fma(c.i, sum[j].i, co, false)}
			if j == 0 {
				s = pair{f.mul(diff[j].r, si), f.mul(diff[j].i, si)}
			} else {
				s = pair{f.fma(s.r, diff[j].r, si, false), f.fma(s.i, diff[j].i, si, false)}
			}
		}
		y[k], y[r-k] = f.addTurned(c, s), f.subTurned(c, s)
	}
	return y
}

// butterfly16 is 4 butterflies of 4, and 4 again. The factor exp(-2πi·jk/16) of sample j is
// c·(1 - i·t), where c joins the additions that follow.
func (f *function) butterfly16(x []pair) []pair {
	var a [4][]pair
	for j := range a {
		a[j] = f.butterfly([]pair{x[j], x[j+4], x[j+8], x[j+12]})
	}
	y := make([]pair, 16)
	for k := range 4 {
		z := []pair{a[0][k], a[1][k], a[2][k], a[3][k]}
		if k == 0 {
			for l, v := range f.butterfly(z) {
				y[4*l] = v
			}
			continue
		}
		cos := func(j int) float64 { return math.Cos(math.Pi / 8 * float64(j*k)) }
		var u [4]pair // without c
		for j := 1; j < 4; j++ {
			switch t := math.Tan(math.Pi / 8 * float64(j*k)); {
			case j*k == 4:
			case j*k == 2:
				u[j] = pair{f.add(z[j].r, z[j].i), f.sub(z[j].i, z[j].r)}
			case j*k == 6:
				u[j] = pair{f.sub(z[j].r, z[j].i), f.add(z[j].i, z[j].r)}
			default:
				t := f.constant(t)
				u[j] = pair{f.fma(z[j].r, z[j].i, t, false), f.fma(z[j].i, z[j].r, t, true)}
			}
		}
		var p, m pair // z[0] plus and minus sample 2
		if k == 2 {
			p, m = f.addTurned(z[0], z[2]), f.subTurned(z[0], z[2])
		} else {
			p, m = f.plusMinus(z[0], u[2], cos(2))
		}
		var c, d pair // samples 1 plus and minus 3, without the cosine of 1
		if k == 2 {
			c, d = f.subPair(u[1], u[3]), f.addPair(u[1], u[3])
		} else {
			c, d = f.plusMinus(u[1], u[3], cos(3)/cos(1))
		}
		h := f.constant(math.Abs(cos(1)))
		y[k] = pair{f.fma(p.r, c.r, h, false), f.fma(p.i, c.i, h, false)}
		y[k+8] = pair{f.fma(p.r, c.r, h, true), f.fma(p.i, c.i, h, true)}
		y[k+4] = pair{f.fma(m.r, d.i, h, false), f.fma(m.i, d.r, h, true)}
		y[k+12] = pair{f.fma(m.r, d.i, h, true), f.fma(m.i, d.r, h, false)}
	}
	return y
}

// plusMinus returns a + c·b and a - c·b.
func (f *function) plusMinus(a, b pair, c float64) (p, m pair) {
	minus, h := c < 0, f.constant(math.Abs(c))
	return pair{f.fma(a.r, b.r, h, minus), f.fma(a.i, b.i, h, minus)}, pair{f.fma(a.r, b.r, h, !minus), f.fma(a.i, b.i, h, !minus)}
}
