package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable returns s with all characters that a terminal does not show but
// obeys, such as escapes and line breaks, written as Go writes them: \x1b, \n.
// It is for names of files and other text from elsewhere, which could otherwise
// change what a terminal shows.
func Printable(s string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0]) // this byte is no text at all
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// PrintableLines is Printable for text of several lines. Line breaks stay.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}
