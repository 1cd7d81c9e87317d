package perf

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"maps"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Roofline writes a table of rates for each link, the fits and the rates of a rank.
func (t *Text) Roofline(r Roofline) {
	t.printf("# golops perf roofline: %d ranks, communicator %s\n", r.Ranks, r.Comm)
	t.printf("# machine: %v\n", t.m)
	for _, link := range r.links() {
		t.printf("#\n# %s: GB/s that each rank receives, over the messages between two synchronisations\n#%11s", link, "size")
		counts, sizes := r.axes()
		for _, n := range counts {
			t.printf(" %9d", n)
		}
		t.printf("\n")
		for _, size := range sizes {
			t.printf("%12s", FormatSize(size))
			for _, n := range counts {
				i := slices.IndexFunc(r.Points, func(p RooflinePoint) bool { return p.Link == link && p.Size == size && p.Messages == n })
				if i < 0 {
					t.printf(" %9s", "-")
				} else {
					t.printf(" %9.3g", r.Points[i].Rate)
				}
			}
			t.printf("\n")
		}
	}
	t.printf("#\n# fitted: time = latency + messages·overhead + bytes/bandwidth\n# %-10s %12s %13s %17s %13s %12s\n", "link", "latency (us)", "overhead (us)", "bandwidth (GB/s)", "median error", "worst error")
	for _, f := range r.Fits {
		t.printf("  %-10s %12.3f %13.4f %17.3f %12.0f%% %11.0f%%\n", f.Name, 1e6*f.Link.Latency, 1e6*f.Link.Overhead, f.Link.Bandwidth/1e9, 100*f.Median, 100*f.Worst)
	}
	m := r.Machine
	t.printf("#\n# a rank with a core of its own: copy %.3g GB/s", m.Copy/1e9)
	for _, name := range slices.Sorted(maps.Keys(m.Gemm)) {
		t.printf(", gemm of %s %.3g GFLOP/s", name, m.Gemm[name]/1e9)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Pairs)) {
		t.printf(", Kirchhoff of %s %.3g million pairs/s", name, m.Pairs[name]/1e6)
	}
	if m.FFT > 0 {
		t.printf(", FFT %.3g GFLOP/s", m.FFT/1e9)
	}
	t.printf("\n")
	for _, name := range slices.Sorted(maps.Keys(r.Missing)) {
		t.printf("# Not measured: %s: %s\n", name, r.Missing[name])
	}
	if r.Skipped > 0 {
		t.printf("# Not measured: %d points, for which there was no time\n", r.Skipped)
	}
}

// links returns the links that were measured.
func (r Roofline) links() (names []string) {
	for _, f := range r.Fits {
		names = append(names, f.Name)
	}
	return names
}

// axes returns the numbers of messages and the sizes, in order.
func (r Roofline) axes() (counts []int, sizes []int64) {
	for _, p := range r.Points {
		counts, sizes = append(counts, p.Messages), append(sizes, p.Size)
	}
	slices.Sort(counts)
	slices.Sort(sizes)
	return slices.Compact(counts), slices.Compact(sizes)
}

// PlotRoofline draws rate over size, one panel for messages and one for one-sided
// messages, or for the network if there are no windows. Dashed lines are the fits.
func PlotRoofline(w io.Writer, format string, m Machine, r Roofline) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	links := r.links()
	if len(links) == 0 {
		return errors.New("perf: plot: no link was measured, there is nothing to show")
	}
	left, right := panel(links[0]+" (GB/s)"), panel("")
	panels := []*plot.Plot{left}
	if len(links) > 1 {
		right.Title.Text = links[1] + " (GB/s)"
		panels = append(panels, right)
	}
	counts, sizes := r.axes()
	var entries []legendEntry
	for i, n := range counts {
		entries = append(entries, look(fmt.Sprintf("%d messages per synchronisation", n), i))
	}
	for i, p := range panels {
		for j, n := range counts {
			if err := addRoof(p, r, i, n, sizes, entries[j]); err != nil {
				return fmt.Errorf("perf: plot: %w", err)
			}
		}
	}
	fit(panels...)
	for _, p := range panels {
		p.Y.Min, p.Y.Max = min(left.Y.Min, panels[len(panels)-1].Y.Min), max(left.Y.Max, panels[len(panels)-1].Y.Max)
	}
	if len(panels) == 1 {
		right.HideAxes()
	}
	entries = append(entries, legendEntry{name: "fit", line: fitStyle(color.NRGBA{A: 0xFF}), glyph: draw.GlyphStyle{Color: color.Transparent, Shape: draw.CircleGlyph{}}})
	return drawPanels(w, format, fmt.Sprintf("message roofline, %s, %d ranks", r.Comm, r.Ranks), m.short(), left, right, entries)
}

func fitStyle(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(0.8), Dashes: []vg.Length{vg.Points(3), vg.Points(2)}}
}

// addRoof draws one curve and its fit.
func addRoof(p *plot.Plot, r Roofline, link, count int, sizes []int64, e legendEntry) error {
	f := r.Fits[link]
	var x, y []float64
	for _, q := range r.Points {
		if q.Link == f.Name && q.Messages == count {
			x, y = append(x, float64(q.Size)), append(y, q.Rate)
		}
	}
	if err := add(p, x, y, e); err != nil || len(x) == 0 {
		return err
	}
	var model plotter.XYs
	for _, s := range sizes {
		bytes := float64(s) * float64(count)
		if float64(s) > slices.Max(x) {
			break
		}
		t := f.Link.Latency + float64(count)*f.Link.Overhead + bytes/f.measured(r)
		model = append(model, plotter.XY{X: float64(s), Y: bytes / t / 1e9})
	}
	line, err := plotter.NewLine(model)
	if err != nil {
		return err
	}
	line.LineStyle = fitStyle(e.line.Color)
	p.Add(line)
	return nil
}

// measured returns the bandwidth that a rank had when all ranks of a node sent.
func (f LinkFit) measured(r Roofline) float64 {
	if f.Name == Network {
		return f.Link.Bandwidth / float64((r.Ranks+r.Machine.Nodes-1)/r.Machine.Nodes)
	}
	return f.Link.Bandwidth
}
