package prox

import (
	"math"
	"math/cmplx"
)

// svd is the singular value decomposition of small matrices by one-sided Jacobi
// rotations, in memory that it keeps. It holds A·V = W, where V is unitary and the
// columns of W are orthogonal: their norms are the singular values.
//
// M. R. Hestenes, Inversion of Matrices by Biorthogonalization and Related Results, 1958.
type svd struct {
	m, n   int // of the matrix or of its adjoint, so that n ≤ m
	flip   bool
	w, v   []complex128 // columns one after another
	values []float64
}

// newSVD returns room for rows × cols matrices.
func newSVD(rows, cols int) *svd {
	s := &svd{m: max(rows, cols), n: min(rows, cols), flip: rows < cols}
	s.w, s.v, s.values = make([]complex128, s.m*s.n), make([]complex128, s.n*s.n), make([]float64, s.n)
	return s
}

// at returns where element k of the rows of the matrix is among the columns of W.
func (s *svd) at(k int) int {
	if s.flip { // W begins as the adjoint: its columns are the rows
		return k
	}
	return k%s.n*s.m + k/s.n
}

// column returns column j of a matrix of so many rows.
func column(a []complex128, rows, j int) []complex128 { return a[j*rows : (j+1)*rows] }

// sweeps is far more than any matrix needs: some 6 to 10.
const sweeps = 60

// decompose turns W into orthogonal columns.
func (s *svd) decompose() {
	clear(s.v)
	for j := range s.n {
		s.v[j*s.n+j] = 1
	}
	for range sweeps {
		turned := false
		for p := range s.n {
			for q := p + 1; q < s.n; q++ {
				turned = s.rotate(p, q) || turned
			}
		}
		if !turned {
			break
		}
	}
	for j := range s.values {
		s.values[j] = math.Sqrt(squared(column(s.w, s.m, j)))
	}
}

func squared(a []complex128) (sum float64) {
	for _, v := range a {
		sum += real(v)*real(v) + imag(v)*imag(v)
	}
	return sum
}

// rotate makes columns p and q orthogonal. It reports whether they were not.
func (s *svd) rotate(p, q int) bool {
	a, b := column(s.w, s.m, p), column(s.w, s.m, q)
	var dot complex128
	for i, v := range a {
		dot += cmplx.Conj(v) * b[i]
	}
	aa, bb, r := squared(a), squared(b), cmplx.Abs(dot)
	if !(r > 1e-14*math.Sqrt(aa*bb)) {
		return false
	}
	zeta := (bb - aa) / (2 * r)
	t := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Sqrt(1+zeta*zeta))
	c := 1 / math.Sqrt(1+t*t)
	turn(a, b, cmplx.Conj(dot)/complex(r, 0), c, c*t)
	turn(column(s.v, s.n, p), column(s.v, s.n, q), cmplx.Conj(dot)/complex(r, 0), c, c*t)
	return true
}

// turn gives b a phase and rotates both columns.
func turn(a, b []complex128, phase complex128, cos, sin float64) {
	c, s := complex(cos, 0), complex(sin, 0)
	for i, u := range a {
		v := b[i] * phase
		a[i], b[i] = c*u-s*v, s*u+c*v
	}
}

// element returns element k of the rows of Σ fⱼ·wⱼ·vⱼᴴ, where f are factors of the
// singular values.
func (s *svd) element(k int, f []float64) (sum complex128) {
	i, j := k/s.n, k%s.n
	if s.flip {
		i, j = k%s.m, k/s.m
	}
	for l, c := range f {
		if c != 0 {
			sum += complex(c, 0) * s.w[l*s.m+i] * cmplx.Conj(s.v[l*s.n+j])
		}
	}
	if s.flip {
		return cmplx.Conj(sum)
	}
	return sum
}
