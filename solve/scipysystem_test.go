package solve_test

import (
	"math"
	"math/cmplx"

	"github.com/golops/golops/internal/splitmix"
)

// system is one of the random systems of testdata/solve/make_scipy.py, made by
// the same arithmetic.
type system struct {
	number   int
	shape    string
	sort     int
	m, n     int
	a        []complex128 // rows
	b        []complex128
	damp     float64
	reach    float64 // log10 of the condition
	rank     int
	negative bool // there are negative eigenvalues
	limit    int
}

func (s *system) hermitian() bool { return s.shape == "hermitian" }
func (s *system) definite() bool  { return s.hermitian() && s.sort < 2 }

// kind is the row of the table that the system counts in.
func (s *system) kind() string {
	name := s.shape
	switch {
	case s.definite():
		name = "definite"
	case s.hermitian() && s.negative:
		name = "indefinite"
	}
	switch {
	case s.rank < min(s.m, s.n):
		name += ", singular"
	case s.damp != 0:
		name += ", damped"
	}
	return name
}

// splitMix makes the random numbers of make_scipy.py.
type splitMix struct{ splitmix.Source }

func (r *splitMix) unit() float64   { return float64(r.Next()>>11) / (1 << 53) }
func (r *splitMix) below(n int) int { return int(r.Next() % uint64(n)) }
func (r *splitMix) number(c bool) complex128 {
	re, im := 2*r.unit()-1, 0.0
	if c {
		im = 2*r.unit() - 1
	}
	return complex(re, im)
}

func (r *splitMix) vector(n int, c bool) []complex128 {
	v := make([]complex128, n)
	for i := range v {
		v[i] = r.number(c)
	}
	return v
}

// reflect sets a = (I - 2·v·vᴴ/vᴴv)·a, whose rows have n elements.
func reflect(a []complex128, n int, v []complex128) {
	vv := 0.0
	for _, x := range v {
		vv += real(x)*real(x) + imag(x)*imag(x)
	}
	for j := range n {
		s := 0i
		for i, x := range v {
			s += cmplx.Conj(x) * a[i*n+j]
		}
		s *= complex(2/vv, 0)
		for i, x := range v {
			a[i*n+j] -= x * s
		}
	}
}

func adjointOf(a []complex128, m, n int) []complex128 {
	t := make([]complex128, len(a))
	for i := range m {
		for j := range n {
			t[j*m+i] = cmplx.Conj(a[i*n+j])
		}
	}
	return t
}

// scipySystem makes system number i, which is of element type i%4.
func scipySystem(i int) *system {
	r, s := splitMix{splitmix.Source(i)}, &system{number: i, sort: i / 16 % 4}
	c := i%4 >= 2
	s.shape = []string{"square", "tall", "wide", "hermitian"}[i/4%4]
	k := 4 + r.below(17)
	more := 1 + r.below(20)
	s.m, s.n, s.limit = k, k, 20*k
	switch s.shape {
	case "tall":
		s.m += more
	case "wide":
		s.n += more
	}
	if s.reach = r.unit(); s.sort != 0 {
		s.reach *= 14
	} else {
		s.reach *= 3
	}
	s.rank = k
	if s.sort == 3 {
		s.rank = k - 1 - r.below(k-1)
	}
	if s.damp = math.Pow(10, 9*r.unit()-6); s.sort != 1 || s.hermitian() {
		s.damp = 0
	}
	if s.sort == 3 {
		s.reach = 3 * r.unit()
	}
	s.a = make([]complex128, s.m*s.n)
	for j := range s.rank {
		v := math.Pow(10, -s.reach*float64(j)/float64(max(s.rank-1, 1)))
		if s.hermitian() && (s.sort == 2 || s.sort == 3 && i/64%2 == 1) && r.below(2) == 1 {
			v, s.negative = -v, true
		}
		s.a[j*s.n+j] = complex(v, 0)
	}
	s.turn(&r, c)
	x := r.vector(s.n, c)
	s.b = r.vector(s.m, c)
	if r.below(2) == 0 { // in reach of A
		s.b = s.times(x)
	}
	return s
}

// turn multiplies the diagonal by random unitary matrices from both sides.
func (s *system) turn(r *splitMix, c bool) {
	var us, vs [3][]complex128
	for i := range us {
		us[i] = r.vector(s.m, c)
	}
	vs = us
	if !s.hermitian() {
		for i := range vs {
			vs[i] = r.vector(s.n, c)
		}
	}
	for _, v := range us {
		reflect(s.a, s.n, v)
	}
	s.a = adjointOf(s.a, s.m, s.n)
	for _, v := range vs {
		reflect(s.a, s.m, v)
	}
	s.a = adjointOf(s.a, s.n, s.m)
	if s.hermitian() {
		t := adjointOf(s.a, s.m, s.n)
		for i := range t {
			s.a[i] = (s.a[i] + t[i]) * 0.5
		}
	}
}

// scaleByPowerOfTwo returns A·x.
func (s *system) times(x []complex128) []complex128 {
	y := make([]complex128, s.m)
	for i := range y {
		for j, v := range x {
			y[i] += s.a[i*s.n+j] * v
		}
	}
	return y
}

// norms returns ‖b - A·x‖, ‖Aᴴ(b - A·x) - damp²·x‖ and ‖x‖.
func (s *system) norms(x []complex128) (resid, grad, size float64) {
	y := s.times(x)
	for i := range y {
		y[i] = s.b[i] - y[i]
	}
	g := make([]complex128, s.n)
	for j := range g {
		for i := range y {
			g[j] += cmplx.Conj(s.a[i*s.n+j]) * y[i]
		}
		g[j] -= complex(s.damp*s.damp, 0) * x[j]
	}
	return length(y), length(g), length(x)
}

func length(x []complex128) float64 {
	n := 0.0
	for _, v := range x {
		n = math.Hypot(n, cmplx.Abs(v))
	}
	return n
}
