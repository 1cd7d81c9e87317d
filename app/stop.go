package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/data"
)

// Stop says whether and how a run stops.
type Stop struct {
	Signal int  // 0 means to go on, another value is the signal that stops the run; the largest of all ranks counts
	Hurry  bool // the process will be killed in about a second
}

// StopFile is the name of a file in the checkpoint folder. It stops a run after the
// current iteration, as an interrupt does. The run removes it.
const StopFile = "stop"

const interrupt = 2 // the signal of Ctrl-C

// stopper decides on one rank whether the run stops.
type stopper struct {
	ask    func() Stop
	file   string // looked for by rank 0; empty if there is no checkpoint folder
	looked time.Time
	found  bool
	mine   Stop
}

func newStopper(c Control, rank int, folder string) *stopper {
	s := &stopper{ask: c.Stop}
	if rank == 0 && folder != "" {
		s.file = filepath.Join(folder, StopFile)
	}
	return s
}

// asked reports whether this rank wants to stop.
func (s *stopper) asked() bool {
	if s.ask != nil {
		s.mine = s.ask()
	}
	// Looking for a file on a network is slow, so once a second is enough.
	if s.file != "" && !s.found && time.Since(s.looked) >= time.Second {
		_, err := os.Stat(s.file)
		s.found, s.looked = err == nil, time.Now()
	}
	if s.found {
		s.mine.Signal = max(s.mine.Signal, interrupt)
	}
	return s.mine.Signal != 0
}

// clear removes the file when the inversion has ended, so that it does not stop the
// next run.
func (s *stopper) clear() {
	if s.file != "" {
		os.Remove(s.file)
	}
}

// agree returns the Stop of all ranks together. It is collective.
func (s *stopper) agree(ctx context.Context, c *comm.Comm) (Stop, error) {
	v := []int32{int32(s.mine.Signal), 0}
	if s.mine.Hurry {
		v[1] = 1
	}
	b := comm.Of(v)
	if err := c.AllReduce(ctx, b, b, comm.Max); err != nil {
		return Stop{}, err
	}
	return Stop{Signal: int(v[0]), Hurry: v[1] != 0}, nil
}

// Checkpointed returns the iteration of the newest checkpoint, and whether there
// is one.
func (t *Task) Checkpointed() (k int, found bool) {
	dir := baseOf(t.Config).Checkpoint.Dir
	if dir == "" {
		return 0, false
	}
	return data.Checkpoints{Dir: dir}.Newest()
}
