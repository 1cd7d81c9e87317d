package reflectivity

import (
	"fmt"
	"math"

	"github.com/golops/golops"
	"github.com/golops/golops/app"
	"github.com/golops/golops/report"
	"github.com/golops/golops/solve"
)

const smallest = 1e-3 // weight that is tried, relative to the largest

// chooseWeight sets the weight, relative to largest, and keeps the trials: what a weight
// leaves of the data, and how large its spikes are. It is collective.
func (s *session[T]) chooseWeight() {
	w := s.Weight
	if s.weight = w.Value; w.Choice == "given" {
		return
	}
	whole, x := s.D.Norm(), s.Models.Space.Zero()
	for k := range w.Trials { // from large to small: each begins where the last ended
		weight := math.Pow(smallest, float64(k+1)/float64(w.Trials))
		golops.FISTA(s.A, s.D, golops.Shrinkage[T]{Eps: weight * s.largest, Alpha: s.alpha}, golops.Config{MaxIter: w.Iterations}, x)
		left := s.A.Apply(x).Minus(s.D).Norm() / whole
		s.trials = append(s.trials, solve.Trial{Weight: weight, Left: left, Size: x.NormP(1)})
	}
	if w.Choice == "l-curve" {
		s.weight = solve.Corner(s.trials)
		return
	}
	if s.weight = solve.Discrepancy(s.trials, w.Noise); s.weight == 0 {
		golops.Check(&app.ConfigError{Err: fmt.Errorf("weight.noise is %g, but even the smallest weight leaves %.3g of the data: give a larger one", w.Noise, s.trials[len(s.trials)-1].Left)})
	}
}

// curve draws what was tried and what was chosen.
func (s *session[T]) curve() app.Picture {
	c := report.Curves{Title: "Choice of the weight", X: "sum of absolute values of the spikes", Y: "what is left of the data"}
	tried, chosen := report.Curve{Name: "weights tried"}, report.Curve{Name: fmt.Sprintf("chosen: %.4f of the largest weight", s.weight)}
	for i, t := range s.trials {
		tried.X, tried.Y = append(tried.X, t.Size), append(tried.Y, t.Left)
		if i+1 == len(s.trials) || s.trials[i+1].Weight < s.weight*(1-1e-9) {
			if len(chosen.X) == 0 { // a short cross
				d := 0.02 * s.trials[len(s.trials)-1].Size
				chosen.X, chosen.Y = []float64{t.Size - d, t.Size + d, t.Size, t.Size, t.Size}, []float64{t.Left, t.Left, t.Left, t.Left * 1.1, t.Left / 1.1}
			}
		}
	}
	c.Curves = []report.Curve{tried, chosen}
	caption := "A small weight explains the noise too, by many spikes; a large one leaves reflections unexplained. The corner lies between."
	if s.Weight.Choice == "discrepancy" {
		caption = fmt.Sprintf("The weight is the largest one that leaves no more than %g of the data, which is noise.", s.Weight.Noise)
	}
	return app.Picture{File: "weights.png", Title: "Choice of the weight", Caption: caption, PNG: c.PNG}
}
