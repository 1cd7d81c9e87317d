// Command lsm times iterations of least-squares migration, ours and those of
// PyLops-MPI with its compiled engine, in turns on the same machine.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"github.com/golops/golops/ops/wave"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

const iterations = 20

// tolerance is how far residuals may be apart: the rounding of CGLS grows in
// waves on this problem (testdata/lsm/README.md), so it must not be small.
var tolerance = map[string]float64{"float64": 1e-2, "float32": 0.3}

func main() {
	rounds := flag.Int("rounds", 5, "how often each is measured")
	python := flag.String("python", "build/golden-venv/bin/python", "interpreter with PyLops-MPI and numba; scripts/golden-lsm venv makes it")
	flag.Parse()
	if err := compare(*rounds, *python); err != nil {
		fmt.Fprintln(os.Stderr, "lsm:", err)
		os.Exit(1)
	}
}

// measured is what one round of one program says.
type measured struct {
	Iteration float64 `json:"iteration_s"`
	Forward   float64 `json:"forward_us"`
	Adjoint   float64 `json:"adjoint_us"`
	Residual  float64 `json:"residual"`
}

func compare(rounds int, python string) error {
	if rounds < 1 {
		return fmt.Errorf("%d rounds, must be at least 1", rounds)
	}
	if _, err := os.Stat(python); err != nil {
		return fmt.Errorf("%w: run scripts/golden-lsm venv", err)
	}
	fmt.Println("| type | ranks | golops iteration ms | PyLops-MPI iteration ms | PyLops-MPI / golops | golops forward ms | PyLops-MPI forward ms | golops adjoint ms | PyLops-MPI adjoint ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, dtype := range []string{"float64", "float32"} {
		for _, ranks := range []int{1, 2} {
			var ours, theirs []measured
			for i := range rounds {
				fmt.Fprintf(os.Stderr, "%s on %d ranks: round %d of %d\n", dtype, ranks, i+1, rounds)
				a, err := golops(dtype, ranks)
				if err != nil {
					return err
				}
				b, err := pylops(python, dtype, ranks)
				if err != nil {
					return err
				}
				if d := math.Abs(a.Residual-b.Residual) / b.Residual; d > tolerance[dtype] {
					return fmt.Errorf("%s on %d ranks: the residual is %g here and %g there: they do not do the same", dtype, ranks, a.Residual, b.Residual)
				}
				ours, theirs = append(ours, a), append(theirs, b)
			}
			m := func(v []measured, f func(measured) float64) float64 {
				var x []float64
				for _, r := range v {
					x = append(x, f(r))
				}
				slices.Sort(x)
				return x[len(x)/2]
			}
			it := func(r measured) float64 { return 1e3 * r.Iteration }
			fw := func(r measured) float64 { return 1e-3 * r.Forward }
			ad := func(r measured) float64 { return 1e-3 * r.Adjoint }
			fmt.Printf("| %s | %d | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f | %.1f |\n", dtype, ranks,
				m(ours, it), m(theirs, it), m(theirs, it)/m(ours, it), m(ours, fw), m(theirs, fw), m(ours, ad), m(theirs, ad))
		}
	}
	return nil
}

// pylops runs one round of the peer.
func pylops(python, dtype string, ranks int) (m measured, err error) {
	cmd := exec.Command("mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "-n", fmt.Sprint(ranks),
		python, "perf/peer/py/lsm.py", "--rounds", "1", "--dtype", dtype, "--iterations", fmt.Sprint(iterations))
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

// golops runs one round of ours on goroutine ranks.
func golops(dtype string, ranks int) (m measured, err error) {
	err = launch.Config{Ranks: ranks}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		var mine measured
		var err error
		if dtype == "float32" {
			mine, err = round[float32](ctx, r)
		} else {
			mine, err = round[float64](ctx, r)
		}
		if r.Rank() == 0 {
			m = mine
		}
		return err
	})
	return m, err
}

// round is the problem of perf/peer/py/lsm.py.
func round[T scalar.Scalar](ctx context.Context, r dist.Proc) (m measured, err error) {
	const nx, nz, d, nt, nr, ns = 201, 150, 4, 651, 51, 16
	g := wave.Grid{X: wave.Axis{N: nx, Step: d}, Z: wave.Axis{N: nz, Step: d}}
	times, err := wave.NewConstant(g, 1000)
	if err != nil {
		return m, err
	}
	t := make([]float64, 41)
	for i := range t {
		t[i] = 0.004 * float64(i)
	}
	w, err := wave.Ricker(t, 20)
	if err != nil {
		return m, err
	}
	k := wave.KirchhoffOptions{Times: times, Samples: nt, Interval: 0.004, Wavelet: w.W, Centre: w.Centre}
	line := func(n int, z float64) (p []wave.Point) {
		lo, hi := 10.0*d, float64(nx-10)*d
		for i := range n {
			p = append(p, wave.Point{X: lo + (hi-lo)*float64(i)/float64(n-1), Z: z})
		}
		return p
	}
	k.Sources, k.Receivers = line(ns, 10), line(nr, 20)
	op, err := wave.KirchhoffBySource[T](ctx, r, k)
	if err != nil {
		return m, err
	}
	refl, err := dist.FromFunc(ctx, op.Domain(), func(i []int) T {
		switch i[1] {
		case nz / 2:
			return -1
		case 5 * nz / 6:
			return scalar.From[T](0.5)
		}
		return 0
	})
	if err != nil {
		return m, err
	}
	data, err := linop.Apply(ctx, op, refl)
	if err != nil {
		return m, err
	}
	x, err := dist.New[T](op.Domain())
	if err != nil {
		return m, err
	}
	clock := func(f func() error) (float64, error) {
		if err := r.Barrier(ctx); err != nil {
			return 0, err
		}
		start := time.Now()
		err := errors.Join(f(), r.Barrier(ctx))
		return time.Since(start).Seconds(), err
	}
	again, err := dist.New[T](op.Range())
	if err != nil {
		return m, err
	}
	s, err := clock(func() error { return op.Forward(ctx, again, refl) })
	if err != nil {
		return m, err
	}
	m.Forward = 1e6 * s
	if s, err = clock(func() error { return op.Adjoint(ctx, x, data) }); err != nil {
		return m, err
	}
	m.Adjoint = 1e6 * s
	dist.Zero(x)
	method := &solve.CGLS[T, T]{}
	work, err := solve.NewWorkspace(solve.Problem[T, T]{A: op, B: data}, x, 0)
	if err != nil {
		return m, err
	}
	if _, err := work.Start(ctx, method); err != nil {
		return m, err
	}
	var n solve.Norms
	s, err = clock(func() (err error) {
		for range iterations {
			if n, err = method.Step(ctx, work); err != nil {
				return err
			}
		}
		return nil
	})
	m.Iteration, m.Residual = s/iterations, n.Resid
	return m, err
}
