package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"
)

// ProgressConfig says where and how progress is shown.
type ProgressConfig struct {
	Out     io.Writer // nil means nowhere
	Name    string    // of what goes on, such as "inversion"
	Total   int       // iterations at most; 0 means unknown, and shows no bar
	Measure string    // what becomes small; "" means "residual"
	Quiet   bool      // shows nothing at all
	// Terminal says whether Out is one, on which a line can be redrawn. The
	// zero value finds out.
	Terminal Terminal
	Width    int              // columns, or Automatic: those of the terminal
	ASCII    bool             // draws the bar without Unicode, as where the locale has none
	Every    time.Duration    // between lines where Out is no terminal, or Automatic: 5 seconds
	Clock    func() time.Time // nil means time.Now
}

// Terminal says whether a writer is a terminal.
type Terminal int

const (
	// Detect looks whether the writer is a device that shows characters, and
	// TERM is not "dumb".
	Detect Terminal = iota
	// IsTerminal redraws one line.
	IsTerminal
	// NotTerminal writes lines.
	NotTerminal
)

// redraw is the shortest time between two pictures of a bar. The eye sees no
// more, and a slow connection should not hold up an iteration.
const redraw = 100 * time.Millisecond

// Progress shows how far an iteration has come: on a terminal one line that is
// redrawn in place, at most ten times a second, elsewhere a line every few
// seconds. Its methods may be called by several goroutines. Errors of the
// writer are ignored: a run must not die of a closed terminal.
type Progress struct {
	c        ProgressConfig
	terminal bool

	mu      sync.Mutex
	start   time.Time
	drawn   time.Time // when the line was last drawn
	shown   int       // the iteration that it shows; -1 before the first line
	visible bool      // the cursor stands at the end of a line that is redrawn
	done    bool
	at      step
}

// step is the state that a line shows.
type step struct {
	i        int
	residual float64
	seen     bool // at least one update
}

// NewProgress starts the clock and draws nothing yet.
func NewProgress(c ProgressConfig) *Progress {
	if c.Out == nil {
		c.Quiet, c.Out = true, io.Discard
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Every == 0 {
		c.Every = 5 * time.Second
	}
	if !c.ASCII {
		c.ASCII = !unicodeLocale()
	}
	c.Name = Printable(c.Name)
	p := &Progress{c: c, start: c.Clock(), shown: -1}
	p.terminal = c.Terminal == IsTerminal || c.Terminal == Detect && isTerminal(c.Out)
	p.drawn = p.start
	if p.terminal {
		p.drawn = p.start.Add(-redraw) // the first update shows at once
	}
	return p
}

// Update says that iteration i is done and how large the residual is. A
// residual of NaN is not shown.
func (p *Progress) Update(i int, residual float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || p.c.Quiet {
		return
	}
	p.at = step{i, residual, true}
	now := p.c.Clock()
	every := p.c.Every
	if p.terminal {
		every = redraw
	}
	if now.Sub(p.drawn) >= every {
		p.draw(now)
	}
}

// Note writes lines of text without disturbing the bar.
func (p *Progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c.Quiet {
		return
	}
	p.erase()
	fmt.Fprintln(p.c.Out, PrintableLines(text))
	if !p.done && p.terminal && p.at.seen {
		p.draw(p.c.Clock())
	}
}

// Done draws the last state, whatever the time, and ends the line. Where Out is
// no terminal, an iteration that has its line already gets no second one. Later
// calls of Update and Done do nothing.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || p.c.Quiet {
		return
	}
	p.done = true
	if !p.at.seen {
		return
	}
	if p.terminal || p.shown != p.at.i {
		p.draw(p.c.Clock())
	}
	if p.visible {
		fmt.Fprintln(p.c.Out)
		p.visible = false
	}
}

// draw shows the state: on a terminal over the line that is there.
func (p *Progress) draw(now time.Time) {
	p.drawn, p.shown = now, p.at.i
	if !p.terminal {
		fmt.Fprintln(p.c.Out, p.text(now))
		return
	}
	// One write, so that nothing else comes between its parts.
	fmt.Fprint(p.c.Out, "\r"+p.line(now)+"\x1b[K")
	p.visible = true
}

// erase takes the bar away, for something else to be written there.
func (p *Progress) erase() {
	if p.visible {
		fmt.Fprint(p.c.Out, "\r\x1b[K")
		p.visible = false
	}
}

// text is all but the bar.
func (p *Progress) text(now time.Time) string {
	var b strings.Builder
	if p.c.Name != "" {
		b.WriteString(p.c.Name + "  ")
	}
	b.WriteString(p.count())
	if r := p.residual(); r != "" {
		b.WriteString("  " + r)
	}
	b.WriteString("  " + p.times(now))
	return b.String()
}

func (p *Progress) count() string {
	if p.c.Total <= 0 {
		return fmt.Sprintf("iteration %d", p.at.i)
	}
	total := fmt.Sprint(p.c.Total)
	return fmt.Sprintf("%*d/%s", len(total), p.at.i, total)
}

func (p *Progress) residual() string {
	if math.IsNaN(p.at.residual) {
		return ""
	}
	return fmt.Sprintf("%s %.3e", cmp.Or(p.c.Measure, "residual"), p.at.residual)
}

// times is what has passed and, by the pace so far, what is left.
func (p *Progress) times(now time.Time) string {
	passed := now.Sub(p.start)
	s := shortDuration(passed)
	if n := p.c.Total - p.at.i; !p.done && n > 0 && p.at.i > 0 {
		s += ", " + leftDuration(float64(passed)/float64(p.at.i)*float64(n)) + " left"
	}
	return s
}

// leftDuration is shortDuration of ns nanoseconds, which may overflow a Duration.
func leftDuration(ns float64) string {
	const most = 10 * 365 * 24 * time.Hour // nobody waits for longer
	if ns > float64(most) {
		return "over 10 years"
	}
	return shortDuration(time.Duration(ns))
}

// shortDuration has two units at most: nobody reads more of a moving line.
func shortDuration(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", math.Floor(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// isTerminal reports whether w is a device that shows characters and can go
// back on a line.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}

// unicodeLocale reports whether the variables that decide on the encoding of
// text name UTF-8.
func unicodeLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "utf8")
		}
	}
	return false
}
