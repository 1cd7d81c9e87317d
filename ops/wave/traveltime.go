package wave

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/golops/golops/device"
)

// TravelTimes computes the time that a wave takes between a point and every node of
// a grid. Times are the same in both directions, so one kind of table serves sources
// and receivers. Goroutines may share a TravelTimes.
type TravelTimes interface {
	// Grid returns the grid of the nodes.
	Grid() Grid

	// Fill sets dst[i] to the time in seconds from p to node i, for all nodes.
	Fill(dst []float64, p Point) error
}

// RowTimes are TravelTimes that can compute some rows of the first axis of the grid
// alone. KirchhoffByModel then asks each rank for its own rows.
type RowTimes interface {
	TravelTimes

	// FillRows sets dst to the times from p to the nodes of rows lo to hi.
	FillRows(dst []float64, p Point, lo, hi int) error
}

// partOf returns t if it can compute some rows alone, otherwise nil.
func partOf(t TravelTimes) RowTimes {
	r, _ := t.(RowTimes)
	return r
}

// Constant gives the times of straight rays in a medium of one velocity:
// t = |node − p| / v. The point may lie anywhere, also outside the grid.
type Constant struct {
	grid Grid
	v    float64
}

var _ RowTimes = (*Constant)(nil)

// NewConstant returns the travel times for velocity v in metres per second.
func NewConstant(g Grid, v float64) (*Constant, error) {
	if err := g.Validate(); err != nil {
		return nil, err
	}
	if err := checkVelocity(v); err != nil {
		return nil, fmt.Errorf("wave: straight rays: %w", err)
	}
	return &Constant{grid: g, v: v}, nil
}

// Grid returns the grid of the nodes.
func (c *Constant) Grid() Grid { return c.grid }

// Velocity returns the velocity in metres per second.
func (c *Constant) Velocity() float64 { return c.v }

// Fill sets dst to the times from p. It allocates nothing.
func (c *Constant) Fill(dst []float64, p Point) error { return StraightTimes(dst, c, p) }

// StraightTimes is Fill for slices of either precision: it computes in float64 and
// rounds once, when it stores.
func StraightTimes[F Float](dst []F, c *Constant, p Point) error {
	return straightRows(dst, c, p, 0, c.grid.rows())
}

// FillRows implements RowTimes. It allocates nothing.
func (c *Constant) FillRows(dst []float64, p Point, lo, hi int) error {
	return straightRows(dst, c, p, lo, hi)
}

func straightRows[F Float](dst []F, c *Constant, p Point, lo, hi int) error {
	if err := c.grid.checkRows("straight rays", len(dst), lo, hi); err != nil {
		return err
	}
	if !p.finite() {
		return fmt.Errorf("wave: straight rays from %v: point is not finite", p)
	}
	nz, nx := c.grid.Z.N, c.grid.X.N
	first := lo // column, counted over all rows
	if c.grid.Dims() == 3 {
		first *= nx
	}
	for i := 0; i < len(dst); i += nz {
		col := first + i/nz
		straightColumn(dst[i:i+nz], &c.grid, p, c.v, col/nx, col%nx)
	}
	return nil
}

// straightColumn sets dst to the times from p to the nodes of column (iy, ix), all z.
// An operator that computes times on the fly calls it per column. The squares are
// summed in PyLops' order, so that times agree to the last bit.
func straightColumn[F Float](dst []F, g *Grid, p Point, v float64, iy, ix int) {
	x, y := g.X.At(ix)-p.X, 0.0
	if g.Dims() == 3 {
		y = g.Y.At(iy) - p.Y
	}
	for iz := range dst {
		z := g.Z.At(iz) - p.Z
		dst[iz] = F(math.Sqrt(x*x+z*z+y*y) / v)
	}
}

// TimeTable returns the times of all points, one row of nodes per point: node i of point
// k has index k·nodes + i. PyLops keeps the transpose. Points are spread over the
// given number of goroutines. The error of any point, or the end of ctx, ends the work
// and returns no table.
func TimeTable[F Float](ctx context.Context, s TravelTimes, points []Point, threads int) ([]F, error) {
	if threads < 1 {
		return nil, fmt.Errorf("wave: time table: threads is %d, must be positive", threads)
	}
	n := s.Grid().Nodes()
	size, err := product(n, len(points))
	if err != nil {
		return nil, fmt.Errorf("wave: time table: %w", err)
	}
	table, err := device.Make[F](size)
	if err != nil {
		return nil, fmt.Errorf("wave: time table of %d points × %d nodes: %w", len(points), n, err)
	}
	err = eachPoint(ctx, new(atomic.Int64), len(points), threads, func() (func(k int) error, error) {
		fill := filler[F](s)
		return func(k int) error { return fill(table[k*n:(k+1)*n], points[k]) }, nil
	})
	if err != nil {
		return nil, fmt.Errorf("wave: time table: %w", err)
	}
	return table, nil
}

// eachPoint calls work for each of n points, spread over goroutines. start returns
// the work of one goroutine. The first error, or the end of ctx, ends it. Calls with
// the same counter share the points.
func eachPoint(ctx context.Context, next *atomic.Int64, n, threads int, start func() (work func(k int) error, err error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range min(threads, n) {
		wg.Go(func() {
			work, err := start()
			if err != nil {
				cancel(err)
			}
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= n {
					return
				}
				if err := work(k); err != nil {
					cancel(fmt.Errorf("point %d of %d: %w", k+1, n, err))
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// filler returns what fills one row of a table of type F. Only solvers that know
// nothing but float64 need a buffer, one per goroutine.
func filler[F Float](s TravelTimes) func(dst []F, p Point) error {
	if c, ok := s.(*Constant); ok {
		return func(dst []F, p Point) error { return StraightTimes(dst, c, p) }
	}
	if fill, ok := any(s.Fill).(func([]F, Point) error); ok {
		return fill
	}
	buf := make([]float64, s.Grid().Nodes())
	return func(dst []F, p Point) error {
		if err := s.Fill(buf, p); err != nil {
			return err
		}
		for i, t := range buf {
			dst[i] = F(t)
		}
		return nil
	}
}

func checkVelocity(v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("velocity is %g, must be positive and finite", v)
	}
	return nil
}
