package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/app"
	"github.com/golops/golops/cost"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/spf13/cobra"
)

// operator is golops perf halo or golops perf product.
func (a tool) operator(name string) *cobra.Command {
	cfg := perf.OperatorDefaults(name)
	var f perfFlags
	var sizes []string
	check := 1
	cmd := &cobra.Command{
		Use: name, Short: "measure halo exchanges, by messages and one-sided", Args: cobra.NoArgs, Annotations: app.Ranked,
		Long: `halo measures the exchange of ghost rows between neighbours, forward and adjoint, by
messages and by puts into windows, over the bytes of a message. GB/s counts what a rank
receives. Ranks are goroutines, or MPI processes where mpirun starts it:
  golops perf halo --ranks 4 --mode messages,onesided --plot halo.svg
  mpirun -n 4 golops perf halo --mode messages,onesided

The exit code is 1 if a result is wrong, a rank fails or a mode cannot be measured, 2 if
the request is impossible.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var errs []error
			if cmd.Flags().Changed("sizes") {
				cfg.Sizes = nil
				for _, text := range sizes {
					n, err := perf.ParseSize(text)
					if err != nil {
						errs = append(errs, fmt.Errorf("--sizes: %w", err))
					}
					cfg.Sizes = append(cfg.Sizes, n)
				}
			}
			if check != 0 && check != 1 {
				errs = append(errs, fmt.Errorf("-c is %d, must be 0 or 1", check))
			}
			if cmd.Flags().Changed("ranks") && cfg.Ranks < 1 {
				errs = append(errs, fmt.Errorf("--ranks is %d, must be at least 1", cfg.Ranks))
			}
			if cmd.Flags().Changed("ranks") && launch.Launched() {
				errs = append(errs, errors.New("--ranks is for goroutine ranks: leave it out under a launcher, which has started the ranks"))
			}
			errs = append(errs, f.checkFiles()...)
			cfg.NoCheck = check == 0
			cfg.Fault = errors.Join(errs...)
			cfg.Log = a.Log(false)
			return a.runOperator(cmd, cfg, f)
		},
	}
	s := cmd.Flags()
	s.SortFlags = false
	what := "`sizes` of a message; K and M are powers of 1024 (default 64 to 4M)"
	if name == perf.Product {
		what = "`extents` of square matrices (default 128,256,512,1024)"
		cmd.Short = "measure products of distributed matrices, by messages and one-sided"
		cmd.Long = `product measures Y = A X with matrices that are split over a grid of ranks, forward and
adjoint, whose panels travel by messages or are read from windows. GFLOP/s counts the
operations of all ranks. Ranks are goroutines, or MPI processes where mpirun starts it:
  golops perf product --ranks 4 --mode messages,onesided --plot product.svg
  mpirun -n 4 golops perf product --sizes 1024,2048
golops plan says which kind to choose.

The exit code is 1 if a result is wrong, a rank fails or a mode cannot be measured, 2 if
the request is impossible.`
	}
	s.StringSliceVar(&sizes, "sizes", nil, what)
	s.StringSliceVar(&cfg.Modes, "mode", cfg.Modes, "`modes`: messages, onesided")
	s.StringVarP(&cfg.DType, "datatype", "d", cfg.DType, "element `type`: float, double, complex64, complex128")
	if name == perf.Product {
		s.StringVar(&cfg.Kind, "kind", cfg.Kind, "`kind` of product: "+cost.KindNames())
	}
	s.IntVar(&cfg.Ranks, "ranks", 0, "goroutine `ranks` (default GOMAXPROCS)")
	s.IntVar(&cfg.Threads, "threads", 0, "`threads` of each rank (default its share of the cores)")
	s.IntVar(&cfg.Rounds, "rounds", cfg.Rounds, "`rounds`, of which the best counts")
	s.IntVarP(&check, "check", "c", 1, "verify the results: `0|1`")
	s.StringVar(&f.json, "json", "", "write everything to `file`")
	s.StringVar(&f.plot, "plot", "", "draw rate and time over size to `file.svg` or .png")
	s.DurationVar(&cfg.Timeout, "timeout", 0, "longest `time` that a rank waits for another, such as 30s (default no limit)")
	cmd.SetFlagErrorFunc(explainFlag)
	return cmd
}

// runOperator measures an operator and writes the table and the files.
func (a tool) runOperator(cmd *cobra.Command, cfg perf.OperatorConfig, f perfFlags) error {
	machine := perf.ThisMachine()
	text := perf.NewText(a.Stdout, machine)
	table, rank, err := perf.MeasureOperator(cmd.Context(), cfg, text)
	if err != nil {
		return runError(err)
	}
	if rank != 0 {
		return nil
	}
	all := a.report(machine)
	all.Operators = []perf.OperatorTable{table}
	err = errors.Join(text.Err(), writeFile(f.json, all.WriteJSON))
	if len(table.Modes) > 0 {
		err = errors.Join(err, writeFile(f.plot, func(w io.Writer) error { return perf.PlotOperators(w, format(f.plot), machine, all.Operators) }))
	}
	if err == nil && len(table.Missing) > 0 {
		err = fmt.Errorf("%s: not measured: %s", cfg.Operator, strings.Join(slices.Sorted(maps.Values(table.Missing)), "; "))
	}
	if err != nil {
		return app.Failure{Err: err}
	}
	return nil
}

// report returns an empty report of this run.
func (a tool) report(m perf.Machine) perf.Report {
	return perf.Report{Version: fullVersion(), Date: time.Now().UTC().Truncate(time.Second), Command: a.command, Machine: m}
}
