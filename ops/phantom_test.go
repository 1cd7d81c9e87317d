package ops_test

import (
	"math"
	"testing"

	"github.com/golops/golops/ops"
)

// The head has the values of its parts: skull, brain, ventricles, tumour and air.
func TestSheppLogan(t *testing.T) {
	const n = 200
	for what, c := range map[string]struct {
		row, col int
		want     float64
	}{
		"air": {5, 5, 0}, "skull": {100, 32, 1}, "brain": {150, 80, 0.2}, "right ventricle": {100, 122, 0}, "left ventricle": {100, 78, 0},
		"large tumour": {60, 100, 0.3}, "small tumour": {110, 100, 0.3},
	} {
		if got := ops.SheppLogan(n, c.row, c.col); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", what, got, c.want)
		}
	}
	// The mean of all pixels is that of the areas of the ellipses.
	sum := 0.0
	for i := range n * n {
		sum += ops.SheppLogan(n, i/n, i%n)
	}
	area := math.Pi / 4 * (0.69*0.92 - 0.8*0.6624*0.874 - 0.2*0.11*0.31 - 0.2*0.16*0.41 + 0.1*(0.21*0.25+2*0.046*0.046+2*0.046*0.023+0.023*0.023))
	if mean := sum / (n * n); math.Abs(mean-area) > 1e-4 {
		t.Errorf("the mean is %g, want %g", mean, area)
	}
}
