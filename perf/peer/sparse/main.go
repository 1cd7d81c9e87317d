// Command sparse times FISTA, ours and that of PyLops-MPI, and TV denoising, ours and that
// of pyproximal, in turns on the same machine, with one thread for each rank.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/solve"
)

// The block of a matrix that each rank has, and how often the solver iterates on it.
const (
	rows, cols = 512, 1024
	iterations = 100
	inTurn     = 3 // runs of one program before the other has its turn
)

// measured is what one turn of one program says.
type measured struct {
	Seconds []float64 `json:"seconds"`
	Norm    float64   `json:"norm"` // of the model
}

func main() {
	rounds := flag.Int("rounds", 5, "how often each has its turn")
	python := flag.String("python", "build/golden-venv/bin/python", "interpreter with PyLops-MPI; scripts/golden makes it")
	flag.Parse()
	err := compare(*rounds, *python)
	if err == nil {
		err = compareDenoising(*rounds, *python)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sparse:", err)
		os.Exit(1)
	}
}

func compare(rounds int, python string) error {
	if rounds < 1 {
		return fmt.Errorf("%d rounds, must be at least 1", rounds)
	}
	if _, err := os.Stat(python); err != nil {
		return fmt.Errorf("%w: run scripts/golden", err)
	}
	fmt.Printf("\nFISTA, %d iterations, a block of %d × %d float32 per rank, one thread each; medians of %d runs in ms\n\n", iterations, rows, cols, rounds*inTurn)
	fmt.Println("| ranks | golops | PyLops-MPI | PyLops-MPI / golops |")
	fmt.Println("|---|---|---|---|")
	for _, ranks := range []int{1, 2} {
		var ours, theirs []float64
		for range rounds {
			a, err := golops(ranks)
			if err != nil {
				return err
			}
			b, err := pylops(python, ranks)
			if err != nil {
				return err
			}
			if math.Abs(a.Norm-b.Norm) > 1e-3*b.Norm {
				return fmt.Errorf("%d ranks: the norm of the model is %g here and %g there: they do not do the same", ranks, a.Norm, b.Norm)
			}
			ours, theirs = append(ours, a.Seconds...), append(theirs, b.Seconds...)
		}
		m, t := 1e3*median(ours), 1e3*median(theirs)
		fmt.Printf("| %d | %.2f | %.2f | %.1f |\n", ranks, m, t, t/m)
	}
	return nil
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// pylops is a turn of the peer.
func pylops(python string, ranks int) (m measured, err error) {
	cmd := exec.Command("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", fmt.Sprint(ranks),
		python, "perf/peer/sparse/fista.py", fmt.Sprint(inTurn), fmt.Sprint(rows), fmt.Sprint(cols), fmt.Sprint(iterations))
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "MPLBACKEND=Agg")
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	if err := cmd.Run(); err != nil {
		return m, fmt.Errorf("PyLops-MPI: %w\n%s", err, text.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &m); err != nil {
		return m, fmt.Errorf("PyLops-MPI printed %q: %w", out.String(), err)
	}
	return m, nil
}

// golops is a turn of ours on goroutine ranks.
func golops(ranks int) (m measured, err error) {
	err = launch.Config{Ranks: ranks, Threads: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		mine, err := fista(ctx, r)
		if r.Rank() == 0 {
			m = mine
		}
		return err
	})
	return m, err
}

// wave is what fista.py calls so.
func wave(n int, step float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(math.Sin(step * float64(i)))
	}
	return v
}

func fista(ctx context.Context, r dist.Proc) (m measured, err error) {
	a := wave(rows*cols, 0.7+0.1*float64(r.Rank()))
	for i := range rows {
		a[i*cols+i] += 4
	}
	s, err := dist.NewSpace(ctx, r.Alone(), dist.Layout{}, cols)
	if err != nil {
		return m, err
	}
	block, err := ops.MatrixMult(ctx, s, rows, a)
	if err != nil {
		return m, err
	}
	op, err := linop.BlockDiagRanks(ctx, r, block)
	if err != nil {
		return m, err
	}
	y, err := dist.New[float32](op.Range())
	if err != nil {
		return m, err
	}
	if err := y.Local().CopyIn(wave(rows, 1.3)); err != nil {
		return m, err
	}
	x, err := dist.New[float32](op.Domain())
	if err != nil {
		return m, err
	}
	method := &solve.FISTA[float32, float32]{Shrinkage: solve.Shrinkage[float32]{Eps: 0.05, Alpha: 1e-5}} // PyLops' eps is twice ours
	for k := range inTurn + 1 {
		dist.Zero(x)
		if err := r.Barrier(ctx); err != nil {
			return m, err
		}
		began := time.Now()
		if _, err := solve.Run(ctx, method, solve.Problem[float32, float32]{A: op, B: y}, x, solve.Config{MaxIter: iterations}); err != nil {
			return m, err
		}
		if err := r.Barrier(ctx); err != nil {
			return m, err
		}
		if k > 0 {
			m.Seconds = append(m.Seconds, time.Since(began).Seconds())
		}
	}
	m.Norm, err = dist.Norm(ctx, x, 2)
	return m, err
}
