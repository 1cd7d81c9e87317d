package data

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/golops/golops/internal/disk"
)

// A file is called iteration-ITERATION-state-NUMBER.checkpoint. Numbers go up
// by one from file to file, over all runs of a folder, for a run that starts
// anew has lower iterations than the one before it.
const suffix, temporary = ".checkpoint", ".tmp"

// prepare is the part of rank 0 in opening the folder.
func (f *CheckpointFolder) prepare() (notes []string, err error) {
	if f.made, err = disk.MkdirAll(filepath.Clean(f.Dir), 0o777); err != nil {
		return nil, err
	}
	f.lock, err = disk.Acquire(filepath.Join(f.Dir, ".golops-lock"))
	if errors.Is(err, errors.ErrUnsupported) {
		notes = append(notes, fmt.Sprintf("checkpoint folder %s: its file system has no locks: see that no other run uses it", f.Dir))
		err = nil
	}
	if err != nil {
		return nil, err
	}
	done, undone, err := f.list()
	if err != nil {
		return nil, err
	}
	if len(done) > 0 && !f.Resume && !f.Restart {
		_, iter, _ := parseName(done[0])
		return nil, fmt.Errorf("it holds checkpoints of an earlier run, the newest of iteration %d: choose resume to go on from it, restart to begin anew and replace them, or another folder", iter)
	}
	if len(done) == 0 && f.Resume {
		notes = append(notes, fmt.Sprintf("no checkpoint in %s: starts from the beginning", f.Dir))
	}
	if f.lock != nil { // what killed runs have left takes space
		for _, path := range undone {
			_ = os.Remove(path)
		}
	}
	f.names = done
	return notes, nil
}

// next names the file after the newest one.
func (f *CheckpointFolder) next(iter int) string {
	f.last++
	return filepath.Join(f.Dir, fmt.Sprintf("iteration-%06d-state-%06d%s", iter, f.last, suffix))
}

// parseName returns the number and the iteration in a name, if it is one of a
// checkpoint, unfinished ones included.
func parseName(name string) (n, iter int, ok bool) {
	base := strings.TrimSuffix(filepath.Base(name), temporary)
	got, err := fmt.Sscanf(base, "iteration-%d-state-%d"+suffix, &iter, &n)
	return n, iter, err == nil && got == 2 && n >= 0 && strings.HasSuffix(base, suffix)
}

// Newest returns the iteration of the newest checkpoint in the folder, if there is
// one.
func (c Checkpoints) Newest() (iter int, found bool) {
	done, _, err := c.list()
	if err != nil || len(done) == 0 {
		return 0, false
	}
	_, iter, found = parseName(done[0])
	return iter, found
}

// list returns the finished and the unfinished checkpoints of the folder, newest
// first. A folder that is not there has none.
func (c Checkpoints) list() (done, undone []string, err error) {
	all, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range all {
		path := filepath.Join(c.Dir, e.Name())
		if _, _, ok := parseName(path); !ok || !e.Type().IsRegular() {
			continue
		}
		if strings.HasSuffix(path, temporary) {
			undone = append(undone, path)
		} else {
			done = append(done, path)
		}
	}
	slices.SortFunc(done, func(a, b string) int {
		m, _, _ := parseName(a)
		n, _, _ := parseName(b)
		return cmp.Or(cmp.Compare(n, m), strings.Compare(b, a))
	})
	return done, undone, nil
}

// prune removes what is too old, was refused, or was never finished.
func (f *CheckpointFolder) prune() error {
	done, undone, err := f.list()
	if err != nil {
		return err
	}
	keep := f.Keep
	for _, path := range done {
		if keep > 0 && !slices.Contains(f.refused, path) {
			keep--
			continue
		}
		undone = append(undone, path)
	}
	for _, path := range undone {
		if e := os.Remove(path); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}
