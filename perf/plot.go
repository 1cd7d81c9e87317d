package perf

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// palette are the colours of Okabe and Ito, which colour-blind readers can
// tell apart, without yellow, which is hard to see on white.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // green
	{0xCC, 0x79, 0xA7, 0xFF}, // purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky
	{0x00, 0x00, 0x00, 0xFF}, // black
}

var (
	glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}}
	dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)}}
	grey   = color.NRGBA{0x60, 0x60, 0x60, 0xFF}
)

const (
	plotWidth   = 11.5 * vg.Inch
	panelHeight = 4.6 * vg.Inch
	margin      = 0.15 * vg.Inch
)

// PlotFormats are what Plot can write.
var PlotFormats = []string{"svg", "png"}

// Plot draws bus bandwidth and time over size, side by side, one curve for
// each table. Where one rank makes the bus bandwidth 0 throughout, it shows
// the algorithm bandwidth.
func Plot(w io.Writer, format string, m Machine, tables []Table) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	cs := curves(tables)
	if len(cs) == 0 {
		return errors.New("perf: plot: no measurement has a size above 0, there is nothing to show")
	}
	common, each := names(cs)
	band, times := panel("bus bandwidth (GB/s)"), panel("time of one iteration (µs)")
	hasBus := slices.ContainsFunc(cs, func(c curve) bool { return slices.Max(c.bus) > 0 })
	if !hasBus {
		band.Title.Text = "algorithm bandwidth (GB/s)"
	}
	entries := make([]legendEntry, len(cs))
	for i, c := range cs {
		entries[i] = look(each[i], i)
		y := c.bus
		if !hasBus {
			y = c.alg
		}
		err := errors.Join(add(band, c.sizes, y, entries[i]), add(times, c.sizes, c.micros, entries[i]))
		if err != nil {
			return fmt.Errorf("perf: plot: %w", err)
		}
	}
	fit(band, times)
	return drawPanels(w, format, common, m.short(), band, times, entries)
}

// short describes the machine below the title of a picture.
func (m Machine) short() string {
	return fmt.Sprintf("%s, CPUs %d, GOMAXPROCS %d, %s", m.CPU, m.CPUs, m.GOMAXPROCS, m.Go)
}

// drawPanels writes two panels side by side, with a title and a legend.
func drawPanels(w io.Writer, format, head, below string, left, right *plot.Plot, entries []legendEntry) error {
	lg := layOut(entries, plotWidth-2*margin)
	top := 0.62 * vg.Inch
	height := panelHeight + top + lg.height + 2*margin
	canvas, write := newCanvas(format, plotWidth, height)
	c := draw.Crop(draw.New(canvas), margin, -margin, margin, -margin)

	title, sub := style(15, color.Black), style(11, grey)
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	sub.XAlign, sub.YAlign = draw.XCenter, draw.YTop
	c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y}, head)
	c.FillText(sub, vg.Point{X: c.Center().X, Y: c.Max.Y - 0.28*vg.Inch}, below)

	both := draw.Crop(c, 0, 0, lg.height, -top)
	half := (both.Max.X - both.Min.X) / 2
	left.Draw(draw.Crop(both, 0, -half-margin, 0, 0))
	right.Draw(draw.Crop(both, half+margin, 0, 0, 0))
	lg.draw(c)
	if _, err := write.WriteTo(w); err != nil {
		return fmt.Errorf("perf: plot: write %s: %w", format, err)
	}
	return nil
}

// checkFormat refuses formats that cannot be written.
func checkFormat(format string) error {
	if !slices.Contains(PlotFormats, format) {
		return fmt.Errorf("perf: plot: unknown format %q: have svg, png", format)
	}
	return nil
}

func newCanvas(format string, w, h vg.Length) (vg.CanvasSizer, io.WriterTo) {
	if format == "svg" {
		c := vgsvg.New(w, h)
		return c, svgWriter{c}
	}
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(144))
	return c, vgimg.PngCanvas{Canvas: c}
}

// svgWriter names fonts of the same widths for machines without Liberation
// Sans. Embedding the font would make each picture half a megabyte.
type svgWriter struct{ c *vgsvg.Canvas }

func (s svgWriter) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := s.c.WriteTo(&b); err != nil {
		return 0, err
	}
	const family = "font-family:Liberation Sans"
	n, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte(family+";"), []byte(family+",Arial,Helvetica,sans-serif;")))
	return int64(n), err
}

// style is the one typeface of all text.
func style(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler,
	}
}

// look gives the i-th curve a colour and a marker that no other has, and
// dashes once colours repeat.
func look(name string, i int) legendEntry {
	c := palette[i%len(palette)]
	return legendEntry{
		name:  name,
		line:  draw.LineStyle{Color: c, Width: vg.Points(1.6), Dashes: dashes[i/len(palette)%len(dashes)]},
		glyph: draw.GlyphStyle{Color: c, Radius: vg.Points(2.8), Shape: glyphs[i%len(glyphs)]},
	}
}

// panel returns an empty diagram over size with logarithmic axes.
func panel(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle = style(12, color.Black)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = vg.Points(6)
	p.X.Label.Text = "size"
	p.X.Label.TextStyle.Font = style(11, color.Black).Font
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Scale = plot.LogScale{}
		a.Tick.Label.Font = style(10, color.Black).Font
		a.Tick.Label.Color = grey
		a.Tick.LineStyle.Color, a.LineStyle.Color = grey, grey
		a.Padding = 0
	}
	p.X.Tick.Marker = plot.TickerFunc(sizeTicks)
	p.Y.Tick.Marker = plot.TickerFunc(decadeTicks)
	grid := plotter.NewGrid()
	light := draw.LineStyle{Color: color.NRGBA{0xE2, 0xE2, 0xE2, 0xFF}, Width: vg.Points(0.6)}
	grid.Horizontal, grid.Vertical = light, light
	p.Add(grid)
	return p
}

// add draws one curve, leaving out what a logarithm cannot show.
func add(p *plot.Plot, x, y []float64, e legendEntry) error {
	var pts plotter.XYs
	for i := range x {
		if y[i] > 0 {
			pts = append(pts, plotter.XY{X: x[i], Y: y[i]})
		}
	}
	if len(pts) == 0 {
		return nil
	}
	line, dots, err := plotter.NewLinePoints(pts)
	if err != nil {
		return err
	}
	line.LineStyle, dots.GlyphStyle = e.line, e.glyph
	p.Add(line, dots)
	return nil
}

// fit gives both panels the same sizes and leaves some air around the curves.
func fit(ps ...*plot.Plot) {
	lo, hi := math.Inf(1), 0.0
	for _, p := range ps {
		lo, hi = min(lo, p.X.Min), max(hi, p.X.Max)
	}
	for _, p := range ps {
		p.X.Min, p.X.Max = lo/1.3, hi*1.3
		if math.IsInf(p.Y.Min, 0) || p.Y.Min <= 0 {
			p.Y.Min, p.Y.Max = 0.1, 1 // nothing to show
		}
		p.Y.Min, p.Y.Max = p.Y.Min/1.25, p.Y.Max*1.25
	}
}
