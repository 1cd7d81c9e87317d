package testdevices

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/golops/golops/internal/gpusim"
)

// simulated is true once GPUs that this process finds are simulated ones.
var simulated atomic.Bool

// simulate lets this process, and those that it starts, find simulated GPUs.
func simulate() error {
	dir, err := gpusim.Build()
	if err != nil {
		return err
	}
	simulated.Store(true)
	return errors.Join(os.Setenv("GOLOPS_CUDA", dir), os.Setenv("GOLOPS_NCCL", dir))
}
