package report

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Scaling says how pictures side by side share colours.
type Scaling int

const (
	// Shared gives all pictures one range, one map and one colour bar: those of
	// the first, with a range from the data of all of them.
	Shared Scaling = iota
	// Each gives each picture its own.
	Each
	// Normalized divides each picture by its own clip, and shows one bar from
	// -1 to 1: for images that differ by an unknown factor, such as an adjoint
	// and an inverse. What to multiply the numbers of the bar by
	// stands above each picture.
	Normalized
)

// Panels are several pictures side by side.
type Panels struct {
	Title    string
	Pictures []Picture
	Scaling  Scaling
	Columns  int // or Automatic: up to three
	Bar      Bar // of a bar for all; its zero value takes that of the first picture
}

// Validate reports every fault at once.
func (p Panels) Validate() error {
	var errs []error
	if len(p.Pictures) == 0 {
		errs = append(errs, errors.New("there are no pictures"))
	}
	if p.Scaling < Shared || p.Scaling > Normalized {
		errs = append(errs, fmt.Errorf("unknown scaling %d", int(p.Scaling)))
	}
	if p.Columns < 0 {
		errs = append(errs, fmt.Errorf("there are %d columns, must not be negative", p.Columns))
	}
	for i, q := range p.Pictures {
		if err := q.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("picture %d, %q: %w", i+1, q.Title, err))
		}
	}
	return errors.Join(errs...)
}

// columns is how many are used.
func (p Panels) columns() int {
	n := p.Columns
	if n == 0 {
		n = 3
	}
	return min(n, len(p.Pictures))
}

// PNG writes the pictures as one file.
func (p Panels) PNG(w io.Writer) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("report: draw %q: %w", p.name(), err)
	}
	panels, common := p.measure()
	if err := p.draw(panels, common).write(w); err != nil {
		return fmt.Errorf("report: draw %q: write PNG: %w", p.name(), err)
	}
	return nil
}

// name is what an error calls the pictures.
func (p Panels) name() string {
	if p.Title == "" && len(p.Pictures) > 0 {
		return p.Pictures[0].Title
	}
	return p.Title
}

// measure decides on colours, and returns a bar for all if there is to be one.
func (p Panels) measure() (panels []*panel, common *colorBar) {
	wide, tallest := 820.0, 1000.0
	switch p.columns() {
	case 1:
	case 2:
		wide, tallest = 640, 820
	case 3:
		wide, tallest = 540, 760
	default:
		wide, tallest = 440, 640
	}
	vs := make([][]float64, len(p.Pictures))
	var all []float64
	for i, q := range p.Pictures {
		vs[i] = q.Data.values()
		if p.Scaling == Shared {
			all = append(all, vs[i]...)
		}
	}
	first := p.Pictures[0]
	title := p.Bar
	if title == (Bar{}) {
		title = first.Bar
	}
	for i, q := range p.Pictures {
		m, r, note := first.Map, span{}, ""
		switch p.Scaling {
		case Shared:
			if i == 0 {
				m, r = resolve(first.Map, first.Scale, all)
			} else {
				m, r = panels[0].colors, panels[0].r
			}
		case Each:
			m, r = resolve(q.Map, q.Scale, vs[i])
		case Normalized:
			s := q.Scale
			s.Symmetric = true
			m, r = resolve(q.Map, s, vs[i])
			if i > 0 {
				m = panels[0].colors
			}
			note = fmt.Sprintf("× %.3g", max(math.Abs(r.lo), math.Abs(r.hi)))
		}
		if p.Scaling != Each {
			q.Bar = Bar{Hide: true}
		}
		panels = append(panels, newPanel(q, vs[i], m, r, wide, tallest))
		panels[i].note = note
	}
	if p.Scaling != Each && !title.Hide {
		r := panels[0].r
		if p.Scaling == Normalized {
			r = span{-1, 1}
		}
		common = newColorBar(title, panels[0].colors, r, panels[0].h)
	}
	p.hideNumbers(panels)
	return panels, common
}

// hideNumbers leaves out the vertical axis where the panel to the left has the
// same.
func (p Panels) hideNumbers(panels []*panel) {
	n := p.columns()
	for i, q := range panels {
		if i%n == 0 {
			continue
		}
		l := panels[i-1]
		q.hideY = q.y == l.y && q.h == l.h && q.Y == l.Y && l.bar == nil
	}
}

// draw places panels in columns whose images line up.
func (p Panels) draw(panels []*panel, common *colorBar) *canvas {
	n := p.columns()
	rows := (len(panels) + n - 1) / n
	const between = 34.0
	ms := make([]margins, len(panels))
	lefts, widths, rights := make([]float64, n), make([]float64, n), make([]float64, n)
	tops, heights, bottoms := make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i, q := range panels {
		m := q.margins()
		ms[i] = m
		c, r := i%n, i/n
		lefts[c], widths[c], rights[c] = max(lefts[c], m.left), max(widths[c], float64(q.w)), max(rights[c], m.right)
		tops[r], heights[r], bottoms[r] = max(tops[r], m.top), max(heights[r], float64(q.h)), max(bottoms[r], m.bottom)
	}
	xs, ys := make([]float64, n), make([]float64, rows)
	x := outer
	for c := range n {
		if c > 0 {
			x += between
		}
		xs[c] = math.Ceil(x + lefts[c])
		x = xs[c] + widths[c] + rights[c]
	}
	barAt := math.Ceil(x + barGap - rights[n-1])
	if common != nil {
		x = max(x, barAt+common.width())
	}
	y := outer
	if p.Title != "" {
		y += headText.height() + gap
	}
	for r := range rows {
		if r > 0 {
			y += between * 0.7
		}
		ys[r] = math.Ceil(y + tops[r])
		y = ys[r] + heights[r] + bottoms[r]
	}
	c := newRaster(int(math.Ceil(x+outer)), int(math.Ceil(y+outer)))
	if p.Title != "" {
		c.text(headText, left, xs[0], outer+headText.height()*0.4, headText.fit(p.Title, x-xs[0]))
	}
	for i, q := range panels {
		q.draw(c, xs[i%n], ys[i/n], ms[i])
	}
	if common != nil {
		common.draw(c, barAt, ys[0])
	}
	return c
}
