package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/golops/golops/launch"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
)

// The exit codes.
const (
	OK     = 0
	Failed = 1 // the run failed
	Usage  = 2 // the arguments are wrong
)

// Failure is an error of a run. Any other error of a command is one of usage.
type Failure struct {
	Err   error
	Code  int  // the exit code; 0 means Failed
	Quiet bool // already printed, here or by another process
}

func (f Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f Failure) Unwrap() error { return f.Err }

// Process is the process that commands run in: where they print, what signals do, and
// how it ends.
type Process struct {
	Stdout, Stderr io.Writer
	Version        string // of the program
	signals        *signals
}

// NewProcess returns a Process that does not listen to signals.
func NewProcess(stdout, stderr io.Writer, version string) *Process {
	p := &Process{Stdout: stdout, Stderr: stderr, Version: version}
	p.signals = newSignals(func(line string) { fmt.Fprintln(stderr, line) })
	p.signals.exit, p.signals.cancel = func(int) {}, func(error) {}
	return p
}

// Listen starts to handle Ctrl-C, SIGTERM and SIGHUP. Commands run with the context
// that it returns.
func (p *Process) Listen(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	p.signals.exit, p.signals.cancel = os.Exit, cancel
	p.signals.listen()
	return ctx
}

// Execute runs a command with its arguments and returns the exit code. It prints an
// error on one line.
func (p *Process) Execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SilenceErrors, root.SilenceUsage, root.DisableSuggestions = true, true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetArgs(args)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	suggestFlags(root)
	if OtherRank() {
		root.SetOut(io.Discard) // one process prints help
	}
	cmd, err := root.ExecuteContextC(ctx)
	err = explained(root, err)
	if stop, cut := p.signals.cut(); cut {
		return stop.Code() // the message was printed when the signal came
	}
	if err == nil {
		return OK
	}
	var f Failure
	if !errors.As(err, &f) {
		f = p.usage(ctx, cmd, err)
	}
	if !f.Quiet {
		p.complain(f.Err)
	}
	return cmp.Or(f.Code, Failed)
}

// OtherRank reports whether this process is certainly not rank 0.
func OtherRank() bool {
	_, rank := launch.Launcher()
	return rank != 0
}

// complain prints an error.
func (p *Process) complain(err error) {
	fmt.Fprintln(p.Stderr, "golops: "+report.PrintableLines(launch.Text(err)))
}

// Log writes warnings to standard error and, if all, also what was found and chosen.
func (p *Process) Log(all bool) *slog.Logger {
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
	return slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: drop}))
}
