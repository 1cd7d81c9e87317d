package perf

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendEntry is the name and the look of one curve.
type legendEntry struct {
	name  string
	line  draw.LineStyle
	glyph draw.GlyphStyle
}

// legend lies below the panels, where it covers no curve, in as many columns
// as fit.
type legend struct {
	entries []legendEntry
	columns int
	width   vg.Length // of a column
	height  vg.Length // of all
}

const (
	legendLine   = 16 // points from one entry to the one below
	legendSample = 26 // points of curve before the name
)

func layOut(entries []legendEntry, width vg.Length) legend {
	sty := style(11, color.Black)
	widest := vg.Length(0)
	for _, e := range entries {
		widest = max(widest, sty.Width(e.name))
	}
	column := widest + vg.Points(legendSample+24)
	columns := min(len(entries), max(1, int(width/column)))
	rows := (len(entries) + columns - 1) / columns
	columns = (len(entries) + rows - 1) / rows // no more than those rows need
	return legend{entries, columns, column, vg.Points(float64(rows*legendLine + 6))}
}

// draw fills columns from top to bottom, centred at the bottom of c.
func (l legend) draw(c draw.Canvas) {
	sty := style(11, color.Black)
	sty.YAlign = draw.YCenter
	rows := (len(l.entries) + l.columns - 1) / l.columns
	left := c.Center().X - l.width*vg.Length(l.columns)/2
	for i, e := range l.entries {
		x := left + l.width*vg.Length(i/rows)
		y := c.Min.Y + vg.Points(float64((rows-1-i%rows)*legendLine)) + vg.Points(legendLine/2)
		c.StrokeLine2(e.line, x, y, x+vg.Points(legendSample), y)
		c.DrawGlyph(e.glyph, vg.Point{X: x + vg.Points(legendSample)/2, Y: y})
		c.FillText(sty, vg.Point{X: x + vg.Points(legendSample+6), Y: y}, e.name)
	}
}
