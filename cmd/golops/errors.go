package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/perf"
	"github.com/golops/golops/report"
	"github.com/spf13/cobra"
)

// ranked marks commands that start ranks.
var ranked = map[string]string{"ranks": "yes"}

// otherRank reports whether this process is certainly not rank 0.
func otherRank() bool {
	_, rank := launch.Launcher()
	return rank != 0
}

// complain prints an error.
func (a app) complain(err error) {
	fmt.Fprintln(a.stderr, "golops: "+report.PrintableLines(launch.Text(err)))
}

// usage ends a command with wrong arguments. Under a launcher the processes start MPI and
// end together: if one left early, some launchers would hang, and others would kill rank
// 0 before it has printed.
func (a app) usage(ctx context.Context, cmd *cobra.Command, err error) failure {
	f := failure{err: errors.New(oneLine(err)), code: usage}
	alone := cmd.HasParent() && cmd.Annotations["ranks"] == "" // a mistyped command has no parent; all processes report it
	if alone || !launch.Launched() {
		return f
	}
	f.quiet = otherRank()
	started := launch.Config{Log: a.log(false)}.World(ctx, func(ctx context.Context, r dist.Proc) error {
		fault, err := a.agree(ctx, r.Comm, err)
		f = failure{err: fault, code: usage, quiet: true}
		return err
	})
	if started != nil && !f.quiet {
		f.err = errors.Join(f.err, started)
	}
	return f
}

// agree returns the same fault on all ranks if any rank has wrong arguments. Rank 0
// prints it. The text names the rank unless all ranks have the fault. It is collective.
func (a app) agree(ctx context.Context, c *comm.Comm, mine error) (fault, err error) {
	text := ""
	if mine != nil {
		text = oneLine(mine)
	}
	all, err := comm.AllGatherObjects(ctx, c, text)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(all, func(t string) bool { return t != "" })
	if first < 0 {
		return nil, nil
	}
	fault = errors.New(all[first])
	if slices.ContainsFunc(all, func(t string) bool { return t != all[first] }) {
		fault = &comm.RankError{Rank: first, Err: fault}
	}
	if c.Rank() == 0 {
		a.complain(fault)
	}
	a.signals.end(usage) // mpirun ends the rest once a rank has exited with that code
	return fault, nil
}

// oneLine joins the faults of err into one line.
func oneLine(err error) string {
	var c *perf.ConfigError
	if errors.As(err, &c) {
		err = c.Err
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
