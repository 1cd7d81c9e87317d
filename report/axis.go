package report

import (
	"fmt"
	"math"
)

// Automatic leaves a number to package report: an Axis.Step, a Scale.Clip, an
// Aspect, Columns, a Width, an interval between lines.
const Automatic = 0

// Axis is the physical coordinate of rows or columns. The zero value counts
// samples from 0.
type Axis struct {
	Label  string  // such as "depth"
	Unit   string  // such as "m"; empty means none
	Origin float64 // coordinate of the first sample
	Step   float64 // from one sample to the next, or Automatic: samples are counted
}

func (a Axis) check(name string) error {
	if math.IsNaN(a.Origin) || math.IsInf(a.Origin, 0) || math.IsNaN(a.Step) || math.IsInf(a.Step, 0) || a.Step < 0 {
		return fmt.Errorf("%s axis from %g in steps of %g: the origin must be finite, the step positive and finite", name, a.Origin, a.Step)
	}
	return nil
}

func (a Axis) step() float64 {
	if a.Step == 0 {
		return 1
	}
	return a.Step
}

// extent is what n samples cover, each with half a step on either side.
func (a Axis) extent(n int) span {
	lo := a.Origin - a.step()/2
	return span{lo, lo + float64(n)*a.step()}
}

// title is the label with the unit and a factor of all numbers.
func (a Axis) title(factor string) string { return withUnit(a.Label, a.Unit, factor) }

func withUnit(label, unit, factor string) string {
	both := factor
	if factor != "" && unit != "" {
		both += " "
	}
	both += unit
	switch {
	case both == "":
		return label
	case label == "":
		return both
	}
	return label + " (" + both + ")"
}

// ticks puts labels at round numbers. Where an axis counts samples, none lies
// between two of them.
func (a Axis) ticks(e span, most int) ([]tick, string) {
	least := 0.0
	if a.Unit == "" && a.step() == 1 && a.Origin == math.Trunc(a.Origin) {
		least = 1
	}
	return linearTicks(e.lo, e.hi, most, least)
}
