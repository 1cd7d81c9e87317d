package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// traceBar is a region or a wait in a trace of the command, in microseconds.
type traceBar struct {
	Name, Ph string
	Tid      int
	Ts, Dur  float64
}

// readTrace returns the bars of each rank, in the order in which they began.
func readTrace(t *testing.T, file string) map[int][]traceBar {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ TraceEvents []traceBar }
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	ranks := map[int][]traceBar{}
	for _, e := range all.TraceEvents {
		if e.Ph == "X" {
			ranks[e.Tid-1] = append(ranks[e.Tid-1], e)
		}
	}
	return ranks
}

// own returns the time of each name outside the bars inside it.
func own(bars []traceBar) map[string]float64 {
	sum := map[string]float64{}
	var open []traceBar
	for _, b := range bars {
		for len(open) > 0 && b.Ts >= open[len(open)-1].Ts+open[len(open)-1].Dur {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			sum[open[len(open)-1].Name] -= b.Dur
		}
		sum[b.Name] += b.Dur
		open = append(open, b)
	}
	return sum
}

// tracedLSM runs lsm on two ranks and returns the trace and how long the command took.
func tracedLSM(t *testing.T, trace, args string) (file string, took time.Duration) {
	t.Helper()
	file = filepath.Join(t.TempDir(), trace)
	t.Setenv("GOLOPS_TRACE", file)
	start := time.Now()
	if code, _, stderr := golops(t.Context(), fmt.Sprintf("lsm --ranks 2 --out %s %s", filepath.Join(t.TempDir(), "out"), args)); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return file, time.Since(start)
}

// TestTraceExplainsLSM runs the example. A trace explains the time in stages, operators,
// calls between ranks and files. It does not explain what is left of the regions that hold
// these together, nor the time of the command outside all regions. If other programs take
// the processors just there, another run may explain more.
func TestTraceExplainsLSM(t *testing.T) {
	var problems []string
	for range 5 {
		file, took := tracedLSM(t, "trace.json", "--iterations 6")
		if problems = unexplained(readTrace(t, file), float64(took.Microseconds())); problems == nil {
			return
		}
	}
	t.Error(strings.Join(problems, "\n"))
}

// unexplained returns the ranks whose trace explains less than 95% of the time of the
// command, in microseconds, or lacks regions.
func unexplained(ranks map[int][]traceBar, wall float64) (problems []string) {
	around := []string{"lsm", "data", "adjoint", "inversion", "CGLS start", "CGLS iteration", "CGLS last check"}
	for rank := range 2 {
		sum, explained := own(ranks[rank]), 0.0
		for name, d := range sum {
			if !slices.Contains(around, name) {
				explained += d
			}
		}
		if !(explained >= 0.95*wall) {
			problems = append(problems, fmt.Sprintf("rank %d: the trace explains %.1f%% of %.0f µs, want 95%%; each region alone, in µs: %v", rank, 100*explained/wall, wall, sum))
		}
		for _, name := range append(around, "travel times", "wave: kirchhoff forward", "wave: kirchhoff adjoint", "AllReduce", "write a file", "report") {
			if _, ok := sum[name]; !ok {
				problems = append(problems, fmt.Sprintf("rank %d: no region %q", rank, name))
			}
		}
	}
	return problems
}

// TestTracePicture draws a run.
func TestTracePicture(t *testing.T) {
	file, _ := tracedLSM(t, "trace.svg", "--config "+config(t, quick))
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`>rank 0<`, `>rank 1<`, `>whole run: `, `>[a-zA-Z ]+ \d+ of \d+: `, `class="wait"`, `>CGLS iteration, `, `>wave: kirchhoff adjoint, `} {
		if !regexp.MustCompile(want).Match(b) {
			t.Errorf("the picture lacks %s", want)
		}
	}
}
