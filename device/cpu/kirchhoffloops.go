package cpu

import (
	"unsafe"

	"github.com/golops/golops/device"
)

// pairRows are the tables of one pair of source and receiver at some image points.
type pairRows[F float] struct {
	src, rec       []F // times
	s0, r0, s1, r1 []F // factors of the weight; nil without
}

// rowsOf returns the tables of pair p at points lo to hi.
func rowsOf[F float](t *device.TravelTables[F], p, lo, hi int) (w pairRows[F]) {
	s, r := p/t.Receivers*t.Points, p%t.Receivers*t.Points
	w.src, w.rec = t.Src[s+lo:s+hi], t.Rec[r+lo:r+hi]
	if t.SrcW[0] != nil {
		w.s0, w.s1 = t.SrcW[0][s+lo:s+hi], t.SrcW[1][s+lo:s+hi]
		w.r0, w.r1 = t.RecW[0][r+lo:r+hi], t.RecW[1][r+lo:r+hi]
	}
	return w
}

// at returns the sample before the time of point i, the rest, the weight, and
// whether the sample and the next are on the trace.
func (w *pairRows[F]) at(i, samples int) (n int, rest, weight F, ok bool) {
	at := w.src[i] + w.rec[i]
	if !(at >= 0 && at < F(samples-1)) { // also NaN and what no int holds
		return 0, 0, 0, false
	}
	weight = 1
	if w.s0 != nil {
		weight = w.s0[i]*w.r0[i] + w.s1[i]*w.r1[i]
	}
	n = int(at)
	return n, at - F(n), weight, weight != 0
}

// apertureOf returns the factors of pair p at each depth, nil for 1.
func apertureOf[F float](t *device.TravelTables[F], p int) []F {
	if t.Aperture == nil {
		return nil
	}
	return t.Aperture[p*t.Depths:][:t.Depths]
}

// columns calls f for the parts of columns in points lo to hi: with the first and
// the last point, counted from lo, and the depth of the first.
func columns(lo, hi, depths int, f func(i, end, depth int)) {
	for i := lo; i < hi; {
		end := min(hi, (i/depths+1)*depths)
		f(i-lo, end-lo, i%depths)
		i = end
	}
}

// sumWidth is how many sums Spread has for each sample. Half of them are of values
// and half of values times the rest of their time. Neighbouring points add to
// different ones, so that they seldom wait for each other.
func sumWidth[F float]() int { return 32 / int(unsafe.Sizeof(F(0))) }

// spreadTile adds points lo to hi of a real image to the sums of pair p.
func (s *traceScratch[F]) spreadTile(sums, image []F, t *device.TravelTables[F], p, lo, hi int) {
	image = image[lo:hi]
	if a := apertureOf(t, p); a != nil {
		columns(lo, hi, t.Depths, func(i, end, depth int) { mul(s.points[i:end], image[i:end], a[depth:]) })
		image = s.points[:hi-lo]
	}
	w := rowsOf(t, p, lo, hi)
	for i := spreadVector(sums, image, t.Samples, &w); i < len(image); i++ {
		if n, rest, weight, ok := w.at(i, t.Samples); ok {
			v := weight * image[i]
			two := sums[n*sumWidth[F]():][:2]
			two[0] += v
			two[1] += rest * v
		}
	}
}

// addSums sets a trace to the sums of its samples: a value adds what is not its
// rest to its sample, and its rest to the next.
func addSums[F float](trace, sums []F) {
	var rest F
	width := sumWidth[F]()
	for n := range trace {
		trace[n] = rest
		if n == len(trace)-1 {
			return // what lies beyond is dropped
		}
		var v, r F
		for i := 0; i < width; i += 2 {
			v += sums[n*width+i]
			r += sums[n*width+i+1]
		}
		trace[n] += v - r
		rest = r
	}
}

// stackTile adds the trace of pair p to points lo to hi of a real image.
func (s *traceScratch[F]) stackTile(image, trace []F, t *device.TravelTables[F], p, lo, hi int) {
	w := rowsOf(t, p, lo, hi)
	a := apertureOf(t, p)
	if a == nil {
		stackPoints(image[lo:hi], trace, &w)
		return
	}
	points := s.points[:hi-lo]
	clear(points)
	stackPoints(points, trace, &w)
	columns(lo, hi, t.Depths, func(i, end, depth int) {
		mul(points[i:end], points[i:end], a[depth:])
		scaleAdd(image[lo+i:lo+end], 1, points[i:end], image[lo+i:lo+end])
	})
}

func stackPoints[F float](image, trace []F, w *pairRows[F]) {
	for i := stackVector(image, trace, w); i < len(image); i++ {
		if n, rest, weight, ok := w.at(i, len(trace)); ok {
			image[i] += weight * (trace[n] + rest*(trace[n+1]-trace[n]))
		}
	}
}

// spreadComplex sets a complex trace to that of pair p.
func spreadComplex[F float](trace, image []F, t *device.TravelTables[F], p int) {
	clear(trace)
	w, a := rowsOf(t, p, 0, t.Points), apertureOf(t, p)
	for i := range t.Points {
		n, rest, weight, ok := w.at(i, t.Samples)
		if !ok {
			continue
		}
		if a != nil {
			weight *= a[i%t.Depths]
		}
		for c := range 2 {
			v := weight * image[2*i+c]
			trace[2*n+c] += v - rest*v
			trace[2*n+2+c] += rest * v
		}
	}
}

// stackComplex adds the trace of pair p to points lo to hi of a complex image.
func stackComplex[F float](image, trace []F, t *device.TravelTables[F], p, lo, hi int) {
	w, a := rowsOf(t, p, 0, t.Points), apertureOf(t, p)
	for i := lo; i < hi; i++ {
		n, rest, weight, ok := w.at(i, t.Samples)
		if !ok {
			continue
		}
		if a != nil {
			weight *= a[i%t.Depths]
		}
		for c := range 2 {
			v := trace[2*n+c]
			image[2*i+c] += weight * (v + rest*(trace[2*n+2+c]-v))
		}
	}
}
