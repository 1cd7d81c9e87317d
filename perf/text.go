package perf

import (
	"fmt"
	"io"
	"strings"
)

// Text is an Observer that writes tables in the format of nccl-tests. Lines that are
// not data begin with #.
type Text struct {
	w   io.Writer
	m   Machine
	n   int
	err error
}

// NewText returns a Text for measurements made on m.
func NewText(w io.Writer, m Machine) *Text { return &Text{w: w, m: m} }

// Err returns the first error of writing.
func (t *Text) Err() error { return t.err }

func (t *Text) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

const (
	leftColumns  = "%12s %13s %11s %7s %6s"
	rightColumns = "  %9s %8s %8s %7s"
	rightWidth   = 2 + 9 + 8 + 8 + 7 + 3
)

// Begin writes the parameters of the table and the heads of the columns.
func (t *Text) Begin(tab *Table) {
	if t.n++; t.n > 1 {
		t.printf("\n")
	}
	growth := fmt.Sprintf("factor %d", tab.Factor)
	if tab.Step > 0 {
		growth = "step " + FormatSize(tab.Step)
	}
	iters := fmt.Sprintf("%d iterations", tab.Iters)
	if tab.LoopTime > 0 {
		iters = fmt.Sprintf("%d iterations, doubled until %v have passed", tab.Iters, tab.LoopTime)
	}
	check := "on"
	if !tab.Checked {
		check = "off"
	}
	mode := ""
	if tab.Mode != "" {
		mode = ", mode " + tab.Mode
	}
	t.printf("# golops perf %s: %d ranks, communicator %s, algorithm %s, type %s, redop %s%s\n",
		tab.Operation, tab.Ranks, tab.Comm, tab.Algo, tab.Type, tab.Reduction, mode)
	t.printf("# sizes: %s to %s, %s; warm-up: %d iterations; loop: %s; time: %s; check: %s\n",
		FormatSize(tab.Min), FormatSize(tab.Max), growth, tab.Warmup, iters, tab.Time, check)
	if tab.Memory != "" {
		t.printf("# buffers: %s%s%s\n", tab.Memory, on(tab.Device), registered(tab.Registration))
	}
	t.printf("# machine: %v\n#\n", t.m)

	left := func(s ...any) string { return "#" + fmt.Sprintf(leftColumns, s...)[1:] }
	right := func(s ...any) string { return fmt.Sprintf(rightColumns, s...) }
	t.printf("%s%s%s\n", left("", "", "", "", ""), centre("out-of-place"), strings.TrimRight(centre("in-place"), " "))
	names := right("time", "algbw", "busbw", "#wrong")
	units := right("(us)", "(GB/s)", "(GB/s)", "")
	t.printf("%s%s%s\n", left("size", "count", "type", "redop", "root"), names, names)
	t.printf("%s%s%s\n", left("(B)", "(elements)", "", "", ""), units, strings.TrimRight(units, " "))
}

func on(device string) string {
	if device == "" {
		return ""
	}
	return " of " + device
}

func registered(how string) string {
	if how == "" {
		return ""
	}
	return "; registration: " + how
}

// centre puts s over the columns of one measurement.
func centre(s string) string {
	pad := rightWidth - len(s)
	return strings.Repeat(" ", pad-pad/2) + s + strings.Repeat(" ", pad/2)
}

// Row writes one line.
func (t *Text) Row(tab *Table, r Row) {
	t.printf(leftColumns+"%s%s\n", fmt.Sprint(r.Size), fmt.Sprint(r.Count), r.Type, r.Reduction, fmt.Sprint(r.Root),
		r.OutOfPlace.text(tab.Checked), r.InPlace.text(tab.Checked))
}

func (m *Measurement) text(checked bool) string {
	if m == nil {
		return fmt.Sprintf(rightColumns, "N/A", "N/A", "N/A", "N/A")
	}
	wrong := "N/A"
	if checked {
		wrong = fmt.Sprint(m.Wrong)
	}
	return fmt.Sprintf(rightColumns, short(m.Time), short(m.AlgBW), short(m.BusBW), wrong)
}

// short formats x with two decimals if they fit into a column.
func short(x float64) string {
	switch {
	case x < 1e4:
		return fmt.Sprintf("%.2f", x)
	case x < 1e5:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// End writes the sums. Their names are those of nccl-tests, which scripts look for.
func (t *Text) End(tab *Table) {
	if tab.NotMeasured != "" {
		t.printf("# Not measured         : %s\n", tab.NotMeasured)
		return
	}
	switch {
	case !tab.Checked:
		t.printf("# Out of bounds values : N/A\n")
	case tab.Wrong > 0:
		t.printf("# Out of bounds values : %d FAILED\n", tab.Wrong)
	default:
		t.printf("# Out of bounds values : 0 OK\n")
	}
	t.printf("# Avg bus bandwidth    : %.6g\n", tab.AvgBusBW)
}

var _ Observer = (*Text)(nil)
