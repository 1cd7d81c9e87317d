package data_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// problem is a least-squares problem over an array of 7 × 5 elements or another
// one, whose eigenvalues all differ, and how it is solved.
type problem[T scalar.Scalar] struct {
	solve.Problem[T, T]
	method solve.Method[T, T]
	damp   float64
}

func newProblem[T scalar.Scalar](ctx context.Context, r dist.Proc) (problem[T], error) {
	x, err := dist.NewSpace(ctx, r, dist.Layout{}, 7, 5)
	if err != nil {
		return problem[T]{}, err
	}
	return problemOver[T](ctx, x, 7)
}

// problemOver is the problem over x whose solution has this seed.
func problemOver[T scalar.Scalar](ctx context.Context, x *dist.Space, seed uint64) (problem[T], error) {
	p := problem[T]{method: &solve.CGLS[T, T]{}}
	w, err := dist.FromFunc(ctx, x, func(i []int) T { return scalar.From[T](complex(1.5+0.5*math.Sin(float64(3*i[0]+5*i[1])), 0.2)) })
	if err != nil {
		return p, err
	}
	weights, err := ops.Diagonal(w)
	if err != nil {
		return p, err
	}
	d, err := ops.FirstDerivative[T](ctx, x, 0, ops.DerivativeOptions{Sampling: 1, Edge: true})
	if err != nil {
		return p, err
	}
	if p.A, err = linop.VStack(weights, d); err != nil {
		return p, err
	}
	solution, err := dist.Random[T](ctx, x, seed)
	if err == nil {
		p.B, err = linop.Apply(ctx, p.A, solution)
	}
	return p, err
}

// run solves the problem from a start that is not zero.
func (p problem[T]) run(ctx context.Context, iters, every int, cp data.Checkpoints) (solve.Result, error) {
	x, err := dist.Random[T](ctx, p.A.Domain(), 3)
	if err != nil {
		return solve.Result{}, err
	}
	c := solve.Config{Damp: p.damp, MaxIter: iters}
	if cp != (data.Checkpoints{}) {
		c.Checkpoint = solve.Checkpoint{Saver: cp, Every: every}
	}
	return solve.Run(ctx, p.method, p.Problem, x, c)
}

// on runs f on goroutine ranks.
func on(t *testing.T, ranks int, f func(ctx context.Context, r dist.Proc) error) {
	t.Helper()
	if err := testdevices.Local(t.Context(), ranks, f); err != nil {
		t.Errorf("ranks=%d: %v", ranks, err)
	}
}

// checkpointed runs CGLS on some ranks and returns the result of rank 0.
func checkpointed(t *testing.T, ranks, iters, every int, cp data.Checkpoints) (res solve.Result, err error) {
	t.Helper()
	on(t, ranks, func(ctx context.Context, r dist.Proc) error {
		p, e := newProblem[float64](ctx, r)
		if e != nil {
			return e
		}
		got, e := p.run(ctx, iters, every, cp)
		if r.Rank() == 0 {
			res, err = got, e
		}
		return nil
	})
	return res, err
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

// states lists the files of a folder.
func states(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func TestEveryAndKeep(t *testing.T) {
	name := func(n, iter int) string { return fmt.Sprintf("iteration-%06d-state-%06d.checkpoint", iter, n) }
	for _, k := range []struct {
		every, keep int
		want        []string
	}{
		{0, 2, []string{name(1, 7)}},
		{2, 2, []string{name(3, 6), name(4, 7)}},
		{1, 3, []string{name(5, 5), name(6, 6), name(7, 7)}},
		{7, 1, []string{name(1, 7)}},
		{3, 9, []string{name(1, 3), name(2, 6), name(3, 7)}},
	} {
		cp := data.Checkpoints{Dir: filepath.Join(t.TempDir(), "deep", "inside"), Keep: k.keep}
		if _, err := checkpointed(t, 2, 7, k.every, cp); err != nil {
			t.Error(err)
		}
		if got := states(t, cp.Dir); !slices.Equal(got, k.want) {
			t.Errorf("every %d, %v: got %v, want %v", k.every, cp, got, k.want)
		}
	}
	// A run that starts anew in the same folder replaces the files of the old one,
	// although its iterations are fewer; what is not ours stays.
	cp := data.Checkpoints{Dir: t.TempDir(), Restart: true, Keep: 2}
	other := filepath.Join(cp.Dir, "notes.checkpoint")
	if err := os.WriteFile(other, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := checkpointed(t, 2, 6, 2, cp); err != nil {
			t.Error(err)
		}
	}
	if res, err := checkpointed(t, 2, 3, 2, cp); err != nil || res.Iters != 3 {
		t.Error(res, err)
	}
	if got, want := states(t, cp.Dir), []string{name(7, 2), name(8, 3), filepath.Base(other)}; !slices.Equal(got, want) {
		t.Errorf("anew: got %v, want %v", got, want)
	}
	cp.Resume, cp.Restart = true, false
	if res, err := checkpointed(t, 3, 5, 2, cp); err != nil || res.Resumed != 3 || res.Iters != 5 {
		t.Error(res, err)
	}
	// A run that has nothing to do writes nothing.
	before := states(t, cp.Dir)
	if res, err := checkpointed(t, 1, 5, 2, cp); err != nil || res.Resumed != 5 || res.Iters != 5 || res.Status != solve.MaxIter {
		t.Error(res, err)
	}
	if got := states(t, cp.Dir); !slices.Equal(got, before) {
		t.Errorf("nothing to do: got %v, want %v", got, before)
	}
}

// Resume with nothing there starts from the beginning.
func TestResumeOfNothing(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		res, err := checkpointed(t, 2, 3, 0, data.Checkpoints{Dir: dir, Resume: true, Keep: 2})
		if err != nil || res.Resumed != 0 || res.Iters != 3 || !slices.Equal(res.Notes, []string{"no checkpoint in " + dir + ": starts from the beginning"}) {
			t.Errorf("%s: %+v: %v", dir, res, err)
		}
	}
}

// A folder that cannot be written is an error on all ranks that says so.
func TestWriteFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("not a folder"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/golops"} {
		on(t, 3, func(ctx context.Context, r dist.Proc) error {
			p, err := newProblem[float32](ctx, r)
			if err != nil {
				return err
			}
			_, err = p.run(ctx, 100, 2, data.Checkpoints{Dir: dir, Keep: 2})
			if err == nil || !strings.HasPrefix(err.Error(), "solve: CGLS: ") || !strings.Contains(err.Error(), dir) && !strings.Contains(err.Error(), file) {
				return fmt.Errorf("%s: got %v", dir, err)
			}
			return nil
		})
	}
	// Something is in the way of the second file: the run goes on and says so, and
	// nothing half-written stays.
	for _, way := range []string{"iteration-000004-state-000002.checkpoint", "iteration-000004-state-000002.checkpoint.tmp"} {
		cp := data.Checkpoints{Dir: t.TempDir(), Keep: 2}
		if err := os.MkdirAll(filepath.Join(cp.Dir, way, "full"), 0o777); err != nil {
			t.Fatal(err)
		}
		res, err := checkpointed(t, 2, 7, 2, cp)
		if err != nil || res.Iters != 7 || res.Saved != 7 || len(res.Notes) != 1 || !strings.Contains(res.Notes[0], "the checkpoint of iteration 4 could not be written: ") || !strings.Contains(res.Notes[0], way) {
			t.Errorf("%s: got %+v: %v", way, res, err)
		}
		if got, want := states(t, cp.Dir), []string{way, "iteration-000006-state-000003.checkpoint", "iteration-000007-state-000004.checkpoint"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", way, got, want)
		}
	}
}

// What a killed run left behind is in nobody's way, and goes.
func TestUnfinishedFile(t *testing.T) {
	cp := data.Checkpoints{Dir: t.TempDir(), Keep: 2}
	if _, err := checkpointed(t, 2, 4, 2, cp); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"iteration-000006-state-000003.checkpoint.tmp", "iteration-000099-state-000077.checkpoint.tmp"} {
		if err := os.WriteFile(filepath.Join(cp.Dir, n), []byte("golops checkpoint 2\nhalf"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cp.Resume = true
	res, err := checkpointed(t, 3, 6, 2, cp)
	if err != nil || res.Resumed != 4 || res.Notes != nil {
		t.Errorf("%+v: %v", res, err)
	}
	if got, want := states(t, cp.Dir), []string{"iteration-000004-state-000002.checkpoint", "iteration-000006-state-000003.checkpoint"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
