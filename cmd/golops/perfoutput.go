package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/report"
)

// log writes warnings and, if all, also what was found and chosen.
func (a app) log(all bool) *slog.Logger {
	level := slog.LevelWarn
	if all {
		level = slog.LevelInfo
	}
	drop := func(_ []string, at slog.Attr) slog.Attr {
		if at.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return at
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: drop}))
}

// runPerf runs cfg, prints tables as they are measured and writes files at the end. Under
// a launcher only rank 0 prints. Only rank 0 fails for a fault of all ranks: if another
// process failed first, the launcher would kill rank 0.
func (a app) runPerf(ctx context.Context, cfg perf.Config, f perfFlags) error {
	machine := perf.ThisMachine()
	text := perf.NewText(a.stdout, machine)
	result, err := perf.Run(ctx, cfg, text)
	if err != nil {
		return runError(err)
	}
	if result.Rank != 0 {
		return nil
	}
	all := a.report(machine)
	all.Tables = result.Tables
	if err := errors.Join(text.Err(), perf.WriteComparison(a.stdout, result.Tables), f.writeFiles(all)); err != nil {
		return failure{err: err}
	}
	if wrong := result.Wrong(); wrong > 0 {
		return failure{err: fmt.Errorf("%d wrong values, see #wrong", wrong)}
	}
	missing := strings.Join(result.Missing(), "\ngolops: ")
	if missing != "" && !slices.Contains(cfg.Operations, perf.All) {
		return failure{err: errors.New(missing)}
	}
	if missing != "" {
		fmt.Fprintln(a.stderr, report.PrintableLines("golops: "+missing))
	}
	return nil
}

// runError is the failure of a run of ranks.
func runError(err error) error {
	if errors.As(err, new(*perf.ConfigError)) || errors.As(err, new(*launch.UsageError)) { // all ranks have it
		return failure{err: errors.New(oneLine(err)), code: usage, quiet: otherRank()}
	}
	if stop, is := stopOf(err); is {
		return failure{err: stop, code: stop.code(), quiet: otherRank()}
	}
	return failure{err: err, quiet: launch.Reported(err)}
}

// checkFiles refuses files that cannot be written, before anything is measured.
func (f *perfFlags) checkFiles() (errs []error) {
	for _, file := range []struct{ flag, name string }{{"json", f.json}, {"csv", f.csv}, {"plot", f.plot}} {
		if file.name == "" || otherRank() { // whose machine may have other folders
			continue
		}
		if s, err := os.Stat(filepath.Dir(file.name)); err != nil || !s.IsDir() {
			errs = append(errs, fmt.Errorf("--%s %s: there is no folder %s", file.flag, file.name, filepath.Dir(file.name)))
		} else if err := disk.Try(file.name); err != nil {
			errs = append(errs, fmt.Errorf("--%s %s: %w", file.flag, file.name, err))
		}
	}
	if f.plot != "" && !slices.Contains(perf.PlotFormats, format(f.plot)) {
		errs = append(errs, fmt.Errorf("--plot %s: the name must end in .svg or .png", f.plot))
	}
	return errs
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
