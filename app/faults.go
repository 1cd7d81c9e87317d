package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/spf13/cobra"
)

// Ranked marks commands that start ranks, as an annotation.
var Ranked = map[string]string{"ranks": "yes"}

// usage ends a command with wrong arguments. Under a launcher the processes start MPI and
// end together: if one left early, some launchers would hang, and others would kill rank
// 0 before it has printed.
func (p *Process) usage(ctx context.Context, cmd *cobra.Command, err error) Failure {
	f := Failure{Err: errors.New(OneLine(err)), Code: Usage}
	alone := cmd.HasParent() && cmd.Annotations["ranks"] == "" // a mistyped command has no parent; all processes report it
	if alone || !launch.Launched() {
		return f
	}
	f.Quiet = OtherRank()
	started := launch.Config{Log: p.Log(false)}.World(ctx, func(ctx context.Context, r dist.Proc) error {
		fault, err := p.agree(ctx, r.Comm, err)
		f = Failure{Err: fault, Code: Usage, Quiet: true}
		return err
	})
	if started != nil && !f.Quiet {
		f.Err = errors.Join(f.Err, started)
	}
	return f
}

// agree returns the same fault on all ranks if any rank has wrong arguments. Rank 0
// prints it. The text names the rank unless all ranks have the fault. It is collective.
func (p *Process) agree(ctx context.Context, c *comm.Comm, mine error) (fault, err error) {
	text := ""
	if mine != nil {
		text = OneLine(mine)
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
		p.complain(fault)
	}
	p.signals.end(Usage) // mpirun ends the rest once a rank has exited with that code
	return fault, nil
}

// OneLine joins the faults of err into one line.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
