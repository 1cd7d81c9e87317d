// Command golops inverts data of many kinds, measures the speed of communication, and
// lists the libraries and devices of this machine.
package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/golops/golops/app"
	"github.com/golops/golops/app/ct"
	"github.com/golops/golops/app/lsm"
	"github.com/golops/golops/app/mdd"
	"github.com/golops/golops/app/poststack"
	"github.com/golops/golops/app/prestack"
	"github.com/golops/golops/app/reflectivity"
	"github.com/golops/golops/comm"
	"github.com/spf13/cobra"
)

// applications are the commands that stand on the kit, package app.
var applications = []interface {
	Command(*app.Process) *cobra.Command
}{
	ct.App(), lsm.App(), mdd.App(), poststack.App(), prestack.App(), reflectivity.App(),
}

func main() {
	a := newTool(os.Stdout, os.Stderr)
	os.Exit(a.run(a.Listen(context.Background()), os.Args[1:]))
}

// tool is what commands share.
type tool struct {
	*app.Process
	wrap     func(*comm.Comm) *comm.Comm // for tests, see perf.Config
	command  []string                    // as it was typed, for reports
	patience time.Duration               // limit for an MPI library to answer
}

// newTool returns the command without signals and exit codes of a process.
func newTool(stdout, stderr io.Writer) tool {
	return tool{Process: app.NewProcess(stdout, stderr, fullVersion()), patience: 10 * time.Second}
}

func (a tool) run(ctx context.Context, args []string) int {
	a.command = append([]string{"golops"}, args...)
	root := &cobra.Command{Use: "golops", Short: "linear inverse problems that outgrow one machine", Version: a.Version}
	root.SetVersionTemplate("golops {{.Version}}\n")
	for _, one := range applications {
		root.AddCommand(one.Command(a.Process))
	}
	root.AddCommand(a.view(), a.perf(), a.plan(), a.info(), a.reaches(), a.windows(), a.version())
	return a.Execute(ctx, root, args)
}
