// Command gpu measures operators and solvers on one GPU against the times that
// PyLops-MPI with CuPy and NCCL needs there and those that golops must reach, and
// all_reduce over NCCL against the same library called from Python, in turns.
//
// It is built here and carried to a machine with a GPU, which needs no Go:
//
//	CGO_ENABLED=0 go build -o build/gpu-peer ./perf/peer/gpu
//	build/gpu-peer -python python3 -mpirun mpirun
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// options are the flags.
type options struct {
	device string
	shrink int // divides extents, to try the program where there is no GPU
	rounds int // of each measurement
	only   string

	nccl, child    bool
	mpirun, python string
	turns          int
	sizes          []int
}

func main() {
	var o options
	var sizes string
	flag.StringVar(&o.device, "device", launch.CUDA, "where to measure: "+launch.DeviceNames())
	flag.IntVar(&o.shrink, "shrink", 1, "divide extents by this, to try the program on a small machine")
	flag.IntVar(&o.rounds, "rounds", 30, "how often each is measured")
	flag.StringVar(&o.only, "only", "", "measure only what has this in its name")
	flag.BoolVar(&o.nccl, "nccl", true, "compare all_reduce with Python, if there are mpirun and CuPy")
	flag.BoolVar(&o.child, "child", false, "be a rank that times all_reduce; for this program itself")
	flag.StringVar(&o.mpirun, "mpirun", "", "launcher (default the first of mpirun, mpiexec and mpirun.openmpi that there is)")
	flag.StringVar(&o.python, "python", "python3", "interpreter with CuPy")
	flag.IntVar(&o.turns, "turns", 3, "how often golops and Python take turns")
	flag.StringVar(&sizes, "sizes", "1,4,16,64", "of all_reduce in MB")
	flag.Parse()
	for s := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			fail(fmt.Errorf("-sizes %s: must be numbers of MB with commas between them", sizes))
		}
		o.sizes = append(o.sizes, n<<20)
	}
	if o.shrink < 1 || o.shrink > 32 || o.rounds < 1 || o.turns < 1 {
		fail(errors.New("-shrink must be from 1 to 32, -rounds and -turns at least 1"))
	}
	if o.child {
		fail(o.allReduce(context.Background(), os.Stdout))
		return
	}
	fail(o.run(context.Background(), os.Stdout))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "gpu:", err)
		os.Exit(1)
	}
}

// run prints all tables. A measurement that fails is a row that says so.
func (o options) run(ctx context.Context, w io.Writer) error {
	start := time.Now()
	c := launch.Config{Ranks: 1, Device: o.device, Log: slog.New(slog.NewTextHandler(w, nil))}
	err := c.Local(ctx, func(ctx context.Context, r dist.Proc) error {
		fmt.Fprintf(w, "%s, %s, %v, %v\n\n", time.Now().UTC().Format("2006-01-02 15:04"), r.Device, r.Comm, time.Since(start).Round(time.Millisecond))
		fmt.Fprintf(w, "float32 unless said; times in ms of one application that is waited for, %d rounds\n\n", o.rounds)
		fmt.Fprintln(w, "| work | PyLops-MPI + CuPy + NCCL | golops, at most | golops, median | golops, best | holds |")
		fmt.Fprintln(w, "|---|---|---|---|---|---|")
		for _, c := range cases(o.shrink) {
			if !strings.Contains(c.name, o.only) {
				continue
			}
			c.measure(ctx, r, o, w)
		}
		return nil
	})
	fmt.Fprintf(w, "\nmeasured in %v\n", time.Since(start).Round(time.Second))
	if err != nil || !o.nccl {
		return err
	}
	return o.compare(ctx, w)
}
