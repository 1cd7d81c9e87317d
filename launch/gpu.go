package launch

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
)

// A DeviceError says that the device or the communicator that was asked for
// cannot be had. All ranks see the same one.
type DeviceError struct{ Err error }

func (e *DeviceError) Error() string { return "launch: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

// runGPU is a rank on a GPU.
func (c Config) runGPU(context.Context, comm.Comm, Program) error {
	return &DeviceError{fmt.Errorf("device %s: %w", c.Device, errors.ErrUnsupported)}
}
