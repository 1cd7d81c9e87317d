package testdevices

import (
	"errors"
	"os"

	"github.com/golops/golops/internal/gpusim"
)

// simulate lets this process, and those that it starts, find simulated GPUs.
func simulate() error {
	dir, err := gpusim.Build()
	if err != nil {
		return err
	}
	return errors.Join(os.Setenv("GOLOPS_CUDA", dir), os.Setenv("GOLOPS_NCCL", dir))
}
