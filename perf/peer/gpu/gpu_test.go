package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/golops/golops/internal/gpusim"
)

// TestTable measures everything once, small, on the host and on a simulated GPU.
func TestTable(t *testing.T) {
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOLOPS_CUDA", dir)
	t.Setenv("GOLOPS_NCCL", dir)
	for _, device := range []string{"cpu", "cuda"} {
		var out bytes.Buffer
		o := options{device: device, shrink: 32, rounds: 1, turns: 1}
		if err := o.run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if rows := strings.Count(text, " | - |\n"); rows != 1+2+2+9+2+3*4+4+3+2+2+1 || strings.Contains(text, "failed") {
			t.Errorf("%s: %d rows:\n%s", device, rows, text)
		}
	}
}

// TestNoLauncher says why there is no comparison.
func TestNoLauncher(t *testing.T) {
	var out bytes.Buffer
	o := options{mpirun: "no-such-launcher"}
	if err := o.compare(t.Context(), &out); err != nil || !strings.Contains(out.String(), "none of no-such-launcher runs here") {
		t.Errorf("%v: %s", err, out.String())
	}
}
