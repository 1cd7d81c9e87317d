package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
)

// Curve is one line of a plot.
type Curve struct {
	Name string    // in the legend; empty means no entry
	X    []float64 // nil means 0, 1, 2 and so on
	Y    []float64
}

// Curves is a line plot. The vertical axis is logarithmic unless Linear is set,
// as the residual of an iteration needs it. Values that cannot be shown, NaN,
// Inf and on a logarithmic axis those that are not positive, leave a gap.
type Curves struct {
	Title  string
	X, Y   string // what the axes show, such as "iteration"
	Curves []Curve
	Linear bool
}

// lines are the colours of Okabe and Ito, which colour-blind readers can tell
// apart, without yellow, which is hard to see on white.
var lines = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // green
	{0xCC, 0x79, 0xA7, 0xFF}, // purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky
	{0x20, 0x20, 0x20, 0xFF}, // black
}

// ResidualCurve returns a plot of the residual norms of an iteration, the first
// of them before it.
func ResidualCurve(residuals []float64) Curves {
	return Curves{Title: "Residual", X: "iteration", Y: "norm of the residual", Curves: []Curve{{Y: residuals}}}
}

// Validate reports every fault at once.
func (p Curves) Validate() error {
	var errs []error
	for i, c := range p.Curves {
		if c.X != nil && len(c.X) != len(c.Y) {
			errs = append(errs, fmt.Errorf("curve %d, %q, has %d values of X and %d of Y", i+1, c.Name, len(c.X), len(c.Y)))
		}
	}
	if len(errs) == 0 {
		if x, _ := p.extent(); x.lo > x.hi {
			errs = append(errs, errors.New("no value can be shown on these axes"))
		}
	}
	return errors.Join(errs...)
}

// PNG writes the plot as a file of pixels.
func (p Curves) PNG(w io.Writer) error { return p.write(w, newRaster, "PNG") }

// SVG writes the plot as a file of lines, which stays sharp at any size.
func (p Curves) SVG(w io.Writer) error { return p.write(w, newVector, "SVG") }

func (p Curves) write(w io.Writer, canvas func(width, height int) *canvas, format string) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("report: draw %q: %w", p.Title, err)
	}
	if err := p.draw(canvas).write(w); err != nil {
		return fmt.Errorf("report: draw %q: write %s: %w", p.Title, format, err)
	}
	return nil
}

// at returns the i-th point, and whether it can be shown.
func (p Curves) at(c Curve, i int) (x, y float64, ok bool) {
	x, y = float64(i), c.Y[i]
	if c.X != nil {
		x = c.X[i]
	}
	ok = math.Abs(x) <= largest && math.Abs(y) <= largest && (p.Linear || y > 1e-300)
	return x, y, ok
}

// extent returns the range of both axes; lo is above hi if there is nothing.
func (p Curves) extent() (x, y span) {
	x, y = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, c := range p.Curves {
		for i := range c.Y {
			if px, py, ok := p.at(c, i); ok {
				x.lo, x.hi = min(x.lo, px), max(x.hi, px)
				y.lo, y.hi = min(y.lo, py), max(y.hi, py)
			}
		}
	}
	return x, y
}

// axes widens the ranges so that curves do not touch the frame, and chooses
// ticks.
func (p Curves) axes(w, h float64) (x, y span, xt, yt []tick, xf, yf string) {
	x, y = p.extent()
	if x.lo == x.hi {
		x = span{x.lo - 0.5, x.hi + 0.5}.widened()
	}
	least := 1.0
	for _, c := range p.Curves {
		if c.X != nil {
			least = 0
		}
	}
	xt, xf = linearTicks(x.lo, x.hi, int(w/110), least)
	if p.Linear {
		y = y.widened()
		d := (y.hi - y.lo) * 0.05
		y = span{y.lo - d, y.hi + d}
		yt, yf = linearTicks(y.lo, y.hi, int(h/70), 0)
		return x, y, xt, yt, xf, yf
	}
	if y.hi < y.lo*1.05 { // a flat curve is not to look steep
		y = span{y.lo / 1.5, y.hi * 1.5}
	}
	d := math.Pow(y.hi/y.lo, 0.05)
	if !(d < 1e300) {
		d = 10
	}
	y = span{y.lo / d, y.hi * d}
	yt, yf = logTicks(y.lo, y.hi, int(h/55))
	return x, y, xt, yt, xf, yf
}

// draw makes the whole plot.
func (p Curves) draw(canvas func(width, height int) *canvas) *canvas {
	const w, h = 860.0, 520.0
	x, y, xt, yt, xf, yf := p.axes(w, h)
	xTitle, yTitle := withUnit(p.X, "", xf), withUnit(p.Y, "", yf)
	fx := func(v float64) float64 { return (v - x.lo) / (x.hi - x.lo) * w }
	fy := func(v float64) float64 { return h - (v-y.lo)/(y.hi-y.lo)*h }
	if !p.Linear {
		lo, hi := math.Log(y.lo), math.Log(y.hi)
		fy = func(v float64) float64 { return h - (math.Log(v)-lo)/(hi-lo)*h }
	}
	labels := 0.0
	for _, t := range yt {
		labels = max(labels, tickText.width(t.label))
	}
	x0 := outer + tickLen + gap/2 + labels
	if yTitle != "" {
		x0 += gap + labelText.height()
	}
	x0 = math.Ceil(x0)
	y0 := outer
	if p.Title != "" {
		y0 += titleText.height() + gap
	}
	y0 = math.Ceil(y0)
	bottom := tickLen + gap/2 + tickText.height()
	if xTitle != "" {
		bottom += labelText.height()
	}
	edge := tickText.width("0000") / 2 // the last number sticks out
	c := canvas(int(x0+w+edge+outer), int(math.Ceil(y0+h+bottom+outer)))
	if p.Title != "" {
		c.text(titleText, left, x0, y0-gap-titleText.height()*0.35, titleText.fit(p.Title, w))
	}
	for _, t := range xt {
		at := x0 + math.Round(fx(t.at))
		c.line(lineWidth, hair, at, y0, at, y0+h)
	}
	for _, t := range yt {
		width := lineWidth
		if t.label == "" {
			width = 1
		}
		at := y0 + math.Round(fy(t.at))
		c.line(width, hair, x0, at, x0+w, at)
	}
	p.drawCurves(c, func(v float64) float64 { return x0 + fx(v) }, func(v float64) float64 { return y0 + fy(v) })
	c.line(lineWidth, soft, x0-1, y0, x0-1, y0+h+1, x0+w, y0+h+1)
	c.xAxis(xt, x, x0, y0+h, w, xTitle)
	c.yNumbers(yt, fy, x0, y0, h, yTitle)
	p.legend(c, x0+w, y0)
	return c
}

// yNumbers draws numbers and a title left of the vertical axis.
func (c *canvas) yNumbers(ticks []tick, at func(float64) float64, x0, y0, h float64, title string) {
	labels := 0.0
	for _, t := range ticks {
		if t.label == "" {
			continue
		}
		y := y0 + math.Round(at(t.at))
		c.line(lineWidth, soft, x0-lineWidth-tickLen, y, x0-lineWidth, y)
		c.text(tickText, right, x0-lineWidth-tickLen-gap/2, y, t.label)
		labels = max(labels, tickText.width(t.label))
	}
	x := x0 - lineWidth - tickLen - gap/2 - labels - gap - labelText.height()*0.4
	c.upright(labelText, x, y0+h/2, labelText.fit(title, h))
}

// drawCurves draws each piece between gaps, and dots where points are few.
func (p Curves) drawCurves(c *canvas, fx, fy func(float64) float64) {
	for k, cv := range p.Curves {
		col := lines[k%len(lines)]
		var piece []float64
		flush := func() {
			if len(piece) >= 4 {
				c.line(3.5, col, piece...)
			}
			if len(cv.Y) <= 40 || len(piece) == 2 {
				for i := 0; i < len(piece); i += 2 {
					c.polygon(col, circle(piece[i], piece[i+1], 5.5)...)
				}
			}
			piece = piece[:0]
		}
		for i := range cv.Y {
			if x, y, ok := p.at(cv, i); ok {
				piece = append(piece, fx(x), fy(y))
			} else {
				flush()
			}
		}
		flush()
	}
}

// legend stands in the top right corner, where a falling curve is not.
func (p Curves) legend(c *canvas, x1, y0 float64) {
	widest, n := 0.0, 0
	for _, cv := range p.Curves {
		if cv.Name != "" {
			widest, n = max(widest, labelText.width(cv.Name)), n+1
		}
	}
	if n == 0 {
		return
	}
	const sample, line = 44.0, 34.0
	x := x1 - widest - sample - 3*gap
	c.fill(x-gap, y0+gap, x1-gap, y0+2*gap+float64(n)*line, color.NRGBA{0xFF, 0xFF, 0xFF, 0xE8})
	y := y0 + 1.5*gap + line/2
	for k, cv := range p.Curves {
		if cv.Name == "" {
			continue
		}
		c.line(4, lines[k%len(lines)], x, y, x+sample-gap, y)
		c.text(labelText, left, x+sample, y, cv.Name)
		y += line
	}
}
