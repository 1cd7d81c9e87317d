// Package cpu is the host as a device: Go kernels over slices, on a few threads.
package cpu

import (
	"context"
	"fmt"
	"runtime"

	"github.com/golops/golops/device"
	"github.com/golops/golops/scalar"
)

// AllCores are the Threads of a device that has the machine for itself.
const AllCores = 0

// Config says how the host computes.
type Config struct {
	Threads int // or AllCores: GOMAXPROCS
	// BLAS is the file of the library for large matrix products. "" searches for
	// OpenBLAS on the loader's path. "off" means none.
	BLAS string
	// FFTW says when FFTW transforms a block, where the loader finds it.
	FFTW FFTWMode
}

// maxThreads is more than any host has processors for one rank.
const maxThreads = 4096

// Validate reports what is wrong with the options. Only New finds out whether the
// library opens.
func (c Config) Validate() error {
	if c.Threads < 0 || c.Threads > maxThreads {
		return fmt.Errorf("thread count %d must be from 0 to %d", c.Threads, maxThreads)
	}
	return c.FFTW.validate()
}

// Device is the host. It belongs to one rank and is used by one goroutine at a
// time.
type Device struct {
	threads int
	pool    *pool
	blas    *blas
	fftw    FFTWMode
	f32     *kernels[float32, float32]
	f64     *kernels[float64, float64]
	c64     *kernels[complex64, float32]
	c128    *kernels[complex128, float64]
}

var _ device.Device = (*Device)(nil)

// New returns the host as a device. Close ends its threads.
func New(cfg Config) (*Device, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("cpu: new device: %w", err)
	}
	d := &Device{threads: cfg.Threads, fftw: cfg.FFTW}
	if d.threads == 0 {
		d.threads = runtime.GOMAXPROCS(0)
	}
	var err error
	if d.blas, err = newBLAS(cfg.BLAS); err != nil {
		return nil, err
	}
	d.pool = newPool(d.threads - 1)
	sums := new(partials)
	d.f32 = newKernels[float32, float32](d, sums)
	d.f64 = newKernels[float64, float64](d, sums)
	d.c64 = newKernels[complex64, float32](d, sums)
	d.c128 = newKernels[complex128, float64](d, sums)
	return d, nil
}

func (d *Device) String() string {
	if d.threads == 1 {
		return "cpu (1 thread)"
	}
	return fmt.Sprintf("cpu (%d threads)", d.threads)
}

// BLAS returns the file and the version of the library that multiplies large
// matrices, or "" if Go does. Config says how it is found.
func (d *Device) BLAS() string { return d.blas.look().name }

// FFTW returns the file of the library that transforms some blocks of 64-bit numbers, or
// "" if Go does it all.
func (d *Device) FFTW() string { return d.c128.fftw.look(8).path }

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
func (d *Device) Sync(context.Context) error {
	if d.pool.workers == closed {
		return errClosed
	}
	return nil
}

// errClosed is the error of every call after Close.
var errClosed = fmt.Errorf("cpu: %w", device.ErrClosed)

// Close ends the threads. Kernels cannot be used afterwards.
func (d *Device) Close() error {
	d.pool.close()
	d.f32.close()
	d.f64.close()
	d.c64.close()
	d.c128.close()
	return nil
}

// Info implements device.Device.
func (d *Device) Info() device.Info { return device.Info{Threads: d.threads} }
