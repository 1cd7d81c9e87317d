package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/device/cuda"
	"github.com/golops/golops/device/hip"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/gpu"
	"github.com/golops/golops/trace"
)

// A DeviceError says that the device or the communicator that was asked for
// cannot be had. All ranks see the same one.
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

// platform returns the kind of GPU that c asks for and how many of them this
// process sees, at least one.
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

// runGPU is a rank on a GPU: it finds out which, opens it, connects it with those
// of the other ranks, and closes all in turn.
func (c Config) runGPU(ctx context.Context, host comm.Comm, p Program) error {
	// The current GPU, and groups of calls of NCCL, are properties of a thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kind, seats, err := c.seats(ctx, host)
	if err != nil {
		return err
	}
	d, err := kind.open(gpu.Config{Index: seats[host.Rank()].Index})
	if e := comm.Agree(ctx, host, err); e != nil {
		if d != nil {
			d.Close()
		}
		return e
	}
	trace.Wait(ctx, func() {
		_ = d.Sync(ctx) // a failure stays with the device until a call that returns errors
	})
	err = c.runOn(ctx, host, d, seats, p)
	trace.Wait(ctx, nil)
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

// runOn runs p with a communicator that reaches memory of the ranks' GPUs.
func (c Config) runOn(ctx context.Context, host comm.Comm, d *gpu.Device, seats []seat, p Program) error {
	// A handle of its own: it is closed with what stands on it.
	own, err := host.Split(ctx, 0, host.Rank())
	if err != nil {
		return err
	}
	cm, why, err := c.connect(ctx, own, d, seats)
	if err != nil {
		return errors.Join(err, own.Close())
	}
	if host.Rank() == 0 {
		c.log().Info("ranks on GPUs", "gpus", describe(seats), "communicator", cm.String(), "because", why)
	}
	r, err := dist.NewProc(ctx, cm, d)
	if err == nil {
		err = comm.Recovered(ctx, cm, func(ctx context.Context, _ comm.Comm) error { return p(ctx, r) })
	}
	if err == nil {
		err = d.Sync(ctx)
	}
	if err != nil {
		cm.Abort(err) // before anything waits for the others
	}
	if e := errors.Join(r.Close(), cm.Close()); err == nil {
		err = e
	}
	return err
}

// seat is where a rank is, what it sees there, and the GPU that it gets.
type seat struct {
	Machine  string
	Process  int
	Platform string
	GPUs     []gpu.Info // that this rank sees
	Fault    string     // why there are none
	Index    int        // of the rank's GPU among those
}

// view is the same for ranks that see the same GPUs.
func (s seat) view() string {
	v := s.Machine
	for _, g := range s.GPUs {
		v += " " + g.ID
	}
	return v
}

// gpu tells the GPU of s from all others.
func (s seat) gpu() string { return s.Machine + " " + s.GPUs[s.Index].ID }

// sit finds out what this process sees.
func (c Config) sit() (platform, seat) {
	s := seat{Process: os.Getpid()}
	s.Machine, _ = os.Hostname() // of one without a name there is only one
	p, _, err := c.platform()
	if err != nil {
		s.Fault = errors.Unwrap(err).Error()
		return p, s
	}
	s.Platform = p.name
	s.GPUs = p.look().Devices
	return p, s
}

// seats gives each rank its GPU: that of its number among the ranks that see the
// same ones. It is collective, and the same on all ranks.
func (c Config) seats(ctx context.Context, host comm.Comm) (platform, []seat, error) {
	p, mine := c.sit()
	seats, err := comm.AllGatherObjects(ctx, host, mine)
	if err != nil {
		return p, nil, err
	}
	if err := c.place(seats); err != nil {
		return p, nil, &DeviceError{err}
	}
	return p, seats, nil
}

// place sets Index of all seats.
func (c Config) place(seats []seat) error {
	ranks, taken := map[string]int{}, map[string]int{}
	for _, s := range seats {
		ranks[s.view()]++
	}
	for i := range seats {
		s := &seats[i]
		v, n := s.view(), len(s.GPUs)
		switch {
		case n == 0:
			return fmt.Errorf("rank %d: %s", i, s.Fault)
		case s.Platform != seats[0].Platform:
			return fmt.Errorf("rank 0 has a GPU of %s and rank %d one of %s, which cannot talk: name the device", seats[0].Platform, i, s.Platform)
		case ranks[v] > n && !c.ShareGPU:
			return tooMany(ranks[v], n, s.Machine)
		}
		s.Index = taken[v] % n
		taken[v]++
	}
	return nil
}

// tooMany is the error of ranks that would have to share GPUs.
func tooMany(ranks, gpus int, machine string) error {
	s := "s"
	if gpus == 1 {
		s = ""
	}
	return fmt.Errorf("%d ranks on %s, which has %d GPU%s: start at most %d there, or let ranks share GPUs (--share-gpu), which is slow and for development",
		ranks, machine, gpus, s, gpus)
}
