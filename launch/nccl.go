package launch

import (
	"context"
	"errors"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/gpu"
)

// findNCCL says why there is no NCCL for a platform.
func findNCCL(string) error { return errors.New("there is no NCCL yet") }

func newNCCL(context.Context, comm.Comm, *gpu.Device, Config) (comm.Comm, error) {
	return nil, errors.ErrUnsupported
}
