package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/golops/golops/app"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/report"
)

// runPerf runs cfg, prints tables as they are measured and writes files at the end. Under
// a launcher only rank 0 prints. Only rank 0 fails for a fault of all ranks: if another
// process failed first, the launcher would kill rank 0.
func (a tool) runPerf(ctx context.Context, cfg perf.Config, f perfFlags) error {
	machine := perf.ThisMachine()
	text := perf.NewText(a.Stdout, machine)
	result, err := perf.Run(ctx, cfg, text)
	if err != nil {
		return runError(err)
	}
	if result.Rank != 0 {
		return nil
	}
	all := a.report(machine)
	all.Tables = result.Tables
	if err := errors.Join(text.Err(), perf.WriteComparison(a.Stdout, result.Tables), f.writeFiles(all)); err != nil {
		return app.Failure{Err: err}
	}
	if wrong := result.Wrong(); wrong > 0 {
		return app.Failure{Err: fmt.Errorf("%d wrong values, see #wrong", wrong)}
	}
	missing := strings.Join(result.Missing(), "\ngolops: ")
	if missing != "" && !slices.Contains(cfg.Operations, perf.All) {
		return app.Failure{Err: errors.New(missing)}
	}
	if missing != "" {
		fmt.Fprintln(a.Stderr, report.PrintableLines("golops: "+missing))
	}
	return nil
}

// runError is the failure of a run of ranks.
func runError(err error) error {
	bad, is := errors.AsType[*perf.ConfigError](err)
	if is {
		err = bad.Err
	}
	if is || errors.As(err, new(*launch.UsageError)) { // all ranks have it
		return app.Failure{Err: errors.New(app.OneLine(err)), Code: app.Usage, Quiet: app.OtherRank()}
	}
	if stop, is := app.StopOf(err); is {
		return app.Failure{Err: stop, Code: stop.Code(), Quiet: app.OtherRank()}
	}
	return app.Failure{Err: err, Quiet: launch.Reported(err)}
}

// checkFiles refuses files that cannot be written, before anything is measured.
func (f *perfFlags) checkFiles() (errs []error) {
	for _, file := range []struct{ flag, name string }{{"json", f.json}, {"csv", f.csv}, {"plot", f.plot}} {
		errs = append(errs, checkFile(file.flag, file.name)...)
	}
	if f.plot != "" && !slices.Contains(perf.PlotFormats, format(f.plot)) {
		errs = append(errs, fmt.Errorf("--plot %s: the name must end in .svg or .png", f.plot))
	}
	return errs
}

// checkFile refuses a file that cannot be written. "" means none.
func checkFile(flag, name string) []error {
	if name == "" || app.OtherRank() { // whose machine may have other folders
		return nil
	}
	if s, err := os.Stat(filepath.Dir(name)); err != nil || !s.IsDir() {
		return []error{fmt.Errorf("--%s %s: there is no folder %s", flag, name, filepath.Dir(name))}
	}
	if err := disk.Try(name); err != nil {
		return []error{fmt.Errorf("--%s %s: %w", flag, name, err)}
	}
	return nil
}

func format(name string) string { return strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".") }

// writeFiles writes the files named by flags.
func (f *perfFlags) writeFiles(r perf.Report) error {
	return errors.Join(
		writeFile(f.json, r.WriteJSON),
		writeFile(f.csv, func(w io.Writer) error { return perf.WriteCSV(w, r.Tables) }),
		writeFile(f.plot, func(w io.Writer) error { return perf.Plot(w, format(f.plot), r.Machine, r.Tables) }),
	)
}

func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	if err := disk.Save(name, write); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
