package data

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/disk"
	"github.com/golops/golops/solve"
	"github.com/golops/golops/trace"
)

// Checkpoints is a folder for the states of a solver: solve.Checkpoint{Saver:
// data.Checkpoints{Dir: "states", Keep: 2}} writes them as files.
type Checkpoints struct {
	// Dir is a folder that all ranks see and that belongs to one run at a time. A
	// run finds out at its start whether it can write there. If Dir has checkpoints
	// already, Resume or Restart must say what becomes of them.
	Dir     string
	Keep    int  // how many stay, at least 1; older ones are removed
	Resume  bool // go on from the newest valid one, if there are any
	Restart bool // start from the beginning; older ones go when the first new one is written
}

// Validate reports everything that is wrong with c.
func (c Checkpoints) Validate() error {
	var errs []error
	if c.Dir == "" {
		errs = append(errs, errors.New("the Checkpoints have no Dir"))
	}
	if c.Keep <= 0 {
		errs = append(errs, fmt.Errorf("the Checkpoints keep %d files: set Keep to how many stay, 2 for example", c.Keep))
	}
	if c.Resume && c.Restart {
		errs = append(errs, errors.New("the Checkpoints say both Resume and Restart"))
	}
	return errors.Join(errs...)
}

func (c Checkpoints) String() string {
	return fmt.Sprintf("%s, Keep %d, Resume %t, Restart %t", c.Dir, c.Keep, c.Resume, c.Restart)
}

// CheckpointFolder is a folder of checkpoints that is ready for a run. It is a
// solve.Saver, too: a program that computes for long before its run opens the folder
// first, and closes it itself.
type CheckpointFolder struct {
	Checkpoints
	group   *comm.Comm
	note    func(text string)
	lock    *disk.Lock // on rank 0
	made    string     // the topmost folder that was not there before; on rank 0
	names   []string   // of the checkpoints that were there, newest first
	last    int        // the number of the newest file
	refused []string   // files that are not worth keeping
}

var (
	_ solve.Saver  = Checkpoints{}
	_ solve.Saver  = (*CheckpointFolder)(nil)
	_ solve.States = (*CheckpointFolder)(nil)
)

// Open is OpenFolder, for solve.Run.
func (c Checkpoints) Open(ctx context.Context, g *comm.Comm, note func(text string)) (solve.States, error) {
	f, err := c.OpenFolder(ctx, g, note)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// OpenFolder makes the folder, locks it until Close, writes to it from every rank and
// looks at what it holds. note, which may be nil, hears what a user should know. It is
// collective.
func (c Checkpoints) OpenFolder(ctx context.Context, g *comm.Comm, note func(text string)) (*CheckpointFolder, error) {
	if note == nil {
		note = func(string) {}
	}
	f := &CheckpointFolder{Checkpoints: c, group: g, note: note}
	found := struct{ Names, Notes []string }{}
	var err error
	if g.Rank() == 0 {
		if found.Notes, err = f.prepare(); err != nil {
			if bare := bare(err); bare != err {
				err = fmt.Errorf("it cannot be written: %w", bare)
			}
			err = fmt.Errorf("checkpoint folder %s: %w", c.Dir, err)
		}
		found.Names = f.names
	}
	if err = comm.Agree(ctx, g, err); err == nil {
		if err = disk.Probe(ctx, g, c.Dir); err == nil {
			err = comm.BroadcastObject(ctx, g, &found, 0)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	f.names = found.Names
	for _, text := range found.Notes {
		note(text)
	}
	return f, nil
}

// Close unlocks the folder. It is not collective.
func (f *CheckpointFolder) Close() {
	f.lock.Release()
	disk.RemoveEmpty(f.made, filepath.Clean(f.Dir))
}

// Open returns f for a run, which does not close it.
func (f *CheckpointFolder) Open(_ context.Context, _ *comm.Comm, note func(text string)) (solve.States, error) {
	f.note = note
	return stillOpen{f}, nil
}

type stillOpen struct{ *CheckpointFolder }

func (stillOpen) Close() {}

// Load reads the newest checkpoint that is valid and of the same run as s, if Resume
// is set. It is collective.
func (f *CheckpointFolder) Load(ctx context.Context, s *solve.State) (found bool, err error) {
	defer trace.Begin(ctx, "read a checkpoint").End()
	if len(f.names) == 0 {
		return false, nil
	}
	f.last, _, _ = parseName(f.names[0])
	if f.Restart {
		f.refused = f.names
		return false, nil
	}
	var refused []string
	foreign := false
	for _, n := range f.names {
		reason, err := readCheckpoint(ctx, f.group, n, s)
		if err != nil {
			return false, fmt.Errorf("%s: %w", n, err)
		}
		if reason == nil && foreign {
			return false, fmt.Errorf("the folder has newer checkpoints of another run: %s: use another folder for one of them", strings.Join(refused, "; "))
		}
		if reason == nil {
			return true, nil
		}
		if foreign, err = anyRank(ctx, f.group, foreign || errors.As(reason, new(*otherRun))); err != nil {
			return false, err
		}
		f.refused = append(f.refused, n)
		refused = append(refused, fmt.Sprintf("%s is refused: %v", n, reason))
		f.note(refused[len(refused)-1])
	}
	return false, fmt.Errorf("no checkpoint is valid: %s: start without resuming, or in another folder", strings.Join(refused, "; "))
}

// anyRank reports whether v holds on any rank. It is collective.
func anyRank(ctx context.Context, g *comm.Comm, v bool) (bool, error) {
	b := []int32{0}
	if v {
		b[0] = 1
	}
	err := g.AllReduce(ctx, comm.Of(b), comm.Of(b), comm.Max)
	return b[0] != 0, err
}

// Save writes a checkpoint and removes those that are too old. It is collective.
func (f *CheckpointFolder) Save(ctx context.Context, s *solve.State) (refused, err error) {
	defer trace.Begin(ctx, "write a checkpoint").End()
	refused, err = writeCheckpoint(ctx, f.group, f.next(s.Iters), s)
	if refused != nil || err != nil {
		return refused, err
	}
	var fault error
	if f.group.Rank() == 0 {
		fault = f.prune()
	}
	reason, err := agreeToRefuse(ctx, f.group, fault)
	if reason != nil {
		f.note(fmt.Sprintf("old checkpoints cannot be removed: %v", reason))
	}
	return nil, err
}
