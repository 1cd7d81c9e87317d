package data_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/golops/golops/data"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/testdevices"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// victimIters is how far a run that is not killed goes.
const victimIters = 60

// long runs CGLS on a problem whose state takes a while to write, and which has
// not converged after victimIters.
func long(ctx context.Context, r dist.Proc, iters int, cp solve.Checkpoint, f func(solve.Iteration) error) (x dist.Array[float64], res solve.Result, err error) {
	const n = 50_000
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, n)
	if err != nil {
		return x, res, err
	}
	d, err := dist.FromFunc(ctx, s, func(i []int) float64 { return 1 + 30*float64(i[0])/n })
	if err != nil {
		return x, res, err
	}
	p := solve.Problem[float64, float64]{B: d}
	if p.A, err = ops.Diagonal(d); err != nil {
		return x, res, err
	}
	if x, err = dist.New[float64](s); err != nil {
		return x, res, err
	}
	res, err = solve.Run(ctx, &solve.CGLS[float64, float64]{}, p, x, solve.Config{MaxIter: iters, Checkpoint: cp, OnIter: f})
	return x, res, err
}

// victimVar is the folder of a copy of this program that is to be killed.
const victimVar = "GOLOPS_DATA_VICTIM"

// TestMain lets a copy of this program be a run to be killed.
func TestMain(m *testing.M) {
	dir := os.Getenv(victimVar)
	if dir == "" {
		os.Exit(m.Run())
	}
	err := testdevices.Local(context.Background(), 4, func(ctx context.Context, r dist.Proc) error {
		cp := solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Resume: true, Keep: 2}, Every: 1}
		_, _, err := long(ctx, r, victimIters, cp, func(it solve.Iteration) error {
			if r.Rank() == 0 {
				fmt.Println(it.K)
			}
			return nil
		})
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED", err)
		os.Exit(1)
	}
}

// gathered runs long on some ranks and returns x.
func gathered(t *testing.T, ranks, iters int, cp solve.Checkpoint) (x []float64, res solve.Result) {
	t.Helper()
	on(t, ranks, func(ctx context.Context, r dist.Proc) error {
		y, got, err := long(ctx, r, iters, cp, nil)
		if err != nil {
			return err
		}
		all, err := dist.AllGather(ctx, y)
		if r.Rank() == 0 {
			x, res = all, got
		}
		return err
	})
	return x, res
}

// A process of four ranks that does little but write its state is killed again
// and again: there is always a state to go on from, never a broken one, and two
// ranks bring it to the end that an undisturbed run has.
func TestKill(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	want, _ := gathered(t, 1, victimIters, solve.Checkpoint{})
	dir := t.TempDir()
	reached := 0
	for round := range 6 {
		seen := victim(t, dir, 1+rnd.IntN(8), time.Duration(rnd.IntN(4000))*time.Microsecond)
		_, res := gathered(t, 2, 1, solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Resume: true, Keep: 2}})
		// The state of an iteration is on the disk before the next one is shown.
		if res.Notes != nil && seen+reached > 1 || res.Iters < seen-1 || res.Iters < reached {
			t.Fatalf("seed %d, round %d: %d iterations were seen, %d were before, %d are kept, notes %v", seed, round, seen, reached, res.Iters, res.Notes)
		}
		reached = res.Iters
	}
	x, res := gathered(t, 2, victimIters, solve.Checkpoint{Saver: data.Checkpoints{Dir: dir, Resume: true, Keep: 2}})
	if res.Resumed != reached || res.Iters != victimIters || len(x) != len(want) {
		t.Fatalf("seed %d: from %d to %d iterations", seed, res.Resumed, res.Iters)
	}
	worst := 0.0
	for i := range x {
		worst = max(worst, x[i]-want[i], want[i]-x[i])
	}
	if worst > 1e-9 {
		t.Errorf("seed %d: x is off by %g", seed, worst)
	}
}

// victim starts a run and kills it some time after it has printed the given number
// of iterations. It returns the last one that was printed.
func victim(t *testing.T, dir string, lines int, more time.Duration) (seen int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), victimVar+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lineOf := bufio.NewScanner(out)
	for i := 0; i < lines && lineOf.Scan(); i++ {
		seen = 0
		for _, b := range lineOf.Bytes() {
			seen = 10*seen + int(b-'0')
		}
	}
	for start := time.Now(); time.Since(start) < more; { // anywhere in what follows
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // which says that it was killed
	return seen
}
