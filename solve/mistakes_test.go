package solve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	goreflect "reflect"
	"strings"
	"testing"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// squares is ½‖x‖² in any space, with its value.
type squares struct{ quiet[float32] }

func (squares) Value(ctx context.Context, x dist.Array[float32]) (float64, error) {
	n, err := dist.Norm(ctx, x, 2)
	return n * n / 2, err
}

// mistaken is a run of a method that goes wrong.
type mistakenRun struct {
	budget
	p solve.Problem[float32, float32]
	x dist.Array[float32]
}

// eachMistake runs f for every method, with an operator that spoil may change.
func eachMistake(ctx context.Context, r dist.Proc, q bothKinds, spoil func(linop.Operator[float32]) (linop.Operator[float32], error), f func(k mistakenRun) error) error {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, 12)
	if err != nil {
		return err
	}
	d, err := dist.FromFunc(ctx, x, func(i []int) float32 { return 0.3 + 0.05*float32(i[0]) })
	if err != nil {
		return err
	}
	diag, err := ops.Diagonal(d)
	if err != nil {
		return err
	}
	slope, err := ops.FirstDerivative[float32](ctx, x, 0, ops.DerivativeDefaults())
	if err != nil {
		return err
	}
	mixed, err := linop.Add(diag, slope)
	if err != nil {
		return err
	}
	var errs []error
	for _, b := range budgets(slope, q) {
		k := mistakenRun{budget: b}
		if k.x, err = dist.Random[float32](ctx, x, 1); err != nil {
			return err
		}
		if b.kind != noA {
			a := mixed
			if b.kind == squareA {
				a = diag
			}
			if k.p.B, err = dist.Random[float32](ctx, x, 2); err == nil {
				k.p.A, err = spoil(a)
			}
			if err != nil {
				return err
			}
		}
		if err := f(k); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", b.m.Name(), err))
		}
	}
	return errors.Join(errs...)
}

// run wants a run to be refused or to end with a reason, and x to be finite.
func (k mistakenRun) run(ctx context.Context, c solve.Config) (solve.Result, error, error) {
	res, refused := solve.Run(ctx, k.m, k.p, k.x, c)
	n, err := dist.Norm(ctx, k.x, 2)
	if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
		err = fmt.Errorf("‖x‖ is %g after %v (%s), error %v", n, res.Status, res.Why, refused)
	}
	return res, refused, err
}

// Numbers of a method that are NaN, infinite or negative are errors that name them.
func TestEveryNumberIsChecked(t *testing.T) {
	checked := 0
	on(t, 2, func(ctx context.Context, r dist.Proc) error {
		return eachMistake(ctx, r, squares{}, same[linop.Operator[float32]], func(k mistakenRun) error {
			m := goreflect.ValueOf(k.m).Elem()
			for _, f := range goreflect.VisibleFields(m.Type()) {
				v := m.FieldByIndex(f.Index)
				if !f.IsExported() || v.Kind() != goreflect.Float64 && v.Type() != goreflect.TypeFor[[]float64]() {
					continue
				}
				old := goreflect.ValueOf(v.Interface())
				for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
					if v.Kind() == goreflect.Float64 {
						v.SetFloat(bad)
					} else {
						v.Set(goreflect.ValueOf([]float64{1, bad}))
					}
					_, refused, err := k.run(ctx, solve.Config{MaxIter: 3})
					if err != nil || refused == nil || !strings.Contains(refused.Error(), f.Name) || !strings.Contains(refused.Error(), fmt.Sprint("is ", bad)) {
						return fmt.Errorf("%s is %g: error %v; %v", f.Name, bad, refused, err)
					}
					if r.Rank() == 0 {
						checked++
					}
				}
				v.Set(old)
			}
			return nil
		})
	})
	if checked < 40 {
		t.Errorf("%d numbers only", checked)
	}
}

// A step that is too long ends as diverged at the best x, with the reason.
func TestEveryLongStepIsSeen(t *testing.T) {
	type (
		one = solve.Shrinkage[float32]
		f32 = float32
	)
	long := one{Eps: 0.1, Alpha: 1e3}
	s := squares{}
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		return eachMistake(ctx, r, squares{}, same[linop.Operator[float32]], func(k mistakenRun) error {
			switch m := k.m.(type) {
			case *solve.Landweber[f32, f32]:
				k.m = &solve.Landweber[f32, f32]{Length: 1e3}
			case *solve.ISTA[f32, f32]:
				k.m = &solve.ISTA[f32, f32]{Shrinkage: long}
			case *solve.FISTA[f32, f32]:
				k.m = &solve.FISTA[f32, f32]{Shrinkage: long, Restart: m.Monotone}
			case *solve.ProximalGradient[f32]:
				k.m = &solve.ProximalGradient[f32]{F: scaled{100}, G: s, Weight: 1e-3, Tau: 10}
			case *solve.GeneralizedProximalGradient[f32]:
				k.m = &solve.GeneralizedProximalGradient[f32]{F: []solve.Smooth[f32]{scaled{100}}, G: []solve.Function[f32]{scaled{1e-3}}, Tau: 10, Eta: 1}
			case *solve.LinearizedADMM[f32, f32]:
				k.m = &solve.LinearizedADMM[f32, f32]{F: scaled{1e-3}, G: scaled{100}, Tau: 1, Mu: 100}
			case *solve.PrimalDual[f32, f32]:
				k.m = &solve.PrimalDual[f32, f32]{F: scaled{1e-3}, G: scaled{100}, Tau: 30, Mu: 30, Theta: 1}
			case *solve.TwIST[f32, f32]:
				k.m = &solve.TwIST[f32, f32]{G: scaled{1e-3}, Alpha: 50, Beta: 50}
			default:
				return nil // its steps have the right length by themselves, or any will do
			}
			res, refused, err := k.run(ctx, solve.Config{MaxIter: 2000, Diverge: 1e6})
			if err != nil || refused != nil || res.Status != solve.Diverged || res.Why == "" {
				return fmt.Errorf("%v after %d: %s: %v; %v", res.Status, res.Iters, res.Why, refused, err)
			}
			if first := res.History[0]; res.Resid > first.Resid || res.Cost > first.Cost {
				return fmt.Errorf("the end is worse than the start: %g of %g, cost %g of %g", res.Resid, first.Resid, res.Cost, first.Cost)
			}
			return nil
		})
	})
}

// scaled is by/2·‖x‖².
type scaled struct{ by float64 }

func (f scaled) Value(ctx context.Context, x dist.Array[float32]) (float64, error) {
	v, err := squares{}.Value(ctx, x)
	return f.by * v, err
}

func (f scaled) Prox(_ context.Context, y dist.Array[float32], tau float64, x dist.Array[float32]) error {
	dist.Scale(y, float32(1/(1+f.by*tau)), x)
	return nil
}

func (f scaled) Gradient(_ context.Context, g, x dist.Array[float32]) error {
	dist.Scale(g, float32(f.by), x)
	return nil
}

func same[A any](a A) (A, error) { return a, nil }

// An operator whose adjoint is another one is seen: x gets no worse, and the run says why.
func TestEveryWrongAdjointIsSeen(t *testing.T) {
	wrong := func(a linop.Operator[float32]) (linop.Operator[float32], error) {
		return linop.Func("test: wrong adjoint", a.Domain(), a.Range(), a.Forward, func(ctx context.Context, dst, src dist.Array[float32]) error {
			err := a.Adjoint(ctx, dst, src)
			dist.Scale(dst, -1, dst)
			return err
		})
	}
	onBoth(t, func(ctx context.Context, r dist.Proc) error {
		return eachMistake(ctx, r, squares{}, wrong, func(k mistakenRun) error {
			if k.kind == noA || k.kind == squareA {
				return nil // without an adjoint
			}
			res, refused, err := k.run(ctx, solve.Config{MaxIter: 2000, Diverge: 1e6, StepTol: 1e-6})
			if err != nil || refused == nil && (!strings.Contains(res.Why, "adjoint") || res.Status == solve.Converged) {
				return fmt.Errorf("%v after %d: %s: cost %g of %g: %v; %v", res.Status, res.Iters, res.Why, res.Cost, res.History[0].Cost, refused, err)
			}
			return nil
		})
	})
}

// An operator or a function that gives NaN ends a run as diverged, and x has none.
func TestEveryNaNIsSeen(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		for at := 1; at <= 9; at++ {
			on(t, 2, func(ctx context.Context, r dist.Proc) error {
				n := 0
				spoil := func(a linop.Operator[float32]) (linop.Operator[float32], error) {
					n = 0
					poison := func(y dist.Array[float32]) {
						if n++; n == at && r.Rank() == 1 {
							dist.Fill(y, float32(v))
						}
					}
					return linop.Func("test: NaN", a.Domain(), a.Range(), func(ctx context.Context, dst, src dist.Array[float32]) error {
						defer poison(dst)
						return a.Forward(ctx, dst, src)
					}, func(ctx context.Context, dst, src dist.Array[float32]) error {
						defer poison(dst)
						return a.Adjoint(ctx, dst, src)
					})
				}
				return eachMistake(ctx, r, squares{}, spoil, func(k mistakenRun) error {
					res, refused, err := k.run(ctx, solve.Config{MaxIter: 12})
					if err != nil || refused == nil && res.Status != solve.Diverged && res.Status != solve.MaxIter && res.Status != solve.Converged {
						return fmt.Errorf("%g at %d: %v after %d: %s: %v; %v", v, at, res.Status, res.Iters, res.Why, refused, err)
					}
					for _, n := range res.History { // where the run went on, it has not used the NaN
						if refused == nil && (math.IsNaN(n.Resid+n.Grad) && math.IsNaN(n.Cost) && !math.IsNaN(res.History[0].Resid+res.History[0].Grad+res.History[0].Cost)) {
							return fmt.Errorf("%g at %d: %v after %d with norms %v", v, at, res.Status, res.Iters, n)
						}
					}
					return nil
				})
			})
		}
	}
}

// poisoned is ½‖x‖² until call number at, whose result is NaN on one rank.
type poisoned struct {
	squares
	calls *int
	at    int
}

func (f poisoned) poison(y dist.Array[float32]) error {
	if *f.calls++; *f.calls == f.at && y.Space().Comm().Rank() == 1 {
		dist.Fill(y, float32(math.NaN()))
	}
	return nil
}

func (f poisoned) Value(ctx context.Context, x dist.Array[float32]) (float64, error) {
	if *f.calls++; *f.calls == f.at {
		return math.NaN(), nil
	}
	return f.squares.Value(ctx, x)
}

func (f poisoned) Prox(ctx context.Context, y dist.Array[float32], tau float64, x dist.Array[float32]) error {
	return errors.Join(f.squares.Prox(ctx, y, tau, x), f.poison(y))
}

func (f poisoned) Gradient(ctx context.Context, g, x dist.Array[float32]) error {
	return errors.Join(f.squares.Gradient(ctx, g, x), f.poison(g))
}

// So does a function that gives NaN.
func TestEveryNaNOfAFunctionIsSeen(t *testing.T) {
	for at := 1; at <= 12; at++ {
		on(t, 2, func(ctx context.Context, r dist.Proc) error {
			q := poisoned{calls: new(int), at: at}
			return eachMistake(ctx, r, q, same[linop.Operator[float32]], func(k mistakenRun) error {
				*q.calls = 0
				res, refused, err := k.run(ctx, solve.Config{MaxIter: 12})
				if err != nil || *q.calls >= at && refused == nil && res.Status != solve.Diverged {
					return fmt.Errorf("NaN at %d: %v after %d: %s: %v; %v", at, res.Status, res.Iters, res.Why, refused, err)
				}
				return nil
			})
		})
	}
}
