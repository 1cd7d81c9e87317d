package cpu

import "math"

// Loops of sums in 64 bits, for what the vector units leave over, or for all. They add
// into four variables: four independent additions take as long as one. The compiler keeps
// no more than four in registers.

// dot returns Σ x·y.
func dot[F float](x, y []F) float64 {
	var s1, s2, s3 float64
	n := len(x)
	y = y[:n]
	i, s0 := dotVector(x, y)
	for ; i < n-3; i += 4 {
		s0 += float64(x[i]) * float64(y[i])
		s1 += float64(x[i+1]) * float64(y[i+1])
		s2 += float64(x[i+2]) * float64(y[i+2])
		s3 += float64(x[i+3]) * float64(y[i+3])
	}
	for ; i < n; i++ {
		s0 += float64(x[i]) * float64(y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// dotPairs returns Σ x·y of complex elements, or Σ conj(x)·y. The four sums of
// products of components serve both.
func dotPairs[F float](x, y []F, conj bool) complex128 {
	var s [4]float64
	n := len(x)
	y = y[:n]
	i := dotPairsVector(&s, x, y)
	rr, ii, ri, ir := s[0], s[1], s[2], s[3]
	for ; i < n-1; i += 2 {
		u, v, r, s := float64(x[i]), float64(x[i+1]), float64(y[i]), float64(y[i+1])
		rr, ii, ri, ir = rr+u*r, ii+v*s, ri+u*s, ir+v*r
	}
	if conj {
		return complex(rr+ii, ri-ir)
	}
	return complex(rr-ii, ri+ir)
}

// sum returns Σ x.
func sum[F float](x []F) float64 {
	var s [2]float64
	n, i := len(x), sumVector(&s, x)
	s0, s1, s2, s3 := s[0], s[1], 0.0, 0.0
	for ; i < n-3; i += 4 {
		s0 += float64(x[i])
		s1 += float64(x[i+1])
		s2 += float64(x[i+2])
		s3 += float64(x[i+3])
	}
	for ; i < n; i++ {
		s0 += float64(x[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// sumPairs returns Σ x of complex elements.
func sumPairs[F float](x []F) complex128 {
	var s [2]float64
	n, i := len(x), sumVector(&s, x)
	r0, i0, r1, i1 := s[0], s[1], 0.0, 0.0
	for ; i < n-3; i += 4 {
		r0, i0 = r0+float64(x[i]), i0+float64(x[i+1])
		r1, i1 = r1+float64(x[i+2]), i1+float64(x[i+3])
	}
	if i < n-1 {
		r0, i0 = r0+float64(x[i]), i0+float64(x[i+1])
	}
	return complex(r0+r1, i0+i1)
}

// sumSquared returns Σ (c·x)².
func sumSquared[F float](x []F, c float64) float64 {
	if c == 1 {
		return dot(x, x)
	}
	var s0, s1, s2, s3 float64
	n, i := len(x), 0
	for ; i < n-3; i += 4 {
		a, b, d, e := c*float64(x[i]), c*float64(x[i+1]), c*float64(x[i+2]), c*float64(x[i+3])
		s0, s1, s2, s3 = s0+a*a, s1+b*b, s2+d*d, s3+e*e
	}
	for ; i < n; i++ {
		a := c * float64(x[i])
		s0 += a * a
	}
	return (s0 + s1) + (s2 + s3)
}

// sumAbs returns Σ c·|x|.
func sumAbs[F float](x []F, c float64) float64 {
	var s0, s1, s2, s3 float64
	n, i := len(x), 0
	for ; i < n-3; i += 4 {
		s0 += c * math.Abs(float64(x[i]))
		s1 += c * math.Abs(float64(x[i+1]))
		s2 += c * math.Abs(float64(x[i+2]))
		s3 += c * math.Abs(float64(x[i+3]))
	}
	for ; i < n; i++ {
		s0 += c * math.Abs(float64(x[i]))
	}
	return (s0 + s1) + (s2 + s3)
}

// minMax returns the smallest and the largest element, NaN if any is.
func minMax[F float](x []F) (lo, hi float64) {
	l, h := F(math.Inf(1)), F(math.Inf(-1))
	for _, v := range x {
		if !(v >= l) {
			if l = v; v != v {
				return math.NaN(), math.NaN()
			}
		}
		if !(v <= h) {
			h = v
		}
	}
	return float64(l), float64(h)
}
