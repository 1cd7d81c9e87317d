package perf

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

var csvHead = []string{
	"communicator", "algorithm", "ranks", "operation", "size_bytes", "count", "type", "redop", "root",
	"out_of_place_time_us", "out_of_place_algbw_GBps", "out_of_place_busbw_GBps", "out_of_place_wrong", "out_of_place_iterations",
	"in_place_time_us", "in_place_algbw_GBps", "in_place_busbw_GBps", "in_place_wrong", "in_place_iterations",
	"memory", "registration", "mode",
}

// WriteCSV writes the rows of all tables, one line each, below a line with
// the names of the columns. What was not measured or not checked is empty.
func WriteCSV(w io.Writer, tables []Table) error {
	c := csv.NewWriter(w)
	lines := [][]string{csvHead}
	for _, t := range tables {
		for _, r := range t.Rows {
			line := []string{
				t.Comm, t.Algo, strconv.Itoa(t.Ranks), t.Operation,
				strconv.FormatInt(r.Size, 10), strconv.FormatInt(r.Count, 10), r.Type, r.Reduction, strconv.Itoa(r.Root),
			}
			line = append(line, r.OutOfPlace.csv(t.Checked)...)
			line = append(line, r.InPlace.csv(t.Checked)...)
			lines = append(lines, append(line, t.Memory, t.Registration, t.Mode))
		}
	}
	if err := c.WriteAll(lines); err != nil {
		return fmt.Errorf("perf: write CSV: %w", err)
	}
	return nil
}

func (m *Measurement) csv(checked bool) []string {
	if m == nil {
		return make([]string, 5)
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	wrong := ""
	if checked {
		wrong = strconv.FormatInt(m.Wrong, 10)
	}
	return []string{number(m.Time), number(m.AlgBW), number(m.BusBW), wrong, strconv.Itoa(m.Iters)}
}
