package solve_test

import (
	"math"
	"testing"

	"github.com/golops/golops/solve"
)

// lCurve has trials of falling weights: what is left falls steeply while the model is
// small, and hardly once it grows, from the fourth on.
func lCurve() []solve.Trial {
	return []solve.Trial{{1, 0.9, 1}, {0.3, 0.4, 2}, {0.1, 0.15, 3}, {0.03, 0.06, 4}, {0.01, 0.055, 20}, {0.003, 0.05, 40}}
}

func TestCorner(t *testing.T) {
	if w := solve.Corner(lCurve()); w != 0.03 {
		t.Errorf("the corner is at %g, want 0.03", w)
	}
	for n, want := range []float64{0, 1, 0.3} { // of too few trials
		if w := solve.Corner(lCurve()[:n]); w != want {
			t.Errorf("%d trials: %g, want %g", n, w, want)
		}
	}
	if w := solve.Corner([]solve.Trial{{1, 0.5, 2}, {0.5, 0.5, 2}, {0.1, 0.5, 2}}); w != 0.1 {
		t.Errorf("of equal trials it is %g, want the last", w)
	}
}

func TestDiscrepancy(t *testing.T) {
	all := lCurve()
	for noise, want := range map[float64]float64{0.95: 1, 0.9: 1, 0.4: 0.3, 0.06: 0.03, 0.01: 0} {
		if w := solve.Discrepancy(all, noise); !(math.Abs(w-want) <= 1e-12) {
			t.Errorf("noise %g: %g, want %g", noise, w, want)
		}
	}
	// Half way between two trials, in logarithms.
	if w, want := solve.Discrepancy(all, math.Sqrt(0.4*0.15)), math.Sqrt(0.3*0.1); math.Abs(w-want) > 1e-12 {
		t.Errorf("between two trials it is %g, want %g", w, want)
	}
	if w := solve.Discrepancy(nil, 0.1); w != 0 {
		t.Errorf("of no trials it is %g", w)
	}
}
