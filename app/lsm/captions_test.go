package lsm

import (
	"strings"
	"testing"

	"github.com/golops/golops/ops/wave"
)

// Captions say what is true of the run: each clause only where it holds.
func TestCaptions(t *testing.T) {
	truth := []float64{0, 1, 0, 2}
	good, poor := []float64{0, 2, 0, 4.1}, []float64{1, 1, 0, 1}
	grid := wave.Grid{X: wave.Axis{N: 2, Step: 1}, Z: wave.Axis{N: 2, Step: 1}}
	for _, v := range []struct {
		name  string
		job   Job
		seen  pictureData
		iters int
		want  string
		not   []string
	}{
		{"improved", Job{Reflectivity: truth}, pictureData{adjoint: poor, inverse: good}, 5, "The inverse is more like the true reflectivity: its correlation with it is 1.000, that of the adjoint 0.775.", nil},
		{"no better", Job{Reflectivity: truth}, pictureData{adjoint: good, inverse: poor}, 5, "Its correlation with the true reflectivity is 1.000, that of the inverse 0.775.", []string{"more like"}},
		{"own data", Job{}, pictureData{adjoint: good, inverse: poor}, 5, "The inverse leaves 0.25 of the data unexplained.", []string{"true"}},
		{"no iteration", Job{Reflectivity: truth}, pictureData{adjoint: good, inverse: make([]float64, 4)}, 0, "No iteration was made", []string{"like", "true", "NaN"}},
	} {
		v.job.Grid = grid
		text := v.job.imagesCaption(v.seen, v.iters, 0.25)
		if !strings.Contains(text, v.want) {
			t.Errorf("%s: got %q, want %q", v.name, text, v.want)
		}
		for _, n := range v.not {
			if strings.Contains(text, n) {
				t.Errorf("%s: %q speaks of %q", v.name, text, n)
			}
		}
	}
	for _, v := range []struct {
		set    func(c *Config)
		want   string
		smooth bool
	}{
		{func(c *Config) {}, "through this model, smoothed over 9 points.", true},
		{func(c *Config) { c.Velocity.Smooth = 0 }, "through this model.", false},
		{func(c *Config) { c.Velocity.Smooth = 1 }, "through this model.", false},
		{func(c *Config) { c.Velocity.Constant = 2000 }, "straight rays", false},
		{func(c *Config) { c.Operator.Times = "tables" }, "come from files, not from this model", false},
	} {
		j := Job{Config: Default(), Grid: grid}
		v.set(&j.Config)
		if text := j.velocityCaption(); !strings.Contains(text, v.want) || strings.Contains(text, "smoothed") != v.smooth {
			t.Errorf("got %q, want %q", text, v.want)
		}
	}
	j := Job{Config: Default(), Grid: wave.Grid{Y: wave.Axis{N: 5, Step: 10}, X: grid.X, Z: grid.Z}}
	if text := j.velocityCaption(); !strings.HasSuffix(text, " The section is at y = 20 m.") {
		t.Errorf("3-D: got %q", text)
	}
}

// Receivers count from 1, as sources and messages do.
func TestGatherCountsFromOne(t *testing.T) {
	j := Job{Config: Default(), Sources: make([]wave.Point, 3), Receivers: make([]wave.Point, 4)}
	if g := j.gatherPicture(pictureData{source: 1}); g.X.Origin != 1 || g.Title != "Shot gather of source 2 of 3" {
		t.Errorf("receivers begin at %g, title %q", g.X.Origin, g.Title)
	}
}
