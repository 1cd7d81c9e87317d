package report

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Picture is a 2-D array as an image with axes, a colour bar and points on
// top. Only Data must be set.
type Picture struct {
	Title  string
	Data   Grid
	X, Y   Axis     // of columns, across, and of rows, downwards
	Map    ColorMap // Auto by default
	Scale  Scale
	Bar    Bar
	Points []Points // in the coordinates of X and Y
	// Aspect is height over width of the image. Automatic is the same scale for
	// both axes where they have the same unit and the image would not be very
	// flat or tall, and three to four otherwise.
	Aspect float64
	// Smooth blends cells that are larger than a pixel into each other. Without
	// it they are drawn as rectangles, which shows the sampling.
	Smooth bool
}

// Bar is what stands at a colour bar.
type Bar struct {
	Label, Unit string
	Hide        bool // draws no bar
}

// PNG writes the picture as a file. Values that are not a number have a colour
// of their own; infinite ones have that of the end of the scale.
func (p Picture) PNG(w io.Writer) error {
	return Panels{Pictures: []Picture{p}, Scaling: Each}.PNG(w)
}

// Validate reports every fault at once.
func (p Picture) Validate() error {
	errs := []error{p.Data.check(), p.X.check("x"), p.Y.check("y"), p.Scale.check()}
	if !p.Map.known() {
		errs = append(errs, fmt.Errorf("unknown colour map %d", int(p.Map)))
	}
	if p.Aspect != 0 && !(p.Aspect > 0.01 && p.Aspect < 100) {
		errs = append(errs, fmt.Errorf("aspect is %g: must be above 0.01 and below 100", p.Aspect))
	}
	for _, pts := range p.Points {
		errs = append(errs, pts.check())
	}
	return errors.Join(errs...)
}

// aspect is height over width of the image.
func (p Picture) aspect() float64 {
	if p.Aspect > 0 {
		return p.Aspect
	}
	x, y := p.X.extent(p.Data.Cols), p.Y.extent(p.Data.Rows)
	if a := (y.hi - y.lo) / (x.hi - x.lo); p.X.Unit == p.Y.Unit && a >= 0.15 && a <= 4 {
		return a
	}
	return 0.75
}

// ShotGather returns a picture of the traces of one shot: time downwards, one
// column for each receiver, in grey, from -a to a where a is the 99th
// percentile of the amplitude. Rows of traces are receivers, its columns times
// dt seconds apart, as data are stored. The caller may change whatever it
// likes, such as X to show the position of receivers.
func ShotGather(traces Grid, dt float64) Picture {
	return Picture{
		Title:  "Shot gather",
		Data:   traces.T(),
		X:      Axis{Label: "receiver"},
		Y:      Axis{Label: "time", Unit: "s", Step: dt},
		Map:    Gray,
		Scale:  Scale{Symmetric: true},
		Bar:    Bar{Label: "amplitude"},
		Aspect: 1.2,
	}
}

// size returns the pixels of the image itself, which is as wide as asked for
// unless it would be too tall.
func (p Picture) size(width, tallest float64) (w, h int) {
	a := p.aspect()
	h = int(math.Round(min(a*width, tallest)))
	w = int(math.Round(min(width, float64(h)/a)))
	return max(w, 120), max(h, 60)
}
