package device

import (
	"fmt"
	"math"

	"github.com/golops/golops/scalar"
)

// Projector is for devices that integrate an image along straight rays.
type Projector[T scalar.Scalar] interface {
	// Project sets y, of Views × Detectors elements, to the integrals of the image x
	// along all rays. A ray visits the lines of its bundle one by one. Between two
	// pixels of a line the image is linear, and beyond its ends it is 0.
	Project(y, x Mem[T], r *Rays)
	// BackProject is the adjoint of Project.
	BackProject(x, y Mem[T], r *Rays)
}

// Rays are the rays through an image of Rows × Cols pixels, one for each view and
// detector. The bundles have each ray once, in the order of y.
type Rays struct {
	Rows, Cols       int
	Views, Detectors int
	Bundles          []Bundle
	Cache            DeviceCache
}

// Bundle is the rays of one view to detectors Lo to Hi-1. They visit the rows of the
// image, or its columns. Ray d crosses line a at pixel
//
//	c = At + d·Step + (a - Pivot)·K,  K = (Num[0] + d·Num[1]) / (Den[0] + d·Den[1])
//
// and takes Length·√(1+K²) times the image from there. c grows or falls with d on
// every line that has pixels near rays. K has no pole among the rays.
type Bundle struct {
	View, Lo, Hi    int
	Columns         bool
	At, Step, Pivot float64
	Num, Den        [2]float64
	Length          float64
}

// Slope returns K of ray d.
func (b *Bundle) Slope(d int) float64 {
	return (b.Num[0] + float64(d)*b.Num[1]) / (b.Den[0] + float64(d)*b.Den[1])
}

// Parallel reports whether all rays of the bundle have the same slope.
func (b *Bundle) Parallel() bool { return b.Num[1] == 0 && b.Den[1] == 0 }

// Check returns an error unless the image and y have these elements and the bundles
// have each ray once. It looks at the bundles once.
func (r *Rays) Check(image, data int) error {
	if r.Rows < 0 || r.Views < 0 || Size(r.Rows, r.Cols) != image || Size(r.Views, r.Detectors) != data {
		return fmt.Errorf("rays of %d views and %d detectors through %d × %d pixels for %d and %d elements",
			r.Views, r.Detectors, r.Rows, r.Cols, data, image)
	}
	if r.Cache.checked {
		return nil
	}
	next := 0 // ray
	for i := range r.Bundles {
		b := &r.Bundles[i]
		sum := b.At + b.Step + b.Pivot + b.Length + b.Slope(b.Lo) + b.Slope(b.Hi-1)
		if b.Lo < 0 || b.Lo >= b.Hi || b.Hi > r.Detectors || b.View*r.Detectors+b.Lo != next || math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fmt.Errorf("bundle %d of rays is %+v, must begin at ray %d of %d × %d", i, *b, next, r.Views, r.Detectors)
		}
		next += b.Hi - b.Lo
	}
	if next != data {
		return fmt.Errorf("bundles of %d rays for %d views and %d detectors", next, r.Views, r.Detectors)
	}
	r.Cache.checked = true
	return nil
}

// Project sets y to the integrals of the image x along all rays; see Projector.
func Project[T scalar.Scalar](k Kernels[T], y, x Mem[T], r *Rays) error {
	if f, ok := k.(Projector[T]); ok {
		f.Project(y, x, r)
		return nil
	}
	return lacks[T]("Project")
}

// BackProject is the adjoint of Project; see Projector.
func BackProject[T scalar.Scalar](k Kernels[T], x, y Mem[T], r *Rays) error {
	if f, ok := k.(Projector[T]); ok {
		f.BackProject(x, y, r)
		return nil
	}
	return lacks[T]("BackProject")
}
