// Command product compares the product of two matrices on a grid of ranks (SUMMA)
// with ScaLAPACK's pdgemm and the SUMMA of PyLops-MPI, and with the same work done
// without any message. All have one thread per rank and take turns, because machines
// are noisy: only ratios of times taken side by side mean anything. `make compare`
// runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// options are what the flags say.
type options struct {
	rounds, calls, block         int
	mpirun, mpicc, python, build string
	onesided                     bool
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 5, "how often each contender runs, in turns")
	flag.IntVar(&o.calls, "calls", 3, "products per run")
	flag.IntVar(&o.block, "block", 128, "extent of the blocks of pdgemm")
	flag.StringVar(&o.mpirun, "mpirun", "mpirun.openmpi", "launcher of the Open MPI that ScaLAPACK runs on")
	flag.StringVar(&o.mpicc, "mpicc", "mpicc.openmpi", "its C compiler")
	flag.StringVar(&o.python, "python", "build/golden-venv/bin/python", "Python with PyLops-MPI; scripts/peer-python makes it")
	flag.StringVar(&o.build, "build", "build", "folder for the C program")
	flag.BoolVar(&o.onesided, "onesided", false, "run golops with one-sided panels too")
	sizes := flag.String("sizes", "1024,2048,4096", "extents of the matrices")
	ranks := flag.String("ranks", "2,4", "numbers of ranks")
	child := flag.String("child", "", "be a side of golops: summa, onesided or local; for this program itself")
	flag.Parse()
	err := func() error {
		ns, err := numbers(*sizes)
		if err != nil {
			return fmt.Errorf("flag -sizes: %w", err)
		}
		ps, err := numbers(*ranks)
		if err != nil {
			return fmt.Errorf("flag -ranks: %w", err)
		}
		if *child != "" {
			return serve(context.Background(), *child, ns[0], ps[0], o.calls)
		}
		return compare(ns, ps, o)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "product:", err)
		os.Exit(1)
	}
}

// numbers reads positive numbers between commas.
func numbers(list string) (ns []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: must be positive numbers with commas between them", list)
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// contender is a program that multiplies.
type contender struct {
	name string
	cmd  []string
}

// contenders returns who multiplies matrices of that extent on that many ranks.
func contenders(n, ranks int, o options) ([]contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	start := []string{o.mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", strconv.Itoa(ranks)}
	mpi := func(cmd ...string) []string { return append(slices.Clone(start), cmd...) }
	golops := func(kind string) []string {
		return []string{self, "-child", kind, "-sizes", strconv.Itoa(n), "-ranks", strconv.Itoa(ranks), "-calls", strconv.Itoa(o.calls)}
	}
	p, q := grid(ranks)
	all := []contender{
		{"golops, goroutines", golops("summa")},
		{"golops, MPI", mpi(golops("summa")...)},
		{"no messages, goroutines", golops("local")},
		{"no messages, MPI", mpi(golops("local")...)},
		{"pdgemm", mpi(pdgemm(o), strconv.Itoa(n), strconv.Itoa(p), strconv.Itoa(q), strconv.Itoa(o.block), strconv.Itoa(o.calls))},
	}
	if p == q {
		all = append(all, contender{"PyLops-MPI", mpi(o.python, "-m", "mpi4py", "perf/peer/product/summa.py", strconv.Itoa(n), strconv.Itoa(o.calls))})
	}
	if o.onesided {
		all = append(all, contender{"one-sided, goroutines", golops("onesided")}, contender{"one-sided, MPI", mpi(golops("onesided")...)})
	}
	return all, nil
}

func pdgemm(o options) string { return filepath.Join(o.build, "pdgemm") }

// grid returns the grid of that many ranks that is closest to a square.
func grid(ranks int) (p, q int) {
	for p = int(math.Sqrt(float64(ranks))); ranks%p != 0; p-- {
	}
	return p, ranks / p
}

// compare measures all and prints tables.
func compare(sizes, ranks []int, o options) error {
	if o.rounds < 1 || o.calls < 1 || o.block < 1 {
		return fmt.Errorf("flags -rounds %d, -calls %d and -block %d: must be positive", o.rounds, o.calls, o.block)
	}
	if out, err := exec.Command(o.mpicc, "-O3", "-march=native", "-o", pdgemm(o), "perf/peer/c/pdgemm.c", "-lscalapack-openmpi", "-lm").CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: scripts/install-scalapack installs ScaLAPACK\n%s", o.mpicc, err, out)
	}
	for _, p := range ranks {
		for _, n := range sizes {
			if err := compareOne(n, p, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareOne measures one size on one number of ranks.
func compareOne(n, ranks int, o options) error {
	all, err := contenders(n, ranks, o)
	if err != nil {
		return err
	}
	times, norm := make([][]float64, len(all)), 0.0
	for round := range o.rounds {
		for i, c := range all {
			fmt.Fprintf(os.Stderr, "%d on %d ranks, round %d of %d: %s\n", n, ranks, round+1, o.rounds, c.name)
			got, err := run(c, o.calls)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			switch {
			case strings.HasPrefix(c.name, "no messages"): // another product
			case norm == 0:
				norm = got[0]
			case math.Abs(norm-got[0]) > 1e-10*norm:
				return fmt.Errorf("%s has a product of norm %g, %s of norm %g: they do not compute the same", all[0].name, norm, c.name, got[0])
			}
			times[i] = append(times[i], got[1:]...)
		}
	}
	report(n, ranks, all, times)
	return nil
}

// run runs a contender and returns the norm and the seconds.
func run(c contender, calls int) ([]float64, error) {
	cmd := exec.Command(c.cmd[0], c.cmd[1:]...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1", "MPLBACKEND=Agg")
	var text strings.Builder
	cmd.Stderr = &text
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text.String())
	}
	var got []float64
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

// report prints a table. Medians say what a user sees; the best of each, what the
// programs can do when the machine leaves them alone.
func report(n, ranks int, all []contender, times [][]float64) {
	gflops := func(t []float64, pick func([]float64) float64) float64 {
		return 2 * math.Pow(float64(n), 3) / pick(t) / 1e9
	}
	scalapack := slices.IndexFunc(all, func(c contender) bool { return c.name == "pdgemm" })
	fmt.Printf("\n%d × %d, float64, %d ranks, one thread each, %d products\n\n", n, n, ranks, len(times[0]))
	fmt.Println("| who | GFLOP/s, median | GFLOP/s, best | of pdgemm, median | best |")
	fmt.Println("|---|---|---|---|---|")
	for i, c := range all {
		m, b := gflops(times[i], median), gflops(times[i], slices.Min[[]float64])
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.2f |\n", c.name, m, b, m/gflops(times[scalapack], median), b/gflops(times[scalapack], slices.Min[[]float64]))
	}
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
