package lsm

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/app"
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
	if w.Ignore || w == (Words{}) {
		for i := range j.traces.trace {
			j.traces.trace[i] = i
		}
	}
	switch {
	case w.Ignore && w != (Words{Ignore: true}):
		return errors.New("data.segy names header words and says ignore: do one of these")
	case w.Ignore:
		return nil
	case w == (Words{}):
		return j.compareHeaders(s, path)
	case w.SourceX == "" || w.ReceiverX == "":
		return errors.New("data.segy needs source_x and receiver_x, or none at all")
	}
	return j.sortTraces(s, path, w)
}

// compareHeaders looks whether the coordinates that the standard provides for
// agree with the geometry. If they do in another order, that order is used. Words
// that are zero in all traces say nothing, and y says nothing in two dimensions.
func (j *Job) compareHeaders(s *data.SEGY, path string) error {
	at, err := standardCoordinates(s)
	if err != nil {
		return fmt.Errorf("%s: %w", app.Shown(path), err)
	}
	set := [4]bool{}
	for _, c := range at {
		for k := range c {
			set[k] = set[k] || c[k] != 0
		}
	}
	if j.Grid.Dims() == 2 {
		set[1], set[3] = false, false
	}
	if set == [4]bool{} {
		return nil
	}
	first := slices.IndexFunc(j.traces.trace, func(i int) bool { return !j.agrees(at[i], i, set) })
	if first < 0 {
		return nil
	}
	w := Words{Scalar: data.CoordinateScalar.Name}
	for k, to := range []*string{&w.SourceX, &w.SourceY, &w.ReceiverX, &w.ReceiverY} {
		if set[k] || k%2 == 0 {
			*to = standardWords[k].Name
		}
	}
	if set[0] && set[2] && j.sortTraces(s, path, w) == nil {
		j.warn("%s: traces are not in the order of the geometry: each goes to the source and the receiver that its header words %s and %s name", app.Shown(path), w.SourceX, w.ReceiverX)
		return nil
	}
	c, p, r := at[first], j.Sources[first/len(j.Receivers)], j.Receivers[first%len(j.Receivers)]
	return fmt.Errorf("%s: headers contradict the geometry: trace %d has its source at (%g, %g) and its receiver at (%g, %g) by the words %s, %s, %s, %s and %s; in the order of the geometry they are at (%g, %g) and (%g, %g): mend the geometry, name other words in data.segy, or set data.segy.ignore to true if the headers are wrong",
		app.Shown(path), first+1, c[0], c[1], c[2], c[3], standardWords[0].Name, standardWords[1].Name, standardWords[2].Name, standardWords[3].Name, data.CoordinateScalar.Name, p.X, p.Y, r.X, r.Y)
}

// standardWords hold coordinates of source and receiver by the standard.
var standardWords = [4]data.Word{data.SourceX, data.SourceY, data.GroupX, data.GroupY}

// standardCoordinates returns x and y of the source and of the receiver of every
// trace.
func standardCoordinates(s *data.SEGY) ([][4]float64, error) {
	at := make([][4]float64, s.NumTraces())
	for i := range at {
		for k := 0; k < 4; k += 2 {
			x, y, err := s.Coordinates(i, standardWords[k], standardWords[k+1])
			if err != nil {
				return nil, err
			}
			at[i][k], at[i][k+1] = x, y
		}
	}
	return at, nil
}

// agrees reports whether coordinates are those of a pair of source and receiver,
// within half a grid step, as far as they are set.
func (j *Job) agrees(c [4]float64, pair int, set [4]bool) bool {
	s, r := j.Sources[pair/len(j.Receivers)], j.Receivers[pair%len(j.Receivers)]
	for k, x := range [4]float64{s.X, s.Y, r.X, r.Y} {
		step := j.Grid.X.Step
		if k%2 == 1 {
			step = j.Grid.Y.Step
		}
		if set[k] && !(math.Abs(c[k]-x) < step/2) {
			return false
		}
	}
	return true
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
