package prox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"github.com/golops/golops/array"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/shape"
)

// Nuclear returns σ·Σ‖X‖⁎: the sum of all singular values of the matrices that the
// last two axes of an array are. These axes must not be split: a rank has whole
// matrices.
//
//	prox(X) = U·diag(max(sᵢ - στ, 0))·Vᴴ for X = U·diag(s)·Vᴴ
//
// It works in host memory: a GPU lacks the kernel SVD.
func Nuclear[T scalar.Scalar](ctx context.Context, x *dist.Space, sigma float64) (Function[T], error) {
	m, err := newMatrices[T](x)
	err = errors.Join(err, weight("sigma", sigma))
	return build(ctx, "Nuclear", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			sum, _, err := m.norms(ctx, x, 0)
			return sigma * sum, err
		},
		Prox: func(_ context.Context, y dist.Array[T], tau float64, x dist.Array[T]) error {
			m.prox(y, x, func(s, f []float64) {
				for i, v := range s {
					if f[i] = 0; !(v <= sigma*tau) {
						f[i] = 1 - sigma*tau/v
					}
				}
			})
			return nil
		},
	}, "sigma ", sigma)
}

// NuclearBall returns the indicator of ‖X‖⁎ ≤ radius for each of the matrices that
// Nuclear has. The prox takes the singular values to the L1 ball.
func NuclearBall[T scalar.Scalar](ctx context.Context, x *dist.Space, radius float64) (Function[T], error) {
	m, err := newMatrices[T](x)
	err = errors.Join(err, weight("radius", radius))
	return build(ctx, "NuclearBall", x, err, Definition[T]{
		Value: func(ctx context.Context, x dist.Array[T]) (float64, error) {
			_, outside, err := m.norms(ctx, x, radius*(1+slack[T]()))
			return indicator(outside), err
		},
		Prox: func(_ context.Context, y dist.Array[T], _ float64, x dist.Array[T]) error {
			m.prox(y, x, func(s, f []float64) {
				t := ballThreshold(s, f, radius)
				for i, v := range s {
					if f[i] = 1; v > 0 {
						f[i] = max(1-t/v, 0)
					}
				}
			})
			return nil
		},
	}, "radius ", radius)
}

// ballThreshold returns the t ≥ 0 with Σmax(sᵢ - t, 0) = radius, or 0 if Σsᵢ is less.
// sorted is room for as many numbers.
func ballThreshold(s, sorted []float64, radius float64) float64 {
	copy(sorted, s)
	slices.Sort(sorted)
	sum, t := 0.0, 0.0
	for i := len(sorted) - 1; i >= 0; i-- {
		sum += sorted[i]
		if v := (sum - radius) / float64(len(sorted)-i); v < sorted[i] {
			t = v
		}
	}
	return max(t, 0)
}

// matrices are the small matrices of a rank's block.
type matrices[T scalar.Scalar] struct {
	svd        *svd
	rows, cols int
	factors    []float64
	red        *dist.Reduction
	counts     bool
}

func newMatrices[T scalar.Scalar](x *dist.Space) (*matrices[T], error) {
	if x == nil {
		return nil, nil
	}
	n := x.Shape().NDim()
	if x.Parts() != nil || n < 2 {
		return nil, fmt.Errorf("%v must be one array of at least 2 axes", x)
	}
	for _, axis := range []int{n - 2, n - 1} {
		if g, _ := x.SplitBy(axis); g != dist.NoAxis {
			return nil, fmt.Errorf("axis %d of %v is split: a rank must have whole matrices: split another axis", axis, x)
		}
	}
	one, err := array.New[T](x.Device(), shape.Of(1))
	if err != nil {
		return nil, err
	}
	defer one.Free()
	if one.Mem().Host == nil {
		return nil, fmt.Errorf("kernel SVD of %v on %v: %w", scalar.Of[T](), x.Device(), device.ErrUnsupported)
	}
	m := &matrices[T]{rows: x.Shape().Dim(n - 2), cols: x.Shape().Dim(n - 1), red: dist.NewReduction(x, 2)}
	m.svd, m.counts = newSVD(m.rows, m.cols), x.Primary() || x.Group().Size() == 1
	m.factors = make([]float64, m.svd.n)
	return m, nil
}

// load decomposes the matrix with these elements. It reports whether all are finite.
func (m *matrices[T]) load(a []T) bool {
	for k, v := range a {
		c := scalar.Complex(v)
		if cmplx.IsNaN(c) || cmplx.IsInf(c) {
			return false
		}
		if m.svd.flip {
			c = cmplx.Conj(c)
		}
		m.svd.w[m.svd.at(k)] = c
	}
	m.svd.decompose()
	return true
}

// norms returns the sum of all nuclear norms, and by how much they are larger than a
// bound, in one message.
func (m *matrices[T]) norms(ctx context.Context, x dist.Array[T], bound float64) (sum, over float64, err error) {
	for a := range slices.Chunk(x.Local().Mem().Host, max(m.rows*m.cols, 1)) {
		if !m.counts {
			break
		}
		v := 0.0
		if !m.load(a) {
			v = math.NaN()
		}
		for _, s := range m.svd.values {
			v += s
		}
		sum, over = sum+v, over+max(v-bound, 0)
	}
	s, o := m.red.AddNumber(sum), m.red.AddNumber(over)
	err = m.red.Do(ctx)
	return s.Float(), o.Float(), err
}

// prox sets each matrix of y to that of x with its singular values s times factors f. A
// matrix with an element that is not finite becomes NaN.
func (m *matrices[T]) prox(y, x dist.Array[T], factors func(s, f []float64)) {
	to := y.Local().Mem().Host
	for a := range slices.Chunk(x.Local().Mem().Host, max(m.rows*m.cols, 1)) {
		finite := m.load(a)
		factors(m.svd.values, m.factors)
		for k := range a {
			if to[k] = scalar.From[T](m.svd.element(k, m.factors)); !finite {
				to[k] = scalar.From[T](cmplx.NaN())
			}
		}
		to = to[len(a):]
	}
}
