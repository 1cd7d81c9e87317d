package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/solve"
)

func TestValidate(t *testing.T) {
	bad := solve.Config{MaxIter: -1, RelTol: math.NaN(), AbsTol: -1, GradTol: math.NaN(), Diverge: math.NaN(), Budget: -1,
		Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Keep: -2, Resume: true}, Every: -1, Interval: -3}}
	err := bad.Validate()
	for _, want := range []string{"MaxIter is -1", "RelTol is NaN", "AbsTol is -1", "GradTol is NaN", "Diverge is NaN", "Budget is -1ns", "every -1 iterations", "no Dir"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	negative := solve.Config{RelTol: -1, GradTol: -1, Diverge: -1, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: "x"}}}
	err = negative.Validate()
	for _, want := range []string{"RelTol is -1, must not be negative: give 0 for no tolerance", "GradTol is -1", "set PastRounding", "Diverge is -1", "keep 0 files: set Keep"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	for _, c := range []solve.Config{{}, solve.Defaults()} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func TestStatusString(t *testing.T) {
	for s, want := range map[solve.Status]string{solve.Converged: "converged", solve.Breakdown: "breakdown", 0: "?", 99: "?"} {
		if got := s.String(); got != want {
			t.Errorf("%d: got %q, want %q", s, got, want)
		}
	}
}

// A callback of one rank, on one rank only or not, stops all after the same
// iteration; its error comes out on all ranks and names the method.
func TestCallbackOfOneRank(t *testing.T) {
	mine := errors.New("no more paper")
	for _, only := range []bool{false, true} {
		for odd := range 3 {
			on(t, 3, func(ctx context.Context, r dist.Proc) error {
				return each(ctx, r, 11, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
					seen := 0
					answer := fmt.Errorf("enough: %w", solve.ErrStop)
					c := solve.Config{MaxIter: 100, Diverge: 1e6, OnIter: func(it solve.Iteration) error {
						if seen++; it.K != seen-1 || it.Elapsed < 0 {
							return fmt.Errorf("call %d has K = %d", seen, it.K)
						}
						if it.K == 3 && r.Rank() == odd {
							return answer
						}
						return nil
					}}
					if only && r.Rank() != odd {
						c.OnIter = nil
					}
					res, err := p.run(ctx, m.method(), x, c)
					if err != nil || res.Status != solve.Stopped || res.Iters != 3 {
						return fmt.Errorf("stop on rank %d: %v after %d: %w", odd, res.Status, res.Iters, err)
					}
					seen, answer = 0, mine
					_, err = p.run(ctx, m.method(), x, c)
					if want := fmt.Sprintf("solve: %s: iteration 3: ", m.name); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), mine.Error()) {
						return fmt.Errorf("error on rank %d: got %v, want %s...%v", odd, err, want, mine)
					}
					if errors.Is(err, mine) != (r.Rank() == odd) {
						return fmt.Errorf("error of rank %d on rank %d: %v", odd, r.Rank(), err)
					}
					return nil
				})
			})
		}
	}
}

// An error overrules the stop of another rank.
func TestErrorOverrulesStop(t *testing.T) {
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 5, func(m maker[float32], p problem[float32], x dist.Array[float32]) error {
			_, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 100, RelTol: 1e-6, Diverge: 1e6, OnIter: func(it solve.Iteration) error {
				return []error{solve.ErrStop, errors.New("no more ink"), solve.ErrStop}[r.Rank()]
			}})
			if err == nil || !strings.Contains(err.Error(), "iteration 0: ") || !strings.Contains(err.Error(), "no more ink") {
				return fmt.Errorf("got %v", err)
			}
			return nil
		})
	})
}

func TestLimits(t *testing.T) {
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return each(ctx, r, 11, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
			run := func(c solve.Config, want solve.Status, iters int) (solve.Result, error) {
				dist.Zero(x)
				res, err := ends(ctx, m, p, x, c, want)
				if err == nil && iters >= 0 && res.Iters != iters {
					err = fmt.Errorf("%v after %d iterations, want %d", want, res.Iters, iters)
				}
				return res, err
			}
			res, err := run(solve.Config{Diverge: 1e6, MaxIter: 6}, solve.MaxIter, 6)
			if err != nil {
				return err
			}
			// Each tolerance, to stop after four iterations exactly.
			h := res.History
			between := func(f func(solve.Norms) float64) float64 { return math.Sqrt(f(h[3]) * f(h[4])) }
			resid := func(n solve.Norms) float64 { return n.Resid }
			grad := func(n solve.Norms) float64 { return n.Grad }
			_, err = run(solve.Config{MaxIter: 100, Diverge: 1e6, RelTol: between(resid) / h[0].Resid}, solve.Converged, 4)
			if err == nil {
				_, err = run(solve.Config{MaxIter: 100, Diverge: 1e6, AbsTol: between(resid)}, solve.Converged, 4)
			}
			if err == nil && m.ls {
				_, err = run(solve.Config{MaxIter: 100, Diverge: 1e6, GradTol: between(grad) / h[0].Grad}, solve.Converged, 4)
			}
			if err == nil {
				_, err = run(solve.Config{MaxIter: 100, RelTol: 1e-6, Diverge: 1e6, Budget: time.Nanosecond}, solve.OutOfTime, 0)
			}
			if err == nil {
				_, err = run(solve.Config{MaxIter: 100, RelTol: 1e-6, Diverge: 0.9}, solve.Diverged, 0)
			}
			if err == nil {
				_, err = run(solve.Config{RelTol: 1e-6, Diverge: 1e6, MaxIter: math.MaxInt}, solve.Converged, -1) // the history cannot have room for all
			}
			return err
		})
	})
}

func TestCancelled(t *testing.T) {
	for _, ranks := range []int{1, 3} {
		cause := errors.New("power cut")
		ctx, cancel := context.WithCancelCause(t.Context())
		err := testdevices.Local(ctx, ranks, func(ctx context.Context, r dist.Proc) error {
			return each(ctx, r, 5, func(m maker[float64], p problem[float64], x dist.Array[float64]) error {
				_, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 100, Diverge: 1e6, OnIter: func(it solve.Iteration) error {
					if it.K == 2 {
						cancel(cause)
					}
					return nil
				}})
				return err
			})
		})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "solve: CG: iteration") {
			t.Errorf("ranks=%d: got %v", ranks, err)
		}
	}
}

// What one rank gives wrong is an error on all, and nobody waits.
func TestBadArguments(t *testing.T) {
	type args struct {
		m solve.Method[float64, float64]
		p solve.Problem[float64, float64]
		x dist.Array[float64]
		c solve.Config
	}
	var none *linopNil
	faults := map[string]struct {
		spoil func(a *args)
		all   bool // on every rank, or on rank 1
		want  string
	}{
		"no method":            {func(a *args) { a.m = nil }, true, "no method given"},
		"no method on one":     {func(a *args) { a.m = nil }, false, "no method given"},
		"no operator":          {func(a *args) { a.p.A = nil }, false, "no operator given"},
		"nil operator":         {func(a *args) { a.p.A = none }, true, "no operator given"},
		"no x":                 {func(a *args) { a.x = dist.Array[float64]{} }, false, "x is of <nil>"},
		"no b":                 {func(a *args) { a.p.B = dist.Array[float64]{} }, false, "b is of <nil>"},
		"nothing":              {func(a *args) { a.p, a.x = solve.Problem[float64, float64]{}, dist.Array[float64]{} }, true, "no operator, b and x given"},
		"b for x":              {func(a *args) { a.x = a.p.B }, false, "the operator takes"},
		"x for b":              {func(a *args) { a.p.B = a.x }, false, "the operator gives"},
		"negative damp":        {func(a *args) { a.c.Damp = -1 }, true, "Damp is -1, must not be negative"},
		"infinite damp":        {func(a *args) { a.c.Damp = math.Inf(1) }, true, "Damp is +Inf"},
		"another damp":         {func(a *args) { a.c.Damp = 2 }, false, "ranks disagree"},
		"another method":       {func(a *args) { a.m = &solve.LSQR[float64, float64]{} }, false, "LSQR of float64"},
		"another MaxIter":      {func(a *args) { a.c.MaxIter = 7 }, false, "MaxIter 7"},
		"bad config":           {func(a *args) { a.c.MaxIter = -7 }, false, "MaxIter is -7"},
		"CG of a tall one":     {func(a *args) { a.m = &solve.CG[float64]{} }, true, "maps a space to itself"},
		"MINRES of a tall one": {func(a *args) { a.m = &solve.MINRES[float64]{} }, true, "maps a space to itself"},
		"CG with damp":         {func(a *args) { a.m, a.p.A, a.p.B, a.c.Damp = &solve.CG[float64]{}, normalOf(a.p), a.x, 1 }, true, "has no damping"},
	}
	for name, f := range faults {
		var told atomic.Int32
		err := testdevices.Local(t.Context(), 2, func(ctx context.Context, r dist.Proc) error {
			p, err := tall[float64](ctx, r, 5)
			if err != nil {
				return err
			}
			a := args{m: &solve.CGLS[float64, float64]{}, p: p.Problem, x: p.truth}
			if f.all || r.Rank() == 1 {
				f.spoil(&a)
			}
			_, err = solve.Run(ctx, a.m, a.p, a.x, a.c)
			if err == nil || !strings.Contains(err.Error(), "solve: ") || !strings.Contains(err.Error(), f.want) {
				return fmt.Errorf("got %v, want %q", err, f.want)
			}
			told.Add(1)
			return nil
		})
		if err != nil || told.Load() != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type linopNil struct{ linop.Operator[float64] }

func (n *linopNil) Domain() *dist.Space { panic("asked a nil operator") }

func normalOf(p solve.Problem[float64, float64]) linop.Operator[float64] {
	n, err := linop.Compose(linop.H(p.A), p.A)
	if err != nil {
		panic(err)
	}
	return n
}

// An error of the operator on one rank is that of Run, which waits for nobody.
func TestFailingOperator(t *testing.T) {
	for at := 1; at < 7; at++ {
		cause := errors.New("device is lost")
		err := testdevices.Local(t.Context(), 3, func(ctx context.Context, r dist.Proc) error {
			p, err := tall[float64](ctx, r, 5)
			if err != nil {
				return err
			}
			n := 0
			apply := func(f func(context.Context, dist.Array[float64], dist.Array[float64]) error) func(context.Context, dist.Array[float64], dist.Array[float64]) error {
				return func(ctx context.Context, dst, src dist.Array[float64]) error {
					if n++; n == at && r.Rank() == 2 {
						return cause
					}
					return f(ctx, dst, src)
				}
			}
			if p.A, err = linop.Func("test: functions", p.A.Domain(), p.A.Range(), apply(p.A.Forward), apply(p.A.Adjoint)); err != nil {
				return err
			}
			dist.Zero(p.truth)
			_, err = solve.Run(ctx, &solve.CGLS[float64, float64]{}, p.Problem, p.truth, solve.Config{MaxIter: 100, Diverge: 1e6})
			return err
		})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "rank 2: solve: CGLS: ") {
			t.Errorf("application %d: got %v", at, err)
		}
	}
}
