package cpu

// Dot products of rows of a matrix, in the element type: what the vector units
// leave over, or all.

// dotRows returns the products of four rows of a with x.
func dotRows[F float](a, x []F) (s [4]F) {
	n := len(x)
	done := dotRowsVector(&s, a, x, n)
	if done == n {
		return s
	}
	a0, a1, a2, a3 := a[done:n], a[n+done:2*n], a[2*n+done:3*n], a[3*n+done:4*n]
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i, v := range x[done:] {
		s0 += a0[i] * v
		s1 += a1[i] * v
		s2 += a2[i] * v
		s3 += a3[i] * v
	}
	return [4]F{s0, s1, s2, s3}
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

// dotPairRows returns the products of four complex rows with x, or of their
// conjugates.
func dotPairRows[F float](a, x []F, conj bool) (s [4]pair[F]) {
	var parts [16]F
	n := len(x)
	done := dotPairRowsVector(&parts, a, x, n)
	for r := range s {
		p := parts[4*r : 4*r+4 : 4*r+4]
		s[r] = pair[F]{p[0] - p[1], p[2] + p[3]}
		if conj {
			s[r] = pair[F]{p[0] + p[1], p[2] - p[3]}
		}
		if done < n {
			t := dotPairs1(a[r*n+done:(r+1)*n], x[done:], conj)
			s[r] = pair[F]{s[r].re + t.re, s[r].im + t.im}
		}
	}
	return s
}

// dotPairs1 is dot1 for complex elements, or for the conjugate of a row. The four
// sums of products of components serve both.
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

// dotNarrow sets y = alpha·A·x + beta·y with a matrix of few columns.
func dotNarrow[F float](y []F, alpha F, a, x []F, beta F) {
	var c [narrow]F
	for j, v := range x {
		c[j] = alpha * v
	}
	if beta == 0 {
		clear(y)
	} else {
		scale(y, beta, y)
	}
	c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
	switch len(x) {
	case 1:
		scaleAdd(y, c0, a, y)
	case 2:
		for i := range y {
			row := a[2*i : 2*i+2 : 2*i+2]
			y[i] += c0*row[0] + c1*row[1]
		}
	case 3:
		for i := range y {
			row := a[3*i : 3*i+3 : 3*i+3]
			y[i] += c0*row[0] + c1*row[1] + c2*row[2]
		}
	case narrow:
		for i := range y {
			row := a[4*i : 4*i+4 : 4*i+4]
			y[i] += (c0*row[0] + c1*row[1]) + (c2*row[2] + c3*row[3])
		}
	}
}
