package lsm

import (
	"context"
	"errors"
	"fmt"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/data"
	"github.com/golops/golops/device"
	"github.com/golops/golops/internal/disk"
)

// openFolders makes the folders for results and checkpoints. It writes to them from
// every rank and compares the free space with what the run needs, so that problems
// show at the start of a run and not at its end. All ranks return a *ConfigError or
// none does. It is collective.
func (s *session[T]) openFolders(ctx context.Context, o Observer) error {
	warn := func(text string) {
		s.notes = append(s.notes, text)
		o.Warn(text)
	}
	var err error
	if err = s.checkFolders(); err == nil && s.r.Rank() == 0 {
		if s.out, err = openOut(s.Config.Out, s.Force); err == nil {
			s.dir = s.out.work
		}
	}
	if err := comm.Agree(ctx, s.r.Comm, err); err != nil {
		return asConfigError(err)
	}
	if err := comm.BroadcastObject(ctx, s.r.Comm, &s.dir, 0); err != nil {
		return err
	}
	if err := disk.Probe(ctx, s.r.Comm, s.dir); err != nil {
		return asConfigError(fmt.Errorf("output folder %s: %w", s.Config.Out, err))
	}
	if c := s.Config.Checkpoint; c.Dir != "" {
		cp := data.Checkpoints{Dir: c.Dir, Keep: 2, Resume: c.Resume, Restart: s.Restart}
		if s.checkpoint, err = cp.OpenFolder(ctx, s.r.Comm, warn); err != nil {
			return asConfigError(err)
		}
	}
	var notes []string
	if s.r.Rank() == 0 {
		notes, err = s.checkDisk()
		notes = append(s.out.notes, notes...)
		s.out.notes = nil
	}
	if err := comm.Agree(ctx, s.r.Comm, err); err != nil {
		return asConfigError(err)
	}
	if err := comm.BroadcastObject(ctx, s.r.Comm, &notes, 0); err != nil {
		return err
	}
	for _, n := range notes {
		warn(n)
	}
	return nil
}

// asConfigError makes a *ConfigError of err, unless communication has failed.
func asConfigError(err error) error {
	if errors.Is(err, context.Canceled) || errors.As(err, new(*comm.AbortError)) {
		return err
	}
	if r, ok := err.(*comm.RankError); ok && r.Rank == 0 {
		err = r.Err // rank 0 opens the folder for all ranks
	}
	return &ConfigError{err}
}

// closeFolders releases the folders. It is not collective.
func (s *session[T]) closeFolders() {
	if s.checkpoint != nil {
		s.checkpoint.Close()
	}
	s.out.close()
}

// checkFolders says which options of the folders contradict each other.
func (j *Job) checkFolders() error {
	c := j.Config.Checkpoint
	if j.Restart && c.Dir == "" {
		return errors.New("restart needs a checkpoint folder")
	}
	if j.Restart && c.Resume {
		return errors.New("resume and restart exclude each other: choose one")
	}
	return j.Config.separate()
}

// reportBytes is about the size of pictures, page and tables.
const reportBytes = 4 << 20

// checkDisk compares the bytes that the run will write with the free ones. It returns
// an error if they certainly do not fit, and warnings if they may not fit.
func (s *session[T]) checkDisk() (warnings []string, err error) {
	elem := 8.0
	if s.Config.Operator.Type == "float32" {
		elem = 4
	}
	img := elem * float64(s.Grid.Nodes())
	traces := elem * float64(len(s.Sources)) * float64(len(s.Receivers)) * float64(s.Config.Time.Samples)
	results := 2 * img
	if s.Reflectivity != nil {
		results += img + traces
	}
	needs := []struct {
		what, dir     string
		least, likely float64
	}{{"the results", s.dir, results, results + reportBytes}}
	if s.checkpoint != nil {
		// The state is at least the image, a direction and the residual, and there
		// are two kept and one that is being written.
		state := 2*img + traces
		needs = append(needs, needs[0])
		needs[1].what, needs[1].dir, needs[1].least, needs[1].likely = "the checkpoints", s.checkpoint.Dir, state, 3*state
		if disk.SameDisk(s.dir, s.checkpoint.Dir) {
			needs[0].what = "results and checkpoints"
			needs[0].least += state
			needs[0].likely += 3 * state
			needs = needs[:1]
		}
	}
	for _, n := range needs {
		free, ok := disk.Free(n.dir)
		switch text := fmt.Sprintf("%s of %s need about %s, the disk has %s free", n.what, s.Config.Out, device.BytesText(int64(n.likely)), device.BytesText(int64(free))); {
		case !ok || n.likely <= float64(free):
		case n.least > float64(free):
			err = errors.Join(err, errors.New(text+": make room, or choose another disk"))
		default:
			warnings = append(warnings, text)
		}
	}
	return warnings, err
}
