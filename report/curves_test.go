package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

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

func TestCurvesSVG(t *testing.T) {
	c := Curves{
		Title: "Residual <of> a & b", X: "iteration", Y: "norm",
		Curves: []Curve{{Name: "CG", Y: []float64{10, 1e-5}}, {Name: "CGLS", Y: []float64{9, 1e-4}}},
	}
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), ",Arial,Helvetica,sans-serif;") {
		t.Error("the text has no typeface on machines without Liberation Sans")
	}
	text := svgText(t, &b)
	for _, want := range []string{c.Title, "iteration", "norm", "CG", "CGLS", "10", "−4", "0.1"} {
		if !slices.Contains(text, want) {
			t.Errorf("no %q among %q", want, text)
		}
	}
}

func TestRuns(t *testing.T) {
	want := []run{{"a × 10", false}, {"−12", true}, {" m", false}}
	if got := runs("a\n× 10⁻¹² m"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := superscript(-305); got != "⁻³⁰⁵" {
		t.Errorf("got %q", got)
	}
}

func TestPointsOutside(t *testing.T) {
	p := Points{Name: "sources", X: []float64{-1, 0, 10, 11}, Y: []float64{5, 0, 10, 5}}
	xy := p.inside(span{0, 10}, span{0, 10}, 100, 100)
	if want := []float64{0, 0, 100, 100}; !slices.Equal(xy, want) {
		t.Errorf("got %v, want %v", xy, want)
	}
	if got, want := p.legend(len(xy)/2), "sources (2 of 4 outside)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
