package golops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/dist"
	"github.com/golops/golops/launch"
)

// The variables that Main looks at.
const (
	RanksVar  = "GOLOPS_RANKS"  // the number of goroutine ranks; a launcher decides for itself
	DeviceVar = "GOLOPS_DEVICE" // where arrays live: cpu, cuda, hip or gpu
)

// Run runs p on the ranks of mpirun, mpiexec or srun or, without them, on goroutine
// ranks. It is Main for tests and for programs that go on afterwards.
func Run(ctx context.Context, c launch.Config, p Program) error {
	err := c.Run(ctx, func(ctx context.Context, r dist.Proc) error { return try(newWorld(ctx, r, nil), p) })
	if err == nil {
		return nil
	}
	return &runError{err}
}

// try runs the program of one rank.
func try(w *World, p Program) error {
	if p == nil {
		return errors.New("golops: there is no program: it is nil")
	}
	return Try(func() error { return p(w) })
}

// runError is the error of a run. Its text has each cause once, and one message for
// each line of the program, although ranks may see different values there.
type runError struct{ err error }

func (e *runError) Error() string {
	var kept []error
	seen := map[string]bool{}
	for _, err := range launch.Causes(e.err) {
		var at *Error
		if errors.As(err, &at) {
			if seen[at.At] {
				continue
			}
			seen[at.At] = true
		}
		kept = append(kept, err)
	}
	return launch.Text(errors.Join(kept...))
}

// Unwrap returns the cause.
func (e *runError) Unwrap() error { return e.err }

// Main runs p on the ranks of mpirun, mpiexec or srun or, without them, on goroutine
// ranks (GOLOPS_RANKS, or one per core), on the device that GOLOPS_DEVICE names, and
// ends the process. The first Ctrl-C stops solvers on all ranks after the same
// iteration, the second stops everything.
//
// The exit code is 0, or 1 if p fails, or 2 if the ranks cannot be started as asked,
// or 128 and the number of the signal after a signal.
func Main(p Program) {
	m := &process{program: p, launched: launch.Launched()}
	os.Exit(m.run())
}

// process is one run of Main.
type process struct {
	program  Program
	launched bool
	stop     atomic.Int64 // the first signal, or 0
	refused  error        // why the program is not run
	printed  bool
}

const (
	failed, usage = 1, 2
	again         = 250 * time.Millisecond // a signal so soon after the first is the same one: launchers send it twice
	grace         = time.Second            // for ranks to end after the second signal
)

func (m *process) run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	go m.listen(cancel)
	c, err := environment(m.launched)
	if err != nil {
		if !m.launched {
			return m.report(err, usage)
		}
		c, m.refused = launch.Config{}, err
	}
	err = c.Run(ctx, m.rank)
	var refused *launch.UsageError
	var device *launch.DeviceError
	switch sig := int(m.stop.Load()); {
	case err == nil && m.refused != nil:
		return usage
	case err == nil && sig != 0:
		return 128 + sig
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return m.report(context.Cause(ctx), 128+sig)
	case errors.As(err, &refused):
		return m.report(refused, usage)
	case errors.As(err, &device):
		return m.report(device, usage)
	}
	return m.report(err, failed)
}

// environment returns what the variables ask for.
func environment(launched bool) (launch.Config, error) {
	c := launch.Config{Device: os.Getenv(DeviceVar)}
	if text := os.Getenv(RanksVar); text != "" && !launched {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return c, fmt.Errorf("golops: %s=%s is no number of ranks: set it to 1 or more", RanksVar, text)
		}
		c.Ranks = n
	}
	return c, c.Validate()
}

// rank is the program of one rank. Rank 0 of a launcher prints an error before MPI
// ends, because a launcher that sees one process fail kills the others. For the same
// reason ranks start MPI even where the program is not run.
func (m *process) rank(ctx context.Context, r dist.Proc) error {
	if m.refused != nil {
		m.report(m.refused, usage)
		return nil
	}
	err := try(newWorld(ctx, r, &m.stop), m.program)
	if err != nil && m.launched && r.Rank() == 0 && ctx.Err() == nil {
		m.report(&comm.RankError{Rank: 0, Err: err}, failed)
	}
	return err
}

// report prints an error once, on one rank, and returns the code.
func (m *process) report(err error, code int) int {
	if !m.printed && !launch.Reported(err) {
		fmt.Fprintln(os.Stderr, (&runError{err}).Error())
	}
	m.printed = true
	return code
}

// listen answers signals: the first asks solvers to stop, the second ends the run.
func (m *process) listen(cancel context.CancelCauseFunc) {
	c := make(chan os.Signal, 8)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	first := <-c
	at := time.Now()
	m.stop.Store(int64(first.(syscall.Signal)))
	if _, rank := launch.Launcher(); rank == 0 {
		fmt.Fprintln(os.Stderr, "golops: stopping after this iteration; Ctrl-C again stops now")
	}
	for {
		if <-c; time.Since(at) >= again {
			break
		}
	}
	cancel(fmt.Errorf("golops: stopped by a signal: %v", first))
	time.AfterFunc(grace, func() { os.Exit(128 + int(m.stop.Load())) })
}
