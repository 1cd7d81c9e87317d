// Command golops inverts seismic data, measures the speed of communication, and lists
// the libraries and devices of this machine.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/golops/golops/comm"
	"github.com/spf13/cobra"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	a := newApp(os.Stdout, os.Stderr)
	a.signals.exit, a.signals.cancel = os.Exit, cancel
	a.signals.listen()
	os.Exit(a.run(ctx, os.Args[1:]))
}

// The exit codes.
const (
	ok     = 0
	failed = 1 // the run failed
	usage  = 2 // the arguments are wrong
)

// failure is an error of a run. Any other error of a command is one of usage.
type failure struct {
	err   error
	code  int  // the exit code; 0 means failed
	quiet bool // already printed, here or by another process
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

// app is what commands share.
type app struct {
	stdout, stderr io.Writer
	signals        *signals
	wrap           func(*comm.Comm) *comm.Comm // for tests, see perf.Config
	command        []string                    // as it was typed, for reports
	patience       time.Duration               // limit for an MPI library to answer
}

// newApp returns the command without signals and exit codes of a process.
func newApp(stdout, stderr io.Writer) app {
	return app{stdout: stdout, stderr: stderr, patience: 10 * time.Second, signals: newSignals(func(line string) { fmt.Fprintln(stderr, line) })}
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
	root.AddCommand(a.lsm(), a.view(), a.perf(), a.plan(), a.info(), a.reaches(), a.windows(), a.version())

	suggestFlags(root)
	if otherRank() {
		root.SetOut(io.Discard) // one process prints help
	}
	cmd, err := root.ExecuteContextC(ctx)
	err = explained(root, err)
	if stop, cut := a.signals.cut(); cut {
		return stop.code() // the message was printed when the signal came
	}
	if err == nil {
		return ok
	}
	var f failure
	if !errors.As(err, &f) {
		f = a.usage(ctx, cmd, err)
	}
	if !f.quiet {
		a.complain(f.err)
	}
	return cmp.Or(f.code, failed)
}
