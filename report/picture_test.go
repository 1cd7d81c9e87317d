package report

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestSamples draws what a report holds. Run it with -artifacts to look at the
// files.
func TestSamples(t *testing.T) {
	for name, draw := range map[string]func(io.Writer) error{
		"velocity.png":   sampleVelocity(t).PNG,
		"panels.png":     samplePanels(t).PNG,
		"gather.png":     sampleGather(t, 60).PNG,
		"gather-11.png":  sampleGather(t, 11).PNG,
		"residual.png":   ResidualCurve(sampleResiduals(100)).PNG,
		"residual.svg":   ResidualCurve(sampleResiduals(100)).SVG,
		"residual-8.png": ResidualCurve(sampleResiduals(8)).PNG,
	} {
		t.Run(name, func(t *testing.T) { drawTo(t, name, draw) })
	}
}

// drawTo draws into a file of the test and decodes it again.
func drawTo(t *testing.T, name string, draw func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".png" {
		return
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if s := img.Bounds().Size(); s.X < 200 || s.Y < 100 || s.X > 2600 || s.Y > 2600 {
		t.Errorf("the picture has %v pixels", s)
	}
}

// TestEdges draws what is hard to draw: it must neither panic nor fail. Run it
// with -artifacts to look at the files.
func TestEdges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	grid := func(rows, cols int, f func(r, c int) float64) Grid { return Grid{rows, cols, f} }
	constant := func(v float64) Grid { return grid(5, 8, func(int, int) float64 { return v }) }
	wave := func(r, c int) float64 { return math.Sin(float64(r)/9) * math.Cos(float64(c)/13) }
	shared := Panels{Title: "One scale, one bar, and a title of the whole that is long enough to be cut off if it had less room"}
	each := Panels{Scaling: Each, Columns: 2}
	for i := range 5 {
		p := Picture{Title: fmt.Sprintf("Picture %d with quite a long title", i+1), Data: grid(40, 60, wave), X: sampleX, Y: sampleZ}
		shared.Pictures = append(shared.Pictures, p)
		p.Data = grid(30+10*i, 60, func(r, c int) float64 { return wave(r, c) * math.Pow10(2*i) })
		each.Pictures = append(each.Pictures, p)
	}
	everything := Picture{
		Title: "Not a number and infinities", Smooth: true,
		Data: grid(20, 30, func(r, c int) float64 {
			switch {
			case (r-5)*(r-5)+(c-8)*(c-8) < 9:
				return nan
			case r == 15 && c > 20:
				return inf
			case r == 16 && c > 20:
				return -inf
			}
			return wave(3*r, 3*c)
		}),
		Points: []Points{
			{Name: "a long name of many stars", X: []float64{-1e9, 5, 15, nan}, Y: []float64{3, 3, 4, 4}},
			{Name: "another long name of some triangles", Marker: Triangle, X: []float64{5, 0}, Y: []float64{3, 0}},
			{Name: "dots", Marker: Dot, X: []float64{25}, Y: []float64{8}},
		},
	}
	for name, draw := range map[string]func(io.Writer) error{
		"one.png":        Picture{Data: constant(3)}.PNG,
		"1x1.png":        Picture{Title: "1 × 1", Data: grid(1, 1, func(int, int) float64 { return 7 })}.PNG,
		"zero.png":       Picture{Title: "zeros", Data: constant(0), Map: Seismic}.PNG,
		"nan.png":        Picture{Title: "all NaN", Data: constant(nan)}.PNG,
		"inf.png":        Picture{Title: "all Inf", Data: constant(inf), Map: Gray}.PNG,
		"everything.png": everything.PNG,
		"huge.png":       Picture{Title: "huge", Data: grid(9, 9, func(r, c int) float64 { return math.MaxFloat64 * (float64(r)/4 - 1) })}.PNG,
		"tiny.png":       Picture{Title: "tiny", Data: grid(9, 9, func(r, c int) float64 { return 5e-324 * float64(r*c) })}.PNG,
		"rounding.png":   Picture{Title: "1 and a bit", Data: grid(9, 9, func(r, c int) float64 { return 1 + 1e-15*float64(r) })}.PNG,
		"offset.png":     Picture{Title: "large offset", Data: grid(9, 9, func(r, c int) float64 { return 123456 + float64(r) }), X: Axis{Label: "easting", Unit: "m", Origin: 431250, Step: 12.5}, Y: Axis{Label: "northing", Unit: "m", Origin: 6.4e6, Step: 12.5}}.PNG,
		"tall.png":       Picture{Title: "tall and narrow, with a title that is longer than the picture is wide", Data: grid(300, 3, wave)}.PNG,
		"flat.png":       Picture{Title: "flat", Data: grid(3, 900, wave), Map: Gray}.PNG,
		"thin.png":       Picture{Title: "as flat as asked for", Data: grid(10, 900, wave), Aspect: 0.02, Y: Axis{Label: "a long label of a short axis"}}.PNG,
		"large.png":      Picture{Title: "more samples than pixels", Data: grid(1500, 2000, wave)}.PNG,
		"shared.png":     shared.PNG,
		"each.png":       each.PNG,
		"curve-one.png":  ResidualCurve([]float64{3}).PNG,
		"curve-flat.png": ResidualCurve([]float64{1, 0.9999999, 0.9999998}).PNG,
		"curve-deep.png": ResidualCurve([]float64{1e250, 1, 1e-290, 0}).PNG,
		"curve-many.png": Curves{Title: "Several, linear, with gaps", X: "time (s)", Y: "amplitude", Linear: true, Curves: []Curve{
			{"one", []float64{0, 0.1, 0.2, 0.3}, []float64{1, 2, nan, -4}},
			{"two with a long name", []float64{0, 0.1, 0.2, 0.3}, []float64{3, inf, -4, 2}},
		}}.PNG,
	} {
		t.Run(name, func(t *testing.T) { drawTo(t, name, draw) })
	}
}
