package trace

import (
	"bufio"
	"fmt"
	"strings"
	"unicode/utf8"
)

// table is rows of cells, each row as long as the first.
type table [][]string

// write prints the table in columns: the first to the left, the last as it
// is, those between to the right.
func (t table) write(out *bufio.Writer) {
	width := make([]int, len(t[0]))
	for _, row := range t {
		for c, cell := range row {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	var line strings.Builder
	for _, row := range t {
		line.Reset()
		for c, cell := range row {
			switch c {
			case 0:
				fmt.Fprintf(&line, "%-*s", width[c], cell)
			case len(row) - 1:
				line.WriteString("  " + cell)
			default:
				fmt.Fprintf(&line, "  %*s", width[c], cell)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}
