package lsm

import "math"

// exampleVelocity is the built-in model: layers that dip and bend, cut by two
// faults, over x from 0 to 1 and z from 0 to 1.
func exampleVelocity(nx, nz int) []float64 {
	v := make([]float64, nx*nz)
	layers := []struct{ depth, dip, bend, velocity float64 }{
		{0, 0, 0, 1500}, {0.16, 0.02, 0.01, 1700}, {0.30, -0.05, 0.03, 1950}, {0.45, 0.06, 0.02, 2250},
		{0.60, -0.03, 0.04, 2100}, {0.74, 0.05, 0.01, 2600}, {0.88, 0, 0.02, 3000},
	}
	for ix := range nx {
		x := float64(ix) / float64(nx-1)
		for iz := range nz {
			z := float64(iz) / float64(nz-1)
			at := z
			// Two faults let the block between them sink. Their throw grows from
			// nothing below the first layer.
			throw := min(1, max(0, (z-0.2)/0.15))
			if x > 0.35+0.10*z {
				at -= 0.06 * throw
			}
			if x > 0.68-0.12*z {
				at += 0.08 * throw
			}
			for _, l := range layers {
				if at >= l.depth+l.dip*(x-0.5)+l.bend*math.Sin(2*math.Pi*x) {
					v[ix*nz+iz] = l.velocity
				}
			}
		}
	}
	return v
}

// reflectivity returns the reflection coefficients of vertical incidence: half
// the change of the logarithm of velocity from one depth to the next.
func reflectivity(v []float64, nz int) []float64 {
	r := make([]float64, len(v))
	for i := range v {
		if i%nz > 0 {
			r[i] = (v[i] - v[i-1]) / (v[i] + v[i-1])
		}
	}
	return r
}

// smooth returns the mean slowness over n points along each axis as a velocity,
// so that travel times through it are those of the layers.
func smooth(v []float64, dims []int, n int) []float64 {
	s := make([]float64, len(v))
	for i := range v {
		s[i] = 1 / v[i]
	}
	if n > 1 {
		inner := 1
		for a := len(dims) - 1; a >= 0; a-- {
			s = boxMean(s, dims[a], inner, n/2)
			inner *= dims[a]
		}
	}
	for i := range s {
		s[i] = 1 / s[i]
	}
	return s
}

// boxMean averages over half points before and after along an axis, fewer at
// its ends.
func boxMean(x []float64, n, inner, half int) []float64 {
	y := make([]float64, len(x))
	for o := 0; o < len(x); o += n * inner {
		for j := range inner {
			for i := range n {
				lo, hi := max(i-half, 0), min(i+half, n-1)
				sum := 0.0
				for k := lo; k <= hi; k++ {
					sum += x[o+k*inner+j]
				}
				y[o+i*inner+j] = sum / float64(hi-lo+1)
			}
		}
	}
	return y
}
