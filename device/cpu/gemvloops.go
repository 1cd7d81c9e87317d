package cpu

// Dot products of rows of a matrix, in the element type. Four sums at once are
// what the compiler keeps in registers.

// dot4 returns the products of four rows of a with x.
func dot4[F float](a, x []F) (s0, s1, s2, s3 F) {
	n := len(x)
	a0, a1, a2, a3 := a[:n], a[n:][:n], a[2*n:][:n], a[3*n:][:n]
	for i, v := range x {
		s0 += a0[i] * v
		s1 += a1[i] * v
		s2 += a2[i] * v
		s3 += a3[i] * v
	}
	return s0, s1, s2, s3
}

// dot1 returns the product of one row with x.
func dot1[F float](a, x []F) F {
	var s0, s1, s2, s3 F
	n, i := len(a), 0
	x = x[:n]
	for ; i < n-3; i += 4 {
		s0 += a[i] * x[i]
		s1 += a[i+1] * x[i+1]
		s2 += a[i+2] * x[i+2]
		s3 += a[i+3] * x[i+3]
	}
	for ; i < n; i++ {
		s0 += a[i] * x[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// dotPairs2 returns the products of two complex rows with x, or of their
// conjugates.
func dotPairs2[F float](a, x []F, conj bool) (s, t pair[F]) {
	n := len(x)
	a, b := a[:n], a[n:][:n]
	if conj {
		for i := 0; i < n-1; i += 2 {
			p, q := x[i], x[i+1]
			u, v := a[i], a[i+1]
			s.re += u*p + v*q
			s.im += u*q - v*p
			u, v = b[i], b[i+1]
			t.re += u*p + v*q
			t.im += u*q - v*p
		}
		return s, t
	}
	for i := 0; i < n-1; i += 2 {
		p, q := x[i], x[i+1]
		u, v := a[i], a[i+1]
		s.re += u*p - v*q
		s.im += u*q + v*p
		u, v = b[i], b[i+1]
		t.re += u*p - v*q
		t.im += u*q + v*p
	}
	return s, t
}

// dotPairs1 is dot1 for complex elements, or for the conjugate of a row. The four
// sums of products of parts serve both.
func dotPairs1[F float](a, x []F, conj bool) pair[F] {
	var rr, ii, ri, ir F
	n := len(a)
	x = x[:n]
	for i := 0; i < n-1; i += 2 {
		u, v, r, s := a[i], a[i+1], x[i], x[i+1]
		rr, ii, ri, ir = rr+u*r, ii+v*s, ri+u*s, ir+v*r
	}
	if conj {
		return pair[F]{rr + ii, ri - ir}
	}
	return pair[F]{rr - ii, ri + ir}
}
