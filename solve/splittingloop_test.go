package solve_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// A run that is resumed on other ranks ends like one that was never disturbed.
func TestSplittingResumes(t *testing.T) {
	s := readSplitting(t)[1]
	for _, c := range s.Cases {
		if strings.HasPrefix(c.Name, "mpi") {
			continue
		}
		cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: t.TempDir(), Keep: 2, Resume: true}, Every: 4}
		for _, k := range []struct{ ranks, iters, from int }{{2, 6, 0}, {3, 15, 6}} {
			on(t, k.ranks, func(ctx context.Context, r dist.Proc) error {
				p, err := newSplittingParts[complex128](ctx, r, s)
				if err != nil {
					return err
				}
				m, problem := p.method(c.Name)
				x, err := vector(ctx, p.x, elements[complex128](s.Arrays["x0"]))
				if err != nil {
					return err
				}
				res, err := solve.Run(ctx, m, problem, x, solve.Config{MaxIter: k.iters, Checkpoint: cp})
				if err == nil && (res.Resumed != k.from || res.Iters != k.iters) {
					err = fmt.Errorf("%v after %d, resumed from %d", res.Status, res.Iters, res.Resumed)
				}
				if err == nil && k.iters == 15 {
					if err = compare(ctx, x, elements[complex128](c.X), 1e-9); err == nil {
						err = sameCosts(c.Name, true, res.History, c.Cost, 1e-9)
					}
				}
				if err != nil {
					return fmt.Errorf("%s: %w", c.Name, err)
				}
				return nil
			})
		}
	}
}

// Models are the same on devices of other kinds.
func TestSplittingDevices(t *testing.T) {
	for i, s := range readSplitting(t) {
		var few splittingCases
		few.Complex, few.Arrays = s.Complex, s.Arrays
		for _, c := range s.Cases {
			switch c.Name {
			case "ProximalGradient fista", "ADMML2 three steps", "PrimalDual L21", "AdaptivePrimalDual":
				few.Cases = append(few.Cases, c)
			}
		}
		testdevices.Each(t, func(t *testing.T, p testdevices.Place) {
			err := p.Local(t.Context(), 1+i, func(ctx context.Context, r dist.Proc) error {
				if s.Complex {
					return splittingGolden[complex128](ctx, r, few, 1e-9)
				}
				return splittingGolden[float32](ctx, r, few, 2e-4)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Steps that are too long end as diverged, at the best x that was kept, and NaN never
// gets into x.
func TestSplittingDiverges(t *testing.T) {
	s := readSplitting(t)[0]
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		p, err := newSplittingParts[float64](ctx, r, s)
		if err != nil {
			return err
		}
		large, err := linop.Scale(100, p.k)
		if err != nil {
			return err
		}
		f, near := p.f.(solve.Smooth[float64]), p.near
		type problem = solve.Problem[float64, float64]
		for _, k := range []struct {
			m solve.Method[float64, float64]
			p problem
		}{
			{&solve.ProximalGradient[float64]{F: f, G: p.l1, Weight: 1, Tau: 10}, problem{}},
			{&solve.ProximalGradient[float64]{F: f, G: p.l1, Weight: 1, Tau: 10, Momentum: solve.FISTAMomentum}, problem{}},
			{&solve.GeneralizedProximalGradient[float64]{F: []solve.Smooth[float64]{f}, G: []solve.Function[float64]{p.l1}, Tau: 10, Eta: 1}, problem{}},
			{&solve.TwIST[float64, float64]{G: p.l1, Alpha: 30, Beta: 30}, problem{A: p.a, B: p.b}},
		} {
			x, err := vector(ctx, p.x, elements[float64](s.Arrays["x0"]))
			if err != nil {
				return err
			}
			c := solve.Config{MaxIter: 3000, Diverge: 1e6}
			res, err := solve.Run(ctx, k.m, k.p, x, c)
			n, err2 := dist.Norm(ctx, x, 2)
			if err != nil || err2 != nil || res.Status != solve.Diverged || math.IsNaN(n) || res.Cost > res.History[0].Cost || res.Why == "" {
				return fmt.Errorf("%s: %v after %d (%s): cost %g of %g, |x| %g: %v", k.m.Name(), res.Status, res.Iters, res.Why, res.Cost, res.History[0].Cost, n, err)
			}
		}
		// The steps of these are bounded by the set of g*: they go round in circles.
		for _, m := range []solve.Method[float64, float64]{
			&solve.PrimalDual[float64, float64]{F: near, G: p.wide, Tau: 30, Mu: 30, Theta: 1},
			&solve.LinearizedADMM[float64, float64]{F: near, G: p.wide, Tau: 1, Mu: 10},
		} {
			x, err := vector(ctx, p.x, elements[float64](s.Arrays["x0"]))
			if err != nil {
				return err
			}
			res, err := solve.Run(ctx, m, problem{A: large}, x, solve.Config{MaxIter: 300, StepTol: 1e-6})
			if err != nil || res.Status != solve.MaxIter || !strings.Contains(res.Why, "too long") {
				return fmt.Errorf("%s with long steps: %v after %d (%s), cost %g of %g: %w", m.Name(), res.Status, res.Iters, res.Why, res.Cost, res.History[0].Cost, err)
			}
		}
		x, err := dist.New[float64](p.x)
		if err != nil {
			return err
		}
		dist.Fill(x, math.NaN())
		res, err := solve.Run(ctx, &solve.ADMM[float64]{F: near, G: p.l1, Tau: 1}, problem{}, x, solve.Config{MaxIter: 3})
		if err == nil && res.Status != solve.Diverged {
			err = fmt.Errorf("a start of NaN: %v", res.Status)
		}
		return err
	})
}

// Parameters that make no sense are errors that name them, on all ranks.
func TestSplittingRefuses(t *testing.T) {
	s := readSplitting(t)[0]
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		p, err := newSplittingParts[float64](ctx, r, s)
		if err != nil {
			return err
		}
		other, err := ops.Identity[float64](p.a.Range())
		if err != nil {
			return err
		}
		f, l1, nan := p.f.(solve.Smooth[float64]), p.l1, math.NaN()
		type (
			gradient = solve.ProximalGradient[float64]
			general  = solve.GeneralizedProximalGradient[float64]
			dual     = solve.PrimalDual[float64, float64]
			adaptive = solve.AdaptivePrimalDual[float64, float64]
			l2       = solve.ADMML2[float64, float64, float64]
			problem  = solve.Problem[float64, float64]
		)
		fs, gs := []solve.Smooth[float64]{f}, []solve.Function[float64]{l1}
		none, withK, withB := problem{}, problem{A: p.k}, problem{A: p.a, B: p.b}
		for _, k := range []struct {
			want string
			m    solve.Method[float64, float64]
			p    problem
		}{
			{"F is nil", &solve.ProximalPoint[float64]{Tau: 1}, none},
			{"Tau is 0", &solve.ProximalPoint[float64]{F: l1}, none},
			{"G is nil", &gradient{F: f, Tau: 1}, none},
			{"Weight is -1", &gradient{F: f, G: l1, Tau: 1, Weight: -1}, none},
			{"Weight is NaN", &gradient{F: f, G: l1, Tau: 1, Weight: nan}, none},
			{"Tau is NaN", &gradient{F: f, G: l1, Tau: nan}, none},
			{"Relax is 3", &gradient{F: f, G: l1, Tau: 1, Relax: 3}, none},
			{"neither Momentum nor Backtrack", &gradient{F: f, G: l1, Tau: 1, Relax: 0.5, Momentum: solve.Vandenberghe}, none},
			{"Shorten is 1", &gradient{F: f, G: l1, Tau: 1, Backtrack: true, Shorten: 1, MaxBack: 3}, none},
			{"momentum 9", &gradient{F: f, G: l1, Tau: 1, Momentum: 9}, none},
			{"0 functions G", &general{F: fs, Tau: 1, Eta: 1}, none},
			{"G[0] is nil", &general{F: fs, G: []solve.Function[float64]{nil}, Tau: 1, Eta: 1}, none},
			{"sum of Shares is 0.5", &general{F: fs, G: gs, Shares: []float64{0.5}, Tau: 1, Eta: 1}, none},
			{"Weights[0] is -2", &general{F: fs, G: gs, Weights: []float64{-2}, Tau: 1, Eta: 1}, none},
			{"no Tau", &solve.HQS[float64]{F: l1, G: l1}, none},
			{"Tau[1] is -1", &solve.HQS[float64]{F: l1, G: l1, Tau: []float64{1, -1}}, none},
			{"Tau is -1", &solve.ADMM[float64]{F: l1, G: l1, Tau: -1}, none},
			{"no operator", &solve.LinearizedADMM[float64, float64]{F: l1, G: p.wide, Tau: 1, Mu: 1}, none},
			{"Mu is +Inf", &dual{F: l1, G: p.wide, Tau: 1, Mu: math.Inf(1)}, withK},
			{"Theta is -1", &dual{F: l1, G: p.wide, Tau: 1, Mu: 1, Theta: -1}, withK},
			{"Z is of", &dual{F: l1, G: p.wide, Tau: 1, Mu: 1, Z: p.b}, withK},
			{"Alpha is 1", &adaptive{F: l1, G: p.wide, Tau: 1, Mu: 1, Alpha: 1, Eta: 0.5, S: 1, Delta: 2}, withK},
			{"no b", &l2{G: p.wide, K: p.k, Tau: 1, Inner: 1}, withK},
			{"Inner is 0", &l2{G: p.wide, K: p.k, Tau: 1}, withB},
			{"no K", &l2{G: p.wide, Tau: 1, Inner: 1}, withB},
			{"what K takes", &l2{G: p.wide, K: other, Tau: 1, Inner: 1}, withB},
			{"Beta is 0", &solve.TwIST[float64, float64]{G: l1, Alpha: 1}, withB},
		} {
			x, err := dist.New[float64](p.x)
			if err != nil {
				return err
			}
			if _, err := solve.Run(ctx, k.m, k.p, x, solve.Config{MaxIter: 3}); err == nil || !strings.Contains(err.Error(), k.want) {
				return fmt.Errorf("%s: got %v, want %q", k.m.Name(), err, k.want)
			}
		}
		return nil
	})
}

// With CostEvery the costs are those of each step, some of the time, and a cost that
// stands still ends no run.
func TestCostEvery(t *testing.T) {
	s := readSplitting(t)[0]
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		p, err := newSplittingParts[float64](ctx, r, s)
		if err != nil {
			return err
		}
		var res [2]solve.Result
		for i := range res {
			x, err := vector(ctx, p.x, elements[float64](s.Arrays["x0"]))
			if err != nil {
				return err
			}
			m := &solve.PrimalDual[float64, float64]{F: p.near, G: p.wide, Tau: 0.25, Mu: 0.125, Theta: 1, CostEvery: 4 * i}
			if res[i], err = solve.Run(ctx, m, solve.Problem[float64, float64]{A: p.k}, x, solve.Config{MaxIter: 15, FallTol: 1e-12}); err != nil {
				return err
			}
		}
		for k, n := range res[1].History {
			if want := res[0].History[k/4*4]; len(res[1].History) != 16 || n.Cost != want.Cost || n.Step != res[0].History[k].Step {
				return fmt.Errorf("iteration %d of %d: %v, without CostEvery %v", k, len(res[1].History)-1, n, want)
			}
		}
		return nil
	})
	// A run that is resumed where the cost is an old one does not take that for the end.
	cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: t.TempDir(), Keep: 1, Resume: true}}
	for _, iters := range []int{6, 9} {
		on(t, 2, func(ctx context.Context, r dist.Proc) error {
			p, err := newSplittingParts[float64](ctx, r, s)
			if err != nil {
				return err
			}
			x, err := vector(ctx, p.x, elements[float64](s.Arrays["x0"]))
			if err != nil {
				return err
			}
			m := &solve.PrimalDual[float64, float64]{F: p.near, G: p.wide, Tau: 0.25, Mu: 0.125, Theta: 1, CostEvery: 4}
			res, err := solve.Run(ctx, m, solve.Problem[float64, float64]{A: p.k}, x, solve.Config{MaxIter: iters, FallTol: 1e-12, Checkpoint: cp})
			if err != nil || res.Iters != iters || res.Status != solve.MaxIter {
				return fmt.Errorf("%v after %d of %d iterations, %w", res.Status, res.Iters, iters, err)
			}
			return nil
		})
	}
}
