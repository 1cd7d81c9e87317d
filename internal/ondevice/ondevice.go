// Package ondevice is for tests: it runs the ranks of a program on the host or
// on other devices, so that one suite serves all of them.
package ondevice

import (
	"context"
	"fmt"
	"os"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/hidden"
	"github.com/golops/golops/launch"
)

// Var is the environment variable that names the device of Local: "host", as if
// empty, or "hidden", memory of the host that the program cannot see.
const Var = "GOLOPS_TEST_DEVICE"

// Local is launch.Local on the device that Var names.
func Local(ctx context.Context, ranks int, p launch.Program) error {
	return On(ctx, os.Getenv(Var), ranks, p)
}

// On is launch.Local on the device of this name.
func On(ctx context.Context, name string, ranks int, p launch.Program) error {
	open := map[string]opener{"": onHost, "host": onHost, "hidden": onHidden}[name]
	if open == nil {
		return fmt.Errorf("ondevice: %s is %q: have host, hidden", Var, name)
	}
	return launch.Local(ctx, ranks, func(ctx context.Context, r dist.Rank) error { return open(ctx, r, p) })
}

// opener runs a program on another device than that of r, with a communicator
// that reaches its memory.
type opener func(ctx context.Context, r dist.Rank, p launch.Program) error

func onHost(ctx context.Context, r dist.Rank, p launch.Program) error { return p(ctx, r) }

func onHidden(ctx context.Context, r dist.Rank, p launch.Program) error {
	d, err := hidden.New(r.Device)
	if err != nil {
		return err
	}
	return with(ctx, hidden.NewComm(r.Comm), d, p)
}

func with(ctx context.Context, c comm.Comm, d device.Device, p launch.Program) error {
	r, err := dist.NewRank(ctx, c, d)
	if err != nil {
		return err
	}
	return p(ctx, r)
}
