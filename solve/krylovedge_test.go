package solve_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// What cannot be solved ends with a status that says so, and arguments that make no
// sense are an error on all ranks.
func TestKrylovEnds(t *testing.T) {
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, 8)
		if err != nil {
			return err
		}
		turn, err := ops.Roll[float64](ctx, s, 0, 1) // a cyclic shift
		if err != nil {
			return err
		}
		back, err := linop.Scale(-1, linop.H(turn))
		if err != nil {
			return err
		}
		skew, err := linop.Add(turn, back) // xᵀAx is zero, and constants are in its null space
		if err != nil {
			return err
		}
		b, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(1 + i[0]*i[0]) })
		if err != nil {
			return err
		}
		first, err := dist.FromFunc(ctx, s, func(i []int) float64 { return float64(max(1-i[0], 0)) })
		if err != nil {
			return err
		}
		odd, err := linop.Apply(ctx, skew, b)
		if err != nil {
			return err
		}
		large, err := linop.Scale(3, turn)
		if err != nil {
			return err
		}
		type method = solve.Method[float64, float64]
		for _, k := range []struct {
			name   string
			m      method
			a      linop.Operator[float64]
			b      dist.Array[float64]
			status solve.Status
			why    string
		}{
			{"BiCGStab of a skew operator", &solve.BiCGStab[float64]{}, skew, odd, solve.Breakdown, "use GMRES"},
			{"GMRES of a skew operator", &solve.GMRES[float64]{Restart: 8}, skew, odd, solve.Converged, ""},
			{"GMRES of a shift", &solve.GMRES[float64]{Restart: 8}, turn, first, solve.Converged, ""},
			{"GMRES of a shift, restarted too early", &solve.GMRES[float64]{Restart: 3}, turn, first, solve.MaxIter, ""},
			{"GMRES of a singular operator", &solve.GMRES[float64]{Restart: 8}, skew, b, solve.IllConditioned, "singular"},
			{"Landweber with too long steps", &solve.Landweber[float64, float64]{Length: 1}, large, b, solve.Diverged, "at the start"},
		} {
			x, err := dist.New[float64](s)
			if err != nil {
				return err
			}
			c := solve.Defaults()
			c.MaxIter = 30
			res, err := solve.Run(ctx, k.m, solve.Problem[float64, float64]{A: k.a, B: k.b}, x, c)
			if err != nil || res.Status != k.status || !strings.Contains(res.Why, k.why) {
				return fmt.Errorf("%s: %v after %d (%s), want %v: %w", k.name, res.Status, res.Iters, res.Why, k.status, err)
			}
			if n, err := dist.Norm(ctx, x, 2); err != nil || math.IsNaN(n) || res.Resid > res.History[0].Resid*(1+1e-12) {
				return fmt.Errorf("%s: |x| is %g, the residual %g of %g: %w", k.name, n, res.Resid, res.History[0].Resid, err)
			}
		}
		tall, err := linop.VStack(turn, turn)
		if err != nil {
			return err
		}
		y, err := dist.New[float64](tall.Range())
		if err != nil {
			return err
		}
		x, err := dist.New[float64](s)
		if err != nil {
			return err
		}
		nan := math.NaN()
		for _, k := range []struct {
			want string
			m    method
			a    linop.Operator[float64]
			b    dist.Array[float64]
			damp float64
		}{
			{"Restart of GMRES is 0", &solve.GMRES[float64]{}, turn, b, 0},
			{"Restart of GMRES is -1", &solve.GMRES[float64]{Restart: -1}, turn, b, 0},
			{"no damping", &solve.GMRES[float64]{Restart: 3}, turn, b, 1},
			{"no damping", &solve.BiCGStab[float64]{}, turn, b, 1},
			{"maps a space to itself", &solve.BiCGStab[float64]{}, tall, y, 0},
			{"maps a space to itself", &solve.GMRES[float64]{Restart: 3}, tall, y, 0},
			{"Length of a step of Landweber is 0", &solve.Landweber[float64, float64]{}, turn, b, 0},
			{"Length of a step of Landweber is NaN", &solve.Landweber[float64, float64]{Length: nan}, turn, b, 0},
			{"Length of a step of Landweber is -1", &solve.Landweber[float64, float64]{Length: -1}, turn, b, 0},
		} {
			c := solve.Defaults()
			c.Damp = k.damp
			if _, err := solve.Run(ctx, k.m, solve.Problem[float64, float64]{A: k.a, B: k.b}, x, c); err == nil || !strings.Contains(err.Error(), k.want) {
				return fmt.Errorf("got %v, want %q", err, k.want)
			}
		}
		return nil
	})
}

func spectra[T scalar.Scalar](ctx context.Context, r dist.Proc, tol float64) error {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, 9)
	if err != nil {
		return err
	}
	d, err := dist.FromFunc(ctx, x, func(i []int) T { return scalar.From[T](complex(float64(i[0])-2, 0)) })
	if err != nil {
		return err
	}
	diag, err := ops.Diagonal(d)
	if err != nil {
		return err
	}
	one, err := ops.Identity[T](x)
	if err != nil {
		return err
	}
	wide, err := linop.HStack(diag, one)
	if err != nil {
		return err
	}
	tall, err := linop.VStack(diag, one)
	if err != nil {
		return err
	}
	turn, err := ops.Roll[T](ctx, x, 0, 1)
	if err != nil {
		return err
	}
	none, err := linop.Scale(0, diag)
	if err != nil {
		return err
	}
	c := solve.SpectrumConfig{Largest: 3, Smallest: 2, MaxIter: 20, Tol: tol}
	root := math.Sqrt
	for _, k := range []struct {
		name         string
		a            linop.Operator[T]
		eigen        bool
		large, small []float64
		refused      string
	}{
		{name: "diagonal", a: diag, eigen: true, large: []float64{6, 5, 4}, small: []float64{-2, -1}},
		{name: "singular values of it", a: diag, large: []float64{6, 5, 4}, small: []float64{0, 1}},
		{name: "identity", a: one, eigen: true, large: []float64{1, 1, 1}, small: []float64{1, 1}},
		{name: "singular values of it", a: one, large: []float64{1, 1, 1}, small: []float64{1, 1}},
		{name: "wide", a: wide, large: []float64{root(37), root(26), root(17)}, small: []float64{1, root(2)}},
		{name: "tall", a: tall, large: []float64{root(37), root(26), root(17)}, small: []float64{1, root(2)}},
		{name: "zero", a: none, large: []float64{0, 0, 0}, small: []float64{0, 0}},
		{name: "zero", a: none, eigen: true, large: []float64{0, 0, 0}, small: []float64{0, 0}},
		{name: "shift", a: turn, eigen: true, refused: "not Hermitian"},
		{name: "tall", a: tall, eigen: true, refused: "maps a space to itself"},
	} {
		find := solve.SingularValues[T, T]
		if k.eigen {
			find = solve.Eigenvalues[T]
		}
		got, err := find(ctx, k.a, c)
		if k.refused != "" {
			if err == nil || !strings.Contains(err.Error(), k.refused) {
				return fmt.Errorf("%s: got %v, want %q", k.name, err, k.refused)
			}
			continue
		}
		if err != nil || !got.Converged || len(got.Largest) != 3 || len(got.Smallest) != 2 {
			return fmt.Errorf("%s of %v: %+v: %w", k.name, scalar.Of[T](), got, err)
		}
		for i, v := range append(got.Largest, got.Smallest...) {
			if want := append(k.large, k.small...)[i]; math.Abs(v-want) > 20*tol {
				return fmt.Errorf("%s of %v: %+v, want %v and %v", k.name, scalar.Of[T](), got, k.large, k.small)
			}
		}
	}
	return nil
}

// Spectra of operators with few different values, of more rows than columns and of
// more columns than rows, and of zero.
func TestSpectra(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			return all(func() error { return spectra[float32](ctx, r, 1e-5) }, func() error { return spectra[float64](ctx, r, 1e-12) },
				func() error { return spectra[complex64](ctx, r, 1e-5) }, func() error { return spectra[complex128](ctx, r, 1e-12) })
		})
	}
}

// Arguments that make no sense are refused, on all ranks alike.
func TestSpectrumRefuses(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		x, err := dist.NewSpace(ctx, r, dist.Layout{}, 9)
		if err != nil {
			return err
		}
		a, err := ops.Identity[float64](x)
		if err != nil {
			return err
		}
		good := solve.SpectrumDefaults(1)
		for _, k := range []struct {
			want string
			a    linop.Operator[float64]
			c    solve.SpectrumConfig
		}{
			{"no operator", nil, good},
			{"one must be positive", a, solve.SpectrumConfig{MaxIter: 3}},
			{"MaxIter is 0", a, solve.SpectrumConfig{Largest: 3}},
			{"Tol is NaN", a, solve.SpectrumConfig{Largest: 3, MaxIter: 3, Tol: math.NaN()}},
			{"arguments", a, solve.SpectrumDefaults(1 + r.Rank())},
		} {
			if _, err := solve.SingularValues(ctx, k.a, k.c); err == nil || !strings.Contains(err.Error(), k.want) {
				return fmt.Errorf("got %v, want %q", err, k.want)
			}
			if _, err := solve.Eigenvalues(ctx, k.a, k.c); err == nil || !strings.Contains(err.Error(), k.want) {
				return fmt.Errorf("got %v, want %q", err, k.want)
			}
		}
		if got, err := solve.Eigenvalues(ctx, a, good); err != nil || !math.IsNaN(got.Condition()) {
			return fmt.Errorf("%+v has a condition: %w", got, err)
		}
		good.Smallest = 1
		if got, err := solve.Eigenvalues(ctx, a, good); err != nil || math.Abs(got.Condition()-1) > 1e-12 {
			return fmt.Errorf("%+v has condition %g: %w", got, got.Condition(), err)
		}
		return nil
	})
}
