package mpi

import (
	"context"
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
	release = func() {}
	if !strings.HasPrefix(r.l.Version, "Open MPI 4.") || r.comm == r.l.world {
		return release, nil
	}
	if r.me == 0 {
		release, err = r.lockFile(ctx, call)
	}
	if e := comm.Agree(ctx, comm.New(r), err); e != nil {
		release()
		return nil, e
	}
	unlock := release
	return func() {
		// After the barrier all ranks have mapped the shared file.
		if r.barrier(ctx, call) == nil || r.me == 0 {
			unlock()
		}
	}, nil
}
