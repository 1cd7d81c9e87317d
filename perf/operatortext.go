package perf

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/golops/golops/report"
)

// BeginOperator, OperatorRow and EndOperator make Text an OperatorObserver.
func (t *Text) BeginOperator(tab *OperatorTable) {
	check := "on"
	if !tab.Checked {
		check = "off"
	}
	kind, size := "", "size: bytes of a message; each rank has 2 rows and gets one from each neighbour"
	if tab.Operator == Product {
		kind, size = ", kind "+tab.Kind, "size: extent of square matrices"
	}
	t.printf("# golops perf %s: %d ranks, communicator %s, type %s%s\n", tab.Operator, tab.Ranks, tab.Comm, tab.Type, kind)
	t.printf("# %s; best of %d rounds, of all modes in turn; check: %s\n", size, tab.Rounds, check)
	t.printf("# machine: %v\n#\n", t.m)
	t.printf("#%9s", "")
	for _, m := range tab.Modes {
		t.printf("  %-42s", m)
	}
	t.printf("\n#%9s", "size")
	for range tab.Modes {
		t.printf("  %9s %10s %9s %10s", "forward", "", "adjoint", "")
	}
	if len(tab.Modes) == 2 {
		t.printf("  %-18s", "faster")
	}
	t.printf("  layout\n#%9s", "")
	for range tab.Modes {
		t.printf("  %9s %10s %9s %10s", "(us)", "("+tab.Unit+")", "(us)", "("+tab.Unit+")")
	}
	t.printf("\n")
}

// OperatorRow writes one line.
func (t *Text) OperatorRow(tab *OperatorTable, r OperatorRow) {
	t.printf("%10d", r.Size)
	for _, m := range r.Modes {
		t.printf("  %9s %10s %9s %10s", short(m.Forward), short(m.ForwardRate), short(m.Adjoint), short(m.AdjointRate))
	}
	if len(tab.Modes) == 2 {
		t.printf("  %-18s", faster(tab, r))
	}
	t.printf("  %s\n", r.Layout)
}

// faster names the mode whose forward and adjoint take less time together.
func faster(tab *OperatorTable, r OperatorRow) string {
	a, b := r.Modes[0].Forward+r.Modes[0].Adjoint, r.Modes[1].Forward+r.Modes[1].Adjoint
	if a <= b {
		return fmt.Sprintf("%s %.2f x", tab.Modes[0], b/a)
	}
	return fmt.Sprintf("%s %.2f x", tab.Modes[1], a/b)
}

// EndOperator names modes that were not measured.
func (t *Text) EndOperator(tab *OperatorTable) {
	for _, mode := range slices.Sorted(maps.Keys(tab.Missing)) {
		t.printf("# Not measured: %s: %s\n", mode, tab.Missing[mode])
	}
}

var _ OperatorObserver = (*Text)(nil)

// PlotOperators draws rate and time over size, one curve for each table and mode. Tables
// must be of one operator.
func PlotOperators(w io.Writer, format string, m Machine, tables []OperatorTable) error {
	if len(tables) == 0 {
		return errors.New("perf: plot: no table, there is nothing to show")
	}
	rate, times := sizeChart("rate ("+tables[0].Unit+")"), sizeChart("time of forward and adjoint (µs)")
	if tables[0].Operator == Product {
		rate.X, rate.Power, times.X, times.Power = "extent", nil, "extent", nil
	}
	for _, t := range tables {
		for i, mode := range t.Modes {
			var x, y, s []float64
			for _, r := range t.Rows {
				both := r.Modes[i].Forward + r.Modes[i].Adjoint
				mean := 2 / (1/r.Modes[i].ForwardRate + 1/r.Modes[i].AdjointRate)
				x, y, s = append(x, float64(r.Size)), append(y, mean), append(s, both)
			}
			name := fmt.Sprintf("%s, %s, %d ranks", mode, t.Comm, t.Ranks)
			rate.Curves = append(rate.Curves, report.Curve{Name: name, X: x, Y: y})
			times.Curves = append(times.Curves, report.Curve{Name: name, X: x, Y: s})
		}
	}
	if len(rate.Curves) == 0 {
		return errors.New("perf: plot: no mode was measured, there is nothing to show")
	}
	head := tables[0].Operator + ", " + tables[0].Type
	if tables[0].Kind != "" {
		head += ", " + tables[0].Kind
	}
	return report.Charts{Title: head, Note: m.short(), Charts: []report.Chart{rate, times}}.Write(w, format)
}
