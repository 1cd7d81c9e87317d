package report

import (
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// line is what a terminal shows: the text with a bar in it, cut to the width.
// Where the terminal is narrow the bar goes first, then the end of the text.
func (p *Progress) line(now time.Time) string {
	// The last column stays free: some terminals go to the next line there.
	width := p.width() - 1
	name := p.c.Name
	if name != "" {
		name += "  "
	}
	text := strings.TrimPrefix(p.text(now), name)
	room := width - utf8.RuneCountInString(name) - utf8.RuneCountInString(text) - 2
	if p.c.Total > 0 && room >= 8 {
		// In steps of eight columns, or it would twitch with each digit of the
		// text.
		columns := min(room, 40) / 8 * 8
		return name + bar(float64(p.at.i)/float64(p.c.Total), columns, p.c.ASCII) + "  " + text
	}
	all := []rune(name + text)
	if len(all) > width {
		all = all[:max(width, 0)]
	}
	return string(all)
}

// eighths are the blocks that fill a column from the left.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// bar draws a fraction in the given number of columns.
func bar(f float64, width int, ascii bool) string {
	f = min(max(f, 0), 1)
	if ascii {
		n := int(f * float64(width-2))
		return "[" + strings.Repeat("=", n) + strings.Repeat(" ", width-2-n) + "]"
	}
	n := int(f * float64(width) * 8)
	var b strings.Builder
	b.WriteString(strings.Repeat("█", n/8))
	rest := width - n/8
	if n%8 > 0 {
		b.WriteRune(eighths[n%8])
		rest--
	}
	b.WriteString(strings.Repeat("░", rest))
	return b.String()
}

// width is how many columns there are: as told, as the variable COLUMNS says,
// as the terminal says, or 80. It is asked for each time, since windows change.
func (p *Progress) width() int {
	if p.c.Width > 0 {
		return p.c.Width
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := p.c.Out.(*os.File); ok {
		if n := terminalWidth(f); n > 0 {
			return n
		}
	}
	return 80
}
