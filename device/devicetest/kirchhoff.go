package devicetest

import (
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func kirchhoffCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{{"kirchhoff", testKirchhoff[T], nil}}
}

func testKirchhoff[T scalar.Scalar](s *suite[T]) {
	if d := scalar.Of[T](); d == scalar.Float32 || d == scalar.Complex64 {
		kirchhoff[T, float32](s)
	} else {
		kirchhoff[T, float64](s)
	}
}

// kirchhoff spreads and stacks with and without weights and a wavelet: few points
// and many, few traces and many, traces that are short and longer than any block
// holds.
func kirchhoff[T scalar.Scalar, F float32 | float64](s *suite[T]) {
	if s.lacks(device.Spread(s.k, device.Mem[T]{}, device.Mem[T]{}, &device.TravelTables[F]{})) {
		return
	}
	for _, c := range []struct{ sources, receivers, columns, depths, samples int }{
		{1, 1, 1, 1, 2}, {2, 3, 4, 5, 30}, {3, 7, 9, 11, 101}, {1, 2, 40, 33, 60}, {5, 1, 3, 7, 1}, {2, 2, 0, 4, 20}, {0, 3, 4, 5, 10}, {2, 0, 4, 5, 10},
		{1, 1, 80, 50, 90}, {1, 2, 300, 60, 200}, {9, 30, 5, 8, 40}, {40, 30, 3, 3, 25}, {1, 3, 5, 9, 13_001}, {1, 70, 2, 3, 1001},
	} {
		for _, with := range []int{0, 1, 2, 7} {
			t := &device.TravelTables[F]{
				Sources: c.sources, Receivers: c.receivers, Points: c.columns * c.depths, Samples: c.samples, Depths: c.depths,
			}
			t.Src = times[F](s, t.Sources*t.Points, t.Samples)
			t.Rec = times[F](s, t.Receivers*t.Points, t.Samples)
			if with&1 != 0 {
				for i := range t.SrcW {
					t.SrcW[i], t.RecW[i] = factors[F](s, len(t.Src)), factors[F](s, len(t.Rec))
				}
			}
			if with&2 != 0 {
				t.Aperture = factors[F](s, t.Sources*t.Receivers*t.Depths)
			}
			if with&4 != 0 {
				t.Wavelet = factors[F](s, 1+s.rng.IntN(90))
				t.Centre = s.rng.IntN(len(t.Wavelet))
			}
			spreadAndStack(s, t)
			t.Cache.Clear()
			s.release()
		}
	}
}

// times are travel times up to somewhat beyond the end of a trace; some are
// whole samples, and some are for ever.
func times[F float32 | float64, T scalar.Scalar](s *suite[T], n, samples int) []F {
	t := make([]F, n)
	for i := range t {
		t[i] = F(s.rng.Float64() * 0.6 * float64(samples))
		switch s.rng.IntN(20) {
		case 0:
			t[i] = F(math.Floor(float64(t[i])))
		case 1:
			t[i] = 1e9
		}
	}
	return t
}

func factors[F float32 | float64, T scalar.Scalar](s *suite[T], n int) []F {
	w := make([]F, n)
	for i := range w {
		if s.rng.IntN(10) > 0 {
			w[i] = F(s.part())
		}
	}
	return w
}

// spreadAndStack compares both directions with plain loops.
func spreadAndStack[T scalar.Scalar, F float32 | float64](s *suite[T], t *device.TravelTables[F]) {
	traces := t.Sources * t.Receivers
	x, y := s.random(t.Points), s.random(traces*t.Samples)
	from, data := x.was(), filtered(y.was(), t, -1)
	image, spread := make([]complex128, len(from)), make([]complex128, len(data))
	for p := range traces {
		src, rec := p/t.Receivers*t.Points, p%t.Receivers*t.Points
		for i := range t.Points {
			at := t.Src[src+i] + t.Rec[rec+i]
			if !(at < F(t.Samples-1)) {
				continue
			}
			w := complex128(1)
			if t.SrcW[0] != nil {
				w = complex(float64(t.SrcW[0][src+i]*t.RecW[0][rec+i]+t.SrcW[1][src+i]*t.RecW[1][rec+i]), 0)
			}
			if t.Aperture != nil {
				w *= complex(float64(t.Aperture[p*t.Depths+i%t.Depths]), 0)
			}
			n := int(at)
			d := complex(float64(at-F(n)), 0)
			n += p * t.Samples
			spread[n] += w * (1 - d) * from[i]
			spread[n+1] += w * d * from[i]
			image[i] += w * ((1-d)*data[n] + d*data[n+1])
		}
	}
	spread = filtered(spread, t, 1)
	what := "%d sources, %d receivers, %d points, %d samples, weights=%v, aperture=%v, wavelet of %d"
	args := []any{t.Sources, t.Receivers, t.Points, t.Samples, t.SrcW[0] != nil, t.Aperture != nil, len(t.Wavelet)}
	for range 2 { // the tables made, and kept
		traces, points := s.poison(len(data)), s.poison(len(from))
		s.must("spread", device.Spread(s.k, traces.mem, x.mem, t))
		traces.check(spread, productTol[T](max(t.Points, 1)*max(len(t.Wavelet), 1)), "spread, "+what, args...)
		s.must("stack", device.Stack(s.k, points.mem, y.mem, t))
		points.check(image, productTol[T](max(len(data)/max(t.Samples, 1), 1)*max(len(t.Wavelet), 1)), "stack, "+what, args...)
	}
}

// filtered returns traces convolved with the wavelet, or correlated if sign is -1.
func filtered[F float32 | float64](x []complex128, t *device.TravelTables[F], sign int) []complex128 {
	if t.Wavelet == nil {
		return x
	}
	y := make([]complex128, len(x))
	for i := range y {
		for k, w := range t.Wavelet {
			if at := i%t.Samples + sign*(t.Centre-k); at >= 0 && at < t.Samples {
				y[i] += complex(float64(w), 0) * x[i-i%t.Samples+at]
			}
		}
	}
	return y
}
