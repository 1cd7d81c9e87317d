package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
)

// SpectrumConfig says which values of a spectrum to find, and how well. Start from
// SpectrumDefaults.
type SpectrumConfig struct {
	Largest  int     // how many, from the largest down
	Smallest int     // how many, from the smallest up
	MaxIter  int     // steps at most; each keeps its vectors
	Tol      float64 // bound of the error of each, relative to the value of largest magnitude; 0 asks for rounding
}

// SpectrumDefaults asks for the n largest values to a millionth, in 100 steps at most.
func SpectrumDefaults(n int) SpectrumConfig {
	return SpectrumConfig{Largest: n, MaxIter: 100, Tol: 1e-6}
}

// Validate reports everything that is wrong with c.
func (c SpectrumConfig) Validate() error {
	var errs []error
	if c.Largest < 0 || c.Smallest < 0 || c.Largest+c.Smallest == 0 {
		errs = append(errs, fmt.Errorf("%d of the largest and %d of the smallest values: neither may be negative, and one must be positive", c.Largest, c.Smallest))
	}
	if c.MaxIter < 1 {
		errs = append(errs, fmt.Errorf("MaxIter is %d, must be at least 1", c.MaxIter))
	}
	if !(c.Tol >= 0) {
		errs = append(errs, fmt.Errorf("the Tol is %g, must not be negative or NaN", c.Tol))
	}
	return errors.Join(errs...)
}

// Spectrum is a few values from the ends of a spectrum.
type Spectrum struct {
	Largest   []float64 // the largest first; fewer than asked for if the space has no more
	Smallest  []float64 // the smallest first
	Error     float64   // of the worst of them: so near it is a true value
	Iters     int
	Converged bool // the Error meets the tolerance; otherwise MaxIter is too small
}

// Condition is the largest value over the smallest. Both must have been asked for.
func (s Spectrum) Condition() float64 {
	if len(s.Largest) == 0 || len(s.Smallest) == 0 {
		return math.NaN()
	}
	return s.Largest[0] / s.Smallest[0]
}

// SingularValues returns a few singular values of A, by the bidiagonal matrix
//
//	α·u = A·v - β_old·u_old,  β·v_new = Aᴴu - α·v
//
// all of whose vectors are kept, and made orthogonal to all before them, twice. It
// starts from random numbers. Large values come first, in a few times as many steps
// as there are; small ones of a large operator take many. A value that occurs several
// times is found once, but for rounding, unless the whole spectrum is asked for. It
// is collective: four messages per step. It keeps one vector of the domain and one of
// the range per step.
//
// G. Golub and W. Kahan, Calculating the Singular Values and Pseudo-Inverse of a
// Matrix, 1965.
func SingularValues[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], c SpectrumConfig) (s Spectrum, err error) {
	if linop.H(a) != nil && a.Domain().Size() > a.Range().Size() { // Aᴴ has no null space that a start could be in
		s, err = bidiagonalize(ctx, linop.H(a), c)
	} else {
		s, err = bidiagonalize(ctx, a, c)
	}
	if err != nil {
		err = fmt.Errorf("solve: singular values: %w", err)
	}
	return s, err
}

func bidiagonalize[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], c SpectrumConfig) (s Spectrum, err error) {
	w, vs, err := startSpectrum(ctx, a, c, nil)
	if err != nil {
		return s, err
	}
	defer w.free()
	us, t := newOrthonormal[R](&w.shared, 0), &tridiagonal{}
	for s.Iters < c.MaxIter && !s.Converged {
		w.roomFor(a.Domain(), s.Iters+3)
		u := us.make(a.Range())
		w.Forward(ctx, u, vs.v[s.Iters])
		length, err := us.grow(ctx, u, t.norm)
		if err == nil {
			t.add(0, length) // α
			v := vs.make(a.Domain())
			w.Adjoint(ctx, v, u)
			length, err = vs.grow(ctx, v, t.norm)
		}
		if err != nil && err != errFull {
			return s, fmt.Errorf("step %d: %w", s.Iters+1, err)
		}
		t.add(0, length) // β
		s.Iters++
		s.judge(t, s.Iters, c, err == errFull)
	}
	return s, nil
}

// Eigenvalues returns a few eigenvalues of a Hermitian A from the ends of its
// spectrum, with their signs. It is the recurrence of Lanczos
//
//	δ = vᴴAv,  β·v_new = A·v - δ·v - β_old·v_old
//
// with vectors that are kept and made orthogonal as those of SingularValues, of which
// the rest holds as well. An A that is not Hermitian is an error. It is
// collective: two messages per step. It keeps one vector per step.
//
// C. Lanczos, An Iteration Method for the Solution of the Eigenvalue Problem of
// Linear Differential and Integral Operators, 1950.
func Eigenvalues[T scalar.Scalar](ctx context.Context, a linop.Operator[T], c SpectrumConfig) (s Spectrum, err error) {
	if linop.H(a) != nil && !a.Domain().Equal(a.Range()) {
		err = fmt.Errorf("the operator goes from %v to %v: give one that maps a space to itself", a.Domain(), a.Range())
	}
	w, vs, err := startSpectrum(ctx, a, c, err)
	if err != nil {
		return s, fmt.Errorf("solve: eigenvalues: %w", err)
	}
	defer w.free()
	t := &tridiagonal{}
	for s.Iters < c.MaxIter && !s.Converged {
		w.roomFor(a.Domain(), s.Iters+3)
		v := vs.make(a.Domain())
		w.Forward(ctx, v, vs.v[s.Iters])
		beta, err := vs.grow(ctx, v, t.norm)
		full := err == errFull
		if err == nil || full {
			err = hermitian(vs.h[:s.Iters+1], t.next, math.Sqrt(vs.before), math.Sqrt(epsilon[T, T]()))
		}
		if err != nil {
			return s, fmt.Errorf("solve: eigenvalues: step %d: %w", s.Iters+1, err)
		}
		t.add(vs.h[s.Iters].re, beta)
		s.Iters++
		s.judge(t, s.Iters, c, full)
	}
	return s, nil
}

// hermitian refuses coefficients of A·v that a Hermitian operator does not have:
// only v and the vector before it, with the β of that, are in it.
func hermitian(h []parts, beta, norm, tol float64) error {
	n := len(h)
	off := math.Abs(h[n-1].im)
	for i := range n - 1 {
		want := 0.0
		if i == n-2 {
			want = beta
		}
		off = max(off, math.Hypot(h[i].re-want, h[i].im))
	}
	if off > tol*norm {
		return fmt.Errorf("uᴴAv and (vᴴAu)* differ by %.2g where ‖A·v‖ is %.2g: the operator is not Hermitian: use SingularValues", off, norm)
	}
	return nil
}

// startSpectrum checks the arguments, of which err is what the caller found, and
// makes the first vector. It is collective.
func startSpectrum[D, R scalar.Scalar](ctx context.Context, a linop.Map[D, R], c SpectrumConfig, err error) (w *Workspace[D, R], vs orthonormal[D], _ error) {
	if linop.H(a) == nil {
		return nil, vs, errors.New("no operator given")
	}
	switch {
	case err != nil:
	case a.Domain().Group() != a.Range().Group():
		err = fmt.Errorf("the operator goes from %v to %v, which have different masks", a.Domain(), a.Range())
	case a.Domain().Size() == 0:
		err = fmt.Errorf("the operator takes %v: it has no spectrum", a.Domain())
	default:
		err = c.Validate()
	}
	if err := dist.Agree(ctx, a.Domain().Group(), "arguments", err, c); err != nil {
		return nil, vs, err
	}
	x, err := dist.Random[D](ctx, a.Domain(), 1)
	if err != nil {
		return nil, vs, err
	}
	w = newWorkspace(Problem[D, R]{A: a}, x, 0)
	w.begin()
	vs = newOrthonormal[D](&w.shared, 0)
	vs.v = append(vs.v, w.X)
	w.X.Scale(1 / w.X.norm(ctx))
	w.vectors = append(w.vectors, w.X) // which free gives back
	return w, vs, w.Err()
}

// judge sets the values of s from the tridiagonal matrix after k steps. full tells
// that the vectors span the whole space.
func (s *Spectrum) judge(t *tridiagonal, k int, c SpectrumConfig, full bool) {
	values := t.values()
	if len(values) >= 2*k { // those of SingularValues come with both signs
		values = values[:k]
	}
	if len(values) == 0 {
		s.Converged = true
		return
	}
	large := math.Max(math.Abs(values[0].v), math.Abs(values[len(values)-1].v))
	s.Largest, s.Smallest, s.Error = s.Largest[:0], s.Smallest[:0], 0
	for i := range min(c.Largest, len(values)) {
		s.Largest = append(s.Largest, values[i].v)
		s.Error = max(s.Error, values[i].err)
	}
	for i := range min(c.Smallest, len(values)) {
		e := values[len(values)-1-i]
		s.Smallest = append(s.Smallest, e.v)
		s.Error = max(s.Error, e.err)
	}
	enough := len(values) >= max(c.Largest, c.Smallest)
	s.Converged = full || enough && s.Error <= max(c.Tol, 0x1p-52)*large
}

// tridiagonal is a real symmetric tridiagonal matrix that grows.
type tridiagonal struct {
	diagonal []float64
	beside   []float64 // the last is out of the matrix
	next     float64   // the last of beside
	norm     float64   // the largest sum of a row
}

func (t *tridiagonal) add(diagonal, beside float64) {
	t.norm = max(t.norm, math.Abs(diagonal)+t.next+beside)
	t.diagonal, t.beside, t.next = append(t.diagonal, diagonal), append(t.beside, beside), beside
}

// ritz is an eigenvalue of a tridiagonal matrix, and how far the operator's may be.
type ritz struct{ v, err float64 }

// values returns all eigenvalues, the largest first. It is the implicit QL
// algorithm with shifts, of which only the last row of the eigenvectors is kept.
//
// A. Dubrulle, R. S. Martin and J. H. Wilkinson, The Implicit QL Algorithm, 1968.
func (t *tridiagonal) values() []ritz {
	n := len(t.diagonal)
	d, e, z := slices.Clone(t.diagonal), slices.Clone(t.beside), make([]float64, n)
	e[n-1], z[n-1] = 0, 1
	for l := range n {
		for range 60 { // two or three suffice
			m := l
			for m < n-1 && math.Abs(e[m]) > 0x1p-53*(math.Abs(d[m])+math.Abs(d[m+1])) {
				m++
			}
			if m == l {
				break
			}
			qlSweep(d, e, z, l, m)
		}
	}
	out := make([]ritz, n)
	for i := range out {
		out[i] = ritz{d[i], t.next * math.Abs(z[i])}
	}
	slices.SortFunc(out, func(a, b ritz) int {
		switch {
		case a.v > b.v:
			return -1
		case a.v < b.v:
			return 1
		}
		return 0
	})
	return out
}

// qlSweep chases one bulge from row m up to row l.
func qlSweep(d, e, z []float64, l, m int) {
	g := (d[l+1] - d[l]) / (2 * e[l])
	g = d[m] - d[l] + e[l]/(g+math.Copysign(math.Hypot(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := m - 1; i >= l; i-- {
		f, b := s*e[i], c*e[i]
		r := math.Hypot(f, g)
		if e[i+1] = r; r == 0 { // the matrix falls apart here
			d[i+1] -= p
			e[m] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = (d[i]-g)*s + 2*c*b
		p = s * r
		d[i+1] = g + p
		g = c*r - b
		z[i], z[i+1] = c*z[i]-s*z[i+1], s*z[i]+c*z[i+1]
	}
	d[l] -= p
	e[l], e[m] = g, 0
}
