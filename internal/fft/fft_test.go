package fft

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golops/golops/internal/soak"
)

// dd is a number in two parts, of some 106 bits.
type dd struct{ hi, lo float64 }

func (a dd) add(b dd) dd {
	s := a.hi + b.hi
	t := s - a.hi
	e := (a.hi - (s - t)) + (b.hi - t) + a.lo + b.lo
	hi := s + e
	return dd{hi, e - (hi - s)}
}

// times returns a·x.
func (a dd) times(x float64) dd {
	p := a.hi * x
	e := math.FMA(a.hi, x, -p) + a.lo*x
	hi := p + e
	return dd{hi, e - (hi - p)}
}

func (a dd) neg() dd { return dd{-a.hi, -a.lo} }

// exactRoots returns exp(-2πi·k/n) in twice the precision, by multiplication from a
// few sines and cosines of big numbers.
func exactRoots(n int) (c, s []dd) {
	c, s = make([]dd, n), make([]dd, n)
	for k := range n {
		c[k], s[k] = bigRoot(k, n)
	}
	return c, s
}

func bigRoot(k, n int) (c, s dd) {
	const prec = 160
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899", 10, prec, big.ToNearestEven)
	x := new(big.Float).SetPrec(prec).Mul(pi, big.NewFloat(-2*float64(k)))
	x.Quo(x, big.NewFloat(float64(n)))
	// The series of exp(ix/64), squared six times.
	x.Quo(x, big.NewFloat(64))
	re, im := big.NewFloat(1).SetPrec(prec), new(big.Float).SetPrec(prec)
	tr, ti := big.NewFloat(1).SetPrec(prec), new(big.Float).SetPrec(prec)
	f := func() *big.Float { return new(big.Float).SetPrec(prec) }
	for i := 1; i < 30; i++ {
		by := f().Quo(x, big.NewFloat(float64(i)))
		tr, ti = f().Neg(f().Mul(ti, by)), f().Mul(tr, by)
		re.Add(re, tr)
		im.Add(im, ti)
	}
	for range 6 {
		r := f().Sub(f().Mul(re, re), f().Mul(im, im))
		im = f().Mul(f().Mul(re, im), big.NewFloat(2))
		re = r
	}
	split := func(v *big.Float) dd {
		hi, _ := v.Float64()
		lo, _ := f().Sub(v, big.NewFloat(hi)).Float64()
		return dd{hi, lo}
	}
	return split(re), split(im)
}

// slow is the transform of a line by its definition, in twice the precision.
func slow(x []float64, c, s []dd, inverse bool) []float64 {
	n := len(x) / 2
	y := make([]float64, len(x))
	for k := range n {
		var re, im dd
		for j := range n {
			a, b := c[j*k%n], s[j*k%n]
			if inverse {
				b = b.neg()
			}
			re = re.add(a.times(x[2*j])).add(b.times(-x[2*j+1]))
			im = im.add(a.times(x[2*j+1])).add(b.times(x[2*j]))
		}
		y[2*k], y[2*k+1] = re.hi+re.lo, im.hi+im.lo
	}
	return y
}

func numbers[F Float](n int, seed uint64) []F {
	g := rand.New(rand.NewPCG(seed, 5))
	x := make([]F, n)
	for i := range x {
		x[i] = F(2*g.Float64() - 1)
	}
	return x
}

// apart returns ‖got - want‖/‖want‖.
func apart[F Float](got []F, want []float64) float64 {
	var d, s float64
	for i, v := range got {
		d += (float64(v) - want[i]) * (float64(v) - want[i])
		s += want[i] * want[i]
	}
	if s == 0 {
		s = 1
	}
	return math.Sqrt(d / s)
}

// rounding is the error that a transform of n samples may have. A chirp is three
// transforms.
func rounding[F Float](n int) float64 {
	eps := 0x1p-53
	if p := factor(n, unitOf[F]()); len(p) > 0 && slices.Max(p) > chirpRadix {
		eps *= 2
	}
	if F(1)+F(0x1p-30) == 1 {
		eps = 0x1p-24
	}
	return 1.5 * eps * math.Sqrt(2+math.Log2(float64(n)))
}

// lengths are those that make test tries: small ones, and some up to 512.
func lengths() (all []int) {
	for n := 1; n <= 512; n += soak.Or(1+n/12, 1) {
		all = append(all, n)
	}
	return append(all, 501, 509)
}

func TestLengths(t *testing.T) {
	for _, n := range lengths() {
		r := newReference(n)
		for v := range level + 1 {
			checkLength[float64](t, r, v)
			checkLength[float32](t, r, v)
		}
	}
}

// reference is a line of numbers that both types hold, and its transforms.
type reference struct {
	n                         int
	x, forward, inverse, real []float64
}

func newReference(n int) *reference {
	c, s := exactRoots(n)
	r := &reference{n: n}
	for _, v := range numbers[float32](2*n, uint64(n)) {
		r.x = append(r.x, float64(v))
	}
	r.forward, r.inverse = slow(r.x, c, s, false), slow(r.x, c, s, true)
	x := make([]float64, 2*n)
	for i := range n {
		x[2*i] = r.x[i]
	}
	r.real = slow(x, c, s, false)[:2*(n/2+1)]
	return r
}

func checkLength[F Float](t *testing.T, r *reference, level int) {
	t.Helper()
	n, half := r.n, r.n/2+1
	x := make([]F, 2*n)
	for i, v := range r.x {
		x[i] = F(v)
	}
	compare := func(what string, got []F, want []float64, tol float64) {
		t.Helper()
		if e := apart(got, want); e > tol {
			t.Errorf("%T, level %d, n=%d, %s: error %.2g, want at most %.2g", F(0), level, n, what, e, tol)
		}
	}
	p := newPlan[F](n, false, unitAt[F](level))
	y, scratch := make([]F, 2*n), make([]F, p.Scratch())
	p.Transform(y, x, 1, 0, 1, false, scratch)
	compare("forward", y, r.forward, rounding[F](n))
	p.Transform(y, x, 1, 0, 1, true, scratch)
	compare("inverse", y, r.inverse, rounding[F](n))
	p = newPlan[F](n, true, unitAt[F](level))
	scratch = make([]F, p.Scratch())
	z := make([]F, 2*half)
	p.Forward(z, x[:n], 1, 0, 1, scratch)
	compare("real", z, r.real, rounding[F](n))
	z[1] = 7 // does not matter
	if n%2 == 0 {
		z[2*half-1] = -3
	}
	back, want := make([]F, n), make([]float64, n)
	p.Backward(back, z, 1, 0, 1, scratch)
	for i := range n {
		want[i] = r.x[i] * float64(n)
	}
	compare("real, back", back, want, 2*rounding[F](n))
}

// Large lengths have the right coefficients at a few places, the right norm, and
// come back.
func TestLargeLengths(t *testing.T) {
	for _, n := range []int{1000, 1300, 4096, 10007, 65537} {
		for v := range level + 1 {
			checkLarge[float64](t, n, v)
			checkLarge[float32](t, n, v)
		}
	}
	if soak.On() {
		checkLarge[float64](t, 3*32771, level)
		checkLarge[float64](t, 1<<20, level)
		checkLarge[float64](t, 1000003, level)
	}
}

func checkLarge[F Float](t *testing.T, n, level int) {
	t.Helper()
	x := numbers[F](2*n, uint64(n))
	p := newPlan[F](n, false, unitAt[F](level))
	y, z, scratch := make([]F, 2*n), make([]F, 2*n), make([]F, p.Scratch())
	p.Transform(y, x, 1, 0, 1, false, scratch)
	var sumX, sumY dd
	for i := range x {
		sumX = sumX.add(dd{float64(x[i]), 0}.times(float64(x[i])))
		sumY = sumY.add(dd{float64(y[i]), 0}.times(float64(y[i])))
	}
	normX, normY := sumX.hi, sumY.hi
	if r := normY / normX / float64(n); math.Abs(r-1) > 4*rounding[F](n) {
		t.Errorf("%T, n=%d: the norm is %v of what it should be", F(0), n, r)
	}
	scale := math.Sqrt(normX)
	for _, k := range []int{0, 1, n / 3, n - 1} {
		var re, im dd
		for j := range n {
			c, s := root(j*k%n, n)
			re = re.add(dd{c, 0}.times(float64(x[2*j]))).add(dd{-s, 0}.times(float64(x[2*j+1])))
			im = im.add(dd{c, 0}.times(float64(x[2*j+1]))).add(dd{s, 0}.times(float64(x[2*j])))
		}
		if e := math.Hypot(re.hi-float64(y[2*k]), im.hi-float64(y[2*k+1])) / scale; e > 4*rounding[F](n) {
			t.Errorf("%T, n=%d: coefficient %d has an error of %.2g, want at most %.2g", F(0), n, k, e, 4*rounding[F](n))
		}
	}
	p.Transform(z, y, 1, 0, 1, true, scratch)
	want := make([]float64, 2*n)
	for i, v := range x {
		want[i] = float64(v) * float64(n)
	}
	if e := apart(z, want); e > 2*rounding[F](n) {
		t.Errorf("%T, n=%d, there and back: error %.2g, want at most %.2g", F(0), n, e, 2*rounding[F](n))
	}
}

// Lines in blocks of any shape are the same as each on its own, also in place.
func TestLines(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8, 12, 30, 97, 211} {
		for _, b := range [][2]int{{1, 1}, {21, 1}, {1, 3}, {1, 40}, {2, 19}, {3, 16}} {
			t.Run(fmt.Sprintf("n=%d/outer=%d/inner=%d", n, b[0], b[1]), func(t *testing.T) {
				for v := range level + 1 {
					checkLines[float64](t, n, b[0], b[1], v)
					checkLines[float32](t, n, b[0], b[1], v)
				}
			})
		}
	}
}

func checkLines[F Float](t *testing.T, n, outer, inner, level int) {
	half := n/2 + 1
	p, r := newPlan[F](n, false, unitAt[F](level)), newPlan[F](n, true, unitAt[F](level))
	scratch := make([]F, max(p.Scratch(), r.Scratch()))
	x := numbers[F](2*n*outer*inner, 3)
	y, z := make([]F, len(x)), append([]F(nil), x...)
	reals := x[:n*outer*inner]
	coefs, back := make([]F, 2*half*outer*inner), make([]F, len(reals))
	all, cut := outer*inner, outer*inner/3
	for _, part := range [][2]int{{cut, all}, {0, cut}} {
		p.Transform(y, x, inner, part[0], part[1], true, scratch)
		p.Transform(z, z, inner, part[0], part[1], true, scratch)
		r.Forward(coefs, reals, inner, part[0], part[1], scratch)
		r.Backward(back, coefs, inner, part[0], part[1], scratch)
	}
	line, one := make([]F, 2*n), make([]F, 2*n)
	for l := range all {
		at := l/inner*inner*n + l%inner
		for i := range n {
			line[2*i], line[2*i+1] = x[2*(at+i*inner)], x[2*(at+i*inner)+1]
		}
		p.Transform(one, line, 1, 0, 1, true, scratch)
		for i := range n {
			k := 2 * (at + i*inner)
			same(t, "transform", one[2*i:2*i+2], y[k:k+2], n)
			same(t, "transform in place", one[2*i:2*i+2], z[k:k+2], n)
		}
		for i := range n {
			line[i] = reals[at+i*inner]
		}
		r.Forward(one[: 2*half : 2*half][:0:0], nil, 1, 0, 0, scratch) // no lines
		f := make([]F, 2*half)
		r.Forward(f, line[:n], 1, 0, 1, scratch)
		to := l/inner*inner*half + l%inner
		for i := range half {
			k := 2 * (to + i*inner)
			same(t, "forward", f[2*i:2*i+2], coefs[k:k+2], n)
		}
		for i := range n {
			same(t, "backward", []F{line[i] * F(n)}, []F{back[at+i*inner]}, n)
		}
	}
}

func same[F Float](t *testing.T, what string, want, got []F, n int) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(want[i]-got[i])) > 8*math.Sqrt(float64(n))*rounding[F](n)*math.Sqrt(float64(n)) {
			t.Fatalf("%s: got %v, want %v", what, got, want)
		}
	}
}
