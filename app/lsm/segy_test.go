package lsm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/app"
	"github.com/golops/golops/data"
)

// Headers of SEG-Y are compared with the geometry: the same order is silent,
// another order is used and said, and a contradiction is refused.
func TestHeadersAndGeometry(t *testing.T) {
	job, err := Prepare(small(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	nr := len(job.Receivers)
	pairs := len(job.Sources) * nr
	backwards := func(i int) int { return pairs - 1 - i }
	same := func(i int) int { return i }
	// file has its trace i of pair order(i); change alters its header words.
	file := func(order func(int) int, change func(i int, h map[data.Word]int)) string {
		path := filepath.Join(dir, "shots.segy")
		os.Remove(path)
		err := data.WriteSEGY(path, data.SEGYConfig{NumTraces: pairs, NumSamples: 201, Interval: 4000}, func(i int, dst []float32) error {
			dst[0] = float32(order(i))
			return nil
		}, func(i int) map[data.Word]int {
			p := order(i)
			h := map[data.Word]int{data.SourceX: int(job.Sources[p/nr].X * 10), data.GroupX: int(job.Receivers[p%nr].X * 10), data.CoordinateScalar: -10}
			if change != nil {
				change(i, h)
			}
			return h
		})
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	clear := func(words ...data.Word) func(int, map[data.Word]int) {
		return func(_ int, h map[data.Word]int) {
			for _, w := range words {
				h[w] = 0
			}
		}
	}
	for name, v := range map[string]struct {
		path, yaml, warn, err string
		first                 int // the trace of the first pair
	}{
		"in order":     {file(same, nil), "", "", "", 0},
		"no headers":   {file(backwards, clear(data.SourceX, data.GroupX)), "", "", "", 0},
		"only sources": {file(same, clear(data.GroupX)), "", "", "", 0},
		"y in 2-D":     {file(same, func(i int, h map[data.Word]int) { h[data.SourceY] = 77 * i }), "", "", "", 0},
	} {
		check(t, name, v.path, v.yaml, v.warn, v.err, v.first)
	}
	check(t, "shuffled", file(backwards, nil), "", "traces are not in the order of the geometry: each goes to the source and the receiver that its header words SourceX and GroupX name", "", pairs-1)
	check(t, "by bytes", file(backwards, nil), "data: {segy: {source_x: 73, receiver_x: 81, scalar: 71}}", "", "", pairs-1)
	check(t, "ignored", file(backwards, nil), "data: {segy: {ignore: true}}", "", "", 0)
	check(t, "ignored and named", file(backwards, nil), "data: {segy: {ignore: true, source_x: SourceX}}", "", "do one of these", 0)
	check(t, "one sided", file(backwards, clear(data.GroupX)), "", "", "headers contradict the geometry: trace 1 has its source at (380, 0) and its receiver at (0, 0) by the words SourceX, SourceY, GroupX, GroupY and CoordinateScalar; in the order of the geometry they are at (20, 0) and (0, 0)", 0)
	check(t, "contradiction", file(same, func(i int, h map[data.Word]int) { h[data.SourceX] += 4000 }), "", "", "set data.segy.ignore to true if the headers are wrong", 0)
	check(t, "half", file(backwards, nil), "data: {segy: {source_x: SourceX}}", "", "needs source_x and receiver_x", 0)
	check(t, "typo", file(backwards, nil), "data: {segy: {source_x: sx, receiver_x: gx}}", "", "such as SourceX, SourceY, GroupX", 0)
}

// check prepares a run with data from path.
func check(t *testing.T, name, path, yaml, warn, fault string, first int) {
	t.Helper()
	c := small(t)
	c.Velocity.Constant, c.Data.File = 2000, path
	if err := app.Read(&c, strings.NewReader(yaml)); err != nil {
		t.Fatal(err)
	}
	j, err := Prepare(c)
	if fault != "" {
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: got %v, want %q", name, err, fault)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if (warn == "") != (len(j.Warnings) == 0) || warn != "" && !strings.Contains(j.Warnings[0], warn) {
		t.Errorf("%s: warnings %q, want %q", name, j.Warnings, warn)
	}
	if j.traces.trace[0] != first || len(slices.Compact(slices.Sorted(slices.Values(j.traces.trace)))) != len(j.traces.trace) {
		t.Errorf("%s: the first pair has trace %d, want %d", name, j.traces.trace[0], first)
	}
}
