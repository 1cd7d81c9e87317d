//go:build unix

package app

import (
	"context"
	"syscall"
	"testing"
	"time"
)

const (
	nothingYet = "stopping: nothing has been computed yet"
	afterThis  = "stopping after this iteration; Ctrl-C again stops now"
)

// What each signal does, state by state.
func TestSignalStates(t *testing.T) {

	type event struct {
		signal syscall.Signal
		ms     int
	}
	for name, c := range map[string]struct {
		phase    phase
		rank     int
		launcher string
		events   []event
		exit     int // 0 means that the process goes on
		says     string
		stop     int
		cut      bool
	}{
		"simple":             {simple, 0, "", []event{{syscall.SIGTERM, 0}}, 0, "golops: stopped by SIGTERM", 15, true},
		"preparing":          {preparing, 0, "", []event{{syscall.SIGINT, 0}}, 0, nothingYet, 2, true},
		"inverting":          {inverting, 0, "", []event{{syscall.SIGHUP, 0}}, 0, afterThis, 1, false},
		"twice at once":      {inverting, 0, "", []event{{syscall.SIGTERM, 0}, {syscall.SIGTERM, 3}}, 0, afterThis, 15, false},
		"twice":              {inverting, 0, "", []event{{syscall.SIGINT, 0}, {syscall.SIGTERM, 400}}, 143, afterThis, 2, false},
		"writing":            {writing, 0, "", []event{{syscall.SIGINT, 0}}, 0, "the results are being written; Ctrl-C again stops now", 2, false},
		"ended":              {ended, 0, "", []event{{syscall.SIGTERM, 0}}, 77, "", 0, false},
		"mpirun":             {inverting, 0, openMPI, []event{{syscall.SIGCONT, 0}, {syscall.SIGTERM, 1000}}, 0, "stopping after this iteration, if mpirun waits: it kills the ranks in about a second; kept", 15, false},
		"one rank":           {inverting, 3, openMPI, []event{{syscall.SIGTERM, 0}}, 0, "rank 3: " + afterThis, 15, false},
		"mpirun, other rank": {inverting, 3, openMPI, []event{{syscall.SIGCONT, 0}, {syscall.SIGTERM, 1000}}, 0, "", 15, false},
		"continued long ago": {inverting, 0, openMPI, []event{{syscall.SIGCONT, 0}, {syscall.SIGTERM, 60000}}, 0, afterThis, 15, false},
		"hydra, other rank":  {inverting, 1, "MPICH's mpiexec (hydra)", []event{{syscall.SIGINT, 0}}, 0, "", 2, false},
		"only continued":     {inverting, 0, "", []event{{syscall.SIGCONT, 0}}, 0, "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			said, exit := make(chan string, 9), 0
			_, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			s := &signals{
				say: func(line string) { said <- line }, exit: func(code int) { exit = code }, cancel: cancel,
				launcher: c.launcher, rank: c.rank, now: c.phase, code: 77, kept: func() string { return "kept" },
			}
			if c.cut {
				s.exit = func(int) {} // the grace may pass while the test is held up
			}
			at := time.Now()
			for _, e := range c.events {
				s.hear(e.signal, at.Add(time.Duration(e.ms)*time.Millisecond))
			}
			if c.says != "" {
				if line := <-said; line != c.says {
					t.Errorf("it says %q, want %q", line, c.says)
				}
			}
			_, cut := s.cut()
			if exit != c.exit || s.stop().Signal != c.stop || cut != c.cut || len(said) > 0 {
				t.Errorf("got exit %d, stop %d, cut %v, want %d, %d, %v", exit, s.stop().Signal, cut, c.exit, c.stop, c.cut)
			}
		})
	}
}
