package solve_test

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/golops/golops/dist"
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
		_, res := gathered(t, 2, 1, solve.Checkpoint{Dir: dir, Resume: true, Keep: 2})
		// The state of an iteration is on the disk before the next one is shown.
		if res.Notes != nil && seen+reached > 1 || res.Iters < seen-1 || res.Iters < reached {
			t.Fatalf("seed %d, round %d: %d iterations were seen, %d were before, %d are kept, notes %v", seed, round, seen, reached, res.Iters, res.Notes)
		}
		reached = res.Iters
	}
	x, res := gathered(t, 2, victimIters, solve.Checkpoint{Dir: dir, Resume: true, Keep: 2})
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
	c.Env = append(os.Environ(), childVar+"=victim", dirVar+"="+dir)
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
