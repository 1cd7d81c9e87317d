package solve

import "math"

// Trial is one weight of a regularisation that was tried: what it leaves of the data, and
// how large the model is that it gives.
type Trial struct{ Weight, Left, Size float64 }

// Corner chooses a weight by the L-curve, from trials in the order of falling weights. It
// returns that where the curve, of what is left, as a logarithm, against the size of the
// model, turns from steep to flat: the trial farthest below the line from where the curve
// is steepest to its end. Of fewer than three trials it is the last, of none 0.
func Corner(trials []Trial) float64 {
	if len(trials) == 0 {
		return 0
	}
	end := trials[len(trials)-1]
	if len(trials) < 3 {
		return end.Weight
	}
	slope := func(a, b Trial) float64 { return math.Log(b.Left/a.Left) / nonzero(b.Size-a.Size) }
	steep := 0
	for i := 1; i+1 < len(trials); i++ {
		if slope(trials[i], trials[i+1]) < slope(trials[steep], trials[steep+1]) {
			steep = i
		}
	}
	best, weight, from := 0.0, end.Weight, trials[steep]
	mean := slope(from, end)
	for _, t := range trials[steep:] {
		if below := math.Log(from.Left/t.Left) + mean*(t.Size-from.Size); below > best {
			best, weight = below, t.Weight
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

// Discrepancy chooses a weight by what is known of the noise, from trials in the order of
// falling weights. It returns the largest that leaves at most noise of the data, 0 if none
// does. Between trials it interpolates, in logarithms.
func Discrepancy(trials []Trial, noise float64) float64 {
	for i, t := range trials {
		if t.Left > noise {
			continue
		}
		if i == 0 {
			return t.Weight
		}
		p := trials[i-1]
		f := (math.Log(noise) - math.Log(t.Left)) / nonzero(math.Log(p.Left)-math.Log(t.Left))
		return math.Exp(math.Log(t.Weight) + f*(math.Log(p.Weight)-math.Log(t.Weight)))
	}
	return 0
}
