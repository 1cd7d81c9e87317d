// Package launch starts the ranks of a program, as goroutines of this process
// or as the processes that mpirun started, and gathers their errors and traces.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/internal/dl"
)

// Program is the program of each rank. An error or panic on any rank ends the calls of all
// others.
type Program func(ctx context.Context, r dist.Proc) error

// Config says how ranks are started. The zero Config is ready to use.
type Config struct {
	Ranks   int           // goroutine ranks, or Automatic: GOMAXPROCS, or one per GPU. A launcher overrides it
	Threads int           // of each rank, or Automatic: its share of the cores
	Algo    driver.Algo   // of the collectives; Auto lets the communicator choose
	Checked bool          // MPI: compare the calls of all ranks before each collective, as goroutine ranks always do
	Timeout time.Duration // the longest that a call may wait for another rank, or Automatic: that of GOLOPS_TIMEOUT, or no limit
	Log     *slog.Logger  // what was found and chosen; nil means slog.Default()
	Trace   io.Writer     // where GOLOPS_TRACE=tree goes; nil means os.Stderr

	Device   string // where arrays live: CPU, CUDA, HIP, or GPU for either kind; "" means CPU
	Comm     string // of ranks on GPUs: NCCL, Staged, or "" for NCCL if that works
	ShareGPU bool   // let ranks share GPUs, which is slow: for development
}

// Automatic leaves a number of Config to package launch.
const Automatic = 0

// The devices that Config.Device names.
const (
	CPU  = "cpu"  // the host
	CUDA = "cuda" // GPUs of NVIDIA
	HIP  = "hip"  // GPUs of AMD
	GPU  = "gpu"  // of either
)

// The communicators that Config.Comm names.
const (
	NCCL   = "nccl"   // from GPU to GPU; RCCL for GPUs of AMD
	Staged = "staged" // through host memory, or by a GPU-aware MPI
)

// DeviceNames returns the values of Config.Device as a list, for texts.
func DeviceNames() string { return strings.Join([]string{CPU, CUDA, HIP, GPU}, ", ") }

// TimeoutVar is the variable that sets Config.Timeout where that is 0, such as
// GOLOPS_TIMEOUT=90s.
const TimeoutVar = "GOLOPS_TIMEOUT"

// UsageError says that ranks cannot be started with these settings. A command exits with
// code 2. A program may return one too, if all ranks do, as after comm.Agree. MPI is then
// finalized normally.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// resolve validates c and sets the fields that the environment may give.
func (c Config) resolve() (Config, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	if c.onGPU() {
		if err := dl.NeedsLinux("GPUs"); err != nil {
			return c, &DeviceError{err}
		}
	}
	text := os.Getenv(TimeoutVar)
	if c.Timeout != 0 || text == "" {
		return c, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return c, &UsageError{fmt.Errorf("launch: %s=%s is no duration: set it to a time such as 90s or 5m, or to 0 for no limit", TimeoutVar, text)}
	}
	c.Timeout = d
	return c, nil
}

// onGPU reports whether arrays live on GPUs.
func (c Config) onGPU() bool { return c.Device != "" && c.Device != CPU }

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.Ranks < 0 {
		errs = append(errs, fmt.Errorf("launch: %d ranks, must be at least 1, or 0 for one per core", c.Ranks))
	}
	if c.Threads < 0 {
		errs = append(errs, fmt.Errorf("launch: %d threads, must be at least 1, or 0 for a share of the cores", c.Threads))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("launch: Timeout is %v, must not be negative", c.Timeout))
	}
	if !slices.Contains([]string{"", CPU, CUDA, HIP, GPU}, c.Device) {
		errs = append(errs, fmt.Errorf("launch: unknown device %q: have %s", c.Device, DeviceNames()))
	}
	switch {
	case c.Comm != "" && c.Comm != NCCL && c.Comm != Staged:
		errs = append(errs, fmt.Errorf("launch: unknown communicator %q: have %s, %s", c.Comm, NCCL, Staged))
	case c.Comm != "" && !c.onGPU():
		errs = append(errs, fmt.Errorf("launch: communicator %s is for GPUs: set the device to %s, %s or %s", c.Comm, CUDA, HIP, GPU))
	}
	if c.ShareGPU && !c.onGPU() {
		errs = append(errs, fmt.Errorf("launch: GPUs are shared, but the device is the host: set the device to %s, %s or %s", CUDA, HIP, GPU))
	}
	return errors.Join(errs...)
}

func (c Config) log() *slog.Logger {
	if c.Log != nil {
		return c.Log
	}
	return slog.Default()
}

// note logs what a rank has left open.
func (c Config) note(rank int, text string) { c.log().Warn(text, "rank", rank) }

func (c Config) traceOut() io.Writer {
	if c.Trace != nil {
		return c.Trace
	}
	return os.Stderr
}

// localRanks returns how many goroutine ranks to start: Ranks, or one per core or GPU.
func (c Config) localRanks() (int, error) {
	if !c.onGPU() {
		return cmp.Or(c.Ranks, runtime.GOMAXPROCS(0)), nil
	}
	_, gpus, err := c.platform()
	if err != nil {
		return 0, err
	}
	if c.Ranks > gpus && !c.ShareGPU {
		return 0, &DeviceError{tooMany(c.Ranks, gpus, "this machine")}
	}
	return cmp.Or(c.Ranks, gpus), nil
}

// Run runs p as the rank that a launcher gave this process or, without a launcher,
// on goroutine ranks.
func (c Config) Run(ctx context.Context, p Program) error {
	if Launched() {
		return c.World(ctx, p)
	}
	return c.Local(ctx, p)
}

// Local runs p on goroutine ranks of this process and returns their errors.
func (c Config) Local(ctx context.Context, p Program) error {
	c, err := c.resolve()
	if err != nil {
		return err
	}
	n, err := c.localRanks()
	if err != nil {
		return err
	}
	if err := local.CheckMemory(n); err != nil {
		return &UsageError{err}
	}
	tr, err := newTracing(c, "")
	if err != nil {
		return err
	}
	if inWorld(ctx) {
		tr.suffix = "-local" // the enclosing World writes another trace
	}
	if err := tr.try(); err != nil {
		return err
	}
	prog := tr.wrap(c.onDevice(p, max(1, runtime.GOMAXPROCS(0)/n)))
	err = local.Config{Algo: c.Algo, Timeout: c.Timeout, Note: c.note}.Run(ctx, n, prog)
	return errors.Join(err, tr.writeHere())
}
