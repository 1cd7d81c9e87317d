package launch

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/device/hip"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/gpu"
	"github.com/golops/golops/trace"
)

// A DeviceError says that the device or the communicator of Config is not available. All
// ranks return the same one.
type DeviceError struct{ Err error }

func (e *DeviceError) Error() string { return "launch: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

// platform is a kind of GPU.
type platform struct {
	name  string
	look  func() gpu.Report
	count func() (int, error)
	open  func(gpu.Config) (*gpu.Device, error)
}

var platforms = []platform{
	{CUDA, cuda.Detect, cuda.Count, cuda.New},
	{HIP, hip.Detect, hip.Count, hip.New},
}

// platform returns the kind of GPU that c asks for and how many of them this process sees.
// It returns an error if there is none.
func (c Config) platform() (platform, int, error) {
	var errs []error
	for _, p := range platforms {
		if c.Device != p.name && c.Device != GPU {
			continue
		}
		n, err := p.count()
		if err == nil && n > 0 {
			return p, n, nil
		}
		if err == nil {
			err = fmt.Errorf("%s: the driver sees no GPU", p.name)
		}
		errs = append(errs, err)
	}
	return platform{}, 0, &DeviceError{fmt.Errorf("no GPU for device %s: %w", c.Device, errors.Join(errs...))}
}

// runGPU runs p on this rank's GPU. It assigns GPUs to ranks, opens this rank's, connects
// the ranks, and closes everything afterwards.
func (c Config) runGPU(ctx context.Context, host *comm.Comm, p Program) error {
	// The current GPU and groups of NCCL calls belong to a thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kind, slots, err := c.assignGPUs(ctx, host)
	if err != nil {
		return err
	}
	d, err := kind.open(gpu.Config{Index: slots[host.Rank()].Index})
	if e := comm.Agree(ctx, host, err); e != nil {
		if d != nil {
			d.Close()
		}
		return e
	}
	clock := d.NewClock()
	if trace.On() {
		trace.UseClock(ctx, clock)
	}
	err = c.runOn(ctx, host, d, slots, p)
	trace.UseClock(ctx, nil)
	clock.Close()
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

// runOn runs p with a communicator that reaches the GPU memory of all ranks.
func (c Config) runOn(ctx context.Context, host *comm.Comm, d *gpu.Device, slots []gpuSlot, p Program) error {
	// A separate handle, because connect's communicator closes it.
	sub, err := host.Split(ctx, 0, host.Rank())
	if err != nil {
		return err
	}
	cm, why, err := c.connect(ctx, sub, d, slots)
	if err != nil {
		return errors.Join(err, sub.Close())
	}
	if host.Rank() == 0 {
		c.log().Info("ranks on GPUs", "gpus", describe(slots), "communicator", cm.String(), "because", why)
	}
	r, err := dist.NewProc(ctx, cm, d)
	if err == nil {
		err = driver.Recovered(cm.Abort, func() error { return p(ctx, r) })
	}
	if err == nil {
		err = d.Sync(ctx)
	}
	if err != nil {
		cm.Abort(err) // before Close waits for the others
	}
	if e := errors.Join(r.Close(), cm.Close()); err == nil {
		err = e
	}
	return err
}
