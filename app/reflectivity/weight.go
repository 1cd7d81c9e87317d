package reflectivity

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/report"
	"github.com/golops/golops/solve"
)

// trial is one point of the curve: what a weight leaves of the data, and how large its
// spikes are.
type trial struct{ weight, left, size float64 }

const smallest = 1e-3 // weight that is tried, relative to the largest

// chooseWeight sets the weight, relative to largest, and keeps the trials. It is
// collective.
func (s *session[T]) chooseWeight(ctx context.Context) error {
	w := s.Weight
	if s.weight = w.Value; w.Choice == "given" {
		return nil
	}
	whole, err := dist.Norm(ctx, s.d, 2)
	if err != nil {
		return err
	}
	x, err := dist.New[T](s.v.Space)
	if err != nil {
		return err
	}
	defer x.Free()
	for k := range w.Trials { // from large to small: each begins where the last ended
		t := trial{weight: math.Pow(smallest, float64(k+1)/float64(w.Trials))}
		m := &solve.FISTA[T, T]{Shrinkage: solve.Shrinkage[T]{Eps: t.weight * s.largest, Alpha: s.alpha}}
		if _, err := solve.Run(ctx, m, solve.Problem[T, T]{A: s.op, B: s.d}, x, solve.Config{MaxIter: w.Iterations}); err != nil {
			return err
		}
		y, err := linop.Apply(ctx, s.op, x)
		if err != nil {
			return err
		}
		dist.Sub(y, y, s.d)
		if t.left, err = dist.Norm(ctx, y, 2); err != nil {
			return err
		}
		y.Free()
		t.left /= whole
		if t.size, err = dist.Norm(ctx, x, 1); err != nil {
			return err
		}
		s.trials = append(s.trials, t)
	}
	if w.Choice == "l-curve" {
		s.weight = corner(s.trials)
		return nil
	}
	s.weight = discrepancy(s.trials, w.Noise)
	if s.weight == 0 {
		return &app.ConfigError{Err: fmt.Errorf("weight.noise is %g, but even the smallest weight leaves %.3g of the data: give a larger one", w.Noise, s.trials[len(s.trials)-1].left)}
	}
	return nil
}

// corner returns the weight where the curve, of what is left, as a logarithm, against
// the size of the spikes, turns from steep to flat: the trial farthest below the line
// from where the curve is steepest to its end.
func corner(all []trial) float64 {
	end := all[len(all)-1]
	slope := func(a, b trial) float64 { return math.Log(b.left/a.left) / nonzero(b.size-a.size) }
	steep := 0
	for i := 1; i+1 < len(all); i++ {
		if slope(all[i], all[i+1]) < slope(all[steep], all[steep+1]) {
			steep = i
		}
	}
	best, weight, mean := 0.0, end.weight, slope(all[steep], end)
	for _, t := range all[steep:] {
		if below := math.Log(all[steep].left/t.left) + mean*(t.size-all[steep].size); below > best {
			best, weight = below, t.weight
		}
	}
	return weight
}

func nonzero(v float64) float64 {
	if v == 0 {
		return 1
	}
	return v
}

// discrepancy returns the largest weight that leaves at most noise of the data, 0 if
// none does. Between trials it interpolates, in logarithms.
func discrepancy(all []trial, noise float64) float64 {
	for i, t := range all {
		if t.left > noise {
			continue
		}
		if i == 0 {
			return t.weight
		}
		p := all[i-1]
		f := (math.Log(noise) - math.Log(t.left)) / nonzero(math.Log(p.left)-math.Log(t.left))
		return math.Exp(math.Log(t.weight) + f*(math.Log(p.weight)-math.Log(t.weight)))
	}
	return 0
}

// curve draws what was tried and what was chosen.
func (s *session[T]) curve() app.Picture {
	c := report.Curves{Title: "Choice of the weight", X: "sum of absolute values of the spikes", Y: "what is left of the data"}
	tried, chosen := report.Curve{Name: "weights tried"}, report.Curve{Name: fmt.Sprintf("chosen: %.4f of the largest weight", s.weight)}
	for i, t := range s.trials {
		tried.X, tried.Y = append(tried.X, t.size), append(tried.Y, t.left)
		if i+1 == len(s.trials) || s.trials[i+1].weight < s.weight*(1-1e-9) {
			if len(chosen.X) == 0 { // a short cross
				d := 0.02 * s.trials[len(s.trials)-1].size
				chosen.X, chosen.Y = []float64{t.size - d, t.size + d, t.size, t.size, t.size}, []float64{t.left, t.left, t.left, t.left * 1.1, t.left / 1.1}
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
