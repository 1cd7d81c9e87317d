package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/launch"
)

// names are those of the signals that stop a command.
var names = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}

// StopError reports that a signal has stopped a command.
type StopError struct{ Signal syscall.Signal }

func (e StopError) Error() string { return "stopped by " + names[e.Signal] }

// Code is the exit code, as a shell has it.
func (e StopError) Code() int { return 128 + int(e.Signal) }

// StopOf returns the signal that caused err, also if another process received it: an
// abort carries only its text.
func StopOf(err error) (StopError, bool) {
	var stop StopError
	if errors.As(err, &stop) {
		return stop, true
	}
	var abort *comm.AbortError
	if errors.As(err, &abort) {
		for s := range names {
			if strings.HasSuffix(abort.Err.Error(), StopError{s}.Error()) {
				return StopError{s}, true
			}
		}
	}
	return stop, false
}

// Stopped is the end of a command whose ctx has ended.
func Stopped(ctx context.Context) Failure {
	stop, is := StopOf(context.Cause(ctx))
	if !is {
		stop = StopError{syscall.SIGINT}
	}
	return Failure{Err: stop, Code: stop.Code()}
}

// phase is what the first signal means.
type phase int

const (
	simple    phase = iota // it ends the command
	preparing              // it ends the command, before there is anything to keep
	inverting              // it ends the command after the iteration under way
	writing                // results are being written: it changes nothing
	ended                  // all is done: it ends the process
)

const (
	grace  = 700 * time.Millisecond // for a command to end by itself after a signal
	repeat = 250 * time.Millisecond // a signal that comes again so soon is the same one: timeout and launchers send signals twice
	before = 3 * time.Second        // a SIGCONT of mpirun's comes no longer before its SIGTERM; it is one second
)

// signals handles Ctrl-C, SIGTERM and SIGHUP. The first one asks a run to stop after the
// iteration under way. The second ends the process at once.
type signals struct {
	exit     func(code int)
	cancel   context.CancelCauseFunc
	launcher string
	rank     int // that the launcher gave; 0 without one

	mu        sync.Mutex
	say       func(line string) // may block
	now       phase
	first     syscall.Signal // 0 before any came
	at        time.Time      // of the first
	continued time.Time      // of the last SIGCONT
	hurry     bool
	code      int           // how the process ends once all is done
	kept      func() string // what is on disk already
}

func newSignals(say func(string)) *signals {
	name, rank := launch.Launcher()
	return &signals{say: say, launcher: name, rank: rank}
}

// listen starts to handle signals. A SIGHUP that was ignored at the start of the process,
// as under nohup, stays ignored.
func (s *signals) listen() {
	c := make(chan os.Signal, 8)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM, sigContinue)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	go func() {
		for sig := range c {
			s.hear(sig.(syscall.Signal), time.Now())
		}
	}()
}

// hear handles one signal. It never blocks: a goroutine prints, since a terminal can
// block.
func (s *signals) hear(sig syscall.Signal, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case sig == sigContinue:
		s.continued = now
		return
	case s.now == ended:
		s.exit(s.code)
		return
	case s.first != 0:
		if now.Sub(s.at) > repeat {
			s.exit(StopError{sig}.Code())
		}
		return
	}
	s.first, s.at = sig, now
	// Open MPI's mpirun sends SIGCONT, a second later SIGTERM, and a second later
	// SIGKILL. A SIGTERM without a SIGCONT has another sender.
	s.hurry = s.launcher == openMPI && sig == syscall.SIGTERM && now.Sub(s.continued) < before
	if line := s.answer(sig); line != "" {
		say := s.say
		go say(line)
	}
	if s.now <= preparing {
		s.cancel(StopError{sig})
		time.AfterFunc(grace, func() { s.exit(StopError{sig}.Code()) })
	}
}

// answer prints what the signal does. A launcher sends a signal to all ranks, so only one
// of them prints.
func (s *signals) answer(sig syscall.Signal) string {
	who := ""
	if s.rank != 0 {
		if s.launcher != openMPI || s.hurry {
			return ""
		}
		who = fmt.Sprintf("rank %d: ", s.rank)
	}
	kept := ""
	if s.hurry && s.kept != nil {
		kept = "; " + s.kept()
	}
	switch {
	case s.now == preparing:
		return who + "stopping: nothing has been computed yet"
	case s.now == inverting && s.hurry:
		return "stopping after this iteration, if mpirun waits: it kills the ranks in about a second" + kept
	case s.now == inverting:
		return who + "stopping after this iteration; Ctrl-C again stops now"
	case s.now == writing && s.hurry:
		return "mpirun kills the ranks in about a second: what is not written by then is lost" + kept
	case s.now == writing:
		return who + "the results are being written; Ctrl-C again stops now"
	}
	return "golops: " + who + StopError{sig}.Error()
}

// openMPI is how launch calls the launcher that kills a second after the first
// signal.
const openMPI = "Open MPI's mpirun"

// enter sets what a signal means from now on. It does not change a signal that has ended
// the command.
func (s *signals) enter(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == 0 || s.now > preparing {
		s.now = p
	}
}

// end says that all work is done. Only the end of MPI is left, which may hang.
func (s *signals) end(code int) {
	s.enter(ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code = code
}

// cut returns the signal that has ended the command, if one has. A request to stop after
// an iteration does not count.
func (s *signals) cut() (StopError, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return StopError{s.first}, s.first != 0 && s.now <= preparing
}

// speak sets the function that prints lines from now on.
func (s *signals) speak(say func(line string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say = say
}

// keeps sets the function that describes what is on disk already.
func (s *signals) keeps(kept func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = kept
}

// stop reports whether to stop. A run calls it after each iteration.
func (s *signals) stop() Stop {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stop{Signal: int(s.first), Hurry: s.hurry}
}
