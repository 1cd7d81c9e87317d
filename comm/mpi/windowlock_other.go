//go:build !linux

package mpi

import (
	"context"
	"os"

	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/internal/dl"
)

// lockFile is for Open MPI, which runs on Linux only.
func (r *rank) lockFile(context.Context, *driver.Signature) (*os.File, error) {
	return nil, dl.NeedsLinux("windows of MPI")
}
