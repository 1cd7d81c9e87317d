package report

import "math"

// Lengths of the layout, in pixels.
const (
	outer     = 22.0 // around everything
	tickLen   = 8.0
	gap       = 10.0 // between things that belong together
	barGap    = 24.0 // between an image and its bar
	barWidth  = 26.0
	lineWidth = 2.0
)

// panel is one picture with all that must be known to place and draw it.
type panel struct {
	Picture
	v            []float64
	colors       ColorMap
	r            span
	x, y         span
	w, h         int // of the image
	xTicks       []tick
	yTicks       []tick
	xTitle       string
	yTitle       string
	note         string    // at the right end of the title
	hideY        bool      // the panel to the left has the same numbers
	bar          *colorBar // nil if it has none
	entries      []entry
	overhang     float64 // of markers above the image
	entryRows    int
	entryRowEnds []int
}

// entry is one of a legend.
type entry struct {
	name string
	draw func(c *canvas, x, y float64)
}

// newPanel measures a picture whose colours and range are decided. It changes
// infinite values of v.
func newPanel(p Picture, v []float64, m ColorMap, r span, width, tallest float64) *panel {
	for i, x := range v { // what is beyond the ends has their colour, also where cells are blended
		if math.IsInf(x, 0) {
			v[i] = min(max(x, r.lo), r.hi)
		}
	}
	q := &panel{Picture: p, v: v, colors: m, r: r}
	q.x, q.y = p.X.extent(p.Data.Cols), p.Y.extent(p.Data.Rows)
	q.w, q.h = p.size(width, tallest)
	var xf, yf string
	q.yTicks, yf = p.Y.ticks(q.y, min(max(2, q.h/70), 9))
	for most := max(2, q.w/100); ; most-- {
		q.xTicks, xf = p.X.ticks(q.x, most)
		if most <= 2 || apart(q.xTicks, q.x, float64(q.w)) {
			break
		}
	}
	q.xTitle, q.yTitle = p.X.title(xf), p.Y.title(yf)
	if !p.Bar.Hide {
		q.bar = newColorBar(p.Bar, m, r, q.h)
	}
	q.addEntries()
	return q
}

// apart reports whether labels leave room between each other.
func apart(ticks []tick, r span, width float64) bool {
	end := math.Inf(-1)
	for _, t := range ticks {
		at, half := (t.at-r.lo)/(r.hi-r.lo)*width, tickText.width(t.label)/2
		if at-half < end+gap {
			return false
		}
		end = at + half
	}
	return true
}

// addEntries makes the legend: points with a name, and the colour of NaN if
// there are any.
func (q *panel) addEntries() {
	for _, p := range q.Points {
		xy := p.inside(q.x, q.y, float64(q.w), float64(q.h))
		for i := 1; i < len(xy); i += 2 {
			q.overhang = max(q.overhang, 1.8*largestMarker-xy[i])
		}
		if p.Name == "" || len(p.X) == 0 {
			continue
		}
		q.entries = append(q.entries, entry{p.legend(len(xy) / 2), func(c *canvas, x, y float64) {
			if p.Marker == Triangle {
				y += largestMarker * 0.8 // which stands above its point
			}
			c.marker(p.Marker, p.color(), x, y, largestMarker)
		}})
	}
	for _, x := range q.v {
		if x != x {
			q.entries = append(q.entries, entry{"not a number", func(c *canvas, x, y float64) {
				c.fill(x-11, y-11, x+11, y+11, nanColor)
			}})
			break
		}
	}
}

// margins around the image, in pixels.
type margins struct{ left, right, top, bottom float64 }

func (q *panel) margins() (m margins) {
	labels := 0.0
	if !q.hideY {
		for _, t := range q.yTicks {
			labels = max(labels, tickText.width(t.label))
		}
		m.left = tickLen + gap/2 + labels
		if q.yTitle != "" {
			m.left += gap + labelText.height()
		}
	}
	if n := len(q.xTicks); n > 0 { // the first and last number may stick out
		at := func(t tick) float64 { return (t.at - q.x.lo) / (q.x.hi - q.x.lo) * float64(q.w) }
		m.left = max(m.left, tickText.width(q.xTicks[0].label)/2-at(q.xTicks[0]))
		m.right = max(m.right, tickText.width(q.xTicks[n-1].label)/2-(float64(q.w)-at(q.xTicks[n-1])))
	}
	if q.bar != nil {
		m.right = max(m.right, barGap+q.bar.width())
	}
	m.top = max(q.overhang, gap)
	if q.Title != "" {
		m.top += titleText.height()
	}
	m.bottom = tickLen + gap/2 + tickText.height()
	if q.xTitle != "" {
		m.bottom += labelText.height()
	}
	q.breakLegend(float64(q.w) + m.right)
	m.bottom += float64(q.entryRows) * legendHeight
	return m
}

const (
	legendHeight = 38.0
	legendSwatch = 30.0
	legendApart  = 34.0
)

// breakLegend decides which entries stand in which line.
func (q *panel) breakLegend(room float64) {
	q.entryRows, q.entryRowEnds = 0, nil
	at := math.Inf(1)
	for i, e := range q.entries {
		w := legendSwatch + labelText.width(e.name)
		if at+legendApart+w > room {
			if i > 0 {
				q.entryRowEnds = append(q.entryRowEnds, i)
			}
			q.entryRows++
			at = 0
		} else {
			at += legendApart
		}
		at += w
	}
	q.entryRowEnds = append(q.entryRowEnds, len(q.entries))
}

// draw puts the image with its top left corner at x0, y0, whole numbers, and
// everything else around it.
func (q *panel) draw(c *canvas, x0, y0 float64, m margins) {
	w, h := float64(q.w), float64(q.h)
	c.paste(int(x0), int(y0), raster(q.v, q.Data.Rows, q.Data.Cols, q.w, q.h, q.Smooth, q.colors, q.r))
	c.frame(x0, y0, w, h)
	if q.Title != "" {
		y := y0 - q.overhang - gap - titleText.height()*0.35
		noteWidth := 0.0
		if q.note != "" {
			noteWidth = tickText.width(q.note) + 2*gap
			c.text(tickText, right, x0+w, y, q.note)
		}
		room := w + m.right
		if noteWidth > 0 {
			room = w - noteWidth
		}
		c.text(titleText, left, x0, y, titleText.fit(q.Title, room))
	}
	c.xAxis(q.xTicks, q.x, x0, y0+h, w, q.xTitle)
	if !q.hideY {
		c.yAxis(q.yTicks, q.y, x0, y0, h, q.yTitle)
	}
	for _, p := range q.Points {
		xy := p.inside(q.x, q.y, w, h)
		r := radius(xy)
		for i := 0; i < len(xy); i += 2 {
			c.marker(p.Marker, p.color(), x0+xy[i], y0+xy[i+1], r)
		}
	}
	if q.bar != nil {
		q.bar.draw(c, x0+w+barGap, y0)
	}
	q.drawLegend(c, x0, y0+h+m.bottom-float64(q.entryRows)*legendHeight)
}

func (q *panel) drawLegend(c *canvas, x0, y float64) {
	start := 0
	y += legendHeight * 0.62
	for _, end := range q.entryRowEnds {
		x := x0
		for _, e := range q.entries[start:end] {
			e.draw(c, x+largestMarker, y)
			c.text(labelText, left, x+legendSwatch, y, e.name)
			x += legendSwatch + labelText.width(e.name) + legendApart
		}
		start = end
		y += legendHeight
	}
}

// frame draws a border just outside a rectangle.
func (c *canvas) frame(x, y, w, h float64) {
	const d = lineWidth / 2
	c.line(lineWidth, soft, x-2*d, y-d, x+w+d, y-d, x+w+d, y+h+d, x-d, y+h+d, x-d, y-d)
}

// xAxis draws ticks, numbers and a title below a frame.
func (c *canvas) xAxis(ticks []tick, r span, x0, y, w float64, title string) {
	bottom := y + lineWidth
	for _, t := range ticks {
		x := x0 + math.Round((t.at-r.lo)/(r.hi-r.lo)*w)
		c.line(lineWidth, soft, x, bottom, x, bottom+tickLen)
		c.text(tickText, center, x, bottom+tickLen+gap/2+tickText.height()/2, t.label)
	}
	y = bottom + tickLen + gap/2 + tickText.height() + labelText.height()*0.55
	c.text(labelText, center, x0+w/2, y, title)
}

// yAxis draws them left of a frame, with values growing downwards.
func (c *canvas) yAxis(ticks []tick, r span, x0, y0, h float64, title string) {
	labels := 0.0
	for _, t := range ticks {
		y := y0 + math.Round((t.at-r.lo)/(r.hi-r.lo)*h)
		c.line(lineWidth, soft, x0-lineWidth-tickLen, y, x0-lineWidth, y)
		c.text(tickText, right, x0-lineWidth-tickLen-gap/2, y, t.label)
		labels = max(labels, tickText.width(t.label))
	}
	x := x0 - lineWidth - tickLen - gap/2 - labels - gap - labelText.height()*0.4
	c.upright(labelText, x, y0+h/2, labelText.fit(title, max(h, 160)))
}

// colorBar is a colour bar with numbers.
type colorBar struct {
	colors ColorMap
	r      span
	ticks  []tick
	title  string
	h      int
}

func newColorBar(b Bar, m ColorMap, r span, h int) *colorBar {
	ticks, factor := linearTicks(r.lo, r.hi, min(max(3, h/60), 9), 0)
	return &colorBar{m, r, ticks, withUnit(b.Label, b.Unit, factor), h}
}

// width is that of the bar with numbers and title.
func (b *colorBar) width() float64 {
	labels := 0.0
	for _, t := range b.ticks {
		labels = max(labels, tickText.width(t.label))
	}
	w := barWidth + tickLen + gap/2 + labels
	if b.title != "" {
		w += gap + labelText.height()
	}
	return w
}

// draw puts the bar with its top left corner at x, y.
func (b *colorBar) draw(c *canvas, x, y float64) {
	h := float64(b.h)
	column := make([]float64, b.h) // the values that the bar stands for
	for i := range column {
		f := (float64(i) + 0.5) / h
		column[i] = b.r.hi*(1-f) + b.r.lo*f
	}
	c.paste(int(x), int(y), raster(column, b.h, 1, barWidth, b.h, false, b.colors, b.r))
	c.frame(x, y, barWidth, h)
	labels := 0.0
	for _, t := range b.ticks {
		ty := y + math.Round((b.r.hi-t.at)/(b.r.hi-b.r.lo)*h)
		c.line(lineWidth, soft, x+barWidth+lineWidth, ty, x+barWidth+lineWidth+tickLen, ty)
		c.text(tickText, left, x+barWidth+lineWidth+tickLen+gap/2, ty, t.label)
		labels = max(labels, tickText.width(t.label))
	}
	tx := x + barWidth + lineWidth + tickLen + gap/2 + labels + gap + labelText.height()*0.45
	c.upright(labelText, tx, y+h/2, labelText.fit(b.title, max(h, 160)))
}
