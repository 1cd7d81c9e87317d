package mpi

import (
	"context"
	"strings"

	"github.com/golops/golops/comm"
)

// turn lets one group at a time, of those whose rank 0 is on this machine, create
// a window, where the library needs that: Open MPI 4 names the shared file behind a window by the
// communicator's number, and groups that share no rank may have the same
// number. Two that create windows at the same moment would share one file, and
// fail or overwrite each other. The lock is a file's, so that it ends with the
// process. release gives the turn on.
func (r *rank) turn(ctx context.Context, call *comm.Call) (release func(), err error) {
	release = func() {}
	if !strings.HasPrefix(r.l.Version, "Open MPI 4.") || r.comm == r.l.world {
		return release, nil
	}
	if r.me == 0 {
		release, err = r.lockFile(ctx, call)
	}
	if e := comm.Agree(ctx, r, err); e != nil {
		release()
		return nil, e
	}
	unlock := release
	return func() {
		// All ranks have mapped the file once they are here.
		if r.gather(ctx, call) == nil || r.me == 0 {
			unlock()
		}
	}, nil
}
