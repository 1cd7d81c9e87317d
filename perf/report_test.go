package perf

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"strconv"
	"testing"
	"time"
)

func TestJSONRoundTrip(t *testing.T) {
	want := Report{
		Version: "0.1.0", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Command: []string{"golops", "perf", "all"}, Machine: sampleMachine, Tables: sampleTables(),
	}
	var b bytes.Buffer
	if err := want.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	want.Units = units
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	tables := sampleTables()
	if err := WriteCSV(&b, tables); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll() // also checks that lines are equally long
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 4 {
		t.Fatalf("got %d lines, want a head and 3 rows", len(lines))
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	for _, tc := range []struct {
		line       int
		name, want string
	}{
		{1, "communicator", "goroutines"}, {1, "algorithm", "ring"}, {1, "ranks", "4"}, {1, "size_bytes", "8"},
		{2, "out_of_place_wrong", "3"}, {2, "in_place_iterations", "20"}, {2, "type", "complex128"},
		{3, "operation", "get"}, {3, "out_of_place_wrong", ""}, {3, "in_place_time_us", ""}, {3, "root", "-1"},
	} {
		if got := lines[tc.line][column[tc.name]]; got != tc.want {
			t.Errorf("line %d, %s: got %q, want %q", tc.line, tc.name, got, tc.want)
		}
	}
	x, err := strconv.ParseFloat(lines[2][column["out_of_place_busbw_GBps"]], 64)
	if want := tables[0].Rows[1].OutOfPlace.BusBW; err != nil || x != want {
		t.Errorf("bus bandwidth: got %v, %v, want %v", x, err, want)
	}
}
