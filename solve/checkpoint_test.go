package solve_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/soak"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// homes are layouts of an array of 7 × 5 elements, by the number of ranks.
var homes = []struct {
	name   string
	layout func(ranks int) dist.Layout
}{
	{"rows", func(int) dist.Layout { return dist.Layout{} }},
	{"columns", func(int) dist.Layout { return dist.Split(1) }},
	{"replicated", func(int) dist.Layout { return dist.Replicated }},
	{"grid", func(n int) dist.Layout {
		if n%2 == 0 {
			return dist.Layout{Grid: []int{2, n / 2}}
		}
		return dist.Layout{Grid: []int{1, n}, Axes: []int{1, 0}}
	}},
	{"copies", func(n int) dist.Layout {
		if n%2 == 0 {
			return dist.Layout{Grid: []int{2, n / 2}, Axes: []int{dist.NoAxis, 1}}
		}
		return dist.Layout{Grid: []int{n, 1}, Axes: []int{dist.NoAxis, 0}}
	}},
	{"stack", nil},
}

// at makes the problem of a method over one of the homes, with a start that is
// not zero.
func at[T scalar.Scalar](ctx context.Context, r dist.Proc, m maker[T], home int, damp float64) (p problem[T], x dist.Array[T], err error) {
	if homes[home].layout != nil {
		p, err = over[T](ctx, r, m, homes[home].layout(r.Size()))
	} else { // a problem of two others, whose vectors are stacks
		var parts []linop.Operator[T]
		for _, l := range []dist.Layout{{}, dist.Replicated} {
			if p, err = over[T](ctx, r, m, l); err != nil {
				return p, x, err
			}
			parts = append(parts, p.A)
		}
		if p.A, err = linop.BlockDiag(parts...); err == nil {
			p, err = p.of(ctx, 7)
		}
	}
	if err == nil && m.ls {
		p.damp = damp
	}
	if err == nil {
		x, err = dist.Random[T](ctx, p.A.Domain(), 3)
	}
	return p, x, err
}

func over[T scalar.Scalar](ctx context.Context, r dist.Proc, m maker[T], l dist.Layout) (problem[T], error) {
	s, err := dist.NewSpace(ctx, r, l, 7, 5)
	if err != nil {
		return problem[T]{}, err
	}
	p, err := tallOver[T](ctx, s)
	if err == nil && !m.ls {
		p, err = p.squared(ctx)
	}
	if err == nil && m.name == "MINRES" {
		p, err = p.signed(ctx)
	}
	return p, err
}

// whole runs a method undisturbed on one rank, and returns x.
func whole[T scalar.Scalar](t *testing.T, m maker[T], home int, damp float64, c solve.Config) (x []T, res solve.Result) {
	t.Helper()
	on(t, 1, func(ctx context.Context, r dist.Proc) error {
		p, y, err := at(ctx, r, m, home, damp)
		if err != nil {
			return err
		}
		if res, err = p.run(ctx, m.method(), y, c); err == nil {
			x, err = dist.AllGather(ctx, y)
		}
		return err
	})
	return x, res
}

// A run that is resumed on other ranks, laid out otherwise, ends like one that
// was never disturbed.
func TestResume(t *testing.T) {
	if testdevices.OnGPU() {
		resumes[float64](t, 1e-12, []int{2}, []int{3}, "rows", "stack")
		resumes[complex64](t, 1e-5, []int{2}, []int{1}, "grid")
		return
	}
	var all []string
	for _, h := range homes {
		all = append(all, h.name)
	}
	resumes[float64](t, 1e-12, []int{1, 2, 3, 4}, []int{1, 2, 3, 7}, all...)
	resumes[float32](t, 1e-5, []int{3}, []int{2}, soak.Or([]string{"rows", "grid", "stack"}, all)...)
	resumes[complex64](t, 1e-5, []int{1}, []int{3}, soak.Or([]string{"columns", "replicated", "copies"}, all)...)
	resumes[complex128](t, 1e-12, []int{4}, []int{7}, all...)
}

func resumes[T scalar.Scalar](t *testing.T, tol float64, before, after []int, names ...string) {
	step := soak.Or(4, 2) // each home has each number of ranks before, and each after
	for _, m := range methods[T]() {
		for home := range homes {
			if !slices.Contains(names, homes[home].name) {
				continue
			}
			damp := []float64{0, 0.5}[home%2]
			want, undisturbed := whole(t, m, home, damp, solve.Config{MaxIter: 9})
			for i, from := range before {
				for j, to := range after {
					if len(before) > 1 && (i+j+home)%step != 0 {
						continue
					}
					other := home
					if homes[home].layout != nil { // a stack stays one
						other = (home + 1 + j) % (len(homes) - 1)
					}
					name := fmt.Sprintf("%s/%v/ranks=%d/%s/to=%d/%s", m.name, scalar.Of[T](), from, homes[home].name, to, homes[other].name)
					dir := t.TempDir()
					on(t, from, func(ctx context.Context, r dist.Proc) error {
						p, x, err := at(ctx, r, m, home, damp)
						if err != nil {
							return err
						}
						res, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 100, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Keep: 2}, Every: 3}, OnIter: func(it solve.Iteration) error {
							if it.K == 4 && r.Rank() == r.Size()-1 {
								return solve.ErrStop
							}
							return nil
						}})
						if err == nil && (res.Iters != 4 || res.Status != solve.Stopped) {
							err = fmt.Errorf("%v after %d", res.Status, res.Iters)
						}
						return err
					})
					on(t, to, func(ctx context.Context, r dist.Proc) error {
						p, x, err := at(ctx, r, m, other, damp)
						if err != nil {
							return err
						}
						res, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 9, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Resume: true, Keep: 2}}})
						if err != nil {
							return fmt.Errorf("%s: %w", name, err)
						}
						if res.Resumed != 4 || res.Iters != 9 || res.Notes != nil || res.Status != solve.MaxIter {
							return fmt.Errorf("%s: %v after %d, from %d, notes %v", name, res.Status, res.Iters, res.Resumed, res.Notes)
						}
						if err := compare(ctx, x, want, tol); err != nil {
							return fmt.Errorf("%s: %w", name, err)
						}
						return sameHistory(res.History, undisturbed.History, tol)
					})
				}
			}
		}
	}
}

func sameHistory(got, want []solve.Norms, tol float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d norms, want %d", len(got), len(want))
	}
	for k := range got {
		if math.Abs(got[k].Resid-want[k].Resid) > tol*want[0].Resid || math.Abs(got[k].Grad-want[k].Grad) > tol*want[0].Grad {
			return fmt.Errorf("iteration %d: norms %v, want %v", k, got[k], want[k])
		}
	}
	return nil
}

// A stop before the first step leaves a state, too.
func TestStopAtOnce(t *testing.T) {
	dir := t.TempDir()
	m := methods[float64]()[3]
	for range 2 {
		on(t, 2, func(ctx context.Context, r dist.Proc) error {
			p, x, err := at(ctx, r, m, 0, 0)
			if err != nil {
				return err
			}
			res, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 100, RelTol: 1e-6, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Resume: true, Keep: 2}},
				OnIter: func(solve.Iteration) error { return solve.ErrStop }})
			if err == nil && (res.Status != solve.Stopped || res.Iters != 0) {
				err = fmt.Errorf("%v after %d iterations", res.Status, res.Iters)
			}
			return err
		})
	}
	on(t, 3, func(ctx context.Context, r dist.Proc) error {
		p, x, err := at(ctx, r, m, 0, 0)
		if err != nil {
			return err
		}
		res, err := p.run(ctx, m.method(), x, solve.Config{MaxIter: 4, Checkpoint: solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Resume: true, Keep: 2}}})
		if err == nil && (res.Iters != 4 || res.Notes != nil) {
			err = fmt.Errorf("%+v", res)
		}
		return err
	})
	if got, err := os.ReadDir(dir); err != nil || len(got) != 2 {
		t.Errorf("got %v, want two states: %v", got, err)
	}
}
