package wave

import (
	"errors"
	"fmt"
	"math"
)

// Weights of PyLops' dynamic mode. An image point with velocity v adds to the trace of
// source s and receiver r with the weight
//
//	w = 2/v · cos((θs − θr)/2) · aₛ·aᵣ · taper(|θs|)·taper(|θr|) · taper(offset/depth)
//
// with amplitudes a and angles θ at the point. The amplitudes and the tapers of the
// angles are a factor of the source times a factor of the receiver. The cosine is a
// sum of two such products:
//
//	cos((θs − θr)/2) = cos(θs/2)·cos(θr/2) + sin(θs/2)·sin(θr/2).
//
// PairFactors therefore computes two numbers per point and node. They give the weights
// of all pairs without a trigonometric function. The last taper depends on the pair
// and on the depth only: ApertureWeights computes nz numbers per pair.

// SpreadingFloor returns the distance ε that Amplitudes adds, so that amplitudes stay
// finite next to a source: a hundredth of the largest distance of a source plus that
// of a receiver, as in PyLops. It has to be the same for the tables of all ranks;
// PyLops-MPI takes the sources of one rank, so its weights change with the ranks.
func SpreadingFloor(g Grid, sources, receivers []Point) float64 {
	return 0.01 * (g.MaxDistance(sources) + g.MaxDistance(receivers))
}

// Amplitudes sets dst to the geometrical spreading between p and every node, from the
// distance d along a straight line:
//
//	1/√(d + ε) in 2-D, 1/(d + ε) in 3-D.
//
// PyLops uses straight distances also with eikonal times.
func Amplitudes[F Float](dst []F, g Grid, p Point, floor float64) error {
	if err := g.check("amplitudes", len(dst)); err != nil {
		return err
	}
	if !p.finite() || !(floor > 0) || math.IsInf(floor, 1) {
		return fmt.Errorf("wave: amplitudes from %v with floor %g: point must be finite, floor positive", p, floor)
	}
	nz, flat := g.Z.N, g.Dims() == 2
	for i := 0; i < len(dst); i += nz {
		col := dst[i : i+nz]
		straightColumn(col, &g, p, 1, i/nz/g.X.N, i/nz%g.X.N)
		for k, d := range col {
			r := float64(d) + floor
			if flat {
				r = math.Sqrt(r)
			}
			col[k] = F(1 / r)
		}
	}
	return nil
}

// Angles sets dst to the angle in radians between the vertical and the ray that comes
// from the point of a time table, at every node, from the gradient of the times:
//
//	θ = atan2(∂T/∂x, ∂T/∂z)                  in 2-D,
//	θ = sign(∂T/∂x) · acos(∂T/∂z / |∇T|)     in 3-D.
//
// It is 0 for a ray straight down and positive for one towards larger x. Differences
// are central, at the edges one-sided. PyLops does the same for all kinds of times; as
// there, in 3-D θ is 0 where ∂T/∂x is exactly 0. Where ∇T is 0, at the source, θ is 0;
// PyLops has NaN there in 3-D, which leaves the node out.
func Angles[F Float](dst []F, g Grid, times []F) error {
	if err := g.check("angles", len(dst)); err != nil {
		return err
	}
	if err := g.checkLen("times of angles", len(times)); err != nil {
		return err
	}
	nz, nx := g.Z.N, g.X.N
	for i := range dst {
		x := derivative(times, i, i/nz%nx, nz, g.X)
		z := derivative(times, i, i%nz, 1, g.Z)
		y := 0.0
		if g.Dims() == 3 {
			y = derivative(times, i, i/nz/nx, nz*nx, g.Y)
		}
		dst[i] = F(g.angle(y, x, z))
	}
	return nil
}

// derivative returns that of t at element i, node k of the axis.
func derivative[F Float](t []F, i, k, stride int, a Axis) float64 {
	lo, hi, steps := i, i, 0.0
	if k > 0 {
		lo -= stride
		steps++
	}
	if k < a.N-1 {
		hi += stride
		steps++
	}
	if steps == 0 {
		return 0
	}
	return (float64(t[hi]) - float64(t[lo])) / (steps * a.Step)
}

// StraightAngles sets dst to the angles of straight rays from p, by the formulas of
// Angles with the exact gradient (node − p)/|node − p|. It differs from PyLops, which
// takes differences, next to p and at the edges of the grid.
func StraightAngles[F Float](dst []F, g Grid, p Point) error {
	if err := g.check("straight angles", len(dst)); err != nil {
		return err
	}
	if !p.finite() {
		return fmt.Errorf("wave: straight angles from %v: point is not finite", p)
	}
	for i := range dst {
		n := g.Node(i)
		dst[i] = F(g.angle(n.Y-p.Y, n.X-p.X, n.Z-p.Z))
	}
	return nil
}

// angle returns that of the ray along (y, x, z) with the vertical.
func (g Grid) angle(y, x, z float64) float64 {
	if g.Dims() == 2 {
		return math.Atan2(x, z)
	}
	if x == 0 {
		return 0
	}
	c := z / math.Sqrt(y*y+x*x+z*z)
	return math.Copysign(math.Acos(min(max(c, -1), 1)), x)
}

// Taper is a weight that falls from 1 at Start to 0 at End, in 20 steps like PyLops'.
// Equal values make a hard limit. The zero Taper has weight 1 everywhere.
type Taper struct{ Start, End float64 }

// TaperTo returns the taper that PyLops makes from one number: it starts at 80%.
func TaperTo(end float64) Taper { return Taper{Start: 0.8 * end, End: end} }

// Validate reports everything that makes the taper unusable.
func (t Taper) Validate() error {
	var errs []error
	if !(t.Start >= 0) {
		errs = append(errs, fmt.Errorf("taper starts at %g, must not be negative", t.Start))
	}
	if !(t.End >= t.Start) {
		errs = append(errs, fmt.Errorf("taper ends at %g, must not be before its start at %g", t.End, t.Start))
	}
	return errors.Join(errs...)
}

// Weight returns the weight of x, which is 0 for NaN.
func (t Taper) Weight(x float64) float64 {
	switch {
	case t == Taper{}, x < t.Start:
		return 1
	case !(x < t.End):
		return 0
	case math.IsInf(t.End, 1):
		return 1
	}
	k := floorDiv(20*(x-t.Start), t.End-t.Start)
	if k < 1 {
		return 1
	}
	return 0.5 + 0.5*math.Cos(math.Pi*(k-1)/19) // falling half of a Hanning window
}

// PairFactors sets even to a·taper(|θ|)·cos(θ/2) and odd to a·taper(|θ|)·sin(θ/2), from
// the amplitudes a and angles θ of one point, all nodes. The weight of a pair is then
//
//	2/v · (evenₛ·evenᵣ + oddₛ·oddᵣ) · ApertureWeights,
//
// where 2/v may be multiplied into the model, or into one of the tables. The taper is
// in radians. even may be amp, and odd may be angle.
func PairFactors[F Float](even, odd, amp, angle []F, t Taper) error {
	if n := len(even); len(odd) != n || len(amp) != n || len(angle) != n {
		return fmt.Errorf("wave: pair factors: slices of %d, %d, %d and %d, must be of one length",
			n, len(odd), len(amp), len(angle))
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("wave: pair factors: angle: %w", err)
	}
	for i := range even {
		th := float64(angle[i])
		w := float64(amp[i]) * t.Weight(math.Abs(th))
		sin, cos := math.Sincos(th / 2)
		even[i], odd[i] = F(w*cos), F(w*sin)
	}
	return nil
}

// ApertureWeights sets dst[iz] to the weight of a source and a receiver at depth iz: the
// taper of offset over depth, counted in nodes as PyLops does,
//
//	|⌊(xs − x₀)/dx⌋ − ⌊(xr − x₀)/dx⌋| / (iz + 1).
//
// PyLops 2.8 rounds before it looks its taper up, which makes a hard limit at End; set
// Start to End for the same weights. In 3-D, where PyLops has no such limit, offsets
// in x and y are added as the sides of a right angle.
func ApertureWeights[F Float](dst []F, g Grid, s, r Point, t Taper) error {
	if err := g.Validate(); err != nil {
		return err
	}
	if len(dst) != g.Z.N {
		return fmt.Errorf("wave: aperture weights: slice of %d for %d depths", len(dst), g.Z.N)
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("wave: aperture weights: %w", err)
	}
	if !s.finite() || !r.finite() {
		return fmt.Errorf("wave: aperture weights of source %v, receiver %v: points must be finite", s, r)
	}
	offset := floorDiv(s.X-g.X.Origin, g.X.Step) - floorDiv(r.X-g.X.Origin, g.X.Step)
	if g.Dims() == 3 {
		offset = math.Hypot(offset, floorDiv(s.Y-g.Y.Origin, g.Y.Step)-floorDiv(r.Y-g.Y.Origin, g.Y.Step))
	}
	for iz := range dst {
		dst[iz] = F(t.Weight(math.Abs(offset) / float64(iz+1)))
	}
	return nil
}

// floorDiv returns ⌊a/b⌋ for b > 0 as Python's // does. The quotient alone would be off
// by one where it rounds to an integer: ⌊1/0.1⌋ is 9, since 0.1 is a little above ⅒.
func floorDiv(a, b float64) float64 {
	m := math.Mod(a, b)
	q := math.Round((a - m) / b)
	if m < 0 {
		q--
	}
	return q
}
