package perf

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/golops/golops/device"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
	"github.com/golops/golops/scalar"
)

// KernelConfig says on which devices kernels are measured, and with which sizes. Start
// from KernelDefaults: a zero field is zero.
type KernelConfig struct {
	Devices  []string      // names as in launch.Config.Device
	DType    string        // float32, float64, complex64 or complex128
	Shrink   int           // divides the extents of 512 × 512 × 256 points and of matrices of 2048 and 4096
	Threads  int           // of the host; 0 lets the device choose: all cores
	Rounds   int           // the best of them counts
	LoopTime time.Duration // the least time of a round
	Log      *slog.Logger  // passed to launch; nil means slog.Default()
}

// KernelDefaults returns a KernelConfig that measures float32 on the host, in 5 rounds
// of 20 ms.
func KernelDefaults() KernelConfig {
	return KernelConfig{Devices: []string{"cpu"}, DType: "float32", Shrink: 1, Rounds: 5, LoopTime: 20 * time.Millisecond}
}

// maxShrink leaves every extent at least as wide as a stencil.
const maxShrink = 32

// Validate reports every fault of c at once.
func (c KernelConfig) Validate() error {
	var errs []error
	if len(c.Devices) == 0 {
		errs = append(errs, fmt.Errorf("no device: name one of %s", launch.DeviceNames()))
	}
	for _, name := range c.Devices {
		errs = append(errs, launch.Config{Device: name}.Validate())
	}
	dt, err := scalar.ParseDType(c.DType)
	if err == nil && dt.Valid() && (dt < scalar.Float32 || dt > scalar.Complex128) {
		err = fmt.Errorf("kernels compute with float32, float64, complex64 and complex128, not with %v", dt)
	}
	errs = append(errs, err)
	if c.Shrink < 1 || c.Shrink > maxShrink {
		errs = append(errs, fmt.Errorf("shrink is %d, must be from 1 to %d", c.Shrink, maxShrink))
	}
	if c.Threads < 0 {
		errs = append(errs, fmt.Errorf("threads is %d, must be at least 1, or 0 for all cores", c.Threads))
	}
	if c.Rounds < 1 || c.LoopTime <= 0 {
		errs = append(errs, fmt.Errorf("%d rounds of %v, must be at least one of a positive time", c.Rounds, c.LoopTime))
	}
	return errors.Join(errs...)
}

// KernelTable is what the kernels of one device do.
type KernelTable struct {
	Device string      `json:"device"`
	Type   string      `json:"type"`
	Copy   float64     `json:"copy_GBps"`             // the device's own copy, read and written bytes together
	Peak   float64     `json:"peak_GFLOPS,omitempty"` // of its matrix product, the most seen here
	Rounds int         `json:"rounds"`
	Rows   []KernelRow `json:"rows"`
}

// KernelRow is one kernel at one size.
type KernelRow struct {
	Kernel    string  `json:"kernel"`
	Size      string  `json:"size"`
	Time      float64 `json:"time"`             // microseconds, the best round
	Bandwidth float64 `json:"GBps,omitempty"`   // of the bytes that must be read and written
	Rate      float64 `json:"GFLOPS,omitempty"` // of the operations that must be done
	Launches  int     `json:"launches"`         // between two waits
	Missing   string  `json:"missing,omitempty"`
}

// KernelObserver receives results as they are measured.
type KernelObserver interface {
	Kernels(t *KernelTable) // called with a complete table
}

// Kernels measures the kernels of each device, one table each: copy, the
// yardstick, first. A kernel that a device lacks is a row that says so.
func Kernels(ctx context.Context, cfg KernelConfig, o KernelObserver) ([]KernelTable, error) {
	if err := cfg.Validate(); err != nil {
		return nil, &ConfigError{err}
	}
	on := func(name string, p launch.Program) error {
		err := launch.Config{Ranks: 1, Device: name, Threads: cfg.Threads, Log: cfg.Log}.Local(ctx, p)
		var dev *launch.DeviceError
		if errors.As(err, &dev) {
			return &ConfigError{dev.Err}
		}
		return err
	}
	// A missing device is an error before another is measured.
	for _, name := range cfg.Devices[1:] {
		if err := on(name, func(context.Context, dist.Proc) error { return nil }); err != nil {
			return nil, err
		}
	}
	var tables []KernelTable
	for _, name := range cfg.Devices {
		t := KernelTable{Type: cfg.DType, Rounds: cfg.Rounds}
		if err := on(name, func(ctx context.Context, r dist.Proc) error { return t.measure(ctx, cfg, r.Device) }); err != nil {
			return tables, err
		}
		tables = append(tables, t)
		if o != nil {
			o.Kernels(&t)
		}
	}
	return tables, nil
}

func (t *KernelTable) measure(ctx context.Context, cfg KernelConfig, d device.Device) error {
	t.Device = d.String()
	dt, err := scalar.ParseDType(cfg.DType)
	if err != nil {
		return err
	}
	t.Type = dt.String()
	switch dt {
	case scalar.Float64:
		return kernels[float64, float64, complex128](ctx, cfg, d, t)
	case scalar.Complex64:
		return kernels[complex64, float32, complex64](ctx, cfg, d, t)
	case scalar.Complex128:
		return kernels[complex128, float64, complex128](ctx, cfg, d, t)
	}
	return kernels[float32, float32, complex64](ctx, cfg, d, t)
}

// add measures one kernel and appends its row.
func (t *KernelTable) add(ctx context.Context, cfg KernelConfig, d device.Device, w work) error {
	row := KernelRow{Kernel: w.kernel, Size: w.size}
	seconds, launches, err := best(ctx, cfg, d, w.run)
	switch {
	case errors.Is(err, device.ErrUnsupported):
		row.Missing = err.Error()
	case err != nil:
		return fmt.Errorf("perf: kernel %s of %s on %v: %w", w.kernel, w.size, d, err)
	default:
		row.Time, row.Launches = 1e6*seconds, launches
		row.Bandwidth, row.Rate = w.bytes/seconds/1e9, w.flops/seconds/1e9
	}
	switch w.kernel {
	case "copy":
		t.Copy = row.Bandwidth
	case "gemm":
		t.Peak = max(t.Peak, row.Rate)
	}
	t.Rows = append(t.Rows, row)
	return nil
}

// best returns the seconds of one launch in the best round. A round has enough launches
// between two waits to take LoopTime, because a wait takes longer than a short kernel.
func best(ctx context.Context, cfg KernelConfig, d device.Device, run func() error) (seconds float64, launches int, err error) {
	round := func(n int) (time.Duration, error) {
		if err := d.Sync(ctx); err != nil {
			return 0, err
		}
		start := time.Now()
		for range n {
			if err := run(); err != nil {
				return 0, err
			}
		}
		err := d.Sync(ctx)
		return time.Since(start), err
	}
	if _, err := round(1); err != nil { // compiles, loads libraries, touches memory
		return 0, 0, err
	}
	n := 1
	for {
		took, err := round(n)
		if err != nil {
			return 0, 0, err
		}
		if took >= cfg.LoopTime || n >= 1<<14 {
			break
		}
		n *= 2
	}
	least := time.Duration(1<<63 - 1)
	for range cfg.Rounds {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		took, err := round(n)
		if err != nil {
			return 0, 0, err
		}
		least = min(least, took)
	}
	return least.Seconds() / float64(n), n, nil
}
