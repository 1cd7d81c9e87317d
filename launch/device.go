package launch

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device/cpu"
	"github.com/golops/golops/dist"
)

// RunOn runs p on the ranks of host, which exist already, each with the device and
// the communicator that c asks for. It is collective. It lets one program use
// several devices or communicators, one after another.
func (c Config) RunOn(ctx context.Context, host comm.Comm, p Program) error {
	c, err := c.prepared()
	if err != nil {
		return err
	}
	return c.onDevice(p, share(runtime.NumCPU(), cores(), host.Size()))(ctx, host)
}

// onDevice gives each rank of p its device: a GPU, or so many threads of this
// machine, unless c says otherwise.
func (c Config) onDevice(p Program, threads int) func(context.Context, comm.Comm) error {
	if c.onGPU() {
		return func(ctx context.Context, host comm.Comm) error { return c.runGPU(ctx, host, p) }
	}
	if c.Threads > 0 {
		threads = c.Threads
	}
	return func(ctx context.Context, cm comm.Comm) error {
		d, err := cpu.New(cpu.Config{Threads: threads})
		if err != nil {
			return err
		}
		defer d.Close()
		r, err := dist.NewProc(ctx, cm, d)
		if err != nil {
			return err
		}
		if err := p(ctx, r); err != nil {
			return err // the others are told, and nobody waits to close groups
		}
		return r.Close()
	}
}

// share returns the threads of one of several processes. A launcher that binds
// its processes has divided the cores already: then mine are a rank's own.
func share(mine, all, ranks int) int {
	if ranks < 2 || mine*ranks <= all {
		return mine
	}
	return max(1, mine/ranks)
}

// cores returns how many cores the machine has, bound or not; 0 if it does
// not say.
func cores() int {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return 0
	}
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(string(b)), ",") {
		lo, hi, found := strings.Cut(part, "-")
		if !found {
			hi = lo
		}
		l, err1 := strconv.Atoi(lo)
		h, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || h < l {
			return 0
		}
		n += h - l + 1
	}
	return n
}
