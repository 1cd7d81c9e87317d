package report

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// fit must find the longest piece that has room, whatever the letters.
func TestFit(t *testing.T) {
	for _, s := range []string{"Velocity model of the survey", "iiiiiiiiiiWWWWWWWWWW", "10⁻³ and 10⁻⁴ of it", "a  b  c  d", "ä…ö\n\tü"} {
		whole := titleText.width(s)
		for _, room := range []float64{-1, 0, 5, 30, whole / 2, whole - 1, whole, whole + 1} {
			want := s
			if whole > room {
				r := []rune(s)
				for len(r) > 0 && titleText.width(string(r)+"…") > room {
					r = r[:len(r)-1]
				}
				want = strings.TrimRight(string(r), " ") + "…"
			}
			if got := titleText.fit(s, room); got != want {
				t.Errorf("%q in %g pixels: got %q, want %q", s, room, got, want)
			}
		}
	}
}

// A title of 100,000 letters is cut off as one of five hundred is. Where the
// cost grew with the cube of the length, this test did not end.
func TestLongTitle(t *testing.T) {
	for _, letters := range []string{"a", "long ", "10⁻³"} {
		draw := func(n int) []byte {
			title := strings.Repeat(letters, n/len(letters))
			return drawn(t, func(w io.Writer) error {
				return View(w, []int{4, 5}, from([]int{4, 5}, block), ViewConfig{Title: title})
			})
		}
		if !bytes.Equal(draw(100_000), draw(500)) {
			t.Errorf("a long title of %q is drawn in another way", letters)
		}
	}
}
