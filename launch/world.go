package launch

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/comm/driver"
	"github.com/golops/golops/comm/mpi"
	"github.com/golops/golops/internal/dl"
	"github.com/golops/golops/trace"
)

// Launched reports whether a launcher started this process as one of several ranks.
func Launched() bool { return mpi.FindLauncher().Name != "" }

// Launcher returns the name of the launcher, such as "Open MPI's mpirun", and the rank that
// it gave this process, before any MPI library is opened. Without a launcher they
// are "" and 0.
func Launcher() (name string, rank int) {
	l := mpi.FindLauncher()
	return l.Name, l.Rank
}

// checkPlatform returns a *UsageError where the processes of a launcher cannot
// become ranks. Without it each of them would run the whole program alone.
func checkPlatform() error {
	name, _ := Launcher()
	if err := dl.NeedsLinux("ranks of " + name); err != nil {
		return &UsageError{fmt.Errorf("launch: %w: start the program without it, and its ranks are goroutines", err)}
	}
	return nil
}

// World runs p as this process's rank under mpirun, mpiexec or srun. Without a launcher it
// runs p as the only rank and logs that. A process can call it once. If it returns an error,
// the process must exit with a code other than 0, which makes the launcher end the other
// ranks.
func (c Config) World(ctx context.Context, p Program) error {
	c, err := c.resolve()
	if err != nil {
		return err
	}
	if !Launched() {
		c.log().Info("not started by mpirun, mpiexec or srun: running as one rank in this process")
		c.Ranks = 1
		return c.Local(ctx, p)
	}
	if err := checkPlatform(); err != nil {
		return err
	}
	tr, err := newTracing(c, "")
	if err != nil {
		return err
	}
	w, err := c.openMPI(ctx)
	if err != nil {
		return err
	}
	rank := w.Comm.Rank()
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, worldKey{}, true))
	defer cancel(nil)
	returned := false
	defer func() {
		if !returned { // runtime.Goexit, which ends this goroutine
			_ = w.End(ctx, driver.Exited())
		}
	}()
	run := tr.wrap(c.onDevice(p, threadsPerRank(runtime.NumCPU(), Cores(), w.Launcher.LocalSize)))
	err = driver.Recovered(w.Comm.Abort, func() error { return run(ctx, w.Comm) })
	returned = true
	var dev *DeviceError
	var usage *UsageError
	if errors.As(err, &dev) || errors.As(err, &usage) { // every rank has the same error, so MPI can be finalized normally
		return errors.Join(err, w.End(ctx, nil))
	}
	if err == nil {
		err = tr.writeAll(ctx, comm.New(w.Comm.Conn())) // the program may have closed its handle
	} else if tr.t.Mode != trace.Off {
		tr.suffix = fmt.Sprintf("-rank%d", rank) // the tracks of other processes cannot be gathered
		err = errors.Join(err, tr.writeHere())
	}
	if err = w.End(ctx, err); err != nil {
		var ae *comm.AbortError
		if errors.As(err, &ae) && ae.Rank != rank {
			return err // it names the rank that aborted
		}
		return &comm.RankError{Rank: rank, Err: err}
	}
	return nil
}

// openMPI makes this process a rank of MPI.
func (c Config) openMPI(ctx context.Context) (*mpi.World, error) {
	w, err := mpi.Init(ctx, mpi.Config{Algo: c.Algo, Checked: c.Checked, Timeout: c.Timeout, Note: c.note})
	var unconnected *mpi.UnconnectedError
	if errors.As(err, &unconnected) {
		return nil, &UsageError{err}
	}
	if err == nil && w.Comm.Rank() == 0 {
		c.log().Debug("MPI", "ranks", w.Comm.Size(), "library", w.Library.Version, "path", w.Library.Path,
			"launcher", w.Launcher.Name, "threads", w.Threads)
	}
	return w, err
}
