package perf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestPlot(t *testing.T) {
	one := sampleTables()[:1]
	alone := sampleTables()[:1]
	alone[0].Ranks = 1
	for _, r := range alone[0].Rows {
		r.OutOfPlace.BusBW = 0
	}
	var many []Table
	for range 5 {
		many = append(many, sampleTables()...)
	}
	for name, tables := range map[string][]Table{"two": sampleTables(), "one": one, "one rank": alone, "many": many} {
		t.Run(name, func(t *testing.T) {
			var p, s bytes.Buffer
			if err := Plot(&p, "png", sampleMachine, tables); err != nil {
				t.Fatal(err)
			}
			img, err := png.Decode(&p)
			if err != nil {
				t.Fatal(err)
			}
			if size := img.Bounds().Size(); size.X < 1000 || size.Y < 500 {
				t.Errorf("the picture has only %v pixels", size)
			}
			if err := Plot(&s, "svg", sampleMachine, tables); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(s.String(), ",Arial,Helvetica,sans-serif;") {
				t.Error("the text has no typeface on machines without Liberation Sans")
			}
			text := svgText(t, &s)
			if !slices.ContainsFunc(text, func(s string) bool { return strings.Contains(s, "Test CPU") }) {
				t.Errorf("no machine among %q", text)
			}
			want := "bus bandwidth (GB/s)"
			if name == "one rank" {
				want = "algorithm bandwidth (GB/s)"
			}
			if !slices.Contains(text, want) {
				t.Errorf("no %q among %q", want, text)
			}
		})
	}
}

// svgText returns the text elements of an SVG, which must be well formed.
func svgText(t *testing.T, r io.Reader) (text []string) {
	t.Helper()
	dec := xml.NewDecoder(r)
	within := ""
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return text
		}
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			within = tok.Name.Local
		case xml.EndElement:
			within = ""
		case xml.CharData:
			if within == "text" {
				text = append(text, string(tok))
			}
		}
	}
}

func TestPlotRefuses(t *testing.T) {
	if err := Plot(io.Discard, "gif", sampleMachine, sampleTables()); err == nil {
		t.Error("a gif was drawn")
	}
	empty := []Table{{Rows: []Row{{Size: 0, OutOfPlace: &Measurement{Time: 1}}}}}
	if err := Plot(io.Discard, "png", sampleMachine, empty); err == nil {
		t.Error("a plot without points was drawn")
	}
}

func TestCurveNames(t *testing.T) {
	tables := sampleTables()
	tables[1].Operation, tables[1].Ranks = "all_reduce", 4
	common, each := names(curves(tables))
	if common != "all_reduce, 4 ranks" {
		t.Errorf("common is %q", common)
	}
	want := []string{"float32, sum, goroutines, ring", "complex128, avg, goroutines, ring", "int64, Open MPI 4.1.4"}
	if !slices.Equal(each, want) {
		t.Errorf("got %q, want %q", each, want)
	}
}
