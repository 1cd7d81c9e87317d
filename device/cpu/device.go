// Package cpu is the host as a device: plain Go kernels over slices, spread over
// a few threads.
package cpu

import (
	"context"
	"fmt"
	"runtime"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// Config says how the host computes.
type Config struct {
	Threads int // 0 means GOMAXPROCS
}

// Device is the host. It belongs to one rank and is used by one goroutine at a
// time.
type Device struct {
	threads int
	f32     *kernels[float32]
	f64     *kernels[float64]
	c64     *kernels[complex64]
	c128    *kernels[complex128]
}

var _ device.Device = (*Device)(nil)

// New returns the host as a device. Close ends its threads.
func New(cfg Config) (*Device, error) {
	if cfg.Threads < 0 {
		return nil, fmt.Errorf("cpu: new device: Threads is %d, must not be negative", cfg.Threads)
	}
	d := &Device{threads: cfg.Threads}
	if d.threads == 0 {
		d.threads = runtime.GOMAXPROCS(0)
	}
	d.f32 = &kernels[float32]{}
	d.f64 = &kernels[float64]{}
	d.c64 = &kernels[complex64]{}
	d.c128 = &kernels[complex128]{}
	return d, nil
}

func (d *Device) String() string {
	if d.threads == 1 {
		return "cpu (1 thread)"
	}
	return fmt.Sprintf("cpu (%d threads)", d.threads)
}

// Kernels returns the kernels of an element type, nil for an integer.
func (d *Device) Kernels(dt scalar.DType) any {
	switch dt {
	case scalar.Float32:
		return d.f32
	case scalar.Float64:
		return d.f64
	case scalar.Complex64:
		return d.c64
	case scalar.Complex128:
		return d.c128
	}
	return nil
}

// Sync returns at once: kernels of the host end before they return.
func (d *Device) Sync(context.Context) error { return nil }

// Close ends the threads. Kernels still work afterwards, on the caller alone.
func (d *Device) Close() error { return nil }
