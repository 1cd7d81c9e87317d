package lsm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops/wave"
)

// Numbers outside these limits are probably in other units.
const (
	slowest, fastest = 100, 20000 // m/s
	longestInterval  = 0.1        // s
	leastCover       = 0.01       // of the model, by sources and receivers
)

// checkUnits warns of numbers that are possible but strange.
func (j *Job) checkUnits() {
	lo, hi := slices.Min(j.Velocity), slices.Max(j.Velocity)
	if lo < slowest {
		j.warn("velocities are %g to %g m/s: are they in km/s?", lo, hi)
	} else if hi > fastest {
		j.warn("velocities are %g to %g m/s: are they in other units?", lo, hi)
	}
	if dt := j.Config.Time.Interval; dt > longestInterval {
		j.warn("time.interval is %g s%s", dt, milliseconds(dt))
	}
	all := slices.Concat(j.Sources, j.Receivers)
	cover := func(a wave.Axis, x func(wave.Point) float64) (from, to float64, part float64) {
		from, to = math.Inf(1), math.Inf(-1)
		for _, p := range all {
			from, to = min(from, x(p)), max(to, x(p))
		}
		return from, to, (to - from) / (a.At(a.N-1) - a.At(0))
	}
	from, to, part := cover(j.Grid.X, func(p wave.Point) float64 { return p.X })
	if j.Grid.Dims() == 3 {
		_, _, y := cover(j.Grid.Y, func(p wave.Point) float64 { return p.Y })
		part = max(part, y)
	}
	if part < leastCover {
		j.warn("sources and receivers lie between x = %g and %g m of a model of %g m: is the geometry in km?", from, to, j.Grid.X.At(j.Grid.X.N-1)-j.Grid.X.At(0))
	}
}

// milliseconds asks whether an interval is in them.
func milliseconds(interval float64) string {
	if interval > longestInterval {
		return ": is time.interval in milliseconds? It is in seconds"
	}
	return ""
}

// record returns the data, unless they are zero everywhere. It is collective.
func (s *session[T]) record(ctx context.Context) (dist.Array[T], error) {
	d, err := s.data(ctx)
	if err == nil {
		err = s.checkData(ctx, d)
	}
	return d, err
}

// migrate returns the adjoint of data, unless it is zero. It is collective.
func (s *session[T]) migrate(ctx context.Context, d dist.Array[T]) (dist.Array[T], error) {
	adj, err := linop.Apply(ctx, linop.H(s.op), d)
	if err == nil {
		err = s.checkAdjoint(ctx, adj)
	}
	return adj, err
}

// checkData refuses data that are zero everywhere. It is collective. All ranks
// return the same error, an *app.ConfigError.
func (s *session[T]) checkData(ctx context.Context, d dist.Array[T]) error {
	n, err := dist.Norm(ctx, d, math.Inf(1))
	if err != nil || n != 0 {
		return err
	}
	if s.Config.Data.File == "" {
		return &app.ConfigError{Err: fmt.Errorf("modelled data are zero everywhere: %w", s.whyZero())}
	}
	err = fmt.Errorf("data are zero everywhere in %s", app.Shown(s.Config.Data.File))
	if s.Config.Operator.Type == "float32" {
		err = fmt.Errorf("%w, as float32, which has nothing below 1e-45: scale them, or use --type float64", err)
	}
	return &app.ConfigError{Err: err}
}

// checkAdjoint refuses a survey whose operator is zero: no image explains the data.
// It is collective. All ranks return the same error, an *app.ConfigError.
func (s *session[T]) checkAdjoint(ctx context.Context, adj dist.Array[T]) error {
	n, err := dist.Norm(ctx, adj, math.Inf(1))
	if err != nil || n != 0 {
		return err
	}
	return &app.ConfigError{Err: fmt.Errorf("the migrated image is zero everywhere: %w", s.whyZero())}
}

// whyZero says why no travel time falls into the data with a weight.
func (j *Job) whyZero() error {
	lo, hi := slices.Min(j.Velocity), slices.Max(j.Velocity)
	length := float64(j.Config.Time.Samples-1) * j.Config.Time.Interval
	src, rec := j.nearestPair()
	first, err := j.earliest(j.Sources[src], j.Receivers[rec])
	if err != nil {
		return err
	}
	if first > length {
		why := fmt.Sprintf("velocities are %g to %g m/s", lo, hi)
		switch {
		case j.Config.Operator.Times == "tables":
			why = "are the tables in seconds?"
		case lo < slowest:
			why += ": are they in km/s?"
		default:
			why += ": check the units of velocity, grid, geometry and time.interval"
		}
		return fmt.Errorf("no travel time falls into the %g s of the data, the first of source %d and receiver %d, which are nearest to each other, is %.3g s: %s", length, src+1, rec+1, first, why)
	}
	if o := j.Config.Operator; o.Dynamic && (o.Angle > 0 || o.Aperture > 0) {
		return fmt.Errorf("operator.angle of %g degrees and operator.aperture of %g leave out every point that sources and receivers could light: make them larger, or 0 for no limit", o.Angle, o.Aperture)
	}
	return errors.New("no sample of the data belongs to a point of the image: check the units of velocity, grid, geometry and time.interval, and that the data have something in them at the times of reflections")
}

// nearestPair returns the source and the receiver that are nearest to each other.
func (j *Job) nearestPair() (src, rec int) {
	best := math.Inf(1)
	for i, s := range j.Sources {
		for k, r := range j.Receivers {
			if d := j.Grid.Distance(s, r); d < best {
				best, src, rec = d, i, k
			}
		}
	}
	return src, rec
}

// earliest returns the shortest travel time from s over a point of the image to r.
func (j *Job) earliest(s, r wave.Point) (float64, error) {
	down, up := make([]float64, j.Grid.Nodes()), make([]float64, j.Grid.Nodes())
	if err := errors.Join(j.times.Fill(down, s), j.times.Fill(up, r)); err != nil {
		return 0, err
	}
	first := math.Inf(1)
	for i := range down {
		first = min(first, down[i]+up[i])
	}
	return first, nil
}
