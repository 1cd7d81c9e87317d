package solve_test

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// lopsidedOver is a square problem over x whose operator is not Hermitian: a
// diagonal and a convolution.
func lopsidedOver[T scalar.Scalar](ctx context.Context, x *dist.Space) (p problem[T], err error) {
	d, err := dist.FromFunc(ctx, x, func(i []int) T { return scalar.From[T](complex(3+math.Sin(float64(3*i[0]+5*i[1])), 0.3)) })
	if err != nil {
		return p, err
	}
	diag, err := ops.Diagonal(d)
	if err != nil {
		return p, err
	}
	h, err := ops.Convolve1D(ctx, x, 0, []T{1, scalar.From[T](0.5 + 0.4i), scalar.From[T](-0.8i)}, 1)
	if err != nil {
		return p, err
	}
	if p.A, err = linop.Add(diag, h); err != nil {
		return p, err
	}
	return p.of(ctx, 7)
}

// krylov are methods for such problems. Landweber is for any.
func krylov[T scalar.Scalar]() []maker[T] {
	return []maker[T]{
		{"BiCGStab", func() solve.Method[T, T] { return &solve.BiCGStab[T]{} }, nil, 3, false},
		{"GMRES(8)", func() solve.Method[T, T] { return &solve.GMRES[T]{Restart: 8} }, nil, 2, false},
		{"Landweber", func() solve.Method[T, T] { return &solve.Landweber[T, T]{Length: 0.05} }, nil, 1, true},
	}
}

// eachKrylov runs f for these methods, with x = 0, over one of the homes.
func eachKrylov[T scalar.Scalar](ctx context.Context, r dist.Proc, l dist.Layout, f func(m maker[T], p problem[T], x dist.Array[T]) error) error {
	s, err := dist.NewSpace(ctx, r, l, 7, 5)
	if err != nil {
		return err
	}
	for _, m := range krylov[T]() {
		p, err := lopsidedOver[T](ctx, s)
		if err != nil {
			return err
		}
		x, err := dist.New[T](s)
		if err == nil {
			err = f(m, p, x)
		}
		if err != nil {
			return fmt.Errorf("%s of %v: %w", m.name, scalar.Of[T](), err)
		}
	}
	return nil
}

func krylovSolves[T scalar.Scalar](ctx context.Context, r dist.Proc, l dist.Layout, tol float64) error {
	return eachKrylov(ctx, r, l, func(m maker[T], p problem[T], x dist.Array[T]) error {
		res, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 400, RelTol: tol})
		if err != nil {
			return err
		}
		if res.Status != solve.Converged || len(res.History) != res.Iters+1 {
			return fmt.Errorf("%v after %d: %s", res.Status, res.Iters, res.Why)
		}
		return near(ctx, x, p.truth, 50*tol)
	})
}

func TestKrylov(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 7} {
		for i, h := range homes[:5] {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				l := h.layout(ranks)
				if i > 0 { // two types each
					if i%2 == 0 {
						return all(func() error { return krylovSolves[float32](ctx, r, l, 1e-5) }, func() error { return krylovSolves[complex128](ctx, r, l, 1e-11) })
					}
					return all(func() error { return krylovSolves[float64](ctx, r, l, 1e-11) }, func() error { return krylovSolves[complex64](ctx, r, l, 1e-5) })
				}
				return all(func() error { return krylovSolves[float32](ctx, r, l, 1e-5) }, func() error { return krylovSolves[float64](ctx, r, l, 1e-11) },
					func() error { return krylovSolves[complex64](ctx, r, l, 1e-5) }, func() error { return krylovSolves[complex128](ctx, r, l, 1e-11) })
			})
		}
	}
}

// Norms are those of x after each step, a step sends so many messages, and a
// callback adds none.
func TestKrylovNormsAndMessages(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		r, count, err := counted(ctx, r)
		if err != nil {
			return err
		}
		return eachKrylov(ctx, r, dist.Replicated, func(m maker[complex128], p problem[complex128], x dist.Array[complex128]) error {
			_, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 12, OnIter: func(it solve.Iteration) error {
				return trueNorms(ctx, p, x, it, m.ls, 1e-12)
			}})
			if err != nil {
				return err
			}
			for _, f := range []func(solve.Iteration) error{nil, func(solve.Iteration) error { return nil }} {
				var sent [2]int
				for i := range sent {
					dist.Zero(x)
					count.Reset()
					if _, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 2 + 3*i, OnIter: f}); err != nil {
						return err
					}
					sent[i] = count.Collectives()
				}
				if got := sent[1] - sent[0]; got != 3*m.messages {
					return fmt.Errorf("%d collectives in 3 iterations, want %d", got, 3*m.messages)
				}
			}
			return nil
		})
	})
}

// A run that is resumed on other ranks ends like one that was never disturbed.
func TestKrylovResumes(t *testing.T) {
	for k, m := range krylov[complex128]() {
		var want []complex128
		var whole solve.Result
		dir := t.TempDir()
		run := func(ranks int, c solve.Config, check func(ctx context.Context, x dist.Array[complex128], res solve.Result) error) {
			on(t, ranks, func(ctx context.Context, r dist.Proc) error {
				s, err := dist.NewSpace(ctx, r, homes[ranks%5].layout(ranks), 7, 5)
				if err != nil {
					return err
				}
				p, err := lopsidedOver[complex128](ctx, s)
				if err != nil {
					return err
				}
				x, err := dist.New[complex128](s)
				if err != nil {
					return err
				}
				res, err := p.run(ctx, m.method(), x, c)
				if err == nil {
					err = check(ctx, x, res)
				}
				return err
			})
		}
		cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Keep: 2, Resume: true}, Every: 3}
		run(1, solve.Config{MaxIter: 14}, func(ctx context.Context, x dist.Array[complex128], res solve.Result) (err error) {
			whole = res
			want, err = dist.AllGather(ctx, x)
			return err
		})
		run(2+k, solve.Config{MaxIter: 5, Checkpoint: cp}, func(context.Context, dist.Array[complex128], solve.Result) error { return nil })
		run(3, solve.Config{MaxIter: 14, Checkpoint: cp}, func(ctx context.Context, x dist.Array[complex128], res solve.Result) error {
			if res.Resumed != 5 {
				return fmt.Errorf("%s: resumed from %d", m.name, res.Resumed)
			}
			for k, n := range res.History {
				if math.Abs(n.Resid-whole.History[k].Resid) > 1e-11*whole.History[0].Resid {
					return fmt.Errorf("%s: iteration %d: residual %g, want %g", m.name, k, n.Resid, whole.History[k].Resid)
				}
			}
			return compare(ctx, x, want, 1e-10)
		})
	}
}

// krylovLine is a line of testdata/solve/krylov.txt.
type krylovLine struct {
	what   string
	number int
	want   []float64
}

func krylovLines(t *testing.T) (lines []krylovLine) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "solve", "krylov.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		words := strings.Fields(in.Text())
		l := krylovLine{what: words[0]}
		for i, w := range words[1:] {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				l.number = int(v)
			} else {
				l.want = append(l.want, v)
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// Residuals after each step are those of SciPy, and spectra those of NumPy.
func TestKrylovAgainstSciPy(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		on(t, ranks, func(ctx context.Context, r dist.Proc) error {
			for _, l := range krylovLines(t) {
				s, err := scipySystem(l.number), error(nil)
				if l.number%4 == 1 {
					err = krylovAgainst[float64](ctx, r, s, l)
				} else {
					err = krylovAgainst[complex128](ctx, r, s, l)
				}
				if err != nil {
					return fmt.Errorf("%s of system %d: %w", l.what, l.number, err)
				}
			}
			return nil
		})
	}
}

func krylovAgainst[T scalar.Scalar](ctx context.Context, r dist.Proc, s *system, l krylovLine) error {
	if l.what == "eigen" {
		t := adjointOf(s.a, s.n, s.n)
		for i := range t {
			s.a[i] = (s.a[i] + t[i]) / 2
		}
	}
	a, err := matrix(ctx, r, s.n, s.n, rounded[T](s.a))
	if err != nil {
		return err
	}
	b, err := vector(ctx, a.Range(), rounded[T](s.b))
	if err != nil {
		return err
	}
	x, err := dist.New[T](a.Domain())
	if err != nil {
		return err
	}
	var m solve.Method[T, T] = &solve.GMRES[T]{Restart: 5}
	switch l.what {
	case "singular", "eigen":
		return spectrumAgainst(ctx, a, l)
	case "bicgstab":
		m = &solve.BiCGStab[T]{}
	}
	res, err := solve.Run(ctx, m, solve.Problem[T, T]{A: a, B: b}, x, solve.Config{MaxIter: len(l.want) - 1, PastRounding: true})
	if err != nil {
		return err
	}
	// BiCGStab is chaotic where residuals jump: rounding grows from step to step.
	tol, peak := 1e-12, 0.0
	for k, want := range l.want {
		peak = max(peak, want)
		if got := res.History[k].Resid; math.Abs(got-want) > tol*peak {
			return fmt.Errorf("%s: iteration %d: residual %.12g, SciPy has %.12g", m.Name(), k, got, want)
		}
		switch tol = 1e-9; {
		case l.what == "bicgstab" && k == 4:
			return nil
		case l.what == "bicgstab":
			tol = 1e-6
		}
	}
	return nil
}

// spectrumAgainst compares two values from each end, then all.
func spectrumAgainst[T scalar.Scalar](ctx context.Context, a linop.Operator[T], l krylovLine) error {
	n := len(l.want)
	for _, c := range []solve.SpectrumConfig{{Largest: 2, Smallest: 2, MaxIter: 100, Tol: 1e-10}, {Largest: n, MaxIter: n}} {
		find := solve.SingularValues[T, T]
		if l.what == "eigen" {
			find = solve.Eigenvalues[T]
		}
		got, err := find(ctx, a, c)
		if err != nil {
			return err
		}
		if !got.Converged || got.Iters > n || len(got.Largest) != c.Largest || len(got.Smallest) != c.Smallest {
			return fmt.Errorf("of %d values: %+v", n, got)
		}
		for i, v := range got.Largest {
			if math.Abs(v-l.want[i]) > 1e-10*l.want[0] {
				return fmt.Errorf("value %d is %.12g, NumPy has %.12g", i, v, l.want[i])
			}
		}
		for i, v := range got.Smallest {
			if want := l.want[n-1-i]; math.Abs(v-want) > 1e-10*l.want[0] {
				return fmt.Errorf("value %d from below is %.12g, NumPy has %.12g", i, v, want)
			}
		}
	}
	return nil
}
