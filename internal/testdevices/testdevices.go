// Package testdevices is for tests: it runs the ranks of a program on the host or
// on other devices, so that one suite serves all of them.
package testdevices

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/fakegpu"
	"github.com/golops/golops/launch"
)

// Var is the environment variable that names the device of Local and World:
//
//	host    as if it were empty
//	hidden  memory of the host that the program cannot see
//	sim     simulated GPUs
//	cuda    GPUs, shared if there are fewer than ranks; and so hip and gpu
//
// Behind a colon may stand how ranks on GPUs talk, as in cuda:staged.
const Var = "GOLOPS_TEST_DEVICE"

// Local runs p on goroutine ranks on the device that Var names.
func Local(ctx context.Context, ranks int, p launch.Program) error {
	return On(ctx, os.Getenv(Var), ranks, p)
}

// On runs p on goroutine ranks on the device of this name.
func On(ctx context.Context, name string, ranks int, p launch.Program) error {
	c, p, err := choose(launch.Config{Ranks: ranks}, name, p)
	if err != nil {
		return err
	}
	return c.Local(ctx, p)
}

// World runs p as a rank of a launcher on the device that Var names.
func World(ctx context.Context, c launch.Config, p launch.Program) error {
	c, p, err := choose(c, os.Getenv(Var), p)
	if err != nil {
		return err
	}
	return c.World(ctx, p)
}

// GPUs says why there are no GPUs to run a suite on; nil if there are.
func GPUs(ctx context.Context) error {
	return On(ctx, launch.GPU, 1, func(context.Context, dist.Proc) error { return nil })
}

// OnGPU reports whether Local and World are on GPUs, which take long to open: a
// test of hundreds of programs runs fewer there.
func OnGPU() bool {
	c, _, err := choose(launch.Config{}, os.Getenv(Var), nil)
	return err == nil && c.Device != ""
}

func choose(c launch.Config, name string, p launch.Program) (launch.Config, launch.Program, error) {
	name, c.Comm, _ = strings.Cut(name, ":")
	c.Log, c.ShareGPU = slog.New(slog.DiscardHandler), true
	switch name {
	case "", "host":
		c.ShareGPU = false
	case "hidden":
		c.ShareGPU = false
		return c, hide(p), nil
	case "sim":
		c.Device = launch.CUDA
		return c, p, simulate()
	case launch.CUDA, launch.HIP, launch.GPU:
		c.Device = name
		hold()
	default:
		return c, p, fmt.Errorf("testdevices: %s is %q: have host, hidden, sim, cuda, hip, gpu", Var, name)
	}
	return c, p, nil
}

// hold opens a GPU and never closes it. As long as it is open, the driver keeps
// what takes long to make, and the next of many small programs starts at once.
// launch says what is wrong if it cannot be opened.
var hold = sync.OnceValue(func() *cuda.Device {
	opened := make(chan *cuda.Device)
	go func() { // a device takes a thread
		d, _ := cuda.New(cuda.Config{})
		opened <- d
	}()
	return <-opened
})

// hide runs p on the memory of its device, but hidden.
func hide(p launch.Program) launch.Program {
	return func(ctx context.Context, r dist.Proc) error {
		d, err := fakegpu.New(r.Device)
		if err != nil {
			return err
		}
		h, err := dist.NewProc(ctx, fakegpu.NewComm(r.Comm), d)
		if err != nil {
			return err
		}
		if err := p(ctx, h); err != nil {
			return err
		}
		return h.Close()
	}
}
