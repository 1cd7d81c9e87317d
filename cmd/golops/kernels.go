package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/golops/golops/app"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/spf13/cobra"
)

func (a tool) kernels() *cobra.Command {
	cfg := perf.KernelDefaults()
	var json, csv string
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "measure the speed of devices",
		Long: `kernels measures the kernels of each device: vector operations, stencils, matrix
products, Fourier transforms and Kirchhoff migration. Kernels limited by memory are
compared with a copy on the same device, kernels limited by arithmetic with its
matrix product:
  golops perf kernels --device cuda,cpu`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := perfFlags{json: json, csv: csv}
			errs := f.checkFiles()

			if launch.Launched() {
				errs = append(errs, errors.New("kernels are measured in one process: leave the launcher out"))
			}
			if err := errors.Join(append(errs, cfg.Validate())...); err != nil {
				return err
			}
			cfg.Log = a.Log(false)
			machine := perf.ThisMachine()
			text := perf.NewText(a.Stdout, machine)
			tables, err := perf.Kernels(cmd.Context(), cfg, text)
			if err != nil {
				return runError(err)
			}
			report := a.report(machine)
			report.Kernels = tables
			err = errors.Join(text.Err(), writeFile(json, report.WriteJSON),
				writeFile(csv, func(w io.Writer) error { return perf.WriteKernelsCSV(w, tables) }))
			if err != nil {
				return app.Failure{Err: err}
			}
			return nil
		},
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringSliceVar(&cfg.Devices, "device", []string{"cpu"}, fmt.Sprintf("`devices`: %s", launch.DeviceNames()))
	s.StringVarP(&cfg.DType, "datatype", "d", "float", "element `type`: float, double, complex64, complex128")
	s.IntVar(&cfg.Shrink, "shrink", 1, "divide the extents of arrays and matrices by `n`")
	s.IntVar(&cfg.Threads, "threads", 0, "`threads` of the host (default all cores)")
	s.StringVar(&json, "json", "", "write everything to `file`")
	s.StringVar(&csv, "csv", "", "write the rows to `file`")
	return cmd
}
