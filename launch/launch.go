// Package launch starts the ranks of a program, as goroutines of this process
// or as the processes that mpirun started, and gathers their errors and traces.
package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/local"
	"github.com/golops/golops/dist"
)

// Program is what each rank runs. An error or panic on any rank ends the
// calls of all others.
type Program func(ctx context.Context, r dist.Rank) error

// Config says how ranks are started. The zero Config is ready to use.
type Config struct {
	Ranks   int           // goroutine ranks; 0 means GOMAXPROCS. World takes what the launcher gives
	Threads int           // of each rank; 0 means its share of the cores
	Algo    comm.Algo     // of AllReduce and its friends; Auto leaves it to the communicator
	Checked bool          // MPI: compare the calls of all ranks before each collective, as goroutine ranks always do
	Timeout time.Duration // the longest that a call may wait for another rank; 0 means for ever
	Log     *slog.Logger  // what was found and chosen; nil means slog.Default()
	Trace   io.Writer     // where GOLOPS_TRACE=tree goes; nil means os.Stderr
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if c.Ranks < 0 {
		errs = append(errs, fmt.Errorf("launch: %d ranks, must be at least 1, or 0 for one per core", c.Ranks))
	}
	if c.Threads < 0 {
		errs = append(errs, fmt.Errorf("launch: %d threads, must be at least 1, or 0 for a share of the cores", c.Threads))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("launch: Timeout is %v, must not be negative", c.Timeout))
	}
	return errors.Join(errs...)
}

func (c Config) log() *slog.Logger {
	if c.Log != nil {
		return c.Log
	}
	return slog.Default()
}

func (c Config) traceOut() io.Writer {
	if c.Trace != nil {
		return c.Trace
	}
	return os.Stderr
}

// Local runs p on n goroutine ranks of this process and returns their errors.
func Local(ctx context.Context, n int, p Program) error {
	if n < 1 {
		return fmt.Errorf("launch: %d ranks, must be at least 1", n)
	}
	return Config{Ranks: n}.Local(ctx, p)
}

// Local is like the function Local, with the choices of c.
func (c Config) Local(ctx context.Context, p Program) error {
	if err := c.Validate(); err != nil {
		return err
	}
	n := c.Ranks
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	tr, err := newTracing(c, "")
	if err != nil {
		return err
	}
	if inWorld(ctx) {
		tr.suffix = "-local" // the world that this runs in has a trace of its own
	}
	prog := tr.wrap(c.onDevice(p, max(1, runtime.GOMAXPROCS(0)/n)))
	err = local.Config{Algo: c.Algo, Timeout: c.Timeout}.Run(ctx, n, prog)
	return errors.Join(err, tr.writeHere())
}
