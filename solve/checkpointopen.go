package solve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golops/golops/comm"
	"github.com/golops/golops/internal/disk"
)

// openFolder is a folder that is ready for a run.
type openFolder struct {
	lock  *disk.Lock // on rank 0
	made  string     // the topmost folder that was not there before; on rank 0
	names []string   // of the checkpoints, newest first
	notes []string
}

// Open makes Dir ready: it makes the folder, locks it until Close, writes to it
// from every rank and looks at what it holds. Run does this at its start. A
// program that computes for long before Run calls Open first and gives Run the
// Checkpoint that it returns. note, which may be nil, hears what a user should
// know. Without a Dir there is nothing to do. It is collective.
func (c Checkpoint) Open(ctx context.Context, g comm.Comm, note func(string)) (Checkpoint, error) {
	if c.Dir == "" || c.open != nil {
		return c, nil
	}
	o := &openFolder{}
	found := struct{ Names, Notes []string }{}
	var err error
	if g.Rank() == 0 {
		if err = o.prepare(c); err != nil {
			if bare := disk.Bare(err); bare != err {
				err = fmt.Errorf("it cannot be written: %w", bare)
			}
			err = fmt.Errorf("checkpoint folder %s: %w", c.Dir, err)
		}
		found.Names, found.Notes = o.names, o.notes
	}
	if err = comm.Agree(ctx, g, err); err == nil {
		if err = disk.Probe(ctx, g, c.Dir); err == nil {
			err = comm.BroadcastObject(ctx, g, &found, 0)
		}
	}
	c.open = o
	if err != nil {
		c.Close()
		return c, err
	}
	o.names, o.notes = found.Names, found.Notes
	if note != nil {
		for _, text := range o.notes {
			note(text)
		}
	}
	return c, nil
}

// Close gives the folder free that Open has locked. It is not collective.
func (c Checkpoint) Close() {
	if c.open == nil {
		return
	}
	c.open.lock.Release()
	disk.RemoveEmpty(c.open.made, filepath.Clean(c.Dir))
}

// prepare is the part of rank 0.
func (o *openFolder) prepare(c Checkpoint) (err error) {
	if o.made, err = disk.MkdirAll(filepath.Clean(c.Dir), 0o777); err != nil {
		return err
	}
	o.lock, err = disk.Acquire(filepath.Join(c.Dir, ".golops-lock"))
	if errors.Is(err, errors.ErrUnsupported) {
		o.notes = append(o.notes, fmt.Sprintf("checkpoint folder %s: its file system has no locks: see that no other run uses it", c.Dir))
		err = nil
	}
	if err != nil {
		return err
	}
	f := folder{Checkpoint: c}
	done, undone, err := f.list()
	if err != nil {
		return err
	}
	if len(done) > 0 && !c.Resume && !c.Restart {
		_, iter, _ := parseName(done[0])
		return fmt.Errorf("it holds checkpoints of an earlier run, the newest of iteration %d: choose resume to go on from it, restart to begin anew and replace them, or another folder", iter)
	}
	if len(done) == 0 && c.Resume {
		o.notes = append(o.notes, fmt.Sprintf("no checkpoint in %s: starts from the beginning", c.Dir))
	}
	if o.lock != nil { // what killed runs have left takes space
		for _, path := range undone {
			_ = os.Remove(path)
		}
	}
	o.names = done
	return nil
}
