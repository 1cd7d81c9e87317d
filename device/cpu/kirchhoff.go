package cpu

import "github.com/golops/golops/device"

// kirchhoffArgs are the parameters of Spread and Stack.
type kirchhoffArgs[F float] struct {
	image, traces []F
	t             *device.TravelTables[F]
}

var (
	_ device.Kirchhoff[float32, float32]    = (*kernels[float32, float32])(nil)
	_ device.Kirchhoff[complex128, float64] = (*kernels[complex128, float64])(nil)
)

// stackGrain is how many image points Stack works on at a time: they, their
// tables and a trace fit into the first cache together.
const stackGrain = 512

// Spread implements device.Kirchhoff. Pairs of source and receiver have traces
// of their own, so threads share nothing.
func (k *kernels[T, F]) Spread(y, x device.Mem[T], t *device.TravelTables[F]) {
	k.kf = kirchhoffArgs[F]{k.flat(x), k.flat(y), t}
	k.run(t.Sources*t.Receivers, 1, k.loops.spread)
	k.kf = kirchhoffArgs[F]{}
}

// Stack implements device.Kirchhoff. Threads share no image points.
func (k *kernels[T, F]) Stack(x, y device.Mem[T], t *device.TravelTables[F]) {
	k.kf = kirchhoffArgs[F]{k.flat(x), k.flat(y), t}
	k.run(t.Points, stackGrain, k.loops.stack)
	k.kf = kirchhoffArgs[F]{}
}

func (k *kernels[T, F]) spreadPart(lo, hi int) {
	a := &k.kf
	t, n, m := a.t, a.t.Points, a.t.Samples*k.components
	for p := lo; p < hi; p++ {
		s, r := p/t.Receivers, p%t.Receivers
		trace := a.traces[p*m:][:m]
		clear(trace)
		src, rec := t.Src[s*n:][:n], t.Rec[r*n:][:n]
		w := weigh(t, s, r)
		switch {
		case k.components == 1 && !w.some:
			spreadPlain(trace, a.image, src, rec)
		case k.components == 1:
			for i := 0; i < n; i += t.Depths { // column by column
				spreadWeighted(trace, a.image[i:i+t.Depths], src[i:], rec[i:], w.column(i))
			}
		default:
			for i := range src {
				if n, d, ok := sample(src[i]+rec[i], t.Samples); ok {
					w := w.at(i)
					for c := range k.components {
						v := w * a.image[i*k.components+c]
						trace[n*k.components+c] += v - d*v
						trace[(n+1)*k.components+c] += d * v
					}
				}
			}
		}
	}
}

func (k *kernels[T, F]) stackPart(lo, hi int) {
	a := &k.kf
	t, n, m := a.t, a.t.Points, a.t.Samples*k.components
	clear(a.image[lo*k.components : hi*k.components])
	for p := range t.Sources * t.Receivers {
		s, r := p/t.Receivers, p%t.Receivers
		trace := a.traces[p*m:][:m]
		src, rec := t.Src[s*n:][:n], t.Rec[r*n:][:n]
		w := weigh(t, s, r)
		switch {
		case k.components == 1 && !w.some:
			stackPlain(a.image[lo:hi], trace, src[lo:], rec[lo:])
		case k.components == 1:
			for i := lo; i < hi; {
				end := min(hi, (i/t.Depths+1)*t.Depths) // of the column
				stackWeighted(a.image[i:end], trace, src[i:], rec[i:], w.column(i))
				i = end
			}
		default:
			for i := lo; i < hi; i++ {
				if n, d, ok := sample(src[i]+rec[i], t.Samples); ok {
					w := w.at(i)
					for c := range k.components {
						v := trace[n*k.components+c]
						a.image[i*k.components+c] += w * (v + d*(trace[(n+1)*k.components+c]-v))
					}
				}
			}
		}
	}
}

// sample returns the sample before a time, the rest, and whether it and the
// next are on the trace.
func sample[F float](at F, samples int) (n int, d F, ok bool) {
	if !(at >= 0 && at < F(samples-1)) { // also NaN and what no int holds
		return 0, 0, false
	}
	n = int(at)
	return n, at - F(n), true
}

// weights are those of one pair of source and receiver, from one point on.
type weights[F float] struct {
	some           bool // there are any
	s0, s1, r0, r1 []F  // nil where all are 1
	aperture       []F  // of one column; nil where all are 1
}

func weigh[F float](t *device.TravelTables[F], s, r int) (w weights[F]) {
	n := t.Points
	if t.SrcW[0] != nil {
		w.s0, w.s1 = t.SrcW[0][s*n:][:n], t.SrcW[1][s*n:][:n]
		w.r0, w.r1 = t.RecW[0][r*n:][:n], t.RecW[1][r*n:][:n]
	}
	if t.Aperture != nil {
		w.aperture = t.Aperture[(s*t.Receivers+r)*t.Depths:][:t.Depths]
	}
	w.some = w.s0 != nil || w.aperture != nil
	return w
}

// column returns the weights from point i on to the end of its column.
func (w weights[F]) column(i int) weights[F] {
	if w.s0 != nil {
		w.s0, w.s1, w.r0, w.r1 = w.s0[i:], w.s1[i:], w.r0[i:], w.r1[i:]
	}
	if w.aperture != nil {
		w.aperture = w.aperture[i%len(w.aperture):]
	}
	return w
}

// at returns the weight of point i.
func (w *weights[F]) at(i int) F {
	v := F(1)
	if w.s0 != nil {
		v = w.s0[i]*w.r0[i] + w.s1[i]*w.r1[i]
	}
	if w.aperture != nil {
		v *= w.aperture[i%len(w.aperture)]
	}
	return v
}

// spreadWeighted adds a part of a column to one trace.
func spreadWeighted[F float](trace, image, src, rec []F, w weights[F]) {
	if w.s0 == nil { // only an aperture
		for i, v := range image {
			if n, d, ok := sample(src[i]+rec[i], len(trace)); ok {
				v *= w.aperture[i]
				trace[n] += v - d*v
				trace[n+1] += d * v
			}
		}
		return
	}
	src, rec = src[:len(image)], rec[:len(image)]
	s0, s1, r0, r1 := w.s0[:len(image)], w.s1[:len(image)], w.r0[:len(image)], w.r1[:len(image)]
	last := uint(len(trace) - 1)
	for i, v := range image {
		v *= s0[i]*r0[i] + s1[i]*r1[i]
		if w.aperture != nil {
			v *= w.aperture[i]
		}
		at := src[i] + rec[i]
		n := int(at)
		if v == 0 || uint(n) >= last || at < 0 {
			continue
		}
		two := trace[n : n+2 : n+2]
		d := (at - F(n)) * v
		two[0] += v - d
		two[1] += d
	}
}

// stackWeighted adds one trace to a part of a column.
func stackWeighted[F float](image, trace, src, rec []F, w weights[F]) {
	if w.s0 == nil {
		for i := range image {
			if n, d, ok := sample(src[i]+rec[i], len(trace)); ok {
				image[i] += w.aperture[i] * (trace[n] + d*(trace[n+1]-trace[n]))
			}
		}
		return
	}
	src, rec = src[:len(image)], rec[:len(image)]
	s0, s1, r0, r1 := w.s0[:len(image)], w.s1[:len(image)], w.r0[:len(image)], w.r1[:len(image)]
	last := uint(len(trace) - 1)
	for i := range image {
		v := s0[i]*r0[i] + s1[i]*r1[i]
		if w.aperture != nil {
			v *= w.aperture[i]
		}
		at := src[i] + rec[i]
		n := int(at)
		if v == 0 || uint(n) >= last || at < 0 {
			continue
		}
		two := trace[n : n+2 : n+2]
		image[i] += v * (two[0] + (at-F(n))*(two[1]-two[0]))
	}
}

// spreadPlain adds a real image to one trace, without weights.
func spreadPlain[F float](trace, image, src, rec []F) {
	src, rec = src[:len(image)], rec[:len(image)]
	last := uint(len(trace) - 1)
	for i, v := range image {
		at := src[i] + rec[i]
		n := int(at)
		if uint(n) >= last {
			continue
		}
		two := trace[n : n+2 : n+2]
		d := (at - F(n)) * v
		two[0] += v - d
		two[1] += d
	}
}

// stackPlain adds one real trace to a part of an image, without weights.
func stackPlain[F float](image, trace, src, rec []F) {
	n := stackVector(image, trace, src, rec)
	image, src, rec = image[n:], src[n:], rec[n:]
	src, rec = src[:len(image)], rec[:len(image)]
	last := uint(len(trace) - 1)
	for i := range image {
		at := src[i] + rec[i]
		n := int(at)
		if uint(n) >= last {
			continue
		}
		two := trace[n : n+2 : n+2]
		image[i] += two[0] + (at-F(n))*(two[1]-two[0])
	}
}
