package app

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/golops/golops/internal/disk"
)

// outFolder is where a run writes its results: a working folder, which replaces the
// target folder that the user named when the results are complete. Rank 0 has it.
//
// If the target exists and is empty, the working folder is made inside it, because
// the user may have no right to write beside it. Otherwise it is made beside it.
type outFolder struct {
	*spec
	named   string // as the user wrote it
	target  string // the absolute path of named
	work    string // the working folder
	inside  bool   // work lies in target
	older   bool   // target holds the results of an earlier run
	force   bool   // older results may be removed
	lock    *disk.Lock
	keep    bool   // work has results that could not be moved to target
	created string // the topmost folder that was made for target
	notes   []string
}

// openOut makes the folder of a run. An error says what the user can do.
func (s *spec) openOut(name string, force bool) (*outFolder, error) {
	f := &outFolder{spec: s, named: filepath.Clean(name), force: force}
	if err := f.open(); err != nil {
		f.close()
		if bare := disk.Bare(err); bare != err {
			return nil, fmt.Errorf("output folder %s: it cannot be written: %w", f.named, bare)
		}
		return nil, fmt.Errorf("output folder %s: %w", f.named, err)
	}
	return f, nil
}

func (f *outFolder) open() (err error) {
	if err := f.inspect(); err != nil {
		return err
	}
	side := f.target
	if !f.inside {
		side = filepath.Dir(f.target)
		if f.created, err = disk.MkdirAll(side, 0o777); err != nil {
			return err
		}
	}
	hidden := filepath.Join(side, ".golops-"+filepath.Base(f.target))
	f.lock, err = disk.Acquire(hidden + ".lock")
	if errors.Is(err, errors.ErrUnsupported) {
		f.note("output folder %s: its file system has no locks: see that no other run uses it", f.named)
	} else if err != nil {
		return err
	}
	was := *f // another run may have changed the folder before the lock was acquired
	if err := f.inspect(); err != nil {
		return err
	}
	if f.inside != was.inside || f.target != was.target {
		return errors.New("another run has just used it: try again")
	}
	f.clean(hidden)
	// Renaming is tried now, because the end of the run depends on it.
	try := fmt.Sprintf("%s.partial-%016x", hidden, rand.Uint64())
	if err := disk.Mkdir(try, 0o777); err != nil {
		return err
	}
	f.work = try
	if err := disk.Rename(try, try+"-"); err != nil {
		return err
	}
	f.work = try + "-"
	return nil
}

// inspect finds out whether the target exists and what it holds.
func (f *outFolder) inspect() (err error) {
	f.inside, f.older = false, false
	if f.target, err = filepath.Abs(f.named); err != nil {
		return err
	}
	info, err := os.Stat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(f.target); err == nil {
			return errors.New("it is a link to something that is not there")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.New("it is there already and is no folder: choose another name")
	}
	if f.target, err = filepath.EvalSymlinks(f.target); err != nil {
		return err
	}
	all, err := os.ReadDir(f.target)
	if err != nil {
		return err
	}
	result, strange := false, []string{}
	for _, e := range all {
		switch n := e.Name(); {
		case strings.HasPrefix(n, ".golops-"):
		case !slices.Contains(f.names, n) || !e.Type().IsRegular():
			strange = append(strange, strconv.Quote(n))
		default:
			result = result || n == f.image() || n == residualsFile || n == pageFile
			f.older = true
		}
	}
	switch {
	case len(strange) > 0:
		return fmt.Errorf("it holds files that are no results of golops %s, such as %s: choose a new folder, or an empty one", f.name, strange[0])
	case f.older && !result:
		return fmt.Errorf("it is not empty and holds no results of golops %s: choose a new folder, or an empty one", f.name)
	case !f.older:
		f.inside = true
		return nil
	}
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(f.target, here); err == nil && filepath.IsLocal(rel) {
			return errors.New("it is the current folder and holds earlier results, and cannot be moved away: choose another")
		}
	}
	if !disk.SameDisk(f.target, filepath.Dir(f.target)) {
		return errors.New("it is the root of a file system and holds earlier results, and cannot be moved away: choose a folder in it")
	}
	return nil
}

// clean removes the working folders of killed runs, unless they hold an image.
func (f *outFolder) clean(hidden string) {
	if f.lock == nil {
		return // another run may be at work
	}
	stale, _ := filepath.Glob(hidden + ".partial-*")
	for _, dir := range stale {
		if _, err := os.Stat(filepath.Join(dir, f.image())); err == nil {
			f.note("a run that was killed has left its results in %s", dir)
			continue
		}
		if f.removeResults(dir) == nil {
			f.note("%s, which a run that was killed had left, is removed", dir)
		}
	}
}

// removeResults removes the results in a folder, and the folder if nothing is left.
func (f *outFolder) removeResults(dir string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range all {
		if n := e.Name(); slices.Contains(f.names, n) || strings.HasPrefix(n, ".golops-") {
			os.Remove(filepath.Join(dir, n))
		}
	}
	return os.Remove(dir)
}

func (f *outFolder) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// has reports whether a file is there.
func (f *outFolder) has(name string) bool {
	info, err := os.Stat(filepath.Join(f.work, name))
	return err == nil && info.Mode().IsRegular()
}

// publish moves the results to the target. Older results are kept under a numbered
// name, or removed if complete and force are set. If the results cannot be moved,
// they stay together in another folder. Afterwards work is the folder that has them,
// "" if there are none.
func (f *outFolder) publish(complete bool) error {
	if left, err := os.ReadDir(f.work); err == nil && len(left) == 0 {
		_ = os.Remove(f.work)
		f.work = ""
		return nil
	}
	var err error
	switch {
	case f.inside:
		err = f.moveFiles()
	case !f.has(f.image()):
		f.keepBeside(".incomplete")
		return nil
	case f.older:
		err = f.replace(f.force && complete)
	default:
		err = disk.Rename(f.work, f.target)
	}
	if err != nil && !f.inside {
		f.keepBeside(".new")
		return fmt.Errorf("%s: %w", f.named, disk.Bare(err))
	}
	f.work, f.created = f.target, ""
	disk.SyncDir(filepath.Dir(f.target))
	return err
}

// moveFiles moves the files from the working folder to the target around it, the
// image first.
func (f *outFolder) moveFiles() (errs error) {
	for _, n := range f.names {
		if !f.has(n) {
			continue
		}
		to := filepath.Join(f.target, n)
		_, err := os.Lstat(to)
		if err == nil {
			err = errors.New("another file has come to be there")
		} else {
			err = disk.Rename(filepath.Join(f.work, n), to)
		}
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("%s stays in %s: %w", n, f.work, disk.Bare(err)))
		}
	}
	_ = os.Remove(f.work)
	disk.SyncDir(f.target)
	return errs
}

// replace moves older results away and the new ones to the target.
func (f *outFolder) replace(remove bool) error {
	old := fmt.Sprintf("%s.%d", f.target, f.nextNumber())
	if err := disk.Rename(f.target, old); err != nil {
		return fmt.Errorf("the older results cannot be moved away: %w", err)
	}
	if err := disk.Rename(f.work, f.target); err != nil {
		if back := os.Rename(old, f.target); back != nil {
			return errors.Join(err, fmt.Errorf("the older results are in %s: %w", old, back))
		}
		return err
	}
	if remove {
		if err := f.removeResults(old); err == nil {
			return nil
		}
	}
	f.note("the older results are now in %s", filepath.Join(filepath.Dir(f.named), filepath.Base(old)))
	return nil
}

// nextNumber returns the number for older results, one more than the largest in use.
func (f *outFolder) nextNumber() int {
	n := 1
	all, _ := os.ReadDir(filepath.Dir(f.target))
	for _, e := range all {
		if s, ok := strings.CutPrefix(e.Name(), filepath.Base(f.target)+"."); ok {
			if k, err := strconv.Atoi(s); err == nil {
				n = max(n, k+1)
			}
		}
	}
	return n
}

// keepBeside leaves the results in a folder beside the target.
func (f *outFolder) keepBeside(suffix string) {
	f.keep = true
	for n := 1; ; n++ {
		to := f.target + suffix
		if n > 1 {
			to += "." + strconv.Itoa(n)
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if disk.Rename(f.work, to) == nil {
			f.work, f.created = to, ""
		}
		return
	}
}

// shown returns the folder of the results as the user named it.
func (f *outFolder) shown() string {
	if f.work == f.target {
		return f.named
	}
	return f.work
}

// close releases the lock and removes the working folder of a run that failed before
// it had results.
func (f *outFolder) close() {
	if f == nil {
		return
	}
	if f.work != "" && f.work != f.target && !f.keep {
		_ = f.removeResults(f.work)
	}
	f.lock.Release()
	disk.RemoveEmpty(f.created, filepath.Dir(f.target))
}
