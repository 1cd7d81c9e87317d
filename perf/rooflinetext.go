package perf

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/golops/golops/report"
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
	links := r.links()
	if len(links) == 0 {
		return errors.New("perf: plot: no link was measured, there is nothing to show")
	}
	counts, sizes := r.axes()
	all := report.Charts{Title: fmt.Sprintf("message roofline, %s, %d ranks", r.Comm, r.Ranks), Note: m.short(), SameY: true, Fits: "fit"}
	for i := range min(2, len(links)) {
		c := sizeChart(links[i] + " (GB/s)")
		for _, n := range counts {
			r.addTo(&c, i, n, sizes)
		}
		all.Charts = append(all.Charts, c)
	}
	return all.Write(w, format)
}

// addTo adds the curve of a number of messages, and its fit.
func (r Roofline) addTo(c *report.Chart, link, count int, sizes []int64) {
	f, name := r.Fits[link], fmt.Sprintf("%d messages per synchronisation", count)
	measured, fit := report.Curve{Name: name}, report.Curve{Name: name}
	for _, q := range r.Points {
		if q.Link == f.Name && q.Messages == count {
			measured.X, measured.Y = append(measured.X, float64(q.Size)), append(measured.Y, q.Rate)
		}
	}
	for _, s := range sizes {
		if len(measured.X) == 0 || float64(s) > slices.Max(measured.X) {
			break
		}
		bytes := float64(s) * float64(count)
		t := f.Link.Latency + float64(count)*f.Link.Overhead + bytes/f.measured(r)
		fit.X, fit.Y = append(fit.X, float64(s)), append(fit.Y, bytes/t/1e9)
	}
	c.Curves, c.Fits = append(c.Curves, measured), append(c.Fits, fit)
}

// measured returns the bandwidth that a rank had when all ranks of a node sent.
func (f LinkFit) measured(r Roofline) float64 {
	if f.Name == Network {
		return f.Link.Bandwidth / float64((r.Ranks+r.Machine.Nodes-1)/r.Machine.Nodes)
	}
	return f.Link.Bandwidth
}
