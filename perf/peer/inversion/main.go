// Command inversion times iterations of least squares and of FISTA, ours and those of PyLops-MPI, in
// turns on the same machine: migration, with its compiled engine there,
// multi-dimensional deconvolution, impedance and reflectivity.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/linop"
	"github.com/golops/golops/scalar"
	"github.com/golops/golops/solve"
)

// iterations of each problem, and threads of each rank. 0 threads mean a share of the cores.
var (
	iterations = map[string]int{"lsm": 20, "mdc": 20, "poststack": 50, "reflectivity": 100}
	threads    = map[string]int{"poststack": 1, "reflectivity": 1}
)

// tolerance is how far residuals may be apart: the rounding of CGLS grows in
// waves on migration (testdata/lsm/README.md), so it must not be small.
var tolerance = map[string]float64{"float64": 1e-2, "float32": 0.3}

func main() {
	rounds := flag.Int("rounds", 5, "how often each is measured")
	python := flag.String("python", "build/golden-venv/bin/python", "interpreter with PyLops-MPI and numba; scripts/golden-lsm venv makes it")
	only := flag.String("run", "lsm,mdc,poststack,reflectivity", "the problems: "+strings.Join(slices.Sorted(maps.Keys(problems)), ", "))
	flag.Parse()
	for name := range strings.SplitSeq(*only, ",") {
		if err := compare(name, *rounds, *python); err != nil {
			fmt.Fprintln(os.Stderr, "inversion:", err)
			os.Exit(1)
		}
	}
}

// measured is what one round of one program says.
type measured struct {
	Iteration float64 `json:"iteration_s"`
	Forward   float64 `json:"forward_us"`
	Adjoint   float64 `json:"adjoint_us"`
	Residual  float64 `json:"residual"`
}

func compare(name string, rounds int, python string) error {
	if _, ok := problems[name]; !ok {
		return fmt.Errorf("problem %q: have %s", name, strings.Join(slices.Sorted(maps.Keys(problems)), ", "))
	}
	if rounds < 1 {
		return fmt.Errorf("%d rounds, must be at least 1", rounds)
	}
	if _, err := os.Stat(python); err != nil {
		return fmt.Errorf("%w: run scripts/golden-lsm venv", err)
	}
	fmt.Println("\n| problem | type | ranks | golops iteration ms | PyLops-MPI iteration ms | PyLops-MPI / golops | golops forward ms | PyLops-MPI forward ms | golops adjoint ms | PyLops-MPI adjoint ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, dtype := range []string{"float64", "float32"} {
		for _, ranks := range []int{1, 2} {
			var ours, theirs []measured
			for i := range rounds {
				fmt.Fprintf(os.Stderr, "%s, %s on %d ranks: round %d of %d\n", name, dtype, ranks, i+1, rounds)
				a, err := golops(name, dtype, ranks)
				if err != nil {
					return err
				}
				b, err := pylops(python, name, dtype, ranks)
				if err != nil {
					return err
				}
				if d := math.Abs(a.Residual-b.Residual) / b.Residual; d > tolerance[dtype] {
					return fmt.Errorf("%s, %s on %d ranks: the residual is %g here and %g there: they do not do the same", name, dtype, ranks, a.Residual, b.Residual)
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
			fmt.Printf("| %s | %s | %d | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f | %.1f |\n", name, dtype, ranks,
				m(ours, it), m(theirs, it), m(theirs, it)/m(ours, it), m(ours, fw), m(theirs, fw), m(ours, ad), m(theirs, ad))
		}
	}
	return nil
}

// pylops runs one round of the peer.
func pylops(python, name, dtype string, ranks int) (m measured, err error) {
	cmd := exec.Command("mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "-n", fmt.Sprint(ranks),
		python, "perf/peer/py/inversion.py", name, "--rounds", "1", "--dtype", dtype, "--iterations", fmt.Sprint(iterations[name]),
		"--threads", fmt.Sprint(threads[name]))
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
func golops(name, dtype string, ranks int) (m measured, err error) {
	err = launch.Config{Ranks: ranks, Threads: threads[name]}.Local(context.Background(), func(ctx context.Context, r dist.Proc) error {
		var mine measured
		var err error
		if dtype == "float32" {
			mine, err = round(ctx, r, problems[name].float32, iterations[name])
		} else {
			mine, err = round(ctx, r, problems[name].float64, iterations[name])
		}
		if r.Rank() == 0 {
			m = mine
		}
		return err
	})
	return m, err
}

// round times a problem.
func round[T scalar.Scalar](ctx context.Context, r dist.Proc, p problem[T], iterations int) (m measured, err error) {
	t, err := p(ctx, r)
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
	y, err := linop.Apply(ctx, t.op, t.model)
	if err != nil {
		return m, err
	}
	x, err := dist.New[T](t.op.Domain())
	if err != nil {
		return m, err
	}
	s, err := clock(func() error { return t.op.Forward(ctx, y, t.model) })
	if err != nil {
		return m, err
	}
	m.Forward = 1e6 * s
	if s, err = clock(func() error { return t.op.Adjoint(ctx, x, y) }); err != nil {
		return m, err
	}
	m.Adjoint = 1e6 * s
	method := t.method
	if method == nil {
		method = &solve.CGLS[T, T]{}
	}
	work, err := solve.NewWorkspace(solve.Problem[T, T]{A: t.op, B: t.data}, t.start, 0)
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
	m.Iteration, m.Residual = s/float64(iterations), n.Resid
	if t.method != nil {
		m.Residual = 2*n.Cost - n.Resid*n.Resid/2 // the cost as PyLops has it, whose penalty has twice the weight of its steps
	}
	return m, err
}
