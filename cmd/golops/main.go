// Command golops inverts seismic data, measures how fast ranks talk, and says
// what it found on this machine to compute and communicate with.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the next one kills, should ranks not end by themselves.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit codes.
const (
	ok     = 0
	failed = 1 // it ran, and something went wrong
	usage  = 2 // it cannot be done as asked
)

// failure is an error of a run. Any other error of a command is one of usage.
type failure struct {
	err   error
	quiet bool // another process prints it
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

// run is the whole command but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return app{stdout: stdout, stderr: stderr}.run(ctx, args)
}

// app is what commands share.
type app struct {
	stdout, stderr io.Writer
	wrap           func(comm.Comm) comm.Comm // for tests, see perf.Config
	command        []string                  // as it was typed, for reports
	patience       time.Duration             // with an MPI that is asked; 0 means 10 s
}

func (a app) run(ctx context.Context, args []string) int {
	a.command = append([]string{"golops"}, args...)
	root := &cobra.Command{
		Use:           "golops",
		Short:         "linear inverse problems that outgrow one machine",
		Version:       fullVersion(),
		SilenceErrors: true, // they are printed below, on one line
		SilenceUsage:  true,
	}
	root.DisableSuggestions = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetVersionTemplate("golops {{.Version}}\n")
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.AddCommand(a.lsm(), a.view(), a.perf(), a.info(), a.reaches(), a.version())

	suggestFlags(root)
	err := explained(root, root.ExecuteContext(ctx))
	if err == nil {
		return ok
	}
	var f failure
	if errors.As(err, &f) {
		if !f.quiet {
			fmt.Fprintln(a.stderr, "golops: "+report.PrintableLines(err.Error()))
		}
		if errors.Is(err, errStopped) {
			return stopped
		}
		return failed
	}
	if otherRank() {
		return ok // rank 0 says it, and might be killed before if this process failed first
	}
	fmt.Fprintln(a.stderr, "golops: "+report.Printable(oneLine(err)))
	return usage
}

// otherRank reports whether this process is certainly not rank 0. It is for
// faults that all processes find before they can talk, so that one line is
// printed and not one for each process.
func otherRank() bool {
	rank, ok := launch.LauncherRank()
	return ok && rank != 0
}

// oneLine joins the faults that err lists.
func oneLine(err error) string {
	var c *perf.ConfigError
	if errors.As(err, &c) {
		err = c.Err
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
