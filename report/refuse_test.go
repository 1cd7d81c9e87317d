package report

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestGridOf(t *testing.T) {
	g, err := GridOf(2, 3, []float32{1, 2, 3, 4, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	if g.At(1, 0) != 4 || g.T().At(0, 1) != 4 || g.T().Rows != 3 || g.T().Cols != 2 {
		t.Errorf("a value is not where it should be: %g, %g", g.At(1, 0), g.T().At(0, 1))
	}
	for _, c := range [][2]int{{2, 2}, {-2, -3}, {-1, 6}, {1 << 32, 1 << 32}} {
		if _, err := GridOf(c[0], c[1], make([]float64, 6)); err == nil {
			t.Errorf("a grid of %v has 6 values", c)
		}
	}
}

// TestRefuses holds that what cannot be drawn is an error that says why.
func TestRefuses(t *testing.T) {
	nan := math.NaN()
	good := Grid{2, 2, func(r, c int) float64 { return float64(r + c) }}
	for _, c := range []struct {
		name string
		draw func(io.Writer) error
		want string
	}{
		{"empty", Picture{Title: "model"}.PNG, `report: draw "model": picture 1, "model": an array of 0 rows and 0 columns has nothing to draw`},
		{"no values", Picture{Data: Grid{2, 2, nil}}.PNG, "At is nil"},
		{"step", Picture{Data: good, X: Axis{Step: -1}}.PNG, "x axis from 0 in steps of -1"},
		{"origin", Picture{Data: good, Y: Axis{Origin: nan}}.PNG, "y axis from NaN"},
		{"range", Picture{Data: good, Scale: Scale{Min: 2, Max: 1}}.PNG, "colours from 2 to 1"},
		{"infinite range", Picture{Data: good, Scale: Scale{Min: 0, Max: math.Inf(1)}}.PNG, "both ends must be finite"},
		{"clip", Picture{Data: good, Scale: Scale{Clip: 101}}.PNG, "clip at percentile 101"},
		{"map", Picture{Data: good, Map: -1}.PNG, "unknown colour map -1"},
		{"aspect", Picture{Data: good, Aspect: -2}.PNG, "aspect is -2"},
		{"points", Picture{Data: good, Points: []Points{{Name: "sources", X: []float64{1}}}}.PNG, `points "sources" have 1 values of X and 0 of Y`},
		{"marker", Picture{Data: good, Points: []Points{{Name: "a", Marker: 9}}}.PNG, "unknown marker 9"},
		{"no pictures", Panels{Title: "all"}.PNG, `report: draw "all": there are no pictures`},
		{"columns", Panels{Pictures: []Picture{{Data: good}}, Columns: -1}.PNG, "there are -1 columns"},
		{"scaling", Panels{Pictures: []Picture{{Data: good}}, Scaling: 8}.PNG, "unknown scaling 8"},
		{"no curve", Curves{Title: "r"}.PNG, `report: draw "r": no value can be shown`},
		{"zeros", ResidualCurve([]float64{0, -1, nan}).SVG, "no value can be shown"},
		{"lengths", Curves{Curves: []Curve{{"c", []float64{1}, []float64{1, 2}}}}.PNG, `curve 1, "c", has 1 values of X and 2 of Y`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.draw(io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
	// Every fault at once.
	err := Picture{Data: good, Aspect: -2, Scale: Scale{Clip: 3}}.PNG(io.Discard)
	if s := err.Error(); !strings.Contains(s, "aspect") || !strings.Contains(s, "clip") {
		t.Errorf("error is %v", err)
	}
}

var errFull = errors.New("disk full")

// full is a writer that fails after a number of bytes.
type full int

func (f *full) Write(b []byte) (int, error) {
	if *f -= full(len(b)); *f < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrorsAreReturned(t *testing.T) {
	p := Picture{Title: "model", Data: Grid{2, 2, func(r, c int) float64 { return 1 }}}
	curve := ResidualCurve([]float64{2, 1})
	for name, draw := range map[string]func(io.Writer) error{"png": p.PNG, "svg": curve.SVG, "html": Page{Title: "model"}.HTML} {
		for _, room := range []full{0, 40} {
			if err := draw(&room); !errors.Is(err, errFull) {
				t.Errorf("%s: error is %v", name, err)
			}
		}
	}
}
