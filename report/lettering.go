package report

import (
	"image/color"
	"math"
	"sort"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// lettering is a size and weight of the one typeface of all pictures.
type lettering struct {
	points float64
	bold   bool
	color  color.Color
}

var (
	headText  = lettering{13, true, ink}
	titleText = lettering{11.5, true, ink}
	labelText = lettering{9.5, false, ink}
	tickText  = lettering{8.5, false, soft}
)

// face is the font, scaled.
func (l lettering) face(scale float64) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if l.bold {
		f.Weight = 3 // font.WeightBold of golang.org/x/image
	}
	return plot.DefaultTextHandler.Cache().Lookup(f, vg.Length(l.points*scale))
}

// run is a piece of text, raised or not.
type run struct {
	text   string
	raised bool
}

// superscripts are drawn as smaller raised digits: the typeface has few superscripts and
// no raised minus.
const superscripts, digits = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789−"

// runs splits a text at its superscripts. All of it is one line.
func runs(s string) (all []run) {
	from, to := []rune(superscripts), []rune(digits)
	var piece strings.Builder // of the run under way
	flush := func() {
		if n := len(all); n > 0 {
			all[n-1].text = piece.String()
			piece = strings.Builder{}
		}
	}
	for _, r := range s {
		raised := false
		if unicode.IsControl(r) { // a line break has no glyph
			r = ' '
		}
		for i, f := range from {
			if r == f {
				r, raised = to[i], true
				break
			}
		}
		if n := len(all); n == 0 || all[n-1].raised != raised {
			flush()
			all = append(all, run{raised: raised})
		}
		piece.WriteRune(r)
	}
	flush()
	return all
}

// shape returns how a piece is drawn: its font and how far it is raised, in
// pixels.
func (l lettering) shape(r run) (font.Face, float64) {
	if r.raised {
		return l.face(0.7), pixels(l.points) * 0.36
	}
	return l.face(1), 0
}

// width is how many pixels a text takes.
func (l lettering) width(s string) (w float64) {
	for _, r := range runs(s) {
		f, _ := l.shape(r)
		w += pixels(float64(f.Width(r.text)))
	}
	return w
}

// height is that of a line with some air.
func (l lettering) height() float64 { return pixels(l.points) * 1.3 }

// capitals is the height of a capital letter.
func (l lettering) capitals() float64 { return pixels(l.points) * 0.72 }

// fit cuts a text that is wider than room and ends it with an ellipsis. A text
// of any length is measured once, and then only some more than what fits.
func (l lettering) fit(s string, room float64) string {
	if l.width(s) <= room {
		return s
	}
	r := []rune(s)
	tooWide := func(n int) bool { return l.width(string(r[:n])+"…") > room }
	most := 1
	for most < len(r) && !tooWide(most) {
		most *= 2
	}
	n := sort.Search(min(most, len(r)), func(n int) bool { return tooWide(n + 1) })
	return strings.TrimRight(string(r[:n]), " ") + "…"
}

// align is where a text lies: the part of its width that is left of its x.
type align float64

const (
	left   align = 0
	center align = 0.5
	right  align = 1
)

// text writes a line whose capital letters are centred at y.
func (c *canvas) text(l lettering, a align, x, y float64, s string) {
	c.letters(l, s, x-float64(a)*l.width(s), y+l.capitals()/2)
}

// upright writes a line that reads from bottom to top, centred at x and y.
func (c *canvas) upright(l lettering, x, y float64, s string) {
	c.vg.Push()
	c.vg.Translate(c.point(x+l.capitals()/2, y))
	c.vg.Rotate(math.Pi / 2)
	// The turned canvas has its origin where the text is centred.
	c.letters(l, s, -l.width(s)/2, c.height)
	c.vg.Pop()
}

// letters writes a line from x on, with its baseline at y.
func (c *canvas) letters(l lettering, s string, x, y float64) {
	c.vg.SetColor(l.color)
	for _, r := range runs(s) {
		f, up := l.shape(r)
		c.vg.FillString(f, c.point(x, y-up), r.text)
		x += pixels(float64(f.Width(r.text)))
	}
}
