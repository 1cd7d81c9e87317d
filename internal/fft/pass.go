package fft

// pass is one pass of radix r over a tile, after Stockham: of n = r·m·s samples, whose s
// subsequences have been transformed along the factors before. It sets
// y[q + s·(r·p+k)] = exp(-2πi·pk/(r·m)) · Σₜ exp(-2πi·kt/r)·x[q + s·(p+m·t)].
type pass[F Float] struct {
	r, m, s int
	twiddle []F // of each p those of k = 1 to r-1
	cosines []F // cos(2π·jk/r) and sin(2π·jk/r) for j, k = 1 to r/2, of an odd r
}

func newPass[F Float](r, m, s int) pass[F] {
	p := pass[F]{r: r, m: m, s: s}
	for i := range m {
		for k := 1; k < r; k++ {
			re, im := root(i*k, r*m)
			p.twiddle = append(p.twiddle, F(re), F(im))
		}
	}
	if r > 5 {
		for k := 1; k <= r/2; k++ {
			for j := 1; j <= r/2; j++ {
				re, im := root(j*k, r)
				p.cosines = append(p.cosines, F(re), F(-im))
			}
		}
	}
	return p
}

// run sets dst to the pass over src. room is for 2·r·w numbers.
func (p *pass[F]) run(dst, src, room []F, w int) {
	switch p.r {
	case 2:
		pass2(dst, src, p.twiddle, p.m, p.s, w)
	case 3:
		pass3(dst, src, p.twiddle, p.m, p.s, w)
	case 4:
		pass4(dst, src, p.twiddle, p.m, p.s, w)
	case 5:
		pass5(dst, src, p.twiddle, p.m, p.s, w)
	default:
		p.odd(dst, src, room, w)
	}
}

// sample returns sample i of a tile of w lines.
func sample[F Float](a []F, i, w int) []F { return a[2*i*w:][:2*w] }

func pass2[F Float](dst, src, tw []F, m, s, w int) {
	for p := range m {
		c, d := tw[2*p], tw[2*p+1]
		for q := range s {
			x0, x1 := sample(src, q+s*p, w), sample(src, q+s*(p+m), w)
			y0, y1 := sample(dst, q+s*2*p, w), sample(dst, q+s*(2*p+1), w)
			for l, h := 0, w; l < w; l, h = l+1, h+1 {
				r, i := x0[l]-x1[l], x0[h]-x1[h]
				y0[l], y0[h] = x0[l]+x1[l], x0[h]+x1[h]
				y1[l], y1[h] = r*c-i*d, r*d+i*c
			}
		}
	}
}

func pass3[F Float](dst, src, tw []F, m, s, w int) {
	const sin = 0.866025403784438646763723170752936183
	for p := range m {
		t := tw[4*p:][:4]
		for q := range s {
			x0, x1, x2 := sample(src, q+s*p, w), sample(src, q+s*(p+m), w), sample(src, q+s*(p+2*m), w)
			y0, y1, y2 := sample(dst, q+s*3*p, w), sample(dst, q+s*(3*p+1), w), sample(dst, q+s*(3*p+2), w)
			for l, h := 0, w; l < w; l, h = l+1, h+1 {
				ar, ai := x1[l]+x2[l], x1[h]+x2[h]
				br, bi := (x1[l]-x2[l])*sin, (x1[h]-x2[h])*sin
				cr, ci := x0[l]-ar/2, x0[h]-ai/2
				y0[l], y0[h] = x0[l]+ar, x0[h]+ai
				ur, ui := cr+bi, ci-br
				vr, vi := cr-bi, ci+br
				y1[l], y1[h] = ur*t[0]-ui*t[1], ur*t[1]+ui*t[0]
				y2[l], y2[h] = vr*t[2]-vi*t[3], vr*t[3]+vi*t[2]
			}
		}
	}
}

func pass4[F Float](dst, src, tw []F, m, s, w int) {
	for p := range m {
		t := tw[6*p:][:6]
		for q := range s {
			x0, x1, x2, x3 := sample(src, q+s*p, w), sample(src, q+s*(p+m), w), sample(src, q+s*(p+2*m), w), sample(src, q+s*(p+3*m), w)
			y0, y1, y2, y3 := sample(dst, q+s*4*p, w), sample(dst, q+s*(4*p+1), w), sample(dst, q+s*(4*p+2), w), sample(dst, q+s*(4*p+3), w)
			for l, h := 0, w; l < w; l, h = l+1, h+1 {
				ar, ai, br, bi := x0[l]+x2[l], x0[h]+x2[h], x0[l]-x2[l], x0[h]-x2[h]
				cr, ci, dr, di := x1[l]+x3[l], x1[h]+x3[h], x1[l]-x3[l], x1[h]-x3[h]
				y0[l], y0[h] = ar+cr, ai+ci
				ur, ui := br+di, bi-dr
				y1[l], y1[h] = ur*t[0]-ui*t[1], ur*t[1]+ui*t[0]
				ur, ui = ar-cr, ai-ci
				y2[l], y2[h] = ur*t[2]-ui*t[3], ur*t[3]+ui*t[2]
				ur, ui = br-di, bi+dr
				y3[l], y3[h] = ur*t[4]-ui*t[5], ur*t[5]+ui*t[4]
			}
		}
	}
}

func pass5[F Float](dst, src, tw []F, m, s, w int) {
	const (
		c1, s1 = 0.309016994374947424102293417182819059, 0.951056516295153572116439333379382143
		c2, s2 = -0.809016994374947424102293417182819059, 0.587785252292473129168705954639072769
	)
	for p := range m {
		t := tw[8*p:][:8]
		for q := range s {
			x0, x1, x2, x3, x4 := sample(src, q+s*p, w), sample(src, q+s*(p+m), w), sample(src, q+s*(p+2*m), w), sample(src, q+s*(p+3*m), w), sample(src, q+s*(p+4*m), w)
			at := q + s*5*p
			y0, y1, y2, y3, y4 := sample(dst, at, w), sample(dst, at+s, w), sample(dst, at+2*s, w), sample(dst, at+3*s, w), sample(dst, at+4*s, w)
			for l, h := 0, w; l < w; l, h = l+1, h+1 {
				ar, ai, br, bi := x1[l]+x4[l], x1[h]+x4[h], x1[l]-x4[l], x1[h]-x4[h]
				cr, ci, dr, di := x2[l]+x3[l], x2[h]+x3[h], x2[l]-x3[l], x2[h]-x3[h]
				y0[l], y0[h] = x0[l]+ar+cr, x0[h]+ai+ci
				er, ei := x0[l]+c1*ar+c2*cr, x0[h]+c1*ai+c2*ci
				fr, fi := s1*br+s2*dr, s1*bi+s2*di
				gr, gi := x0[l]+c2*ar+c1*cr, x0[h]+c2*ai+c1*ci
				hr, hi := s2*br-s1*dr, s2*bi-s1*di
				ur, ui := er+fi, ei-fr
				y1[l], y1[h] = ur*t[0]-ui*t[1], ur*t[1]+ui*t[0]
				ur, ui = gr+hi, gi-hr
				y2[l], y2[h] = ur*t[2]-ui*t[3], ur*t[3]+ui*t[2]
				ur, ui = gr-hi, gi+hr
				y3[l], y3[h] = ur*t[4]-ui*t[5], ur*t[5]+ui*t[4]
				ur, ui = er-fi, ei+fr
				y4[l], y4[h] = ur*t[6]-ui*t[7], ur*t[7]+ui*t[6]
			}
		}
	}
}

// odd is a pass of any odd radix. Sums and differences of samples that lie opposite
// to each other take half of the products.
func (p *pass[F]) odd(dst, src, room []F, w int) {
	r, m, s, half := p.r, p.m, p.s, p.r/2
	for i := range m {
		tw := p.twiddle[2*(r-1)*i:][:2*(r-1)]
		for q := range s {
			x0 := sample(src, q+s*i, w)
			y0 := sample(dst, q+s*r*i, w)
			copy(y0, x0)
			for j := 1; j <= half; j++ {
				a, b := sample(src, q+s*(i+m*j), w), sample(src, q+s*(i+m*(r-j)), w)
				sum, diff := sample(room, 2*j-2, w), sample(room, 2*j-1, w)
				for l := range y0 {
					sum[l], diff[l] = a[l]+b[l], a[l]-b[l]
					y0[l] += sum[l]
				}
			}
			for k := 1; k <= half; k++ {
				u, v := sample(dst, q+s*(r*i+k), w), sample(dst, q+s*(r*i+r-k), w)
				copy(u, x0)
				clear(v)
				for j, cs := 0, p.cosines[2*half*(k-1):]; j < half; j++ {
					c, sn := cs[2*j], cs[2*j+1]
					sum, diff := sample(room, 2*j, w), sample(room, 2*j+1, w)
					for l := range u {
						u[l] += c * sum[l]
						v[l] += sn * diff[l]
					}
				}
				c, d, e, f := tw[2*k-2], tw[2*k-1], tw[2*(r-k)-2], tw[2*(r-k)-1]
				for l, h := 0, w; l < w; l, h = l+1, h+1 {
					ar, ai, br, bi := u[l]+v[h], u[h]-v[l], u[l]-v[h], u[h]+v[l]
					u[l], u[h] = ar*c-ai*d, ar*d+ai*c
					v[l], v[h] = br*e-bi*f, br*f+bi*e
				}
			}
		}
	}
}
