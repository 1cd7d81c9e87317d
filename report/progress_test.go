package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// watch is a clock that a test moves.
type watch struct{ now time.Time }

func (w *watch) Now() time.Time          { return w.now }
func (w *watch) advance(d time.Duration) { w.now = w.now.Add(d) }

func newWatch() *watch { return &watch{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func TestProgressOnTerminal(t *testing.T) {
	var b bytes.Buffer
	w := newWatch()
	p := NewProgress(ProgressConfig{Out: &b, Name: "inversion", Total: 100, Terminal: IsTerminal, Width: 80, ASCII: true, Clock: w.Now})
	p.Update(1, 0.5)
	for i := 2; i <= 50; i++ { // 20 ms each: every fifth is drawn
		w.advance(20 * time.Millisecond)
		p.Update(i, 1/float64(i))
	}
	p.Note("checkpoint written")
	w.advance(time.Minute)
	p.Update(100, 3.21e-4)
	p.Done()
	p.Done()
	p.Update(3, 1)
	frames := strings.Split(b.String(), "\r")
	if got := strings.Count(b.String(), "/100"); got != 1+9+1+1+1 {
		t.Errorf("drawn %d times:\n%q", got, frames)
	}
	want := "inversion  [              ]    6/100  residual 1.667e-01  0.1s, 1.6s left\x1b[K"
	if len(frames) < 3 || frames[2] != want {
		t.Errorf("the second frame is\n%q, want\n%q", frames[2], want)
	}
	if !strings.Contains(b.String(), "\r\x1b[Kcheckpoint written\n\r") {
		t.Errorf("the note is not on a line of its own: %q", b.String())
	}
	last := "\rinversion  [==============================]  100/100  residual 3.210e-04  1m00s\x1b[K\n"
	if !strings.HasSuffix(b.String(), last) {
		t.Errorf("the end is %q, want %q", frames[len(frames)-1], last)
	}
	for _, f := range frames {
		if n := utf8.RuneCountInString(strings.TrimSuffix(strings.TrimSpace(f), "\x1b[K")); n > 80 {
			t.Errorf("%q has %d columns", f, n)
		}
	}
}

func TestProgressAsLines(t *testing.T) {
	var b bytes.Buffer
	w := newWatch()
	p := NewProgress(ProgressConfig{Out: &b, Total: 10, Clock: w.Now}) // a buffer is no terminal
	for i := 1; i <= 9; i++ {
		w.advance(2 * time.Second)
		p.Update(i, math.Pow(10, -float64(i)))
	}
	p.Note("stopped")
	p.Done()
	want := ` 3/10  residual 1.000e-03  6.0s, 14s left
 6/10  residual 1.000e-06  12s, 8.0s left
 9/10  residual 1.000e-09  18s, 2.0s left
stopped
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The last iteration has one line, also where there is no residual.
func TestProgressEndsOnce(t *testing.T) {
	for _, last := range []int{11, 12} { // has no line yet, has one
		var b bytes.Buffer
		w := newWatch()
		p := NewProgress(ProgressConfig{Out: &b, Total: 12, Clock: w.Now})
		for i := range last {
			w.advance(1250 * time.Millisecond)
			p.Update(i+1, math.NaN())
		}
		p.Done()
		end := fmt.Sprintf("%d/12", last)
		if got := b.String(); strings.Count(got, end) != 1 || !strings.Contains(lastLine(got), end) {
			t.Errorf("%d iterations: got\n%s", last, got)
		}
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	return lines[len(lines)-1]
}

// More time may be left than a Duration can hold.
func TestProgressOfHugeTotals(t *testing.T) {
	for _, total := range []int{1 << 40, math.MaxInt} {
		p := NewProgress(ProgressConfig{Out: io.Discard, Total: total})
		p.at = step{1, 0.5, true}
		if got, want := p.times(p.start.Add(time.Second)), "1.0s, over 10 years left"; got != want {
			t.Errorf("total %d: got %q, want %q", total, got, want)
		}
	}
}

// A name or a note must not move the cursor.
func TestProgressShowsEscapesAsText(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(ProgressConfig{Out: &b, Name: "a\x1b[2J", Terminal: NotTerminal})
	p.Note("x\x1b]0;owned\a.npy\nwritten")
	p.Update(1, 1)
	p.Done()
	if got := b.String(); !strings.HasPrefix(got, `x\x1b]0;owned\a.npy`+"\nwritten\n"+`a\x1b[2J  iteration 1`) {
		t.Errorf("got %q", got)
	}
}

func TestProgressIsSilent(t *testing.T) {
	var b bytes.Buffer
	quiet := NewProgress(ProgressConfig{Out: &b, Total: 10, Terminal: IsTerminal, Quiet: true})
	nowhere := NewProgress(ProgressConfig{Total: 10, Terminal: IsTerminal})
	unused := NewProgress(ProgressConfig{Out: &b, Terminal: IsTerminal})
	unused.Done()
	for _, p := range []*Progress{quiet, nowhere} {
		p.Update(1, 1)
		p.Note("nothing")
		p.Done()
	}
	if b.Len() > 0 {
		t.Errorf("a quiet progress wrote %q", b.String())
	}
}

func TestProgressWidths(t *testing.T) {
	for _, width := range []int{1, 2, 10, 20, 40, 60, 79, 80, 200} {
		for _, ascii := range []bool{true, false} {
			p := NewProgress(ProgressConfig{Out: io.Discard, Name: "ünïcode", Total: 1000, Terminal: IsTerminal, Width: width, ASCII: ascii})
			p.at = step{333, 1.5, true}
			line := p.line(p.start.Add(time.Second))
			if n := utf8.RuneCountInString(line); n > max(width-1, 0) {
				t.Errorf("width %d: %q has %d columns", width, line, n)
			}
			if hasBar := strings.ContainsAny(line, "[█"); hasBar != (width >= 79) {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		f     float64
		ascii bool
		want  string
	}{
		{0, false, "░░░░"}, {1, false, "████"}, {0.5, false, "██░░"}, {0.54, false, "██▏░"}, {2, false, "████"}, {-1, false, "░░░░"},
		{0.5, true, "[= ]"}, {1, true, "[==]"},
	} {
		if got := bar(c.f, 4, c.ascii); got != c.want {
			t.Errorf("%g: got %q, want %q", c.f, got, c.want)
		}
	}
}

func TestProgressText(t *testing.T) {
	w := newWatch()
	p := NewProgress(ProgressConfig{Out: io.Discard, Clock: w.Now})
	p.at = step{12, math.NaN(), true}
	if got, want := p.text(w.now.Add(90*time.Minute)), "iteration 12  1h30m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for d, want := range map[time.Duration]string{
		-1: "0s", 0: "0.0s", 1500 * time.Millisecond: "1.5s", 59900 * time.Millisecond: "59s",
		61 * time.Second: "1m01s", 100 * time.Hour: "4d04h",
	} {
		if got := shortDuration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestTerminalIsFound(t *testing.T) {
	if isTerminal(&bytes.Buffer{}) {
		t.Error("a buffer is a terminal")
	}
	f, err := os.Create(t.TempDir() + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) {
		t.Error("a file is a terminal")
	}
	if terminalWidth(f) != 0 {
		t.Error("a file has columns")
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("TERM", "xterm")
	if !isTerminal(null) {
		t.Error("a device of characters is none")
	}
	t.Setenv("TERM", "dumb")
	if isTerminal(null) {
		t.Error("a dumb terminal can redraw")
	}
	t.Setenv("COLUMNS", "123")
	if got := NewProgress(ProgressConfig{Out: f}).width(); got != 123 {
		t.Errorf("COLUMNS is 123, the width %d", got)
	}
	t.Setenv("COLUMNS", "many")
	if got := NewProgress(ProgressConfig{Out: f}).width(); got != 80 {
		t.Errorf("without a terminal the width is %d, want 80", got)
	}
}

func TestUnicodeLocale(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{{"", "", "", false}, {"C", "", "en_US.UTF-8", false}, {"", "en_US.utf8", "C", true}, {"", "", "de_DE.UTF-8", true}} {
		t.Setenv("LC_ALL", c.all)
		t.Setenv("LC_CTYPE", c.ctype)
		t.Setenv("LANG", c.lang)
		if got := unicodeLocale(); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// TestProgressConcurrently is for the race detector, and holds that frames do
// not mix.
func TestProgressConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := NewProgress(ProgressConfig{Out: &b, Total: 100, Terminal: IsTerminal, Width: 80, ASCII: true})
		var wg sync.WaitGroup
		for k := range 4 {
			wg.Go(func() {
				for i := range 25 {
					p.Update(25*k+i, 1)
					if i == 10 {
						p.Note("note")
					}
				}
			})
		}
		wg.Wait()
		p.Done()
		for _, f := range strings.Split(b.String(), "\r")[1:] {
			f = strings.TrimSuffix(strings.TrimSuffix(f, "\n"), "note\n")
			f = strings.TrimSuffix(f, "note")
			if !strings.HasSuffix(f, "\x1b[K") {
				t.Errorf("frames mix: %q", f)
			}
		}
		if got := strings.Count(b.String(), "note\n"); got != 4 {
			t.Errorf("%d notes, want 4", got)
		}
	})
}
