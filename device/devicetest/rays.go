package devicetest

import (
	"math"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

func rayCases[T scalar.Scalar]() []testCase[T] {
	return []testCase[T]{
		{"project", testRays[T], func(o *operands[T]) error { return device.Project(o.k, o.y, o.x, &o.rays) }},
		{"backproject", func(*suite[T]) {}, func(o *operands[T]) error { return device.BackProject(o.k, o.x, o.y, &o.rays) }},
	}
}

// testRays projects images of odd sizes, with parallel rays and fans, dense and
// sparse, of which some miss the image.
func testRays[T scalar.Scalar](s *suite[T]) {
	if s.lacks(device.Project(s.k, device.Mem[T]{}, device.Mem[T]{}, &device.Rays{})) {
		return
	}
	for _, c := range some([]struct{ rows, cols, views, detectors int }{
		{1, 1, 1, 1}, {5, 4, 3, 7}, {33, 20, 6, 41}, {3, 70, 9, 30}, {70, 3, 9, 80}, {2, 2, 0, 3}, {2, 0, 2, 3}, {0, 3, 2, 2}, {17, 17, 40, 17}, {40, 41, 5, 300},
	}...) {
		for _, fan := range []bool{false, true} {
			r := &device.Rays{Rows: c.rows, Cols: c.cols, Views: c.views, Detectors: c.detectors}
			for v := range r.Views {
				half := s.rng.IntN(r.Detectors)
				for _, part := range [2][2]int{{0, half}, {half, r.Detectors}} {
					if part[0] < part[1] {
						r.Bundles = append(r.Bundles, bundle(s, r, v, part, fan))
					}
				}
			}
			projectAndBack(s, r)
			r.Cache.Clear()
			s.release()
		}
	}
}

// bundle returns random rays. Those of a fan begin outside of the image.
func bundle[T scalar.Scalar](s *suite[T], r *device.Rays, view int, part [2]int, fan bool) device.Bundle {
	b := device.Bundle{View: view, Lo: part[0], Hi: part[1], Columns: s.rng.IntN(2) == 0, Length: math.Abs(s.part())}
	lines, across := float64(r.Rows), float64(r.Cols)
	if b.Columns {
		lines, across = across, lines
	}
	middle, n := float64(part[0]+part[1])/2, float64(part[1]-part[0])
	if !fan {
		b.Num[0], b.Den[0] = 2*s.rng.Float64()-1, 1
		b.Step, b.Pivot = s.part()*2*across/n, lines*s.rng.Float64()
		if s.rng.IntN(4) == 0 {
			b.Num[0] = 0 // upright, in the middle of pixels
			b.Step = 1
		}
		b.At = math.Floor(across*s.rng.Float64()) - math.Floor(middle)*b.Step
		return b
	}
	b.At, b.Pivot = across*s.rng.Float64(), -4-lines*s.rng.Float64()
	if s.rng.IntN(2) == 0 {
		b.Pivot = lines - b.Pivot
	}
	b.Den = [2]float64{2, s.part() / (2 * n)}
	b.Num[1] = s.part() * 2 / n
	b.Den[0] -= middle * b.Den[1]
	b.Num[0] = -middle * b.Num[1]
	return b
}

// projectAndBack compares both directions with plain loops.
func projectAndBack[T scalar.Scalar](s *suite[T], r *device.Rays) {
	x, y := s.random(r.Rows*r.Cols), s.random(r.Views*r.Detectors)
	from, data := x.was(), y.was()
	image, projected := make([]complex128, len(from)), make([]complex128, len(data))
	for _, b := range r.Bundles {
		n, across, line, pixel := r.Rows, r.Cols, r.Cols, 1
		if b.Columns {
			n, across, line, pixel = r.Cols, r.Rows, 1, r.Cols
		}
		for d := b.Lo; d < b.Hi; d++ {
			ray, k := b.View*r.Detectors+d, b.Slope(d)
			length := complex(b.Length*math.Sqrt(1+k*k), 0)
			for a := range n {
				c := b.At + float64(d)*b.Step + (float64(a)-b.Pivot)*k
				first := math.Floor(c)
				for i, w := range [2]float64{1 - (c - first), c - first} {
					if p := first + float64(i); p >= 0 && p < float64(across) {
						at := a*line + int(p)*pixel
						projected[ray] += length * complex(w, 0) * from[at]
						image[at] += length * complex(w, 0) * data[ray]
					}
				}
			}
		}
	}
	// Rounded places have weights that are off by that times the place, in 64 bits.
	what := "%d views of %d detectors through %d × %d pixels"
	args := []any{r.Views, r.Detectors, r.Rows, r.Cols}
	for range 2 { // the plan made, and kept
		rays, pixels := s.poison(len(data)), s.poison(len(from))
		s.must("project", device.Project(s.k, rays.mem, x.mem, r))
		rays.check(projected, max(productTol[T](4*max(r.Rows, r.Cols, 1)), 1e-11), "project, "+what, args...)
		s.must("back-project", device.BackProject(s.k, pixels.mem, y.mem, r))
		pixels.check(image, max(productTol[T](8*max(r.Views*r.Detectors/max(r.Rows+r.Cols, 1), 1)), 1e-11), "back-project, "+what, args...)
	}
}
