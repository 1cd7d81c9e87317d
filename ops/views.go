package ops

import (
	"cmp"
	"math"
	"slices"
)

// ring is the views of a tomograph in the order of their angles. Angles repeat after a
// turn.
type ring struct {
	turn  float64
	views []int
	at    []float64 // their angles, from 0 to turn
	usual float64   // the median distance between two neighbours
}

func newRing(angles []float64, turn float64) *ring {
	r := &ring{turn: turn}
	for i := range angles {
		r.views = append(r.views, i)
	}
	slices.SortStableFunc(r.views, func(i, k int) int { return cmp.Compare(r.turned(angles[i]), r.turned(angles[k])) })
	for _, i := range r.views {
		r.at = append(r.at, r.turned(angles[i]))
	}
	var gaps []float64
	for k := range r.at {
		gaps = append(gaps, r.gap(k))
	}
	if slices.Sort(gaps); len(gaps) > 0 {
		r.usual = gaps[(len(gaps)-1)/2]
	}
	return r
}

// turned returns an angle from 0 to a turn.
func (r *ring) turned(angle float64) float64 {
	return math.Mod(math.Mod(angle, r.turn)+r.turn, r.turn)
}

// gap returns the angle between view k in the order and the next one.
func (r *ring) gap(k int) float64 {
	if k+1 < len(r.at) {
		return r.at[k+1] - r.at[k]
	}
	return r.at[0] + r.turn - r.at[k]
}

// weights returns the angle that each view stands for: half of the way to both its
// neighbours. It is less at the ends of a range without views.
func (r *ring) weights() []float64 {
	n := len(r.at)
	most := 4 * max(r.usual, r.turn/float64(n))
	w := make([]float64, n)
	for k, view := range r.views {
		w[view] = (min(r.gap(k), most) + min(r.gap((k+n-1)%n), most)) / 2
	}
	return w
}

// between returns the views on both sides of an angle, and the weight of the second.
// Nothing is found in a range without views.
func (r *ring) between(angle float64) (views [2]int, w float64, found bool) {
	angle, n := r.turned(angle), len(r.at)
	next, _ := slices.BinarySearch(r.at, angle)
	k := (next + n - 1) % n
	views = [2]int{r.views[k], r.views[next%n]}
	gap, past := r.gap(k), r.turned(angle-r.at[k])
	if gap > 3*max(r.usual, 1e-9) {
		return views, math.Round(past / gap), min(past, gap-past) < 1e-9
	}
	if gap > 0 {
		w = past / gap
	}
	return views, w, true
}
