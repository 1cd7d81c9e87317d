package trace

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes of a picture, in pixels.
const (
	svgWidth  = 1200
	svgLeft   = 62 // where time begins
	svgRight  = 1176
	svgRow    = 17 // height of a bar
	svgLetter = 7  // width of a letter, on the safe side
	svgRows   = 10 // most rows of a lane
	svgAxis   = 22 // height of a time axis
	svgArrows = 50 // more would hide the bars, so there are none
)

// svgColors are those of the names with the most time of their own. Others are pale.
var svgColors = []string{"#7fb2e5", "#f0a860", "#8fcb8f", "#b8a0d9", "#e8d06a", "#e69a9a", "#74c6c6", "#e2a3cc"}

const svgPale = "#e6e6e2"

const svgHead = `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="Helvetica, Arial, sans-serif" font-size="11">
<style>.bar{stroke:#fff;stroke-width:.7}.in-wait{paint-order:stroke;stroke:#fff;stroke-width:3px}.axis{stroke:#999}.arrow{stroke:#c00;stroke-width:1.2;fill:none;marker-end:url(#tip)}.zoom{fill:#000;fill-opacity:.05;stroke:#888;stroke-width:.6}.head{font-size:13px;font-weight:bold;paint-order:stroke;stroke:#fff;stroke-width:4px}</style>
<defs><pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#f4f4f4"/><rect width="2" height="6" fill="#aaa"/></pattern>
<marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto"><path d="M0,0L7,3L0,6z" fill="#c00"/></marker></defs>
<rect width="%[1]d" height="%[2]d" fill="#fff"/>
`

// WriteSVG draws the tracks as a picture, one lane per rank: the whole run, and below it,
// enlarged, one call of the region that repeats and takes most time, such as an iteration
// of a solver. Regions lie below the region around them, waits are hatched. Arrows are
// messages, or lead from the last rank that entered a collective to those that waited for
// it. The names with the most time outside regions in them are coloured. A table says
// how much that is.
func WriteSVG(w io.Writer, tracks []Track) error {
	tracks, err := ordered(tracks)
	if err != nil {
		return err
	}
	p := &picture{timeline: newTimeline(tracks), color: map[string]string{waitName: "url(#wait)"}, y: 4}
	if p.to > p.from {
		names := p.longest(len(svgColors))
		for i, n := range names {
			p.color[n] = cmp.Or(p.color[n], svgColors[i])
		}
		p.views()
		p.table(names)
	} else {
		p.text(svgLeft, "", fmt.Sprintf("no region was recorded on %s", count(len(tracks), "rank")))
	}
	for _, t := range tracks {
		for _, note := range t.notes() {
			p.text(svgLeft, "", fmt.Sprintf("rank %d: %s", t.Rank, note))
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, svgHead, svgWidth, int(p.y)+8)
	for _, layer := range []*strings.Builder{&p.back, &p.front, &p.letters} {
		out.WriteString(layer.String())
	}
	out.WriteString("</svg>\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("trace: write picture: %w", err)
	}
	return nil
}

// picture is a drawing that grows downwards.
type picture struct {
	*timeline
	color                map[string]string
	back, front, letters strings.Builder
	y                    float64 // where the next thing goes
}

// view is a stretch of time over the width of the picture.
type view struct {
	title    string
	from, to time.Duration
	zero     time.Duration // of its axis
	top      []int         // the first row of each lane that is drawn
}

// x returns the place of a time, or that of the nearest end of the view.
func (v view) x(t time.Duration) float64 {
	f := float64(t-v.from) / float64(v.to-v.from)
	return svgLeft + (svgRight-svgLeft)*min(1, max(0, f))
}

// views draws the whole run and a typical part of it.
func (p *picture) views() {
	whole := view{title: "whole run: " + duration(p.to-p.from), from: p.from, to: p.to, top: make([]int, len(p.lanes))}
	part := p.typical()
	top := p.view(whole, part.title == "")
	if part.title == "" {
		return
	}
	bottom := p.y - svgAxis
	x0, x1, below := whole.x(part.from), whole.x(part.to), p.view(part, true)
	fmt.Fprintf(&p.back, `<path class="zoom" d="M%.1f,%.1fV%.1fL%d,%.1fH%dL%.1f,%.1fV%.1fz"/>`+"\n",
		x0, top, bottom, svgLeft, below, svgRight, x1, bottom, top)
}

// view draws all lanes and returns where they begin.
func (p *picture) view(v view, arrows bool) (top float64) {
	p.y += 12
	p.text(svgLeft, "head", v.title)
	p.y += 4
	top = p.y
	tops := make([]float64, len(p.lanes)) // of row 0, which need not be drawn
	for i, l := range p.lanes {
		tops[i] = p.y - float64(v.top[i]*svgRow)
		rows := p.bars(l, v, v.top[i])
		fmt.Fprintf(&p.letters, `<text x="6" y="%.1f">%s</text>`+"\n", p.y+12, l.title)
		p.y += float64(rows*svgRow) + 8
	}
	p.axis(v)
	if arrows {
		p.drawArrows(v, tops)
	}
	return top
}

// bars draws a lane and returns its number of rows. A bar is at least half a pixel wide.
// Bars that this hides are left out, so that a picture of a long run stays small.
func (p *picture) bars(l lane, v view, top int) (rows int) {
	rows = 1
	var drawn [svgRows]float64 // so far in each row
	for _, b := range l.bars {
		row := b.row - top
		if row < 0 || row >= svgRows || b.end < v.from || b.start > v.to {
			continue
		}
		if drawn[row] > 0 && v.x(b.end) <= drawn[row] {
			continue
		}
		x0 := max(v.x(b.start), drawn[row])
		x1 := max(v.x(b.end), x0+0.5)
		drawn[row] = x1
		rows = max(rows, row+1)
		class, fill, y := "thin", cmp.Or(p.color[b.name], svgPale), p.y+float64(row*svgRow)
		if x1-x0 > 3 {
			class = "bar"
		}
		if b.wait {
			class, fill = "wait", p.color[waitName]
		}
		fmt.Fprintf(&p.front, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"><title>%s, %s</title></rect>`+"\n",
			class, x0, y, x1-x0, svgRow-1, fill, escape(b.name), duration(b.end-b.start))
		if s := fit(printable(b.name), x1-x0-6); s != "" {
			fmt.Fprintf(&p.letters, `<text class="in-%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, x0+3, y+12, escape(s))
		}
	}
	return rows
}

// drawArrows draws those that begin and end in the view, if they are not too many. A wait that
// cannot be seen has no arrow.
func (p *picture) drawArrows(v view, tops []float64) {
	var b strings.Builder
	n := 0
	for _, a := range p.arrows {
		x0, x1 := v.x(a.fromAt), v.x(a.toAt)
		from, to := a.from.row-v.top[a.from.lane], a.to.row-v.top[a.to.lane]
		seen := a.wait == 0 || x1-v.x(a.toAt-a.wait) >= 4
		if !seen || a.fromAt < v.from || a.toAt > v.to || min(from, to) < 0 || max(from, to) >= svgRows {
			continue
		}
		y0 := tops[a.from.lane] + float64(a.from.row*svgRow) + svgRow/2
		y1 := tops[a.to.lane] + float64(a.to.row*svgRow) + svgRow/2
		fmt.Fprintf(&b, `<path class="arrow" d="M%.1f,%.1fL%.1f,%.1f"/>`+"\n", x0, y0, x1, y1)
		n++
	}
	if n <= svgArrows {
		p.front.WriteString(b.String())
	}
}

// axis draws the time axis of a view.
func (p *picture) axis(v view) {
	step := time.Duration(1)
	for i := 0; (v.to-v.from)/step > 12; i++ { // 1, 2, 5, 10, 20, 50 and so on
		step = step * time.Duration([]int{20, 25, 20}[i%3]) / 10
	}
	fmt.Fprintf(&p.front, `<path class="axis" d="M%d,%.1fH%d"/>`+"\n", svgLeft, p.y, svgRight)
	first := time.Duration(math.Ceil(float64(v.from-v.zero)/float64(step))) * step
	for t := first; t <= v.to-v.zero; t += step {
		x := v.x(v.zero + t)
		fmt.Fprintf(&p.front, `<path class="axis" d="M%.1f,%.1fv4"/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n",
			x, p.y, x, p.y+16, duration(t))
	}
	p.y += svgAxis
}

// table lists names with their colours and their own time.
func (p *picture) table(names []string) {
	p.y += 14
	p.text(svgLeft, "head", "own time of regions, without the regions inside, mean over ranks")
	p.y += 2
	for _, n := range names {
		fmt.Fprintf(&p.front, `<rect x="%d" y="%.1f" width="22" height="12" fill="%s"/><text x="%d" y="%.1f" text-anchor="end">%s</text><text x="%d" y="%.1f" text-anchor="end">%.1f %%</text>`+"\n",
			svgLeft, p.y+3, p.color[n], svgLeft+90, p.y+13, duration(p.own[n]), svgLeft+140, p.y+13, 100*float64(p.own[n])/float64(p.to-p.from))
		p.text(svgLeft+152, "", printable(n))
	}
}

// text draws a line of text and goes to the next.
func (p *picture) text(x float64, class, s string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&p.letters, `<text%s x="%.0f" y="%.1f">%s</text>`+"\n", class, x, p.y+13, escape(s))
	p.y += svgRow
}

// fit returns s, shortened to a width, or nothing if too little of it would be left.
func fit(s string, width float64) string {
	n := int(width / svgLetter)
	switch {
	case utf8.RuneCountInString(s) <= n:
		return s
	case n < 5:
		return ""
	}
	return string([]rune(s)[:n-1]) + "…"
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

// duration returns d with up to three digits and a unit.
func duration(d time.Duration) string {
	v := math.Abs(d.Seconds())
	if v == 0 {
		return "0"
	}
	for _, u := range []struct {
		unit string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}} {
		if v >= 0.9995*u.size {
			digits := max(0, 2-int(math.Log10(v/u.size)+0.0005))
			text := strconv.FormatFloat(d.Seconds()/u.size, 'f', digits, 64)
			if digits > 0 {
				text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
			}
			return text + " " + u.unit
		}
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}
