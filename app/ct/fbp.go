package ct

import (
	"context"
	"math"
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
)

// backProject returns the filtered back-projection of a sinogram: each view is filtered
// by a ramp of frequencies, weighted by the angle that it stands for, and added to the
// pixels that its rays cross. A fan is sorted into parallel rays before.
func backProject[T, C scalar.Scalar](ctx context.Context, s *scan, a linop.Operator[T], y dist.Array[T]) (image dist.Array[T], err error) {
	g := s.geometry
	if s.fan() {
		if a, y, g, err = parallel(ctx, s, a.Domain(), y); err != nil {
			return image, err
		}
	}
	views := y.Space()
	n := 1
	for n < 2*s.detectors {
		n *= 2
	}
	o := ops.FFTDefaults()
	o.Sizes = []int{n}
	f, err := ops.RealFFT[C, T](ctx, views, 1, o)
	if err != nil {
		return image, err
	}
	ramp, err := ops.DiagonalAlong(ctx, f.Range(), 1, numbers[C](response(n, g.Spacing, s.Image.Filter)))
	if err != nil {
		return image, err
	}
	scale := weights(g.Angles)
	for i := range scale {
		scale[i] *= g.Spacing / (g.Pixel * g.Pixel) // of rays that cross a pixel
	}
	weigh, err := ops.DiagonalAlong(ctx, views, 0, numbers[T](scale))
	if err != nil {
		return image, err
	}
	spectra, err := linop.Apply(ctx, f, y)
	if err != nil {
		return image, err
	}
	if spectra, err = linop.Apply(ctx, ramp, spectra); err != nil {
		return image, err
	}
	filtered, err := linop.Apply(ctx, linop.H(f), spectra)
	if err != nil {
		return image, err
	}
	if filtered, err = linop.Apply(ctx, weigh, filtered); err != nil {
		return image, err
	}
	return linop.Apply(ctx, linop.H(a), filtered)
}

func numbers[T scalar.Scalar](v []float64) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = scalar.From[T](complex(x, 0))
	}
	return out
}

// response returns the filter at frequencies 0 to n/2: the transform of a ramp that is
// sampled as in Kak and Slaney, Principles of Computerized Tomographic Imaging, 1988,
// equation 61, so that the mean of an image is right.
func response(n int, spacing float64, filter string) []float64 {
	r := make([]float64, n/2+1)
	for k := range r {
		r[k] = 1.0 / 4
		for j := 1; j < n/2; j += 2 {
			angle := 2 * math.Pi * float64(k*j%n) / float64(n)
			r[k] -= 2 * math.Cos(angle) / (math.Pi * math.Pi * float64(j) * float64(j))
		}
		r[k] /= spacing
		if filter == "hann" {
			r[k] *= (1 + math.Cos(2*math.Pi*float64(k)/float64(n))) / 2
		}
	}
	return r
}

// weights returns the angle that each view stands for: half of the way to its
// neighbours on both sides in half a turn, and less where views are missing.
func weights(angles []float64) []float64 {
	w := make([]float64, len(angles))
	if len(angles) < 2 {
		w[0] = math.Pi
		return w
	}
	order := make([]int, len(angles))
	at := make([]float64, len(angles))
	for i, a := range angles {
		order[i], at[i] = i, math.Mod(math.Mod(a, math.Pi)+math.Pi, math.Pi)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case at[i] < at[j]:
			return -1
		case at[i] > at[j]:
			return 1
		}
		return 0
	})
	gaps := make([]float64, len(order)) // before each view
	for k, i := range order {
		before := at[order[(k+len(order)-1)%len(order)]]
		if gaps[k] = at[i] - before; k == 0 {
			gaps[k] += math.Pi
		}
	}
	sorted := slices.Clone(gaps)
	slices.Sort(sorted)
	most := 4 * max(sorted[len(sorted)/2], math.Pi/float64(len(sorted)))
	for k, i := range order {
		w[i] = (min(gaps[k], most) + min(gaps[(k+1)%len(gaps)], most)) / 2
	}
	return w
}

// parallel sorts the rays of a fan into parallel ones, in even steps of half a turn,
// linear between views and detectors. The ray at angle θ and distance s from the axis is
// in view β = θ + γ at detector tan γ·(source + detector), sin γ = s/source.
func parallel[T scalar.Scalar](ctx context.Context, s *scan, image *dist.Space, y dist.Array[T]) (linop.Operator[T], dist.Array[T], ops.ProjectorOptions, error) {
	var sorted dist.Array[T]
	all, err := dist.AllGather(ctx, y)
	g := s.geometry
	far := g.Source + g.Detector
	to := ops.ProjectorDefaults(make([]float64, s.views))
	to.Pixel, to.Spacing = g.Pixel, g.Spacing*g.Source/far
	for i := range to.Angles {
		to.Angles[i] = math.Pi * float64(i) / float64(s.views)
	}
	if err != nil {
		return nil, sorted, to, err
	}
	f := newFanTable(g.Angles)
	sorted, err = dist.FromFunc(ctx, y.Space(), func(i []int) T {
		at := (float64(i[1]) - float64(s.detectors-1)/2) * to.Spacing
		angle := to.Angles[i[0]]
		for range 2 { // the same ray from the other side
			if math.Abs(at) < g.Source {
				gamma := math.Asin(at / g.Source)
				d := (math.Tan(gamma)*far-g.Shift)/g.Spacing + float64(s.detectors-1)/2
				if v, w, found := f.between(angle + gamma); found && d >= 0 && d <= float64(s.detectors-1) {
					k := min(int(d), max(s.detectors-2, 0))
					c := d - float64(k)
					next := min(k+1, s.detectors-1)
					get := func(view, k int) float64 { return real(scalar.Complex(all[view*s.detectors+k])) }
					value := (1-w)*((1-c)*get(v[0], k)+c*get(v[0], next)) + w*((1-c)*get(v[1], k)+c*get(v[1], next))
					return scalar.From[T](complex(value, 0))
				}
			}
			angle, at = angle+math.Pi, -at
		}
		return 0
	})
	if err != nil {
		return nil, sorted, to, err
	}
	a, err := ops.Projector[T](ctx, image, y.Space(), to)
	return a, sorted, to, err
}

// fanTable finds views by their angle.
type fanTable struct {
	order []int
	at    []float64 // sorted, in one turn
	most  float64   // between two views that are neighbours
}

func newFanTable(angles []float64) *fanTable {
	f := &fanTable{}
	turned := func(a float64) float64 { return math.Mod(math.Mod(a, 2*math.Pi)+2*math.Pi, 2*math.Pi) }
	for i := range angles {
		f.order = append(f.order, i)
	}
	slices.SortStableFunc(f.order, func(i, j int) int {
		if turned(angles[i]) < turned(angles[j]) {
			return -1
		}
		return 1
	})
	for _, i := range f.order {
		f.at = append(f.at, turned(angles[i]))
	}
	var gaps []float64
	for k := 1; k < len(f.at); k++ {
		gaps = append(gaps, f.at[k]-f.at[k-1])
	}
	slices.Sort(gaps)
	f.most = 2 * math.Pi
	if len(gaps) > 0 {
		f.most = 3 * max(gaps[len(gaps)/2], 1e-9)
	}
	return f
}

// between returns the views on both sides of an angle, and how far it is to the second.
func (f *fanTable) between(angle float64) (views [2]int, w float64, found bool) {
	angle = math.Mod(math.Mod(angle, 2*math.Pi)+2*math.Pi, 2*math.Pi)
	n := len(f.at)
	k, _ := slices.BinarySearch(f.at, angle)
	left, right := (k+n-1)%n, k%n
	lo, hi := f.at[left], f.at[right]
	if k == 0 {
		lo -= 2 * math.Pi
	}
	if k == n {
		hi += 2 * math.Pi
	}
	views = [2]int{f.order[left], f.order[right]}
	if hi-lo > f.most {
		return views, 0, hi-angle < 1e-9 || angle-lo < 1e-9
	}
	if hi > lo {
		w = (angle - lo) / (hi - lo)
	}
	return views, w, true
}
