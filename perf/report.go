package perf

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"time"
)

// Report is all that there is to know of a run, for files.
type Report struct {
	Version string            `json:"version"` // of golops
	Date    time.Time         `json:"date"`
	Command []string          `json:"command"`
	Machine Machine           `json:"machine"`
	Units   map[string]string `json:"units"`
	Tables  []Table           `json:"tables,omitempty"`
	Kernels []KernelTable     `json:"kernels,omitempty"`

	Operators []OperatorTable `json:"operators,omitempty"`
	Roofline  *Roofline       `json:"roofline,omitempty"`
}

var units = map[string]string{
	"size":  "bytes",
	"count": "elements",
	"time":  "microseconds per iteration",
	"algbw": "1e9 bytes per second",
	"busbw": "1e9 bytes per second",
	"wrong": "elements",

	"GBps":   "1e9 bytes per second",
	"GFLOPS": "1e9 operations per second",

	"forward": "microseconds", "adjoint": "microseconds", "forward_rate": "that of the table", "adjoint_rate": "that of the table",
}

// WriteJSON writes r with the units of its numbers.
func (r Report) WriteJSON(w io.Writer) error {
	r.Units = maps.Clone(units)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("perf: write JSON: %w", err)
	}
	return nil
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(rd io.Reader) (Report, error) {
	var r Report
	if err := json.NewDecoder(rd).Decode(&r); err != nil {
		return r, fmt.Errorf("perf: read JSON: %w", err)
	}
	return r, nil
}
