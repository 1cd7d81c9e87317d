package app

import (
	"context"

	"github.com/golops/golops/dist"
)

// RankProgram returns the program of one rank of a command with these arguments.
func (a Application[C]) RankProgram(p *Process, args ...string) (func(context.Context, dist.Proc) error, error) {
	cmd, f := a.command(p)
	if err := cmd.ParseFlags(args); err != nil {
		return nil, err
	}
	return a.newRun(p, f).rank, nil
}
