package app

import (
	"math"
	"testing"

	"github.com/golops/golops/solve"
)

// An image that is worth something is kept, however the solver ended.
func TestUselessImage(t *testing.T) {
	for _, c := range []struct {
		out       solve.Result
		reduction float64
		want      bool
	}{
		{solve.Result{Status: solve.MaxIter, Iters: 5}, 0.3, false},
		{solve.Result{Status: solve.Converged}, 0, false},
		{solve.Result{Status: solve.Diverged, Iters: 5, Why: "it grew"}, 0.3, false},
		{solve.Result{Status: solve.Diverged, Iters: 5, Why: "it grew"}, 2, true},
		{solve.Result{Status: solve.Diverged, Iters: 5, Why: "NaN"}, math.NaN(), true},
		{solve.Result{Status: solve.Breakdown, Why: "at once"}, 1, true},
		{solve.Result{Status: solve.IllConditioned, Iters: 7, Why: "singular"}, 0.9, false},
	} {
		if got := useless(c.out, c.reduction); got != c.want {
			t.Errorf("%v after %d, %g: got %t", c.out.Status, c.out.Iters, c.reduction, got)
		}
	}
}
