package perf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/golops/golops/report"

	"github.com/golops/golops/cost"
)

// WriteJSON writes p.
func (p Plan) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return fmt.Errorf("perf: write JSON: %w", err)
	}
	return nil
}

// WriteText writes the table of a plan, the best option of each number of ranks marked with
// a star, and the checks.
func (p Plan) WriteText(w io.Writer) error {
	var b strings.Builder
	m := p.Machine
	fmt.Fprintf(&b, "# golops plan %s: %s\n", p.Operator, p.Problem)
	measured := m.Measured
	if m.Host != "" {
		measured += fmt.Sprintf(" on %s, %s", m.Host, m.Date.Format("2006-01-02"))
	}
	fmt.Fprintf(&b, "# measured: %s; messages: %s\n", measured, linkText(m.Messages))
	network := m.Network
	for _, r := range p.Rows {
		if r.Nodes > 1 && network == (cost.Link{}) {
			network = cost.UsualNetwork
			fmt.Fprintf(&b, "# no network is given: a usual one is assumed; see --network\n")
		}
	}
	if network != (cost.Link{}) {
		fmt.Fprintf(&b, "# network: %s, shared by the %d cores of a node\n", linkText(network), max(m.Cores, 1))
	}
	fmt.Fprintf(&b, "#\n#%7s %6s  %-10s %11s %11s %11s %11s  %s\n", "ranks", "nodes", "kind", "forward", "adjoint", "efficiency", "memory", "layout")
	for _, r := range p.Rows {
		for i, o := range r.Options {
			star := " "
			if i == r.Best {
				star = "*"
			}
			fmt.Fprintf(&b, "%8d %6d %s%-10s", r.Ranks, r.Nodes, star, o.Name)
			if o.Misfit != "" {
				fmt.Fprintf(&b, " does not fit: %s\n", o.Misfit)
				continue
			}
			fmt.Fprintf(&b, " %11s %11s %10.0f%% %11s  %s\n", timeText(o.Forward.Seconds), timeText(o.Adjoint.Seconds), 100*o.efficiency(), formatBytes(float64(o.Memory)), o.Layout)
		}
	}
	if len(p.Checks) > 0 {
		writeChecks(&b, p.Checks)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// efficiency is the part of the time that is computation.
func (o PlanOption) efficiency() float64 {
	if o.Seconds() == 0 {
		return 1
	}
	return (o.Forward.Compute + o.Adjoint.Compute) / o.Seconds()
}

// writeChecks writes predictions beside measurements.
func writeChecks(b *strings.Builder, checks []PlanCheck) {
	fmt.Fprintf(b, "#\n# checked on goroutine ranks of this machine, one thread each\n")
	fmt.Fprintf(b, "#%7s  %-10s %11s %11s %11s %11s %8s  %s\n", "ranks", "kind", "forward", "predicted", "adjoint", "predicted", "error", "layout, problem")
	var errs []float64
	for _, c := range checks {
		fmt.Fprintf(b, "%8d  %-10s %11s %11s %11s %11s %+7.0f%%  %s, %s\n", c.Ranks, c.Name, timeText(c.Forward), timeText(c.Predicted.Forward.Seconds),
			timeText(c.Adjoint), timeText(c.Predicted.Adjoint.Seconds), 100*c.Error, c.Layout, c.Problem)
		errs = append(errs, max(c.Error, -c.Error))
	}
	slices.Sort(errs)
	fmt.Fprintf(b, "# error of the prediction: median %.0f%%, worst %.0f%%\n", 100*errs[len(errs)/2], 100*errs[len(errs)-1])
}

func linkText(l cost.Link) string {
	return fmt.Sprintf("latency %s, overhead %s, %.3g GB/s", timeText(l.Latency), timeText(l.Overhead), l.Bandwidth/1e9)
}

// timeText formats seconds with three digits.
func timeText(s float64) string {
	switch {
	case s >= 1:
		return fmt.Sprintf("%.3g s", s)
	case s >= 1e-3:
		return fmt.Sprintf("%.3g ms", 1e3*s)
	}
	return fmt.Sprintf("%.3g us", 1e6*s)
}

// PlotPlan draws the time of forward and adjoint, and the memory of a rank, over the number
// of ranks, one curve for each option.
func PlotPlan(w io.Writer, format string, p Plan) error {
	times, memory := report.Chart{Title: "time of forward and adjoint (s)", X: "ranks"}, report.Chart{Title: "memory of a rank (MB)", X: "ranks"}
	var names []string
	for _, r := range p.Rows {
		for _, o := range r.Options {
			if o.Misfit == "" && !slices.Contains(names, o.Name) {
				names = append(names, o.Name)
			}
		}
	}
	if len(names) == 0 {
		return errors.New("perf: plot: no option fits, there is nothing to show")
	}
	for _, name := range names {
		var x, y, mem []float64
		for _, r := range p.Rows {
			for _, o := range r.Options {
				if o.Name == name && o.Misfit == "" {
					x, y, mem = append(x, float64(r.Ranks)), append(y, o.Seconds()), append(mem, float64(o.Memory)/1e6)
				}
			}
		}
		times.Curves = append(times.Curves, report.Curve{Name: name, X: x, Y: y})
		memory.Curves = append(memory.Curves, report.Curve{Name: name, X: x, Y: mem})
	}
	return report.Charts{Title: p.Operator + ", " + p.Problem, Note: p.Machine.Measured, Charts: []report.Chart{times, memory}}.Write(w, format)
}
