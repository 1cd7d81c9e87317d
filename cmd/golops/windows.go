package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/golops/golops/app"
	"github.com/golops/golops/launch"
	"github.com/spf13/cobra"
)

// windows is the command that info starts, as two ranks, to try the windows of an MPI
// library. A rank ends itself after the limit, because launchers give ranks process
// groups of their own.
func (a tool) windows() *cobra.Command {
	return &cobra.Command{
		Use:    "windows <library> <limit>",
		Short:  "try the windows of an MPI library",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			limit, err := time.ParseDuration(args[1])
			if err != nil {
				return err
			}
			defer time.AfterFunc(limit, func() {
				fmt.Fprintf(a.Stdout, "golops: no answer within %v\n", limit)
				os.Exit(app.Failed)
			}).Stop()
			if err := launch.TryWindows(cmd.Context(), args[0]); err != nil {
				return app.Failure{Err: err}
			}
			_, err = fmt.Fprintln(a.Stdout, answer)
			return err
		},
	}
}

// tryWindows sets whether the windows of each MPI library work. It tries them in other
// processes.
func (a tool) tryWindows(ctx context.Context, libs []launch.Library) {
	var wg sync.WaitGroup
	for i := range libs {
		if l := &libs[i]; l.MPI {
			wg.Go(func() { l.Windows = a.windowsOf(ctx, l) })
		}
	}
	wg.Wait()
}

// windowsOf says whether the windows of an MPI library work.
func (a tool) windowsOf(ctx context.Context, l *launch.Library) string {
	if l.MPIRun == "" {
		return "not known: its mpirun was not found"
	}
	exe, err := os.Executable()
	if err != nil {
		return "not known: " + err.Error()
	}
	_, err = a.ask(ctx, l.MPIRun, "-n", "2", exe, "windows", l.Path, a.patience.String())
	var said saidError
	switch {
	case err == nil:
		return "work"
	case errors.As(err, &said):
		return "do not work: " + strings.TrimPrefix(err.Error(), "mpi: ")
	}
	return "not known: " + err.Error()
}
