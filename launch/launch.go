// Package launch starts the ranks of a program, as goroutines of this process
// or as the processes that mpirun started, and gathers their errors and traces.
package launch

import (
	"context"
	"log/slog"
	"time"

	"github.com/golops/golops/comm"
)

// Program is what each rank runs. An error or panic on any rank ends the
// calls of all others.
type Program func(ctx context.Context, c comm.Comm) error

// Config says how ranks are started. The zero Config is ready to use.
type Config struct {
	Ranks   int           // goroutine ranks; 0 means GOMAXPROCS. World takes what the launcher gives
	Algo    comm.Algo     // of AllReduce and its friends; Auto chooses by size
	Checked bool          // MPI: compare the calls of all ranks before each collective, as goroutine ranks always do
	Timeout time.Duration // the longest that a call may wait for another rank; 0 means for ever
	Log     *slog.Logger  // what was found and chosen; nil means slog.Default()
}
