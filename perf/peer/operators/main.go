// Command operators compares the operators and array operations of golops with
// those of PyLops-MPI, and with PyLops where PyLops-MPI has none, on the same
// arrays and the same cores. Both sides compute in processes of their own, which
// take turns, because machines are noisy: only ratios of times taken side by side
// mean anything. `make compare` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"time"
)

// options are what the flags say.
type options struct {
	rounds         int
	atLeast        time.Duration
	cores          int
	python, mpirun string
	below          float64
	best           bool
}

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 7, "how often each side is measured, in turns")
	flag.DurationVar(&o.atLeast, "time", 20*time.Millisecond, "how long one measurement takes at least")
	flag.IntVar(&o.cores, "cores", runtime.NumCPU(), "cores that the ranks of either side share")
	flag.StringVar(&o.python, "python", "build/golden-venv/bin/python", "Python with PyLops-MPI; scripts/peer-python makes it")
	flag.StringVar(&o.mpirun, "mpirun", "mpirun.openmpi", "launcher of the MPI that PyLops-MPI runs on, an Open MPI")
	flag.Float64Var(&o.below, "below", 1.2, "list at the end what is less than this many times as fast as the peer")
	flag.BoolVar(&o.best, "best", false, "show the best of the rounds and not the medians: what programs can do when the machine leaves them alone")
	run := flag.String("run", "", "regular expression of what to compare, as in \"FirstDerivative.*float32\"; empty means everything")
	list := flag.Bool("list", false, "only list what would be compared")
	child := flag.Int("child", 0, "be the side of golops with this many ranks; for this program itself")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *child > 0:
		err = serve(ctx, *child, o)
	case *list:
		var cs []Case
		cs, err = selected(*run)
		for _, c := range cs {
			fmt.Println(c)
		}
	default:
		err = compare(ctx, *run, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "operators:", err)
		os.Exit(1)
	}
}

// selected returns the cases that match.
func selected(run string) ([]Case, error) {
	re, err := regexp.Compile(run)
	if err != nil {
		return nil, fmt.Errorf("flag -run: %w", err)
	}
	var cs []Case
	for _, c := range cases() {
		if re.MatchString(c.String()) {
			cs = append(cs, c)
		}
	}
	if len(cs) == 0 {
		return nil, fmt.Errorf("nothing matches -run %q: -list shows all names", run)
	}
	return cs, nil
}

// compare measures all cases and prints a line for each.
func compare(ctx context.Context, run string, o options) error {
	cs, err := selected(run)
	if err != nil {
		return err
	}
	if o.rounds < 1 || o.cores < 1 || o.atLeast <= 0 {
		return errors.New("flags -rounds, -cores and -time must be positive")
	}
	sides := &sides{ctx: ctx, o: o, running: map[string]*contender{}}
	defer sides.stop()
	what := "Medians"
	if o.best {
		what = "Best"
	}
	fmt.Printf("%s of %d rounds on %d cores, forward / adjoint; ratio is the time of the peer over that of golops.\n\n%s", what, o.rounds, o.cores, header)
	var slow []row
	for i, c := range cs {
		fmt.Fprintf(os.Stderr, "%d of %d: %v\n", i+1, len(cs), c)
		r, err := sides.measure(c)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		fmt.Print(r)
		if r.worst() < o.below {
			slow = append(slow, r)
		}
	}
	fmt.Print(notes)
	if len(slow) > 0 {
		fmt.Printf("\nLess than %g times as fast as the peer, %d of %d:\n\n%s", o.below, len(slow), len(cs), header)
	}
	for _, r := range byRatio(slow) {
		fmt.Print(r)
	}
	return nil
}
