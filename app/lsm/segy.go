package lsm

import (
	"fmt"
	"math"

	"github.com/golops/golops/data"
	"github.com/golops/golops/ops/wave"
)

// traceOrder says which trace of a SEG-Y file belongs to each pair of source
// and receiver, source after source.
type traceOrder struct{ trace []int }

// checkSEGY looks whether a file has one trace for each pair of source and
// receiver, and where.
func (j *Job) checkSEGY(path string) error {
	s, err := data.OpenSEGY(path)
	if err != nil {
		return err
	}
	defer s.Close()
	pairs := len(j.Sources) * len(j.Receivers)
	switch {
	case s.NumTraces() != pairs:
		return fmt.Errorf("%s has %d traces, the acquisition has %d sources × %d receivers", path, s.NumTraces(), len(j.Sources), len(j.Receivers))
	case s.NumSamples() != j.Config.Time.Samples:
		return fmt.Errorf("%s has %d samples per trace, time.samples is %d", path, s.NumSamples(), j.Config.Time.Samples)
	case s.Interval() != 0 && math.Abs(float64(s.Interval())*1e-6-j.Config.Time.Interval) > 1e-6:
		return fmt.Errorf("%s has samples every %d µs, time.interval is %g s", path, s.Interval(), j.Config.Time.Interval)
	}
	j.traces = &traceOrder{trace: make([]int, pairs)}
	w := j.Config.Data.Words
	if w == (Words{}) {
		for i := range j.traces.trace {
			j.traces.trace[i] = i
		}
		return nil
	}
	if w.SourceX == "" || w.ReceiverX == "" {
		return fmt.Errorf("data.segy names %+v: needs source_x and receiver_x, or none at all", w)
	}
	return j.sortTraces(s, path, w)
}

// sortTraces finds the source and the receiver of each trace by coordinates.
func (j *Job) sortTraces(s *data.SEGY, path string, w Words) error {
	for i := range j.traces.trace {
		j.traces.trace[i] = -1
	}
	for i := range s.NumTraces() {
		var at [4]float64
		for k, name := range []string{w.SourceX, w.SourceY, w.ReceiverX, w.ReceiverY} {
			var err error
			if at[k], err = coordinate(s, i, name, w.Scalar); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		src := nearest(j.Sources, at[0], at[1], w.SourceY != "", j.Grid.X.Step)
		rec := nearest(j.Receivers, at[2], at[3], w.ReceiverY != "", j.Grid.X.Step)
		if src < 0 || rec < 0 {
			return fmt.Errorf("%s: trace %d has its source at x = %g and its receiver at x = %g: the geometry has none within half a grid step there", path, i+1, at[0], at[2])
		}
		p := src*len(j.Receivers) + rec
		if j.traces.trace[p] >= 0 {
			return fmt.Errorf("%s: traces %d and %d are both of source %d and receiver %d", path, j.traces.trace[p]+1, i+1, src+1, rec+1)
		}
		j.traces.trace[p] = i
	}
	return nil // as many traces as pairs, none twice: all are there
}

func coordinate(s *data.SEGY, trace int, name, scalar string) (float64, error) {
	if name == "" {
		return 0, nil
	}
	w, err := data.ParseWord(name)
	if err != nil {
		return 0, err
	}
	if scalar == "" {
		v, err := s.Header(trace, w)
		return float64(v), err
	}
	sc, err := data.ParseWord(scalar)
	if err != nil {
		return 0, err
	}
	return s.Scaled(trace, w, sc)
}

// nearest returns the point at x, and y if it counts, within half a step; -1 if
// there is none.
func nearest(points []wave.Point, x, y float64, withY bool, step float64) int {
	best, at := step/2, -1
	for i, p := range points {
		d := math.Abs(p.X - x)
		if withY {
			d = math.Hypot(d, p.Y-y)
		}
		if d < best {
			best, at = d, i
		}
	}
	return at
}
