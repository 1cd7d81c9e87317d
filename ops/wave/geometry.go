package wave

import (
	"errors"
	"fmt"
	"math"
)

// Float is the set of element types of tables and models.
type Float interface{ float32 | float64 }

// Point is a position in metres, for example of a source or a receiver. Z is depth
// and grows downwards. On a 2-D grid Y is ignored.
type Point struct{ X, Y, Z float64 }

// String returns (x, y, z), as error texts show a point.
func (p Point) String() string { return fmt.Sprintf("(%g, %g, %g)", p.X, p.Y, p.Z) }

// finite reports whether all coordinates are numbers.
func (p Point) finite() bool { return isFinite(p.X) && isFinite(p.Y) && isFinite(p.Z) }

// Axis is N nodes, the first at Origin, Step apart.
type Axis struct {
	N            int
	Origin, Step float64
}

// At returns the coordinate of node i.
func (a Axis) At(i int) float64 { return a.Origin + float64(i)*a.Step }

// String returns first and last coordinate, and step.
func (a Axis) String() string {
	return fmt.Sprintf("%g to %g by %g", a.Origin, a.At(a.N-1), a.Step)
}

// contains allows for a millionth of a step outside, because coordinates often come
// from files that rounded them.
func (a Axis) contains(x float64) bool {
	slack := 1e-6 * a.Step
	return x >= a.Origin-slack && x <= a.At(a.N-1)+slack
}

// farther returns the larger distance of x from the two ends of the axis.
func (a Axis) farther(x float64) float64 {
	return max(math.Abs(x-a.Origin), math.Abs(x-a.At(a.N-1)))
}

// around moves x onto the axis and returns it, the first and last node at most one
// step away, and x in steps from the first node of the axis.
func (a Axis) around(x float64) (at float64, lo, hi int, f float64) {
	f = min(max((x-a.Origin)/a.Step, 0), float64(a.N-1))
	lo, hi = int(math.Ceil(f-1)), int(math.Floor(f+1))
	return a.Origin + f*a.Step, max(lo, 0), min(hi, a.N-1), f
}

// neighbour returns the lower or upper node next to f and its weight in linear
// interpolation.
func neighbour(f float64, upper int) (int, float64) {
	i := math.Floor(f)
	if upper == 1 {
		return int(i) + 1, f - i
	}
	return int(i), i + 1 - f
}

func (a Axis) validate(name string) error {
	var errs []error
	if a.N < 1 {
		errs = append(errs, fmt.Errorf("%s.N is %d, must be positive", name, a.N))
	}
	if !(a.Step > 0) || math.IsInf(a.Step, 1) {
		errs = append(errs, fmt.Errorf("%s.Step is %g, must be positive and finite", name, a.Step))
	}
	if !isFinite(a.Origin) {
		errs = append(errs, fmt.Errorf("%s.Origin is %g, must be finite", name, a.Origin))
	}
	if len(errs) == 0 && !isFinite(a.At(a.N-1)) {
		errs = append(errs, fmt.Errorf("%s ends at %g, must be finite", name, a.At(a.N-1)))
	}
	return errors.Join(errs...)
}

// Grid is the grid of an image or a velocity model: 2-D over (x, z) when Y is the
// zero Axis, else 3-D over (y, x, z).
//
// Nodes lie in memory in the order (y, x, z) with z fastest: node (iy, ix, iz) has
// index (iy·nx + ix)·nz + iz. An array of PyLops' Kirchhoff, of shape (nx, nz) or
// (ny, nx, nz), has the same order.
type Grid struct{ Y, X, Z Axis }

// Validate reports everything that makes the grid unusable.
func (g Grid) Validate() error {
	errs := []error{g.X.validate("X"), g.Z.validate("Z")}
	if g.Y != (Axis{}) {
		errs = append(errs, g.Y.validate("Y"))
	}
	err := errors.Join(errs...)
	if err == nil && g.X.N > math.MaxInt/g.Z.N/g.ny() {
		err = fmt.Errorf("%d × %d × %d nodes are more than an int can count", g.ny(), g.X.N, g.Z.N)
	}
	if err != nil {
		return fmt.Errorf("wave: grid: %w", err)
	}
	return nil
}

// Dims returns 2 or 3.
func (g Grid) Dims() int {
	if g.Y == (Axis{}) {
		return 2
	}
	return 3
}

// ny returns the number of planes, 1 in 2-D.
func (g Grid) ny() int {
	if g.Dims() == 2 {
		return 1
	}
	return g.Y.N
}

// Nodes returns the number of nodes.
func (g Grid) Nodes() int { return g.ny() * g.X.N * g.Z.N }

// Shape returns the number of nodes per axis in the order of memory: nx, nz in 2-D,
// ny, nx, nz in 3-D.
func (g Grid) Shape() []int {
	if g.Dims() == 2 {
		return []int{g.X.N, g.Z.N}
	}
	return []int{g.Y.N, g.X.N, g.Z.N}
}

// rows returns the extent of the first axis in memory, and rowNodes the number of
// nodes at each of its indices.
func (g Grid) rows() int     { return g.Shape()[0] }
func (g Grid) rowNodes() int { return g.Nodes() / g.rows() }

// Index returns the index of node (iy, ix, iz). In 2-D iy is 0.
func (g Grid) Index(iy, ix, iz int) int { return (iy*g.X.N+ix)*g.Z.N + iz }

// Node returns the position of the node with the given index, the inverse of Index.
func (g Grid) Node(i int) Point {
	p := Point{X: g.X.At(i / g.Z.N % g.X.N), Z: g.Z.At(i % g.Z.N)}
	if g.Dims() == 3 {
		p.Y = g.Y.At(i / (g.Z.N * g.X.N))
	}
	return p
}

// Contains reports whether p lies on the grid: between its first and last node along
// each axis, or no more than a millionth of a step outside.
func (g Grid) Contains(p Point) bool {
	if g.Dims() == 3 && !g.Y.contains(p.Y) {
		return false
	}
	return g.X.contains(p.X) && g.Z.contains(p.Z)
}

// Distance returns the Euclidean distance from p to q. In 2-D it leaves out y.
func (g Grid) Distance(p, q Point) float64 {
	x, z := p.X-q.X, p.Z-q.Z
	d2 := x*x + z*z
	if g.Dims() == 3 {
		y := p.Y - q.Y
		d2 += y * y
	}
	return math.Sqrt(d2)
}

// MaxDistance returns the largest distance from any of the points to any node. It
// takes a look at the corners only, since a distance is convex.
func (g Grid) MaxDistance(points []Point) float64 {
	far := 0.0
	for _, p := range points {
		d := Point{X: g.X.farther(p.X), Z: g.Z.farther(p.Z)}
		if g.Dims() == 3 {
			d.Y = g.Y.farther(p.Y)
		}
		far = max(far, g.Distance(d, Point{}))
	}
	return far
}

// String returns shape, extent and step, as error texts show a grid.
func (g Grid) String() string {
	s := fmt.Sprintf("x %s, z %s", g.X, g.Z)
	if g.Dims() == 3 {
		s = fmt.Sprintf("y %s, %s", g.Y, s)
	}
	return s
}

// check returns an error unless the grid is valid and n is its number of nodes.
func (g Grid) check(what string, n int) error {
	if err := g.Validate(); err != nil {
		return err
	}
	return g.checkLen(what, n)
}

// checkLen returns an error unless n is the number of nodes.
func (g Grid) checkLen(what string, n int) error {
	if n != g.Nodes() {
		return fmt.Errorf("wave: %s: slice of %d for a grid of %d nodes, shape %v", what, n, g.Nodes(), g.Shape())
	}
	return nil
}

// checkRows returns an error unless n is the number of nodes in rows lo to hi.
func (g Grid) checkRows(what string, n, lo, hi int) error {
	if lo < 0 || lo > hi || hi > g.rows() {
		return fmt.Errorf("wave: %s: rows %d to %d of a grid of %d rows, shape %v", what, lo, hi, g.rows(), g.Shape())
	}
	if lo == 0 && hi == g.rows() {
		return g.checkLen(what, n)
	}
	if n != (hi-lo)*g.rowNodes() {
		return fmt.Errorf("wave: %s: slice of %d for rows %d to %d, which have %d nodes, shape %v", what, n, lo, hi, (hi-lo)*g.rowNodes(), g.Shape())
	}
	return nil
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
