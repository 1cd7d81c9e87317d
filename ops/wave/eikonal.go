package wave

import (
	"errors"
	"fmt"
	"math"
	"sync"
)

// ErrNotConverged says that sweeping stopped at EikonalConfig.MaxSweeps.
var ErrNotConverged = errors.New("not converged")

// EikonalOptions says when sweeping ends.
type EikonalOptions struct {
	RelTol    float64 // largest relative change of a time in the last sweep; 0: sweep until nothing changes
	MaxSweeps int     // more than this are an error
}

// EikonalDefaults returns a tolerance that lies far below the error of the
// differences, and more sweeps than any model of the subsurface needs.
func EikonalDefaults() EikonalOptions { return EikonalOptions{RelTol: 1e-6, MaxSweeps: 1000} }

// Validate reports everything that is wrong with o.
func (o EikonalOptions) Validate() error {
	var errs []error
	if !(o.RelTol >= 0 && o.RelTol < 1) {
		errs = append(errs, fmt.Errorf("RelTol is %g, must be from 0 to below 1", o.RelTol))
	}
	if o.MaxSweeps < 1 {
		errs = append(errs, fmt.Errorf("MaxSweeps is %d, must be positive: EikonalDefaults has %d", o.MaxSweeps, EikonalDefaults().MaxSweeps))
	}
	return errors.Join(errs...)
}

// Eikonal gives the times of first arrivals in a medium whose velocity v changes from
// node to node. They solve the eikonal equation |∇T| = 1/v, T(p) = 0.
//
// T has a kink at p, where difference schemes lose accuracy that no later node gets
// back. Therefore T = T₀·τ is split into the time T₀ = |x − p|/v(p) of a straight
// ray, known with its gradient, and a smooth factor τ, which is what the scheme
// solves for:
//
//	|T₀∇τ + τ∇T₀|² = 1/v².
//
// Differences are upwind and of first order (Godunov), nodes are visited in sweeps
// of alternating direction until none changes (Fomel, Luo and Zhao 2009; Zhao 2005).
// The error falls with the step of the grid. For constant velocity only that of
// stopping at RelTol is left.
type Eikonal struct {
	grid    Grid
	slow2   []float64 // 1/v² per node
	opts    EikonalOptions
	scratch sync.Pool // *sweeper
}

var _ TravelTimes = (*Eikonal)(nil)

// NewEikonal returns the travel times for velocities in metres per second, one per
// node of the grid in the order of Grid.
func NewEikonal[F Float](g Grid, velocity []F, opts EikonalOptions) (*Eikonal, error) {
	if err := g.check("eikonal velocity", len(velocity)); err != nil {
		return nil, err
	}
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("wave: eikonal: %w", err)
	}
	e := &Eikonal{grid: g, slow2: make([]float64, len(velocity)), opts: opts}
	for i, v := range velocity {
		err := checkVelocity(float64(v))
		e.slow2[i] = 1 / (float64(v) * float64(v))
		if err == nil && (e.slow2[i] == 0 || !isFinite(e.slow2[i])) {
			err = fmt.Errorf("velocity is %g, its square is out of range", v)
		}
		if err != nil {
			return nil, fmt.Errorf("wave: eikonal: node %d of shape %v at %v: %w", i, g.Shape(), g.Node(i), err)
		}
	}
	e.scratch.New = func() any { return newSweeper(e) }
	return e, nil
}

// Grid returns the grid of the nodes.
func (e *Eikonal) Grid() Grid { return e.grid }

// Fill sets dst to the times from p, which must lie on the grid but need not be a
// node. Calls after the first allocate nothing as long as they do not overlap.
func (e *Eikonal) Fill(dst []float64, p Point) error {
	if err := e.grid.checkLen("eikonal times", len(dst)); err != nil {
		return err
	}
	if !e.grid.Contains(p) {
		return fmt.Errorf("wave: eikonal times from %v: point lies outside the grid, %v", p, e.grid)
	}
	s := e.scratch.Get().(*sweeper)
	defer e.scratch.Put(s)
	s.seed(p)
	// Nodes on two sides of the source wait for each other, the more so the closer
	// they are. Boxes that grow around the source let this end where it costs little.
	n := 0
	for reach, all := 3, false; !all; reach *= 4 {
		var lo, hi [3]int
		lo, hi, all = s.box(reach)
		for change := math.Inf(1); change > e.opts.RelTol; n++ {
			if n == e.opts.MaxSweeps {
				return fmt.Errorf("wave: eikonal times from %v: relative change still %.3g after %d sweeps, limit %g: %w",
					p, change, n, e.opts.RelTol, ErrNotConverged)
			}
			change = s.sweep(n, lo, hi)
		}
	}
	if i := s.times(dst); i >= 0 {
		return fmt.Errorf("wave: eikonal times from %v: node %d at %v has time %g: velocities differ too much",
			p, i, e.grid.Node(i), dst[i])
	}
	return nil
}

// sweeper is the state of one call to Fill.
//
// Arrays have a margin of one node around the grid, in which τ is infinite, so that
// the loops need no case for the edges.
type sweeper struct {
	*Eikonal
	tau []float64 // T/T₀ per node; infinite where no wave has come yet

	// A column is all z of one (y, x). It has to be visited again only if it, or one
	// of its neighbours, changed since the last visit: clock readings of both.
	clock           int
	visited, change []int

	strideX, strideY int // of tau; those of columns are 1 and colsX
	colsX            int

	src    Point
	slow   float64 // 1/v at the source
	lo, hi [3]int  // nodes around the source whose times are fixed: y, x, z
}

func newSweeper(e *Eikonal) *sweeper {
	s := &sweeper{Eikonal: e, strideX: e.grid.Z.N + 2, colsX: e.grid.X.N + 2}
	s.strideY = s.strideX * s.colsX
	cols := s.colsX * (e.grid.ny() + 2)
	s.tau = make([]float64, cols*s.strideX)
	s.visited, s.change = make([]int, cols), make([]int, cols)
	return s
}

// column returns the number of a column and the index in tau of its first node.
func (s *sweeper) column(iy, ix int) (col, first int) {
	col = (iy+1)*s.colsX + ix + 1
	return col, col*s.strideX + 1
}

// seed forgets the last source and sets the times next to the new one: straight rays
// with the mean of the slownesses at both ends, whose error is of third order.
func (s *sweeper) seed(p Point) {
	g := &s.grid
	for i := range s.tau {
		s.tau[i] = math.Inf(1)
	}
	for i := range s.change {
		s.visited[i], s.change[i] = 0, -1
	}
	s.clock = 1
	var fx, fy, fz float64
	s.src.X, s.lo[1], s.hi[1], fx = g.X.around(p.X)
	s.src.Z, s.lo[2], s.hi[2], fz = g.Z.around(p.Z)
	if g.Dims() == 3 {
		s.src.Y, s.lo[0], s.hi[0], fy = g.Y.around(p.Y)
	}
	s.slow = 1 / s.velocityAt(fy, fx, fz)
	for iy := s.lo[0]; iy <= s.hi[0]; iy++ {
		for ix := s.lo[1]; ix <= s.hi[1]; ix++ {
			col, first := s.column(iy, ix)
			s.change[col] = s.clock
			for iz := s.lo[2]; iz <= s.hi[2]; iz++ {
				slow := math.Sqrt(s.slow2[g.Index(iy, ix, iz)])
				s.tau[first+iz] = (1 + slow/s.slow) / 2
			}
		}
	}
}

// velocityAt interpolates the velocity linearly between the nodes.
func (s *sweeper) velocityAt(fy, fx, fz float64) float64 {
	var v float64
	for corner := range 8 {
		iy, wy := neighbour(fy, corner&1)
		ix, wx := neighbour(fx, corner>>1&1)
		iz, wz := neighbour(fz, corner>>2&1)
		if w := wy * wx * wz; w > 0 {
			v += w / math.Sqrt(s.slow2[s.grid.Index(iy, ix, iz)])
		}
	}
	return v
}

// box returns the nodes at most reach steps away from the fixed ones, and whether
// these are all. No column of the new box counts as visited.
func (s *sweeper) box(reach int) (lo, hi [3]int, all bool) {
	clear(s.visited)
	all = true
	for k, n := range [3]int{s.grid.ny(), s.grid.X.N, s.grid.Z.N} {
		lo[k], hi[k] = max(s.lo[k]-reach, 0), min(s.hi[k]+reach, n-1)
		all = all && lo[k] == 0 && hi[k] == n-1
	}
	return lo, hi, all
}

// sweep visits the columns of a box that may change, in the n-th of the 4 or 8
// directions, and returns the largest relative change of a time.
func (s *sweeper) sweep(n int, lo, hi [3]int) float64 {
	largest := 0.0
	for jy := range hi[0] - lo[0] + 1 {
		iy := along(jy, lo[0], hi[0], n>>2)
		for jx := range hi[1] - lo[1] + 1 {
			ix := along(jx, lo[1], hi[1], n>>1)
			col, first := s.column(iy, ix)
			if s.stable(col) {
				continue
			}
			s.clock++
			s.visited[col] = s.clock
			change := s.update(iy, ix, first, lo[2], hi[2], n)
			if change > 1e-3*s.opts.RelTol { // less adds up along hundreds of columns
				s.change[col] = s.clock
			}
			largest = max(largest, change)
		}
	}
	return largest
}

// along returns i, or counts from the end when the lowest bit of direction is set.
func along(i, lo, hi, direction int) int {
	if direction&1 == 1 {
		return hi - i
	}
	return lo + i
}

// stable reports that nothing happened to a column since all of its nodes were found
// to be in balance with their neighbours.
func (s *sweeper) stable(col int) bool {
	v := s.visited[col]
	c := s.change
	return c[col] < v && c[col-1] < v && c[col+1] < v && c[col-s.colsX] < v && c[col+s.colsX] < v
}

// fixed returns the z range of the fixed nodes of a column, empty for most.
func (s *sweeper) fixed(iy, ix int) (lo, hi int) {
	if iy < s.lo[0] || iy > s.hi[0] || ix < s.lo[1] || ix > s.hi[1] {
		return 0, -1
	}
	return s.lo[2], s.hi[2]
}

// times sets dst to T₀·τ. It returns a node without a finite time, or −1.
func (s *sweeper) times(dst []float64) int {
	g, bad := &s.grid, -1
	nz := g.Z.N
	for iy := range g.ny() {
		for ix := range g.X.N {
			_, first := s.column(iy, ix)
			t := dst[g.Index(iy, ix, 0):][:nz]
			straightColumn(t, g, s.src, 1/s.slow, iy, ix)
			for iz, tau := range s.tau[first : first+nz] {
				t[iz] *= tau
				if !isFinite(t[iz]) {
					bad = g.Index(iy, ix, iz)
				}
			}
		}
	}
	return bad
}

// slope is the derivative of T out of a node along one axis, divided by T₀, as a
// function aτ − b of τ at the node. Let h be the step, Δ the way from the source to
// the node along the axis, d that along all axes, and e = hΔ/d². Then ∂T₀ = T₀Δ/d²,
// and the difference T₀(τ − τₙ)/h ± τ·∂T₀ gives a = (1 ± e)/h and b = τₙ/h: plus
// towards the neighbour before the node, minus towards the one after it.
type slope struct{ a, b float64 }

// upwind returns the slope towards that neighbour from which the wave comes: the one
// that turns positive first when τ grows. Within a step of the source a is negative
// for the neighbour on the far side; the comparison then rules it out.
func upwind(before, after, e, invH float64) slope {
	if after*(1+e) < before*(1-e) {
		return slope{(1 - e) * invH, after * invH}
	}
	return slope{(1 + e) * invH, before * invH}
}

// solve2 returns τ with max(p, 0)² + max(q, 0)² = r. The left side grows with τ, and a
// slope takes part from τ = b/a on.
func solve2(p, q slope, r float64) float64 {
	d := p.a*q.b - q.a*p.b
	if d >= 0 {
		if d*d >= r*q.a*q.a {
			return (p.b + math.Sqrt(r)) / p.a
		}
	} else if d*d >= r*p.a*p.a {
		return (q.b + math.Sqrt(r)) / q.a
	}
	// (Σa²)τ² − 2(Σab)τ + Σb² = r, its discriminant written without cancellation.
	aa := p.a*p.a + q.a*q.a
	return (p.a*p.b + q.a*q.b + math.Sqrt(r*aa-d*d)) / aa
}

// solve3 returns τ with max(p, 0)² + max(q, 0)² + max(o, 0)² = r.
func solve3(p, q, o slope, r float64) float64 {
	// The slope that takes part last comes last.
	if p.b*o.a > o.b*p.a {
		p, o = o, p
	}
	if q.b*o.a > o.b*q.a {
		q, o = o, q
	}
	tau := solve2(p, q, r)
	if !(tau*o.a > o.b) {
		return tau
	}
	aa := p.a*p.a + q.a*q.a + o.a*o.a
	d, e, f := p.a*q.b-q.a*p.b, p.a*o.b-o.a*p.b, q.a*o.b-o.a*q.b
	return (p.a*p.b + q.a*q.b + o.a*o.b + math.Sqrt(max(r*aa-d*d-e*e-f*f, 0))) / aa
}

// update visits the nodes lo to hi of a column, whose first node has index first in
// tau, and returns the largest relative change.
func (s *sweeper) update(iy, ix, first, lo, hi, direction int) float64 {
	g := &s.grid
	nz, sx, sy := g.Z.N, s.strideX, s.strideY
	mid, left, right := s.tau[first-1:][:nz+2], s.tau[first-1-sx:][:nz+2], s.tau[first-1+sx:][:nz+2]
	front, back := s.tau[first-1-sy:][:nz+2], s.tau[first-1+sy:][:nz+2]
	slow2 := s.slow2[g.Index(iy, ix, 0):][:nz]
	fixLo, fixHi := s.fixed(iy, ix)
	var dy, hy, invY float64
	flat := g.Dims() == 2
	if !flat {
		dy, hy, invY = g.Y.At(iy)-s.src.Y, g.Y.Step, 1/g.Y.Step
	}
	dx := g.X.At(ix) - s.src.X
	hdx, hdy, dxy2 := g.X.Step*dx, hy*dy, dx*dx+dy*dy
	invX, invZ, invSlow2 := 1/g.X.Step, 1/g.Z.Step, 1/(s.slow*s.slow)
	largest := 0.0
	for j := range hi - lo + 1 {
		iz := along(j, lo, hi, direction)
		if iz >= fixLo && iz <= fixHi {
			continue
		}
		dz := g.Z.At(iz) - s.src.Z
		inv := 1 / (dxy2 + dz*dz)
		r := slow2[iz] * invSlow2 * inv
		px := upwind(left[iz+1], right[iz+1], hdx*inv, invX)
		pz := upwind(mid[iz], mid[iz+2], g.Z.Step*dz*inv, invZ)
		var tau float64
		if flat {
			tau = solve2(px, pz, r)
		} else {
			py := upwind(front[iz+1], back[iz+1], hdy*inv, invY)
			tau = solve3(px, py, pz, r)
		}
		if old := mid[iz+1]; tau < old {
			mid[iz+1] = tau
			largest = max(largest, (old-tau)/tau)
		}
	}
	return largest
}
