package cpu

import (
	"math"

	"github.com/golops/golops/device"
)

// side returns the index of rows or columns.
func side(columns bool) int {
	if columns {
		return 1
	}
	return 0
}

// rayLength returns how much of a ray belongs to one line.
func rayLength(b *device.Bundle, slope float64) float64 { return b.Length * math.Sqrt(1+slope*slope) }

// trace computes where the rays of a bundle cross lines.
func (s *rayScratch[F]) trace(b *device.Bundle) {
	parallel := b.Parallel()
	k := b.Slope(b.Lo)
	for d := b.Lo; d < b.Hi; d++ {
		if !parallel {
			k = b.Slope(d)
		}
		s.slope[d-b.Lo] = k
		s.at[d-b.Lo] = b.At + float64(d)*b.Step - b.Pivot*k + margin
	}
}

// crossing returns the first and last+1 of the rays that cross line l where it has
// pixels: from pixel -1, where they begin to count, to pixel length.
func (s *rayScratch[F]) crossing(b *device.Bundle, l, length int) (from, to int) {
	n := b.Hi - b.Lo
	low, high := float64(margin-1), float64(margin+length)
	if s.place(n-1, l) >= s.place(0, l) {
		return s.first(b, n, l, 1, low), s.first(b, n, l, 1, high)
	}
	return s.first(b, n, l, -1, -high), s.first(b, n, l, -1, -low)
}

// first returns the first ray whose place on line l, times sign, is at least target,
// or n. Places times sign grow with the ray.
func (s *rayScratch[F]) first(b *device.Bundle, n, l int, sign, target float64) int {
	lo, hi := 0, n
	if b.Parallel() && b.Step != 0 {
		guess := (target - sign*s.place(0, l)) / math.Abs(b.Step)
		lo = int(max(0, min(guess-1, float64(n))))
		hi = min(lo+3, n)
		if lo > 0 && sign*s.place(lo-1, l) >= target || hi < n && sign*s.place(hi, l) < target {
			lo, hi = 0, n
		}
	}
	for lo < hi {
		if d := (lo + hi) / 2; sign*s.place(d, l) < target {
			lo = d + 1
		} else {
			hi = d
		}
	}
	return lo
}

// place returns where ray d of the bundle crosses line l.
func (s *rayScratch[F]) place(d, l int) float64 { return s.at[d] + float64(l)*s.slope[d] }

// gather adds the values of a line, at the places of rays from on, to their sums.
func (s *rayScratch[F]) gather(sums, line []F, b *device.Bundle, from, l int) {
	if b.Parallel() {
		at, step := s.place(from, l), b.Step
		for d := range sums {
			i := int(at)
			f := F(at - float64(i))
			v := line[i : i+2]
			sums[d] += v[0] + f*(v[1]-v[0])
			at += step
		}
		return
	}
	crossed := float64(l)
	places, slopes := s.at[from:][:len(sums)], s.slope[from:][:len(sums)]
	for d := range sums {
		at := places[d] + crossed*slopes[d]
		i := int(at)
		f := F(at - float64(i))
		v := line[i : i+2]
		sums[d] += v[0] + f*(v[1]-v[0])
	}
}

// scatter adds the values of rays from on to a line, at their places. A line has two
// numbers for each pixel: element 2i is what rays add to pixel i, element 2i+1 what
// they add to pixel i+1. So neighbouring rays seldom wait for each other's sums.
func (s *rayScratch[F]) scatter(line, values []F, b *device.Bundle, from, l int) {
	if b.Parallel() {
		at, step := s.place(from, l), b.Step
		for _, v := range values {
			i := int(at)
			far := F(at-float64(i)) * v
			sums := line[2*i : 2*i+2]
			sums[0] += v - far
			sums[1] += far
			at += step
		}
		return
	}
	crossed := float64(l)
	places, slopes := s.at[from:][:len(values)], s.slope[from:][:len(values)]
	for d, v := range values {
		at := places[d] + crossed*slopes[d]
		i := int(at)
		far := F(at-float64(i)) * v
		sums := line[2*i : 2*i+2]
		sums[0] += v - far
		sums[1] += far
	}
}
