package solve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Checkpoint says where and how often the state of a run is written. A run that
// converges, is stopped or comes to its limit writes one at its end too. One that
// cannot be written is a note of the Result, and the run goes on.
type Checkpoint struct {
	// Dir is a folder that all ranks see and that belongs to one run at a time. A
	// run finds out at its start whether it can write there. Without a Dir there are
	// no checkpoints. If Dir has checkpoints already, Resume or Restart must say what
	// becomes of them.
	Dir      string
	Every    int           // iterations between two; with 0, iterations do not count
	Interval time.Duration // time between two, by the clock of rank 0; with 0, time does not count
	Keep     int           // how many stay, at least 1; older ones are removed
	Resume   bool          // go on from the newest valid one, if there are any
	Restart  bool          // start from the beginning; older ones go when the first new one is written
	open     *openFolder
}

func (c Checkpoint) validate() error {
	var errs []error
	if c.Every < 0 || c.Interval < 0 || c.Keep < 0 {
		errs = append(errs, fmt.Errorf("the Checkpoint is every %d iterations or %v, keeping %d: none may be negative", c.Every, c.Interval, c.Keep))
	}
	if c.Dir == "" && (c.Every != 0 || c.Interval != 0 || c.Resume || c.Restart) {
		errs = append(errs, errors.New("the Checkpoint has no Dir"))
	}
	if c.Dir != "" && c.Keep == 0 {
		errs = append(errs, errors.New("the Checkpoint keeps 0 files: set Keep to how many stay, 2 for example"))
	}
	if c.Resume && c.Restart {
		errs = append(errs, errors.New("the Checkpoint says both Resume and Restart"))
	}
	return errors.Join(errs...)
}

// text is what all ranks must have in common.
func (c Checkpoint) text() string {
	return fmt.Sprintf("%s every %d or %v, Keep %d, Resume %t, Restart %t", c.Dir, c.Every, c.Interval, c.Keep, c.Resume, c.Restart)
}

// folder is the checkpoints of a run on the disk.
type folder struct {
	Checkpoint
	last     int      // the number of the newest file
	failed   []int    // iterations whose checkpoint could not be written
	failedAt int      // the place of their note
	refused  []string // what is not worth keeping
}

// A file is called iteration-ITERATION-state-NUMBER.checkpoint. Numbers go up
// by one from file to file, over all runs of a folder, for a run that starts
// anew has lower iterations than the one before it.
const suffix, temporary = ".checkpoint", ".tmp"

// next names the file after the newest one.
func (f *folder) next(iter int) string {
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

// list returns the finished and the unfinished checkpoints of the folder, newest
// first. A folder that is not there has none.
func (f *folder) list() (done, undone []string, err error) {
	all, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range all {
		path := filepath.Join(f.Dir, e.Name())
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
func (f *folder) prune() error {
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
