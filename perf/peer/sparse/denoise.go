package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
	"github.com/golops/golops/prox"
	"github.com/golops/golops/solve"
)

// side is that of the image.
const side = 512

// compareDenoising times TV denoising by PrimalDual, ours and that of pyproximal.
func compareDenoising(rounds int, python string) error {
	fmt.Printf("\nTV denoising of %d × %d float64 by PrimalDual, %d iterations, one thread each; medians of %d runs in ms\n\n", side, side, iterations, rounds*inTurn)
	fmt.Println("| ranks | golops | pyproximal, one process | pyproximal / golops |")
	fmt.Println("|---|---|---|---|")
	for _, ranks := range []int{1, 2} {
		var ours, theirs []float64
		for range rounds {
			a, err := denoise(ranks)
			if err != nil {
				return err
			}
			b, err := pyproximal(python)
			if err != nil {
				return err
			}
			if math.Abs(a.Norm-b.Norm) > 1e-6*b.Norm {
				return fmt.Errorf("denoising on %d ranks: the norm of the image is %g here and %g there: they do not do the same", ranks, a.Norm, b.Norm)
			}
			ours, theirs = append(ours, a.Seconds...), append(theirs, b.Seconds...)
		}
		m, t := 1e3*median(ours), 1e3*median(theirs)
		fmt.Printf("| %d | %.1f | %.1f | %.1f |\n", ranks, m, t, t/m)
	}
	return nil
}

// pyproximal is a turn of the peer.
func pyproximal(python string) (m measured, err error) {
	cmd := exec.Command(python, "perf/peer/sparse/denoise.py", fmt.Sprint(inTurn), fmt.Sprint(side), fmt.Sprint(iterations))
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "MPLBACKEND=Agg")
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	if err := cmd.Run(); err != nil {
		return m, fmt.Errorf("pyproximal: %w\n%s", err, text.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &m); err != nil {
		return m, fmt.Errorf("pyproximal printed %q: %w", out.String(), err)
	}
	return m, nil
}

// denoise is a turn of ours on goroutine ranks.
func denoise(ranks int) (m measured, err error) {
	err = launch.Config{Ranks: ranks, Threads: 1}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		mine, err := denoiseOn(ctx, r)
		if r.Rank() == 0 {
			m = mine
		}
		return err
	})
	return m, err
}

func denoiseOn(ctx context.Context, r dist.Proc) (m measured, err error) {
	s, err := dist.NewSpace(ctx, r, dist.Layout{}, side, side)
	if err != nil {
		return m, err
	}
	noisy, err := dist.FromFunc(ctx, s, func(i []int) float64 {
		return float64((i[0]/64+i[1]/64)%2) + 0.3*math.Sin(12.9898*float64(i[0])+78.233*float64(i[1]))
	})
	if err != nil {
		return m, err
	}
	grad, err := ops.Gradient[float64](ctx, s, ops.GradientOptions{Kind: ops.DerivativeForward})
	if err != nil {
		return m, err
	}
	misfit, err := prox.L2(ctx, s, noisy, 1)
	if err != nil {
		return m, err
	}
	length, err := prox.L21[float64](ctx, grad.Range(), 0.2)
	if err != nil {
		return m, err
	}
	x, err := dist.New[float64](s)
	if err != nil {
		return m, err
	}
	step := 0.99 / math.Sqrt(8)
	method := &solve.PrimalDual[float64, float64]{F: misfit, G: length, Tau: step, Mu: step, Theta: 1, XFirst: true, CostEvery: iterations} // pyproximal evaluates no cost either
	for range inTurn {
		dist.Zero(x)
		if err := r.Barrier(ctx); err != nil {
			return m, err
		}
		began := time.Now()
		if _, err := solve.Run(ctx, method, solve.Problem[float64, float64]{A: grad}, x, solve.Config{MaxIter: iterations, PastRounding: true}); err != nil {
			return m, err
		}
		if err := r.Barrier(ctx); err != nil {
			return m, err
		}
		m.Seconds = append(m.Seconds, time.Since(began).Seconds())
	}
	m.Norm, err = dist.Norm(ctx, x, 2)
	return m, err
}
