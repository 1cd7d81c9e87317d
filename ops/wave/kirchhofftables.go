package wave

import (
	"context"
	"fmt"
	"math"

	"github.com/golops/golops/device"
)

// tables computes travel times in samples, and the factors of the weights, for all
// sources and receivers and rows lo to hi of the first axis of the grid.
func (o *kirchhoff[T, F]) tables(ctx context.Context, k KirchhoffOptions, lo, hi, threads int) error {
	g := k.Times.Grid()
	row := g.rowNodes()
	o.t = device.TravelTables[F]{
		Sources: len(k.Sources), Receivers: len(k.Receivers), Points: (hi - lo) * row, Samples: k.Samples, Depths: g.Z.N,
	}
	src := pointTables[F]{k: k, lo: lo, hi: hi, points: k.Sources, times: &o.t.Src, weights: &o.t.SrcW}
	rec := pointTables[F]{k: k, lo: lo, hi: hi, points: k.Receivers, times: &o.t.Rec, weights: &o.t.RecW}
	if k.Weights != nil {
		src.factors, rec.factors = k.Weights.Source, k.Weights.Receiver
	}
	if err := src.fill(ctx, threads); err != nil {
		return err
	}
	if err := rec.fill(ctx, threads); err != nil {
		return err
	}
	if k.Weights == nil {
		return nil
	}
	return o.aperture(ctx, k, g)
}

// pointTables fills the tables of the sources, or those of the receivers.
type pointTables[F Float] struct {
	k       KirchhoffOptions
	lo, hi  int // rows of the first axis of the grid
	points  []Point
	times   *[]F
	weights *[2][]F
	factors func(w *[2][]float64, p Point, times []float64) error // nil means no weights
}

func (s *pointTables[F]) fill(ctx context.Context, threads int) error {
	g := s.k.Times.Grid()
	n := (s.hi - s.lo) * g.rowNodes()
	size, err := product(n, len(s.points))
	if err != nil {
		return err
	}
	if *s.times, err = device.Make[F](size); err != nil {
		return fmt.Errorf("time table of %d points × %d nodes: %w", len(s.points), n, err)
	}
	for i := range s.weights {
		if s.factors == nil {
			break
		}
		if s.weights[i], err = device.Make[F](size); err != nil {
			return fmt.Errorf("weights of %d points × %d nodes: %w", len(s.points), n, err)
		}
	}
	return eachPoint(ctx, len(s.points), threads, s.worker)
}

// worker returns a function that fills the rows of one point. It has memory of its
// own. Seconds have 64 bits, so that only the quotient is rounded.
func (s *pointTables[F]) worker() (func(i int) error, error) {
	g := s.k.Times.Grid()
	row := g.rowNodes()
	n, rows := (s.hi-s.lo)*row, partOf(s.k.Times)
	if rows != nil && s.factors == nil {
		seconds, err := device.Make[float64](n)
		return func(i int) error {
			if err := rows.FillRows(seconds, s.points[i], s.lo, s.hi); err != nil {
				return err
			}
			return s.store(i, seconds)
		}, err
	}
	// Weights depend on differences of times, also across the ends of the part.
	whole, err := device.Make[float64](g.Nodes())
	if err != nil {
		return nil, err
	}
	var w [2][]float64
	for j := range w {
		if s.factors == nil {
			break
		}
		if w[j], err = device.Make[float64](g.Nodes()); err != nil {
			return nil, err
		}
	}
	return func(i int) error {
		if err := s.k.Times.Fill(whole, s.points[i]); err != nil {
			return err
		}
		if err := s.store(i, whole[s.lo*row:s.hi*row]); err != nil || s.factors == nil {
			return err
		}
		if err := s.factors(&w, s.points[i], whole); err != nil {
			return err
		}
		for j := range w {
			to := s.weights[j][i*n : (i+1)*n]
			for m, v := range w[j][s.lo*row : s.hi*row] {
				to[m] = F(v)
			}
		}
		return nil
	}, nil
}

// store keeps the times of point i, in samples.
func (s *pointTables[F]) store(i int, seconds []float64) error {
	to := (*s.times)[i*len(seconds) : (i+1)*len(seconds)]
	for m, v := range seconds {
		if math.IsNaN(v) || v < 0 {
			return fmt.Errorf("travel time %g to node %d from %v", v, s.lo*s.k.Times.Grid().rowNodes()+m, s.points[i])
		}
		to[m] = F(min(v, never) / s.k.Interval)
	}
	return nil
}

// product returns a·b, or an error if an int cannot count it in bytes.
func product(a, b int) (int, error) {
	if b > 0 && a > math.MaxInt/8/b {
		return 0, fmt.Errorf("%d points × %d nodes do not fit into memory", b, a)
	}
	return a * b, nil
}

// aperture computes the factors of the pairs at each depth. Without limits there
// are none.
func (o *kirchhoff[T, F]) aperture(ctx context.Context, k KirchhoffOptions, g Grid) error {
	for i, s := range k.Sources {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j, r := range k.Receivers {
			a, err := k.Weights.Aperture(s, r)
			if err != nil {
				return err
			}
			if a == nil {
				continue
			}
			if o.t.Aperture == nil {
				if err := device.CheckHostMemory(len(k.Sources), len(k.Receivers), g.Z.N, 8); err != nil {
					return fmt.Errorf("apertures of %d sources × %d receivers: %w", len(k.Sources), len(k.Receivers), err)
				}
				if o.t.Aperture, err = device.Make[F](len(k.Sources) * len(k.Receivers) * g.Z.N); err != nil {
					return err
				}
				for m := range o.t.Aperture {
					o.t.Aperture[m] = 1
				}
			}
			to := o.t.Aperture[(i*len(k.Receivers)+j)*g.Z.N:][:g.Z.N]
			for m := range to {
				to[m] = F(a[m])
			}
		}
	}
	return nil
}
