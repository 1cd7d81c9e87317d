package ops

import (
	"slices"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
)

// fourierStage transforms along axes that are whole in its layout.
type fourierStage struct {
	in, wide, out *dist.Space // samples as they come, with zeros behind them, coefficients
	axes          []int       // of a stage of real samples, the one with half of the coefficients last
	real          bool
}

// transform describes the transforms of this rank's block.
func (s *fourierStage) transform() *device.DFT {
	return &device.DFT{Dims: s.wide.LocalShape().Dims(), Axes: s.axes, Real: s.real}
}

// fourierStages returns the stages of a transform of x along axes with so many samples.
// If half is set, samples are real, and the last axis comes in the first stage.
func fourierStages(x *dist.Space, axes, samples []int, o FFTOptions, half bool) (stages []fourierStage, err error) {
	todo := slices.Clone(axes)
	last := axes[len(axes)-1]
	for len(todo) > 0 {
		var now []int
		for _, a := range todo {
			if collected(x, a) >= 0 {
				now = append(now, a)
			}
		}
		first := half && len(stages) == 0
		if len(now) == 0 || first && !slices.Contains(now, last) {
			need := todo
			if first {
				need = []int{last}
			}
			if x, err = x.Like(wholeLayout(x, need, todo), x.Shape().Dims()...); err != nil {
				return nil, err
			}
			continue
		}
		s := fourierStage{in: x, wide: x, real: first, axes: now}
		for _, a := range now {
			if s.wide, err = extended(s.wide, a, samples[slices.Index(axes, a)]); err != nil {
				return nil, err
			}
		}
		s.out = s.wide
		if first {
			if s.out, err = extended(s.wide, last, samples[len(samples)-1]/2+1); err != nil {
				return nil, err
			}
		}
		stages = append(stages, s)
		todo = slices.DeleteFunc(todo, func(a int) bool { return slices.Contains(now, a) })
		x = s.out
	}
	return stages, nil
}

// collected returns the place that has all rows of an axis, 0 if the axis is not split,
// and -1 if several places have rows.
func collected(x *dist.Space, axis int) int {
	_, counts := x.SplitBy(axis)
	place := 0
	for i, n := range counts {
		if n == x.Shape().Dim(axis) {
			return i
		}
		place = -1
	}
	return place
}

// extended returns x with n rows along an axis. Ranks keep their rows where the number of
// all stays the same.
func extended(x *dist.Space, axis, n int) (*dist.Space, error) {
	_, counts := x.SplitBy(axis)
	switch place := collected(x, axis); {
	case n == x.Shape().Dim(axis):
		return x, nil
	case counts != nil && place >= 0:
		clear(counts)
		counts[place] = n
	default:
		counts = nil
	}
	return resized(x, axis, n, counts)
}

// wholeLayout returns a layout in which one of the needed axes is whole, or more. The
// ranks of such an axis split another instead, which is whole: if possible one that is
// not to be transformed any more. If there is none, an axis that is split already gets
// more parts. An array of one axis goes to one rank.
func wholeLayout(x *dist.Space, need, todo []int) dist.Layout {
	l := x.Layout()
	for g, e := range l.Grid {
		if e == 1 { // another grid axis may split its axis
			l.Axes[g], l.Counts[g] = dist.NoAxis, nil
		}
	}
	var spare, split []int // whole axes, and grid axes of others
	for a := range x.Shape().NDim() {
		g, _ := x.SplitBy(a)
		switch {
		case x.Shape().Dim(a) < 2:
		case g == dist.NoAxis:
			spare = append(spare, a)
		default:
			split = append(split, g)
		}
	}
	slices.SortStableFunc(spare, func(a, b int) int {
		if ta, tb := slices.Contains(todo, a), slices.Contains(todo, b); ta != tb {
			if ta {
				return 1
			}
			return -1
		}
		return x.Shape().Dim(b) - x.Shape().Dim(a)
	})
	moved := false
	for _, a := range need {
		if g, _ := x.SplitBy(a); len(spare) > 0 {
			l.Axes[g], l.Counts[g] = spare[0], nil
			spare, moved = spare[1:], true
		}
	}
	if moved {
		return l
	}
	g, counts := x.SplitBy(need[0])
	split = slices.DeleteFunc(split, func(h int) bool { return h == g })
	if len(split) > 0 {
		h := slices.MaxFunc(split, func(a, b int) int { return x.Shape().Dim(l.Axes[a]) - x.Shape().Dim(l.Axes[b]) })
		l.Grid[h] *= l.Grid[g]
		l.Counts[h] = nil
		l.Grid[g], l.Axes[g], l.Counts[g] = 1, dist.NoAxis, nil
		return l
	}
	clear(counts)
	counts[0] = x.Shape().Dim(need[0])
	l.Counts[g] = counts
	return l
}
