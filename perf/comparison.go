package perf

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteComparison writes the measurements of several tables side by side, one
// comparison for each operation, type and reduction that more than one of them
// has. All its lines begin with #, as scripts that read tables have seen the rows.
func WriteComparison(w io.Writer, tables []Table) error {
	var b strings.Builder
	all := curves(tables)
	for len(all) > 0 {
		var same, other []curve
		for _, c := range all {
			if slices.Equal(c.traits[:3], all[0].traits[:3]) {
				same = append(same, c)
			} else {
				other = append(other, c)
			}
		}
		if all = other; len(same) > 1 {
			compareCurves(&b, same)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// compareCurves writes one comparison, a column for each curve.
func compareCurves(b *strings.Builder, cs []curve) {
	common, each := names(cs)
	fmt.Fprintf(b, "\n# comparison of %s: time in us and bus bandwidth in GB/s, out of place if there is such\n", common)
	heads, sizes := "", []float64{}
	for i, name := range each {
		fmt.Fprintf(b, "#   [%d] %s\n", i+1, name)
		heads += fmt.Sprintf("  %12s %8s", fmt.Sprintf("[%d] time", i+1), "busbw")
		sizes = append(sizes, cs[i].sizes...)
	}
	fmt.Fprintf(b, "#\n#%13s%s\n", "size", heads)
	slices.Sort(sizes)
	for _, size := range slices.Compact(sizes) {
		fmt.Fprintf(b, "#%13.0f", size)
		for _, c := range cs {
			time, bus := "N/A", "N/A"
			if i := slices.Index(c.sizes, size); i >= 0 {
				time, bus = short(c.micros[i]), short(c.bus[i])
			}
			fmt.Fprintf(b, "  %12s %8s", time, bus)
		}
		b.WriteByte('\n')
	}
}
