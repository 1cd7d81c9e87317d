package nccl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/commtest"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/device"
	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/internal/gpusim"
	"github.com/golops/golops/internal/soak"
)

// program is the program of a rank with a GPU.
type program func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error

// simulated runs p on goroutine ranks, each with a simulated GPU.
func simulated(t *testing.T, ranks int, cfg Config, p program) error {
	t.Helper()
	dir, err := gpusim.Build()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(EnvVar, dir)
	return local.Run(t.Context(), ranks, func(ctx context.Context, host *comm.Comm) error {
		dev, err := cuda.New(cuda.Config{Index: host.Rank(), Folder: dir})
		if err != nil {
			return err
		}
		return errors.Join(with(ctx, host, dev, cfg, p), dev.Close())
	})
}

// with runs p on one rank, as package launch does.
func with(ctx context.Context, host *comm.Comm, dev device.Accelerator, cfg Config, p program) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := New(ctx, host, dev, cfg)
	if err != nil {
		return err
	}
	err = driver.Recovered(c.Abort, func() error { return p(ctx, c, dev) })
	if err != nil {
		c.Abort(err)
	}
	return errors.Join(err, c.Close())
}

func inside(c *comm.Comm) *conn { return c.Conn().(*conn) }

// suite runs the suite of every communicator.
func suite(cfg commtest.Config, onDevice bool, fault func(format string, args ...any)) program {
	return func(ctx context.Context, c *comm.Comm, dev device.Accelerator) error {
		cfg := cfg // each rank has its own
		if onDevice {
			cfg.Device = dev
		}
		return commtest.Run(ctx, c, cfg, func(name string, err error) {
			if os.Getenv("GOLOPS_TEST_VERBOSE") != "" {
				fmt.Println(name)
			}
			if err != nil {
				fault("%s: %v", name, err)
			}
		})
	}
}

// TestSuite runs the suite of every communicator on simulated GPUs, in GPU memory and in
// host memory.
func TestSuite(t *testing.T) {
	sequences := soak.Or(30, 100)
	for _, run := range []struct {
		name   string
		cfg    Config
		suite  commtest.Config
		device bool
		ranks  []int
	}{
		{"checked", Config{Checked: true}, commtest.Config{Sequences: sequences}, true, soak.Or([]int{1, 3}, []int{1, 2, 3, 4})},
		{"unchecked", Config{}, commtest.Config{Sequences: sequences, NoFaults: true, FewTypes: !soak.On()}, true, soak.Or([]int{2}, []int{2, 3})},
		{"shared GPU", Config{SharedGPU: true}, commtest.Config{Sequences: 10, NoFaults: true, FewTypes: !soak.On()}, true, []int{2}},
		{"host memory", Config{}, commtest.Config{Sequences: sequences, FewTypes: !soak.On()}, false, soak.Or([]int{2}, []int{2, 3})},
	} {
		for _, ranks := range run.ranks {
			t.Run(fmt.Sprintf("%s/ranks=%d", run.name, ranks), func(t *testing.T) {
				if err := simulated(t, ranks, run.cfg, suite(run.suite, run.device, t.Errorf)); err != nil {
					t.Error(err)
				}
				t.Logf("commtest (%s): NCCL on simulated GPUs: %d ranks, %d cases", run.name, ranks, len(commtest.Cases(run.suite)))
			})
		}
	}
}
