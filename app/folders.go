package app

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
func (r *Rank) openFolders(ctx context.Context) error {
	warn := func(text string) {
		r.notes = append(r.notes, text)
		r.o.Warn(text)
	}
	var err error
	if err = r.checkFolders(); err == nil && r.Rank() == 0 {
		if r.out, err = r.openOut(r.base.Out, r.ctl.Force); err == nil {
			r.dir = r.out.work
		}
	}
	if err := comm.Agree(ctx, r.Proc().Comm, err); err != nil {
		return asConfigError(err)
	}
	if err := comm.BroadcastObject(ctx, r.Proc().Comm, &r.dir, 0); err != nil {
		return err
	}
	if err := disk.Probe(ctx, r.Proc().Comm, r.dir); err != nil {
		return asConfigError(fmt.Errorf("output folder %s: %w", r.base.Out, err))
	}
	if c := r.base.Checkpoint; c.Dir != "" {
		cp := data.Checkpoints{Dir: c.Dir, Keep: 2, Resume: c.Resume, Restart: r.ctl.Restart}
		if r.checkpoint, err = cp.OpenFolder(ctx, r.Proc().Comm, warn); err != nil {
			return asConfigError(err)
		}
	}
	var notes []string
	if r.Rank() == 0 {
		notes, err = r.checkDisk()
		notes = append(r.out.notes, notes...)
		r.out.notes = nil
	}
	if err := comm.Agree(ctx, r.Proc().Comm, err); err != nil {
		return asConfigError(err)
	}
	if err := comm.BroadcastObject(ctx, r.Proc().Comm, &notes, 0); err != nil {
		return err
	}
	for _, n := range notes {
		warn(n)
	}
	return nil
}

// closeFolders releases the folders. It is not collective.
func (r *Rank) closeFolders() {
	if r.checkpoint != nil {
		r.checkpoint.Close()
	}
	r.out.close()
}

// checkFolders says which options of the folders contradict each other.
func (r *Rank) checkFolders() error {
	c := r.base.Checkpoint
	if r.ctl.Restart && c.Dir == "" {
		return errors.New("restart needs a checkpoint folder")
	}
	if r.ctl.Restart && c.Resume {
		return errors.New("resume and restart exclude each other: choose one")
	}
	return r.separate(r.task.Config)
}

// reportBytes is about the size of pictures, page and tables.
const reportBytes = 4 << 20

// checkDisk compares the bytes that the run will write with the free ones. It returns
// an error if they certainly do not fit, and warnings if they may not fit.
func (r *Rank) checkDisk() (warnings []string, err error) {
	needs := []struct {
		what, dir     string
		least, likely float64
	}{{"the results", r.dir, r.task.Bytes, r.task.Bytes + reportBytes}}
	if r.checkpoint != nil {
		state := r.task.State // two are kept and one is being written
		needs = append(needs, needs[0])
		needs[1].what, needs[1].dir, needs[1].least, needs[1].likely = "the checkpoints", r.checkpoint.Dir, state, 3*state
		if disk.SameDisk(r.dir, r.checkpoint.Dir) {
			needs[0].what = "results and checkpoints"
			needs[0].least += state
			needs[0].likely += 3 * state
			needs = needs[:1]
		}
	}
	for _, n := range needs {
		free, ok := disk.Free(n.dir)
		switch text := fmt.Sprintf("%s of %s need about %s, the disk has %s free", n.what, r.base.Out, device.BytesText(int64(n.likely)), device.BytesText(int64(free))); {
		case !ok || n.likely <= float64(free):
		case n.least > float64(free):
			err = errors.Join(err, errors.New(text+": make room, or choose another disk"))
		default:
			warnings = append(warnings, text)
		}
	}
	return warnings, err
}
