package ct

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
)

// angles returns those of all views, in radians.
func (s *scan) angles() ([]float64, error) {
	if s.Data.Angles == "" {
		turn := s.Data.Turn
		if turn == 0 {
			turn = 180
			if s.fan() {
				turn = 360
			}
		}
		a := make([]float64, s.views)
		for i := range a {
			a[i] = float64(i) * turn / float64(s.views) * math.Pi / 180
		}
		return a, nil
	}
	a, err := readAngles(s.Data.Angles)
	if err != nil {
		return nil, err
	}
	name := app.Shown(s.Data.Angles)
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

// readAngles returns the numbers of a .npy file or of a text with one number per line.
func readAngles(path string) (a []float64, err error) {
	name := app.Shown(path)
	if strings.EqualFold(filepath.Ext(path), ".npy") {
		var shape []int
		if shape, a, err = data.ReadNPY[float64](path); err != nil {
			return nil, err
		}
		if len(shape) != 1 {
			return nil, fmt.Errorf("%s has shape %v: angles have one axis", name, shape)
		}
	} else {
		text, err := app.ReadText(path, 16<<20)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			v, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
			if err != nil {
				return nil, fmt.Errorf("%s: line %d is %.40q: give one angle in degrees per line", name, i+1, line)
			}
			a = append(a, v)
		}
	}
	if len(a) == 0 {
		return nil, fmt.Errorf("%s has no angles", name)
	}
	for i, v := range a {
		if math.IsNaN(v) || math.Abs(v) > 1e6 {
			return nil, fmt.Errorf("%s: angle %d is %g, must be in degrees", name, i+1, v)
		}
	}
	return a, nil
}
