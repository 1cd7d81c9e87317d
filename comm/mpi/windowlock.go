package mpi

import (
	"context"
	"os"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
)

// lockWindows takes a lock under which one group at a time creates a window, among the
// groups whose rank 0 is on this machine. Only Open MPI 4 needs it. It names the shared
// file of a window by the communicator's number, and groups without a common rank may
// have the same number. If two of them created windows at the same time, they would
// share one file. The lock is a file lock, so that it ends with the process.
func (r *rank) lockWindows(ctx context.Context, call *driver.Signature) (release func(), err error) {
	if !strings.HasPrefix(r.l.Version, "Open MPI 4.") || r.comm == r.l.world {
		return func() {}, nil
	}
	var file *os.File // closing it releases the lock; nil on other ranks
	if r.me == 0 {
		file, err = r.lockFile(ctx, call)
	}
	if err := comm.Agree(ctx, comm.New(r), err); err != nil {
		file.Close()
		return nil, err
	}
	return func() {
		_ = r.barrier(ctx, call) // then all ranks have mapped the shared file
		file.Close()
	}, nil
}
