package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/ops"
)

// splitOptions are the flags of transforms over ranks.
type splitOptions struct {
	n, ranks, rounds, calls      int
	transposed                   bool
	mpirun, mpicc, python, build string
}

// contender is a program that transforms n × n × n complex128, split by the first axis.
// It prints the 4-norm of the result, then the seconds of each call.
type contender struct {
	name string
	cmd  []string
}

func splitContenders(o splitOptions) ([]contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	n, calls, transposed := strconv.Itoa(o.n), strconv.Itoa(o.calls), "0"
	start := []string{o.mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", strconv.Itoa(o.ranks)}
	mpi := func(cmd ...string) []string { return append(slices.Clone(start), cmd...) }
	golops := []string{self, "-child", "-n", n, "-ranks", strconv.Itoa(o.ranks), "-calls", calls}
	if o.transposed {
		golops, transposed = append(golops, "-transposed"), "1"
	}
	plans := filepath.Join(o.build, fmt.Sprintf("fft3d-%d-%s-%d.wisdom", o.n, transposed, o.ranks))
	all := []contender{
		{"golops, goroutines", golops},
		{"golops, MPI", mpi(golops...)},
		{"FFTW-MPI", mpi(fft3d(o), n, transposed, calls, plans)},
	}
	if o.transposed { // the only layout of mpi4py-fft
		all = append(all, contender{"mpi4py-fft", mpi(o.python, "-m", "mpi4py", "perf/peer/fft/fft3d.py", n, calls)})
	}
	return all, nil
}

func fft3d(o splitOptions) string { return filepath.Join(o.build, "fft3d") }

// compareSplit prints tables of transforms over ranks.
func compareSplit(o splitOptions, sizes []int) error {
	if out, err := exec.Command(o.mpicc, "-O3", "-march=native", "-o", fft3d(o), "perf/peer/c/fft3d.c", "-lfftw3_mpi", "-lfftw3", "-lm").CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: scripts/install-fftw-mpi installs FFTW-MPI\n%s", o.mpicc, err, out)
	}
	for _, n := range sizes {
		for _, transposed := range []bool{false, true} {
			o.n, o.transposed = n, transposed
			if err := compareRanks(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareRanks measures one size.
func compareRanks(o splitOptions) error {
	all, err := splitContenders(o)
	if err != nil {
		return err
	}
	times, norm := make([][]float64, len(all)), 0.0
	for range o.rounds {
		for i, c := range all {
			got, err := runContender(c, o.calls)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", c.name, err)
			case norm == 0:
				norm = got[0]
			case math.Abs(norm-got[0]) > 1e-10*norm:
				return fmt.Errorf("%s has a result of 4-norm %g, %s of %g: they do not compute the same", all[0].name, norm, c.name, got[0])
			}
			times[i] = append(times[i], got[1:]...)
		}
	}
	back := "in the layout of x"
	if o.transposed {
		back = "left transposed"
	}
	fmt.Printf("\n%d × %d × %d complex128 over %d ranks, one thread each, the result %s, %d calls\n\n", o.n, o.n, o.n, o.ranks, back, len(times[0]))
	fmt.Println("| who | ms, median | ms, best | over golops on goroutines, best |\n|---|---|---|---|")
	for i, c := range all {
		fmt.Printf("| %s | %.1f | %.1f | %.2f |\n", c.name, 1e3*median(times[i]), 1e3*slices.Min(times[i]), slices.Min(times[i])/slices.Min(times[0]))
	}
	return nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// runContender returns the norm and the seconds.
func runContender(c contender, calls int) (got []float64, err error) {
	cmd := exec.Command(c.cmd[0], c.cmd[1:]...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1")
	var text strings.Builder
	cmd.Stderr = &text
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text.String())
	}
	for word := range strings.FieldsSeq(string(out)) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("it printed %q: %w", out, err)
		}
		got = append(got, v)
	}
	if len(got) != calls+1 {
		return nil, fmt.Errorf("it printed %d numbers, not %d: %q", len(got), calls+1, out)
	}
	return got, nil
}

// serve is golops as a contender.
func serve(ctx context.Context, o splitOptions) error {
	return launch.Config{Ranks: o.ranks, Threads: 1}.Run(ctx, func(ctx context.Context, r dist.Proc) error {
		s, err := dist.NewSpace(ctx, r, dist.Layout{}, o.n, o.n, o.n)
		if err != nil {
			return err
		}
		f, err := ops.FFTND[complex128](ctx, s, []int{0, 1, 2}, ops.FFTOptions{Transposed: o.transposed})
		if err != nil {
			return err
		}
		x, err := dist.FromFunc(ctx, s, func(at []int) complex128 {
			i := (at[0]*o.n+at[1])*o.n + at[2]
			return complex(value(i), value(2*i+1))
		})
		if err != nil {
			return err
		}
		y, err := dist.New[complex128](f.Range())
		if err != nil {
			return err
		}
		for t := -1; t < o.calls; t++ {
			if err := r.Barrier(ctx); err != nil {
				return err
			}
			s := []float64{-clock(), 0}
			if err := f.Forward(ctx, y, x); err != nil {
				return err
			}
			s[1] = clock()
			if err := r.AllReduce(ctx, comm.Of(s), comm.Of(s), comm.Max); err != nil {
				return err
			}
			s[0] += s[1]
			if t < 0 {
				if s[0], err = dist.Norm(ctx, y, 4); err != nil {
					return err
				}
			}
			if r.Rank() == 0 {
				fmt.Println(s[0])
			}
		}
		return nil
	})
}

// value is the element at i; fft3d.c and fft3d.py have the same formula.
func value(i int) float64 { return float64(i*7919%1009)/1009 - 0.5 }

// clock is one for all processes of this machine, in seconds.
func clock() float64 { return float64(time.Now().UnixNano()%1e15) / 1e9 }
