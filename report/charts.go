package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
)

// Charts are plots side by side with logarithmic axes, one title and one legend below,
// as measurements need them. Curves of the same name look alike in all of them. Values
// that are not positive and finite are left out.
type Charts struct {
	Title  string
	Note   string // below the title, smaller, such as the machine
	Charts []Chart
	SameY  bool   // vertical axes have the same range, as horizontal ones always have
	Fits   string // what dashed lines are, in the legend; empty means no entry
}

// Chart is one of Charts.
type Chart struct {
	Title  string // what goes up, with its unit
	X      string // what goes across
	Curves []Curve
	Fits   []Curve // dashed, each in the colour of the curve of its name
	// Power writes labels of the horizontal axis at powers of two, such as sizes in
	// bytes. nil means powers of ten.
	Power func(x int64) string
}

// ChartFormats are what Charts can be written as.
var ChartFormats = []string{"svg", "png"}

// Sizes of Charts in pixels.
const (
	chartsWidth = 1725.0
	chartHeight = 500.0
	entryHeight = 33.0
	entrySample = 54.0
)

// Write writes the charts in one of ChartFormats.
func (p Charts) Write(w io.Writer, format string) error {
	if !slices.Contains(ChartFormats, format) {
		return fmt.Errorf("report: charts: unknown format %q: have svg, png", format)
	}
	shown := slices.ContainsFunc(p.Charts, func(c Chart) bool { x, _ := c.extent(); return x.lo <= x.hi })
	if !shown {
		return errors.New("report: charts: no value can be shown on logarithmic axes")
	}
	canvas := newRaster
	if format == "svg" {
		canvas = newVector
	}
	if err := p.draw(canvas).write(w); err != nil {
		return fmt.Errorf("report: charts: write %s: %w", format, err)
	}
	return nil
}

// points returns those of a curve that can be shown.
func (c Curve) points() (x, y []float64) {
	for i := range c.Y {
		if c.X[i] > 0 && c.Y[i] > 1e-300 && c.X[i] <= largest && c.Y[i] <= largest {
			x, y = append(x, c.X[i]), append(y, c.Y[i])
		}
	}
	return x, y
}

// extent returns the range of both axes; lo is above hi if there is nothing.
func (c Chart) extent() (x, y span) {
	x, y = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, v := range slices.Concat(c.Curves, c.Fits) {
		px, py := v.points()
		for i := range px {
			x.lo, x.hi = min(x.lo, px[i]), max(x.hi, px[i])
			y.lo, y.hi = min(y.lo, py[i]), max(y.hi, py[i])
		}
	}
	return x, y
}

// names returns those of all curves, in the order of the legend.
func (p Charts) names() (names []string) {
	for _, c := range p.Charts {
		for _, v := range c.Curves {
			if !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

func (p Charts) draw(canvas func(width, height int) *canvas) *canvas {
	names := p.names()
	entries := slices.Clone(names)
	if p.Fits != "" {
		entries = append(entries, p.Fits)
	}
	widest := 0.0
	for _, n := range entries {
		widest = max(widest, labelText.width(n))
	}
	column := widest + entrySample + 4*gap
	columns := min(len(entries), max(1, int((chartsWidth-2*outer)/column)))
	rows := (len(entries) + columns - 1) / columns
	columns = (len(entries) + rows - 1) / rows // no more than those rows need

	top := outer + headText.height() + labelText.height() + titleText.height() + 4*gap
	below := tickLen + tickText.height() + labelText.height() + 3*gap
	c := canvas(int(chartsWidth), int(top+chartHeight+below+float64(rows)*entryHeight+outer))
	c.text(headText, center, chartsWidth/2, outer+headText.height()/2, headText.fit(p.Title, chartsWidth-2*outer))
	c.text(tickText, center, chartsWidth/2, outer+headText.height()+gap+labelText.height()/2, tickText.fit(p.Note, chartsWidth-2*outer))

	xs, ys := span{math.Inf(1), math.Inf(-1)}, make([]span, len(p.Charts))
	all := xs
	for i, ch := range p.Charts {
		x, y := ch.extent()
		xs, ys[i], all = span{min(xs.lo, x.lo), max(xs.hi, x.hi)}, y, span{min(all.lo, y.lo), max(all.hi, y.hi)}
	}
	xs = span{xs.lo / 1.3, xs.hi * 1.3}
	each := (chartsWidth - 2*outer) / float64(max(2, len(p.Charts)))
	for i, ch := range p.Charts {
		if y := ys[i]; p.SameY || y.lo > y.hi {
			ys[i] = all
		}
		ys[i] = span{ys[i].lo / 1.25, ys[i].hi * 1.25}
		ch.draw(c, outer+each*float64(i), top, each, xs, ys[i], names)
	}
	begin := chartsWidth/2 - column*float64(columns)/2
	for i, n := range entries {
		x, y := begin+column*float64(i/rows), top+chartHeight+below+(float64(i%rows)+0.5)*entryHeight
		if i < len(names) {
			style := styleOf(i)
			c.line(3.5, style.color, x, y, x+entrySample, y)
			style.mark(c, x+entrySample/2, y)
		} else {
			c.dashes(ink, []float64{x, y, x + entrySample, y})
		}
		c.text(labelText, left, x+entrySample+gap, y, n)
	}
	return c
}

// draw draws a chart in a column of that width, below its title.
func (p Chart) draw(c *canvas, at, y0, width float64, x, y span, names []string) {
	yt, yf := logTicks(y.lo, y.hi, 8)
	labels := 0.0
	for _, t := range yt {
		labels = max(labels, tickText.width(t.label))
	}
	x0 := math.Ceil(at + labels + tickLen + gap)
	w := math.Floor(at + width - 3*gap - x0)
	fx := func(v float64) float64 { return x0 + w*math.Log(v/x.lo)/math.Log(x.hi/x.lo) }
	fy := func(v float64) float64 { return y0 + chartHeight*(1-math.Log(v/y.lo)/math.Log(y.hi/y.lo)) }
	xt, xf := logTicks(x.lo, x.hi, 7)
	if p.Power != nil {
		xt, xf = powerTicks(x.lo, x.hi, p.Power), ""
	}
	c.text(titleText, center, x0+w/2, y0-gap-titleText.height()*0.4, titleText.fit(withUnit(p.Title, "", yf), w))
	for _, t := range xt {
		v := math.Round(fx(t.at))
		if t.label != "" {
			c.line(lineWidth, hair, v, y0, v, y0+chartHeight)
			c.text(tickText, center, v, y0+chartHeight+tickLen+gap/2+tickText.height()/2, t.label)
		}
		c.line(lineWidth, soft, v, y0+chartHeight, v, y0+chartHeight+tickLen)
	}
	for _, t := range yt {
		v := math.Round(fy(t.at))
		if t.label != "" {
			c.line(lineWidth, hair, x0, v, x0+w, v)
			c.text(tickText, right, x0-tickLen-gap/2, v, t.label)
		}
		c.line(lineWidth, soft, x0-tickLen, v, x0, v)
	}
	c.line(lineWidth, soft, x0, y0, x0, y0+chartHeight, x0+w, y0+chartHeight)
	c.text(labelText, center, x0+w/2, y0+chartHeight+tickLen+gap+tickText.height()+labelText.height()*0.55, withUnit(p.X, "", xf))
	path := func(v Curve) (xy []float64) {
		px, py := v.points()
		for i := range px {
			xy = append(xy, fx(px[i]), fy(py[i]))
		}
		return xy
	}
	for _, v := range p.Fits {
		c.dashes(styleOf(slices.Index(names, v.Name)).color, path(v))
	}
	for _, v := range p.Curves {
		style, xy := styleOf(slices.Index(names, v.Name)), path(v)
		if len(xy) >= 4 {
			c.line(3.5, style.color, xy...)
		}
		for i := 0; i < len(xy); i += 2 {
			style.mark(c, xy[i], xy[i+1])
		}
	}
}

// chartStyle is the look of a curve.
type chartStyle struct {
	color color.NRGBA
	shape int
}

// styleOf gives the i-th curve a colour, and a marker that tells colours apart where they
// repeat.
func styleOf(i int) chartStyle { return chartStyle{lines[max(i, 0)%len(lines)], max(i, 0) % 4} }

func (s chartStyle) mark(c *canvas, x, y float64) {
	const r = 6.0
	switch s.shape {
	case 0:
		c.polygon(s.color, circle(x, y, r)...)
	case 1:
		c.fill(x-r, y-r, x+r, y+r, s.color)
	case 2:
		c.polygon(s.color, x, y-1.2*r, x+1.1*r, y+0.8*r, x-1.1*r, y+0.8*r)
	default:
		c.polygon(s.color, x, y-1.3*r, x+1.3*r, y, x, y+1.3*r, x-1.3*r, y)
	}
}

// powerTicks puts labels at powers of two, few enough not to run into each other. Labels
// are 1, 2, 5 or 10 powers apart, counted from 1 KB on, so that 1 KB and 1 MB always have
// one.
func powerTicks(lo, hi float64, label func(int64) string) (ticks []tick) {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	every := 1
	for _, every = range []int{1, 2, 5, 10} {
		if (last-first)/every <= 7 {
			break
		}
	}
	for e := first; e <= last; e++ {
		t := tick{at: math.Exp2(float64(e))}
		if e >= 0 && (e-10)%every == 0 {
			t.label = label(int64(t.at))
		}
		ticks = append(ticks, t)
	}
	return ticks
}
