package wave

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
)

// sharedTables are the travel times and weights that the ranks of one process make
// together and share. They live as long as an operator uses them.
type sharedTables[F Float] struct {
	prepare  sync.Once
	err      error // of prepare
	rows     []run // that ranks need, of the first axis of the grid
	src, rec pointTables[F]
}

// waiting has the tables that ranks are about to share, by number. An entry is
// removed as soon as all ranks have found it.
var (
	waiting sync.Map
	numbers atomic.Int64
	process = rand.Int64N(1 << 53) // tells processes apart; a float64 holds it
)

// shareTables returns the tables of the first rank of this process, and which ranks
// are in it. It is collective. The caller calls done once all ranks have returned
// from it.
func shareTables[F Float](ctx context.Context, r dist.Proc) (t *sharedTables[F], ranks []int, done func(), err error) {
	number := numbers.Add(1)
	done = func() { waiting.Delete(number) }
	waiting.Store(number, &sharedTables[F]{})
	all, err := everyRank(ctx, r, float64(process), float64(number))
	if err != nil {
		done()
		return nil, nil, nil, fmt.Errorf("wave: kirchhoff: ranks of one process: %w", err)
	}
	for i := range r.Size() {
		if all[2*i] == float64(process) {
			ranks = append(ranks, i)
		}
	}
	first, _ := waiting.Load(int64(all[2*ranks[0]+1]))
	return first.(*sharedTables[F]), ranks, done, nil
}

// everyRank returns the numbers of all ranks. It is collective.
func everyRank(ctx context.Context, r dist.Proc, mine ...float64) ([]float64, error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, r.Size()*len(mine))
	if err != nil {
		return nil, err
	}
	x, err := dist.FromFunc(ctx, s, func(i []int) float64 { return mine[i[0]%len(mine)] })
	if err != nil {
		return nil, err
	}
	return dist.AllGather(ctx, x)
}

// fill computes the tables together with the other ranks of this process, whose
// work is parts. It returns when no point is left: others may still be at work.
func (t *sharedTables[F]) fill(ctx context.Context, k KirchhoffOptions, parts []part, threads int) error {
	t.prepare.Do(func() {
		for _, p := range parts {
			if !slices.Contains(t.rows, p.rows) {
				t.rows = append(t.rows, p.rows)
			}
			t.src.cover(p.sources)
			t.rec.cover(p.receivers)
		}
		if t.err = t.src.alloc(t.rows, k); t.err == nil {
			t.err = t.rec.alloc(t.rows, k)
		}
	})
	if t.err != nil {
		return t.err
	}
	var factors [2]func(w *[2][]float64, p Point, times []float64) error
	if k.Weights != nil {
		factors = [2]func(w *[2][]float64, p Point, times []float64) error{k.Weights.Source, k.Weights.Receiver}
	}
	src := filling[F]{&t.src, k, t.rows, k.Sources, factors[0]}
	if err := eachPoint(ctx, &t.src.next, t.src.of.len(), threads, src.worker); err != nil {
		return err
	}
	rec := filling[F]{&t.rec, k, t.rows, k.Receivers, factors[1]}
	return eachPoint(ctx, &t.rec.next, t.rec.of.len(), threads, rec.worker)
}

// of returns the tables of one rank.
func (t *sharedTables[F]) of(p part, k KirchhoffOptions) device.TravelTables[F] {
	g, i := k.Times.Grid(), slices.Index(t.rows, p.rows)
	out := device.TravelTables[F]{
		Sources: p.sources.len(), Receivers: p.receivers.len(), Points: p.rows.len() * g.rowNodes(), Samples: k.Samples, Depths: g.Z.N, Centre: k.Centre,
	}
	out.Src, out.SrcW = t.src.at(i, p.sources, out.Points)
	out.Rec, out.RecW = t.rec.at(i, p.receivers, out.Points)
	for _, v := range k.Wavelet {
		out.Wavelet = append(out.Wavelet, F(v))
	}
	return out
}

// pointTables are the tables of the sources, or those of the receivers.
type pointTables[F Float] struct {
	of      run      // points that ranks of this process need
	times   [][]F    // of each run of rows: points × nodes
	weights [2][][]F // the same
	next    atomic.Int64
}

// cover makes the tables hold more points.
func (s *pointTables[F]) cover(r run) {
	if r.len() == 0 {
		return
	}
	if s.of.len() == 0 {
		s.of = r
	}
	s.of = run{min(s.of.lo, r.lo), max(s.of.hi, r.hi)}
}

// alloc makes the tables of all runs of rows.
func (s *pointTables[F]) alloc(rows []run, k KirchhoffOptions) error {
	tables := []*[][]F{&s.times}
	if k.Weights != nil {
		tables = append(tables, &s.weights[0], &s.weights[1])
	}
	for _, r := range rows {
		n := r.len() * k.Times.Grid().rowNodes()
		size, err := product(n, s.of.len())
		if err != nil {
			return err
		}
		for _, t := range tables {
			table, err := device.Make[F](size)
			if err != nil {
				return fmt.Errorf("time table of %d points × %d nodes: %w", s.of.len(), n, err)
			}
			*t = append(*t, table)
		}
	}
	return nil
}

// at returns the tables of some points and of run i of rows, which has n nodes.
func (s *pointTables[F]) at(i int, points run, n int) (times []F, weights [2][]F) {
	lo, hi := (points.lo-s.of.lo)*n, (points.hi-s.of.lo)*n
	if points.len() == 0 {
		lo, hi = 0, 0
	}
	times = s.times[i][lo:hi:hi]
	for j, w := range s.weights {
		if w != nil {
			weights[j] = w[i][lo:hi:hi]
		}
	}
	return times, weights
}

// filling is one rank's work on tables.
type filling[F Float] struct {
	*pointTables[F]
	k       KirchhoffOptions
	rows    []run
	points  []Point                                               // of the whole survey
	factors func(w *[2][]float64, p Point, times []float64) error // nil means no weights
}

// worker returns a function that fills the tables of one point. It has memory of its
// own. Seconds have 64 bits, so that only the quotient is rounded.
func (s filling[F]) worker() (func(i int) error, error) {
	g := s.k.Times.Grid()
	row := g.rowNodes()
	whole, err := device.Make[float64](g.Nodes())
	if err != nil {
		return nil, err
	}
	if rows := partOf(s.k.Times); rows != nil && s.factors == nil {
		return func(i int) error { return s.fillRows(rows, i, whole, row) }, nil
	}
	// Weights depend on differences of times, also across the ends of rows.
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
		p := s.points[s.of.lo+i]
		if err := s.k.Times.Fill(whole, p); err != nil {
			return err
		}
		for j, r := range s.rows {
			if err := s.store(j, i, whole[r.lo*row:r.hi*row]); err != nil {
				return err
			}
		}
		if s.factors == nil {
			return nil
		}
		if err := s.factors(&w, p, whole); err != nil {
			return err
		}
		s.storeWeights(&w, i, row)
		return nil
	}, nil
}

// fillRows computes the times of point i, only for the rows that ranks need.
func (s filling[F]) fillRows(times RowTimes, i int, scratch []float64, row int) error {
	for j, r := range s.rows {
		seconds := scratch[:r.len()*row]
		if err := times.FillRows(seconds, s.points[s.of.lo+i], r.lo, r.hi); err != nil {
			return err
		}
		if err := s.store(j, i, seconds); err != nil {
			return err
		}
	}
	return nil
}

// storeWeights copies the weights of point i to the tables. row is the nodes of a row.
func (s filling[F]) storeWeights(w *[2][]float64, i, row int) {
	for j, r := range s.rows {
		n := r.len() * row
		for f := range w {
			to := s.weights[f][j][i*n : (i+1)*n]
			for m, v := range w[f][r.lo*row : r.hi*row] {
				to[m] = F(v)
			}
		}
	}
}

// store keeps the times of point i at run j of rows, in samples.
func (s filling[F]) store(j, i int, seconds []float64) error {
	to := s.times[j][i*len(seconds) : (i+1)*len(seconds)]
	for m, v := range seconds {
		if math.IsNaN(v) || v < 0 {
			return fmt.Errorf("travel time %g to node %d from %v", v, s.rows[j].lo*s.k.Times.Grid().rowNodes()+m, s.points[s.of.lo+i])
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

// apertureOf computes the factors of the pairs of one rank at each depth. Without
// limits there are none.
func apertureOf[F Float](ctx context.Context, k KirchhoffOptions, p part) (out []F, err error) {
	if k.Weights == nil {
		return nil, nil
	}
	sources, receivers, depths := k.Sources[p.sources.lo:p.sources.hi], k.Receivers[p.receivers.lo:p.receivers.hi], k.Times.Grid().Z.N
	for i, s := range sources {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for j, r := range receivers {
			a, err := k.Weights.Aperture(s, r)
			if err != nil {
				return nil, err
			}
			if a == nil {
				continue
			}
			if out == nil {
				if err := device.CheckHostMemory(len(sources), len(receivers), depths, 8); err != nil {
					return nil, fmt.Errorf("apertures of %d sources × %d receivers: %w", len(sources), len(receivers), err)
				}
				if out, err = device.Make[F](len(sources) * len(receivers) * depths); err != nil {
					return nil, err
				}
				for m := range out {
					out[m] = 1
				}
			}
			to := out[(i*len(receivers)+j)*depths:][:depths]
			for m := range to {
				to[m] = F(a[m])
			}
		}
	}
	return out, nil
}
