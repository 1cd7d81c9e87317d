package launch

import (
	"context"
	"os"
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/dist"
)

// RunOn runs p on the ranks of host, which exist already, with the device and the
// communicator of c. It is collective. One program can so use several devices or
// communicators, one after another.
func (c Config) RunOn(ctx context.Context, host *comm.Comm, p Program) error {
	c, err := c.resolve()
	if err != nil {
		return err
	}
	return c.onDevice(p, threadsPerRank(runtime.NumCPU(), Cores(), host.Size()))(ctx, host)
}

// onDevice returns p with a device for each rank: a GPU, or threads of this machine.
// c.Threads overrides threads.
func (c Config) onDevice(p Program, threads int) func(context.Context, *comm.Comm) error {
	if c.onGPU() {
		return func(ctx context.Context, host *comm.Comm) error { return c.runGPU(ctx, host, p) }
	}
	if c.Threads > 0 {
		threads = c.Threads
	}
	return func(ctx context.Context, cm *comm.Comm) error {
		d, err := cpu.New(cpu.Config{Threads: threads, FFTW: cpu.FFTWMode(os.Getenv("GOLOPS_FFTW"))})
		if err != nil {
			return err
		}
		defer d.Close()
		r, err := dist.NewProc(ctx, cm, d)
		if err != nil {
			return err
		}
		if err := p(ctx, r); err != nil {
			return err // the caller aborts the others; closing groups would wait for them
		}
		return r.Close()
	}
}
