package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/golops/golops/app"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// perfFlags are the flags of golops perf. Flags with a letter have their names from
// nccl-tests.
type perfFlags struct {
	min, max, step  string
	factor          int64
	iters, warmup   int
	check, average  int
	registration    int
	op, dtype       string
	root, ranks     int
	comms, algos    []string
	modes           []string
	json, csv, plot string
	device          string
	shareGPU        bool
	verbose         bool
	timeout         time.Duration
}

func (f *perfFlags) register(s *pflag.FlagSet) {
	s.SortFlags = false
	s.StringVarP(&f.min, "minbytes", "b", "8", "smallest `size`; K, M and G are powers of 1024")
	s.StringVarP(&f.max, "maxbytes", "e", "64M", "largest `size`")
	s.Int64VarP(&f.factor, "stepfactor", "f", 2, "`factor` from one size to the next")
	s.StringVarP(&f.step, "stepbytes", "i", "", "`bytes` from one size to the next, instead of -f")
	s.IntVarP(&f.iters, "iters", "n", 20, "timed `iterations`; unless given, doubled until a loop takes 50 ms")
	s.IntVarP(&f.warmup, "warmup_iters", "w", 5, "`iterations` before those")
	s.IntVarP(&f.check, "check", "c", 1, "verify the results: `0|1`")
	s.StringVarP(&f.op, "op", "o", "sum", "`reduction`: sum, prod, min, max, avg or all")
	s.StringVarP(&f.dtype, "datatype", "d", "float", "element `type`: uint8, int32, int64, float, double, complex64, complex128 or all")
	s.IntVarP(&f.root, "root", "r", 0, "root `rank` of broadcast, reduce, gather and scatter")
	s.IntVarP(&f.average, "average", "a", 1, "report the time of `0|1|2|3`: rank 0, mean of ranks, least, most")
	s.IntVarP(&f.registration, "local_register", "R", 0, "register GPU memory with NCCL: `0|1|2`: no, each rank alone, symmetric windows")
	s.IntVar(&f.ranks, "ranks", 0, "goroutine `ranks` (default GOMAXPROCS)")
	s.StringSliceVar(&f.comms, "comm", nil, "`communicators`: local, mpi, nccl (default mpi under mpirun, otherwise local, and nccl with --device)")
	s.StringVar(&f.device, "device", "", "measure GPU memory of this `device` too: "+launch.DeviceNames())
	s.BoolVar(&f.shareGPU, "share-gpu", false, "let ranks share GPUs, which is slow")
	s.StringSliceVar(&f.algos, "algo", nil, "`algorithms`: auto, direct (local only), ring, tree, native (mpi only) (default auto)")
	s.StringSliceVar(&f.modes, "mode", nil, "`modes` of put, get and accumulate: messages, onesided (default onesided)")
	s.StringVar(&f.json, "json", "", "write everything to `file`")
	s.StringVar(&f.csv, "csv", "", "write the rows to `file`")
	s.StringVar(&f.plot, "plot", "", "draw bandwidth and time over size to `file.svg` or .png")
	s.DurationVar(&f.timeout, "timeout", 0, "longest `time` that a rank waits for another, such as 30s (default no limit)")
	s.BoolVarP(&f.verbose, "verbose", "v", false, "log what is found and chosen")
}

// config turns flags into a Config. It reports all faults of the flags at once, by the
// names of the flags.
func (f *perfFlags) config(s *pflag.FlagSet, ops []string) (perf.Config, error) {
	var errs []error
	size := func(flag, text string) int64 {
		n, err := perf.ParseSize(text)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("-%s: %w", flag, err))
		case n == 0:
			errs = append(errs, fmt.Errorf("-%s is 0 bytes, must be at least 1", flag))
		}
		return n
	}
	atLeast1 := func(flag string, n int64) {
		if n < 1 {
			errs = append(errs, fmt.Errorf("%s is %d, must be at least 1", flag, n))
		}
	}
	c := perf.Defaults()
	c.Operations, c.Min, c.Max, c.Factor = ops, size("b", f.min), size("e", f.max), f.factor
	c.Warmup, c.NoCheck, c.Timeout = f.warmup, f.check == 0, f.timeout
	c.Reduction, c.DType, c.Root = f.op, f.dtype, f.root
	c.Modes = f.modes
	c.Comms, c.Ranks, c.Device, c.ShareGPU = f.comms, f.ranks, f.device, f.shareGPU
	atLeast1("-f", f.factor)
	if s.Changed("stepbytes") {
		c.Step = size("i", f.step)
		if s.Changed("stepfactor") {
			errs = append(errs, errors.New("-f and -i exclude each other: sizes grow by a factor or by a step"))
		}
	}
	if s.Changed("iters") {
		c.Iters, c.LoopTime = f.iters, 0
		atLeast1("-n", int64(f.iters))
	}
	if s.Changed("ranks") {
		atLeast1("--ranks", int64(f.ranks))
	}
	if f.warmup < 0 {
		errs = append(errs, fmt.Errorf("-w is %d, must not be negative", f.warmup))
	}
	if f.check != 0 && f.check != 1 {
		errs = append(errs, fmt.Errorf("-c is %d, must be 0 or 1: results are verified once for each size, or not at all", f.check))
	}
	stats := []perf.Stat{perf.Rank0, perf.Mean, perf.Fastest, perf.Slowest}
	if f.average < 0 || f.average >= len(stats) {
		errs = append(errs, fmt.Errorf("-a is %d, must be 0, 1, 2 or 3", f.average))
	} else {
		c.Time = stats[f.average]
	}
	if f.registration < 0 || f.registration > 2 {
		errs = append(errs, fmt.Errorf("-R is %d, must be 0, 1 or 2", f.registration))
	} else {
		c.Register = perf.Registration(f.registration)
	}
	for _, name := range f.algos {
		a, err := driver.ParseAlgo(name)
		if err != nil {
			errs = append(errs, err)
		}
		c.Algos = append(c.Algos, a)
	}
	errs = append(errs, f.checkFiles()...)
	if len(ops) == 0 {
		errs = append(errs, fmt.Errorf("no operation: name one of %s, or all", strings.Join(perf.Operations(), ", ")))
	}
	return c, errors.Join(errs...)
}

func (a tool) perf() *cobra.Command {
	var f perfFlags
	cmd := &cobra.Command{
		Use:   "perf OP...",
		Short: "measure the speed of communication",
		Long: `perf measures time and bandwidth of the operations
  ` + strings.Join(perf.Operations(), ", ") + `
or all of them, over a sweep of sizes, and verifies their results. Size, algbw,
busbw and the table are those of nccl-tests; GB is 1e9 bytes. Ranks are
goroutines of this process, or MPI processes where mpirun or srun starts it:
  golops perf all_reduce --ranks 4
  mpirun -n 4 golops perf all_reduce
To compare both, give goroutine ranks all processors:
  mpirun -n 4 --bind-to none golops perf all_reduce --comm local,mpi --plot both.svg

With --device, perf measures buffers in host memory, in GPU memory, and NCCL from
GPU to GPU, and shows them in one table and one plot:
  mpirun -n 4 golops perf all_reduce --device cuda --comm mpi,nccl --plot gpus.svg
With -R 1 or 2, the buffers of collectives are registered with NCCL. This needs NCCL
2.19 or 2.27 and pays with NVLink or InfiniBand.
perf kernels measures arithmetic, perf halo and perf product measure operators, each
by messages and one-sided, and perf roofline measures what golops plan needs to know.

put, get and accumulate reach the memory of the next rank. With --mode messages,onesided
they are measured beside messages that bring the same data to the same place:
  golops perf put get --ranks 2 --mode messages,onesided --plot put.svg

A broadcast has one buffer: its time is in the columns of out of place. sendrecv, put,
get and accumulate cannot work in place and have their times there too.

"all" leaves out an operation that a library lacks, such as put without Open MPI's
windows. Standard error names it.

The exit code is 1 if a result is wrong, a rank fails or a named operation cannot be
measured, 2 if the request is impossible, 130 after Ctrl-C, 143 after SIGTERM.
GOLOPS_TRACE=trace.svg records what each rank did and when.`,
		Annotations: app.Ranked,
		RunE: func(cmd *cobra.Command, ops []string) error {
			cfg, err := f.config(cmd.Flags(), ops)
			if err != nil && !launch.Launched() {
				return err
			}
			cfg.Fault = err
			level := slog.LevelWarn
			if f.verbose {
				level = slog.LevelDebug
			}
			cfg.Log = slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: level}))
			cfg.Wrap = a.wrap
			return a.runPerf(cmd.Context(), cfg, f)
		},
	}
	f.register(cmd.Flags())
	cmd.SetFlagErrorFunc(explainFlag)
	cmd.AddCommand(a.kernels(), a.operator(perf.Halo), a.operator(perf.Product), a.roofline())
	return cmd
}
