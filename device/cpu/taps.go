package cpu

// The loops of sums of a few scaled rows, dst = Σ c·s or dst += Σ c·s, which
// bands and matrix products share. Sources are as long as dst. One loop over
// several sources reads and writes dst once.

// tap is a source row and its factor.
type tap[F float] struct {
	s []F
	c pair[F]
}

// maxTaps is how many taps one loop takes.
const maxTaps = 5

// mostTaps is how many taps a table on the stack has.
const mostTaps = 48

// applyTaps adds up the taps with real factors, up to maxTaps of them.
func applyTaps[F float](dst []F, t []tap[F], add bool) {
	switch len(t) {
	case 0:
		if !add {
			clear(dst)
		}
	case 1:
		taps1(dst, t[0].c.re, t[0].s, add)
	case 2:
		taps2(dst, t[0].c.re, t[0].s, t[1].c.re, t[1].s, add)
	case 3:
		taps3(dst, t[0].c.re, t[0].s, t[1].c.re, t[1].s, t[2].c.re, t[2].s, add)
	case 4:
		taps4(dst, t[0].c.re, t[0].s, t[1].c.re, t[1].s, t[2].c.re, t[2].s, t[3].c.re, t[3].s, add)
	case 5:
		taps5(dst, t[0].c.re, t[0].s, t[1].c.re, t[1].s, t[2].c.re, t[2].s, t[3].c.re, t[3].s, t[4].c.re, t[4].s, add)
	}
}

func taps1[F float](dst []F, c F, s []F, add bool) {
	if add {
		scaleAdd(dst, c, s, dst)
	} else {
		scale(dst, c, s)
	}
}

func taps2[F float](dst []F, c0 F, s0 []F, c1 F, s1 []F, add bool) {
	if !add {
		combine(dst, c0, s0, c1, s1)
		return
	}
	n, i := len(dst), 0
	s0, s1 = s0[:n], s1[:n]
	for ; i < n-1; i += 2 {
		dst[i] += c0*s0[i] + c1*s1[i]
		dst[i+1] += c0*s0[i+1] + c1*s1[i+1]
	}
	if i < n {
		dst[i] += c0*s0[i] + c1*s1[i]
	}
}

func taps3[F float](dst []F, c0 F, s0 []F, c1 F, s1 []F, c2 F, s2 []F, add bool) {
	n, i := len(dst), 0
	s0, s1, s2 = s0[:n], s1[:n], s2[:n]
	if add {
		for ; i < n-1; i += 2 {
			dst[i] += c0*s0[i] + c1*s1[i] + c2*s2[i]
			dst[i+1] += c0*s0[i+1] + c1*s1[i+1] + c2*s2[i+1]
		}
		if i < n {
			dst[i] += c0*s0[i] + c1*s1[i] + c2*s2[i]
		}
		return
	}
	for ; i < n-1; i += 2 {
		dst[i] = c0*s0[i] + c1*s1[i] + c2*s2[i]
		dst[i+1] = c0*s0[i+1] + c1*s1[i+1] + c2*s2[i+1]
	}
	if i < n {
		dst[i] = c0*s0[i] + c1*s1[i] + c2*s2[i]
	}
}

func taps4[F float](dst []F, c0 F, s0 []F, c1 F, s1 []F, c2 F, s2 []F, c3 F, s3 []F, add bool) {
	n, i := len(dst), 0
	s0, s1, s2, s3 = s0[:n], s1[:n], s2[:n], s3[:n]
	if add {
		for ; i < n-1; i += 2 {
			dst[i] += c0*s0[i] + c1*s1[i] + (c2*s2[i] + c3*s3[i])
			dst[i+1] += c0*s0[i+1] + c1*s1[i+1] + (c2*s2[i+1] + c3*s3[i+1])
		}
		if i < n {
			dst[i] += c0*s0[i] + c1*s1[i] + (c2*s2[i] + c3*s3[i])
		}
		return
	}
	for ; i < n-1; i += 2 {
		dst[i] = c0*s0[i] + c1*s1[i] + (c2*s2[i] + c3*s3[i])
		dst[i+1] = c0*s0[i+1] + c1*s1[i+1] + (c2*s2[i+1] + c3*s3[i+1])
	}
	if i < n {
		dst[i] = c0*s0[i] + c1*s1[i] + (c2*s2[i] + c3*s3[i])
	}
}

func taps5[F float](dst []F, c0 F, s0 []F, c1 F, s1 []F, c2 F, s2 []F, c3 F, s3 []F, c4 F, s4 []F, add bool) {
	n, i := len(dst), 0
	s0, s1, s2, s3, s4 = s0[:n], s1[:n], s2[:n], s3[:n], s4[:n]
	if add {
		for ; i < n; i++ {
			dst[i] += c0*s0[i] + c1*s1[i] + (c2*s2[i] + c3*s3[i]) + c4*s4[i]
		}
		return
	}
	for ; i < n-1; i += 2 {
		dst[i] = c0*s0[i] + c1*s1[i] + (c2*s2[i] + c3*s3[i]) + c4*s4[i]
		dst[i+1] = c0*s0[i+1] + c1*s1[i+1] + (c2*s2[i+1] + c3*s3[i+1]) + c4*s4[i+1]
	}
	if i < n {
		dst[i] = c0*s0[i] + c1*s1[i] + (c2*s2[i] + c3*s3[i]) + c4*s4[i]
	}
}

// applyTapPairs is applyTaps of complex elements with complex factors, two of
// which fill the registers of a loop.
func applyTapPairs[F float](dst []F, t []tap[F], add bool) {
	if len(t) == 0 && !add {
		clear(dst)
	}
	for ; len(t) >= 2; t, add = t[2:], true {
		tapPairs2(dst, t[0].c, t[0].s, t[1].c, t[1].s, add)
	}
	if len(t) == 1 {
		tapPairs1(dst, t[0].c, t[0].s, add)
	}
}

func tapPairs1[F float](dst []F, c pair[F], s []F, add bool) {
	if !add {
		scalePairs(dst, c, s)
		return
	}
	n := len(dst)
	s = s[:n]
	for i := 0; i < n-1; i += 2 {
		u, v := s[i], s[i+1]
		dst[i] += c.re*u - c.im*v
		dst[i+1] += c.re*v + c.im*u
	}
}

func tapPairs2[F float](dst []F, c pair[F], s []F, e pair[F], t []F, add bool) {
	if !add {
		combinePairs(dst, c, s, e, t)
		return
	}
	n := len(dst)
	s, t = s[:n], t[:n]
	for i := 0; i < n-1; i += 2 {
		u, v, x, y := s[i], s[i+1], t[i], t[i+1]
		dst[i] += c.re*u - c.im*v + (e.re*x - e.im*y)
		dst[i+1] += c.re*v + c.im*u + (e.re*y + e.im*x)
	}
}
