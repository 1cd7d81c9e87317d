package ct

import (
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
	"github.com/golops/golops/ops"
)

// scan is a run that has been checked.
type scan struct {
	Config
	views, detectors int
	geometry         ops.ProjectorOptions
}

// fan reports whether rays come from one source.
func (c *Config) fan() bool { return c.Geometry.Beam == "fan" }

// Prepare checks the configuration and the files that it names.
func Prepare(c Config) (*app.Task, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	s := &scan{Config: c, views: c.Data.Views}
	if err := s.sizes(); err != nil {
		return nil, err
	}
	angles, err := s.angles()
	if err != nil {
		return nil, err
	}
	s.geometry = ops.ProjectorOptions{Angles: angles, Pixel: c.Image.Pixel, Spacing: c.Geometry.Spacing, Shift: c.Geometry.Shift}
	if c.fan() {
		s.geometry.Source, s.geometry.Detector = c.Geometry.Source, c.Geometry.Detector
	}
	elem, run := 8.0, reconstruct[float64]
	if c.Image.Type == "float32" {
		elem, run = 4, reconstruct[float32]
	}
	image, sinogram := elem*float64(c.Image.Size)*float64(c.Image.Size), elem*float64(s.views)*float64(s.detectors)
	if err := app.Fits(12*image+8*sinogram, "%d × %d pixels and %d views of %d detectors", c.Image.Size, c.Image.Size, s.views, s.detectors); err != nil {
		return nil, err
	}
	return &app.Task{
		Config: c, Bytes: 4*image + sinogram, State: 6*image + 2*sinogram,
		Run: func(r *app.Rank) *app.Results { return run(r, s) },
	}, nil
}

// validate reports every fault of the numbers.
func (c *Config) validate() error {
	var f app.Faults
	f.AtLeast("data.views", c.Data.Views, 1)
	f.NotNegative("data.noise", c.Data.Noise)
	if t := c.Data.Turn; !(t >= 0 && t <= 360) {
		f.Add("data.turn is %g, must be from 0 to 360 degrees", t)
	}
	f.OneOf("geometry.beam", c.Geometry.Beam, "parallel", "fan")
	f.Positive("geometry.spacing", c.Geometry.Spacing)
	if math.IsNaN(c.Geometry.Shift) || math.IsInf(c.Geometry.Shift, 0) {
		f.Add("geometry.shift is %g, must be a length", c.Geometry.Shift)
	}
	f.AtLeast("image.size", c.Image.Size, 2)
	f.Positive("image.pixel", c.Image.Pixel)
	if c.fan() {
		f.NotNegative("geometry.detector", c.Geometry.Detector)
		if half := c.Image.Pixel * (float64(c.Image.Size)/math.Sqrt2 + 1); !(c.Geometry.Source > half) || math.IsInf(c.Geometry.Source, 0) {
			f.Add("geometry.source is %g, must be outside of the image of %d pixels of %g: beyond %g", c.Geometry.Source, c.Image.Size, c.Image.Pixel, half)
		}
	}
	f.OneOf("image.filter", c.Image.Filter, "ramp", "hann")
	f.OneOf("image.type", c.Image.Type, "float32", "float64")
	f.Solver(c.Solver.Solver, "nonnegative", "tv")
	f.NotNegative("solver.weight", c.Solver.Weight)
	f.Base(*c)
	return f.Err()
}

// sizes finds the views and detectors of the file, or of the example.
func (s *scan) sizes() error {
	if s.Data.File == "" {
		width := float64(s.Image.Size) * s.Image.Pixel
		if s.fan() { // the head ends before the corners
			width *= 1.05 * (s.Geometry.Source + s.Geometry.Detector) / s.Geometry.Source
		}
		if n := math.Ceil(width / s.Geometry.Spacing); n <= 1<<20 {
			s.detectors = int(n)
			return nil
		}
		return fmt.Errorf("geometry.spacing is %g: the image is %g wide, which would be more than a million detectors", s.Geometry.Spacing, width)
	}
	shape, err := data.InfoImage(s.Data.File)
	if err != nil {
		return err
	}
	if len(shape) != 2 || shape[0] < 1 || shape[1] < 1 {
		return fmt.Errorf("%s has shape %v: a sinogram has two axes, views × detectors", app.Shown(s.Data.File), shape)
	}
	s.views, s.detectors = shape[0], shape[1]
	return nil
}

// angles returns those of all views, in radians.
func (s *scan) angles() ([]float64, error) {
	if s.Data.Angles == "" {
		turn := s.Data.Turn
		if turn == 0 && s.fan() {
			turn = 360
		} else if turn == 0 {
			turn = 180
		}
		a := make([]float64, s.views)
		for i := range a {
			a[i] = float64(i) * turn / float64(s.views) * math.Pi / 180
		}
		return a, nil
	}
	a, err := data.ReadList(s.Data.Angles, "angle in degrees")
	if err != nil {
		return nil, err
	}
	name := app.Shown(s.Data.Angles)
	if i := slices.IndexFunc(a, func(v float64) bool { return math.Abs(v) > 1e6 }); i >= 0 {
		return nil, fmt.Errorf("%s: angle %d is %g, must be in degrees", name, i+1, a[i])
	}
	switch {
	case s.Data.File == "" && len(a) != s.views:
		s.views = len(a) // the example has the views of the file
	case len(a) == s.detectors && len(a) != s.views:
		return nil, fmt.Errorf("%s has shape [%d %d] and %s %d angles: exchange the axes of the sinogram, views come first", app.Shown(s.Data.File), s.views, s.detectors, name, len(a))
	case len(a) != s.views:
		return nil, fmt.Errorf("%s has %d angles, %s has %d views", name, len(a), app.Shown(s.Data.File), s.views)
	}
	if span := slices.Max(a) - slices.Min(a); len(a) > 10 && span < 6.3 {
		return nil, fmt.Errorf("%s has angles over %.3g degrees: are they in radians? Multiply them by 180/π", name, span)
	}
	for i := range a {
		a[i] *= math.Pi / 180
	}
	return a, nil
}
