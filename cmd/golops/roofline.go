package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/golops/golops/app"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
)

// roofline is golops perf roofline.
func (a tool) roofline() *cobra.Command {
	cfg := perf.RooflineDefaults()
	var f perfFlags
	var machine, memory string
	var sizes []string
	cmd := &cobra.Command{
		Use: "roofline", Short: "measure what golops plan needs to know of this machine", Args: cobra.NoArgs, Annotations: app.Ranked,
		Long: `roofline measures the bytes per second that a rank receives, over the size of messages
and the number of messages between two synchronisations, by messages and by reading from
windows. It fits latency, overhead of a message and bandwidth to the times, and measures
how fast a rank copies, multiplies matrices and transforms. Ranks are goroutines, or MPI
processes where mpirun starts it. machine.json is what golops plan reads:
  golops perf roofline --ranks 2
  mpirun -n 64 golops perf roofline --machine cluster.json --plot roofline.svg
  golops plan product --size 20000 --ranks 16,64 --machine cluster.json

The exit code is 1 if a rank fails, 2 if the request is impossible. An MPI library
without windows is no failure: standard error names it, and the file has no one-sided
link.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var errs []error
			parse := func(flag, text string) int64 {
				n, err := perf.ParseSize(text)
				if err != nil {
					errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
				}
				return n
			}
			if cmd.Flags().Changed("sizes") {
				cfg.Sizes = nil
				for _, text := range sizes {
					cfg.Sizes = append(cfg.Sizes, parse("sizes", text))
				}
			}
			if cmd.Flags().Changed("memory") {
				cfg.Memory = parse("memory", memory)
			}
			if cmd.Flags().Changed("ranks") && cfg.Ranks < 1 {
				errs = append(errs, fmt.Errorf("--ranks is %d, must be at least 2", cfg.Ranks))
			}
			if cmd.Flags().Changed("ranks") && launch.Launched() {
				errs = append(errs, errors.New("--ranks is for goroutine ranks: leave it out under a launcher, which has started the ranks"))
			}
			errs = append(errs, f.checkFiles()...)
			errs = append(errs, checkFile("machine", machine)...)
			cfg.Fault, cfg.Log = errors.Join(errs...), a.Log(false)
			return a.runRoofline(cmd, cfg, f, machine)
		},
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringSliceVar(&sizes, "sizes", nil, "`sizes` of messages; K and M are powers of 1024 (default 8 to 4M)")
	s.IntSliceVar(&cfg.Counts, "messages", cfg.Counts, "`messages` between two synchronisations")
	s.StringVar(&memory, "memory", "64M", "most `bytes` between two synchronisations; a rank needs twice that")
	s.IntVar(&cfg.Ranks, "ranks", 0, "goroutine `ranks` (default GOMAXPROCS, and at least 2)")
	s.IntVar(&cfg.Threads, "threads", 0, "`threads` of each rank (default its share of the cores)")
	s.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "`rounds`, of which the best counts")
	s.DurationVar(&cfg.Budget, "budget", cfg.Budget, "after this `time` the rest is measured once, after twice that not at all")
	s.StringVar(&machine, "machine", "machine.json", "write what golops plan reads to `file`; \"\" means no file")
	s.StringVar(&f.json, "json", "", "write everything to `file`")
	s.StringVar(&f.plot, "plot", "", "draw rate over size to `file.svg` or .png")
	s.DurationVar(&cfg.Timeout, "timeout", 0, "longest `time` that a rank waits for another, such as 30s (default no limit)")
	cmd.SetFlagErrorFunc(explainFlag)
	return cmd
}

// runRoofline measures and writes the table and the files.
func (a tool) runRoofline(cmd *cobra.Command, cfg perf.RooflineConfig, f perfFlags, machine string) error {
	here := perf.ThisMachine()
	roof, rank, err := perf.MeasureRoofline(cmd.Context(), cfg)
	if err != nil {
		return runError(err)
	}
	if rank != 0 {
		return nil
	}
	text := perf.NewText(a.Stdout, here)
	text.Roofline(roof)
	all := a.report(here)
	all.Roofline = &roof
	err = errors.Join(text.Err(), writeFile(machine, roof.Machine.Write), writeFile(f.json, all.WriteJSON),
		writeFile(f.plot, func(w io.Writer) error { return perf.PlotRoofline(w, format(f.plot), here, roof) }))
	if err != nil {
		return app.Failure{Err: err}
	}
	for _, name := range slices.Sorted(maps.Keys(roof.Missing)) {
		fmt.Fprintln(a.Stderr, report.PrintableLines("golops: roofline: not measured: "+name+": "+roof.Missing[name]))
	}
	return nil
}
