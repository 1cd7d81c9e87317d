package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Timings are how long each rank spent on what.
type Timings struct {
	Phases []string // such as "forward", "adjoint", "communication"
	Ranks  []RankTimes
}

// RankTimes are the seconds of one rank in each phase.
type RankTimes struct {
	Rank    int
	Where   string // device and machine; may be empty
	Seconds []float64
}

func (t Timings) check() error {
	var errs []error
	for _, r := range t.Ranks {
		if len(r.Seconds) != len(t.Phases) {
			errs = append(errs, fmt.Errorf("rank %d has %d times for %d phases", r.Rank, len(r.Seconds), len(t.Phases)))
		}
		for i, s := range r.Seconds {
			if math.IsNaN(s) || math.IsInf(s, 0) || s < 0 {
				errs = append(errs, fmt.Errorf("time %d of rank %d is %g seconds", i+1, r.Rank, s))
			}
		}
	}
	return errors.Join(errs...)
}

// many ranks are shown folded, after the fastest, the middle and the slowest.
const many = 24

// timingsView is what the template shows.
type timingsView struct {
	Phases []phaseView
	Ranks  []rankView // those to be seen at once
	Rest   []rankView // all, if those are not all
	Where  bool       // some rank says where it ran
}

// phaseView is a phase with the number of its colour.
type phaseView struct {
	Name  string
	Color int
}

type rankView struct {
	Name, Where, Total string
	Cells              []cellView
}

// cellView is a time, and its share of the bar that the slowest rank fills.
type cellView struct {
	Phase, Text string
	Color       int
	Percent     float64
}

// phaseColors is how many the style sheet has.
const phaseColors = 7

func (t Timings) view() (v timingsView) {
	for i, p := range t.Phases {
		v.Phases = append(v.Phases, phaseView{p, i % phaseColors})
	}
	longest := 0.0
	for _, r := range t.Ranks {
		longest = max(longest, sum(r.Seconds))
		v.Where = v.Where || r.Where != ""
	}
	row := func(name string, r RankTimes) rankView {
		w := rankView{Name: name, Where: r.Where, Total: formatSeconds(sum(r.Seconds))}
		for i, s := range r.Seconds {
			c := cellView{Phase: t.Phases[i], Text: formatSeconds(s), Color: i % phaseColors}
			if longest > 0 {
				c.Percent = math.Round(s/longest*1e4) / 100
			}
			w.Cells = append(w.Cells, c)
		}
		return w
	}
	var all []rankView
	for _, r := range t.Ranks {
		all = append(all, row(fmt.Sprint(r.Rank), r))
	}
	if len(all) <= many {
		v.Ranks = all
		return v
	}
	order := slices.Clone(t.Ranks)
	slices.SortStableFunc(order, func(a, b RankTimes) int {
		switch x, y := sum(a.Seconds), sum(b.Seconds); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for _, k := range []struct {
		name string
		r    RankTimes
	}{{"fastest", order[0]}, {"median", order[len(order)/2]}, {"slowest", order[len(order)-1]}} {
		v.Ranks = append(v.Ranks, row(fmt.Sprintf("%s, %d", k.name, k.r.Rank), k.r))
	}
	v.Rest = all
	return v
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}
