// Package disk is the door through which golops writes files: whole files that
// appear under their names at once, folders that are tried before they are
// needed, and locks on folders in use. Every call that can fail for want of
// space passes Inject, so that tests can let it fail.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// The calls that a Fault can see.
const (
	OpMkdir    = "mkdir"
	OpOpen     = "open"
	OpWrite    = "write"
	OpTruncate = "truncate"
	OpSync     = "sync"
	OpRename   = "rename"
)

// Fault decides whether a call on a path fails. It may be called by several
// goroutines at once.
type Fault func(op, path string) error

var injected atomic.Pointer[Fault]

// Inject lets calls of this process fail as f says, until restore is called. It
// is for tests.
func Inject(f Fault) (restore func()) {
	injected.Store(&f)
	return func() { injected.Store(nil) }
}

// fault returns what a test has in mind for a call.
func fault(op, path string) error {
	f := injected.Load()
	if f == nil {
		return nil
	}
	if err := (*f)(op, path); err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

// File is a file that is written.
type File struct{ *os.File }

// OpenFile is os.OpenFile.
func OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	if err := fault(OpOpen, name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &File{f}, nil
}

// Write is that of os.File. An injected fault comes after half of the bytes, as
// that of a full disk does.
func (f *File) Write(b []byte) (int, error) {
	if err := fault(OpWrite, f.Name()); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		return n, err
	}
	return f.File.Write(b)
}

// WriteAt is that of os.File, with faults as in Write.
func (f *File) WriteAt(b []byte, at int64) (int, error) {
	if err := fault(OpWrite, f.Name()); err != nil {
		n, _ := f.File.WriteAt(b[:len(b)/2], at)
		return n, err
	}
	return f.File.WriteAt(b, at)
}

// WriteString is Write.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// Truncate is that of os.File.
func (f *File) Truncate(size int64) error {
	if err := fault(OpTruncate, f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// Sync is that of os.File.
func (f *File) Sync() error {
	if err := fault(OpSync, f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

// Mkdir is os.Mkdir.
func Mkdir(path string, perm fs.FileMode) error {
	if err := fault(OpMkdir, path); err != nil {
		return err
	}
	return os.Mkdir(path, perm)
}

// MkdirAll is os.MkdirAll. It returns the topmost folder that it made, "" if
// all were there, so that an unused one can be taken away again.
func MkdirAll(path string, perm fs.FileMode) (made string, err error) {
	for p := path; ; p = filepath.Dir(p) {
		if _, err := os.Lstat(p); err == nil || p == filepath.Dir(p) {
			break
		}
		made = p
	}
	if made != "" {
		if err := fault(OpMkdir, path); err != nil {
			return "", err
		}
	}
	return made, os.MkdirAll(path, perm)
}

// RemoveEmpty takes folders away again that MkdirAll has made for path, as far as
// they are empty. A made of "" means none.
func RemoveEmpty(made, path string) {
	if made == "" {
		return
	}
	for {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) || path == made {
			return
		}
		path = filepath.Dir(path)
	}
}

// Rename is os.Rename.
func Rename(from, to string) error {
	if err := fault(OpRename, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// SyncDir waits until the names in a folder are on disk. Some file systems
// refuse to sync a folder. The files are complete in any case, so nothing is
// returned.
func SyncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
