package perf

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// Kernels writes a table of kernels. It makes Text a KernelObserver.
func (t *Text) Kernels(tab *KernelTable) {
	if t.n++; t.n > 1 {
		t.printf("\n")
	}
	t.printf("# golops perf kernels: device %s, type %s; best of %d rounds\n", tab.Device, tab.Type, tab.Rounds)
	t.printf("# GB/s: bytes that must be read and written; %% copy: of the device's own copy, %.6g GB/s\n", tab.Copy)
	t.printf("# GFLOP/s: operations that must be done; %% gemm: of the fastest matrix product here, %.6g GFLOP/s\n", tab.Peak)
	t.printf("# machine: %v\n#\n", t.m)
	const columns = "%-20s %-40s %10s %9s %7s %10s %7s"
	t.printf("%s\n", fmt.Sprintf(columns, "# kernel", "size", "time (us)", "GB/s", "% copy", "GFLOP/s", "% gemm"))
	for _, r := range tab.Rows {
		if r.Missing != "" {
			t.printf("%-20s %-40s %s\n", r.Kernel, r.Size, r.Missing)
			continue
		}
		bw, copied := of(r.Bandwidth, tab.Copy)
		rate, peak := of(r.Rate, tab.Peak)
		t.printf(columns+"\n", r.Kernel, r.Size, short(r.Time), bw, copied, rate, peak)
	}
}

// of shows a number and what part it is of the most.
func of(x, most float64) (number, percent string) {
	if x == 0 {
		return "-", "-"
	}
	if most == 0 {
		return short(x), "-"
	}
	return short(x), fmt.Sprintf("%.1f", 100*x/most)
}

// WriteKernelsCSV writes the rows of all tables, one line each, below a line
// with the names of the columns. What does not apply is empty.
func WriteKernelsCSV(w io.Writer, tables []KernelTable) error {
	c := csv.NewWriter(w)
	lines := [][]string{{"device", "type", "kernel", "size", "time_us", "GBps", "percent_of_copy", "GFLOPS", "percent_of_gemm", "launches", "missing"}}
	number := func(x float64) string {
		if x == 0 {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	part := func(x, most float64) string {
		if most == 0 {
			return ""
		}
		return number(100 * x / most)
	}
	for _, t := range tables {
		for _, r := range t.Rows {
			lines = append(lines, []string{
				t.Device, t.Type, r.Kernel, r.Size, number(r.Time), number(r.Bandwidth), part(r.Bandwidth, t.Copy),
				number(r.Rate), part(r.Rate, t.Peak), strconv.Itoa(r.Launches), r.Missing,
			})
		}
	}
	if err := c.WriteAll(lines); err != nil {
		return fmt.Errorf("perf: write CSV: %w", err)
	}
	return nil
}

var _ KernelObserver = (*Text)(nil)
