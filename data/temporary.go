package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// temporary is a file that will be called path once it is complete.
type temporary struct {
	*os.File
	path      string
	published bool
}

// create makes an empty file in the folder of path. A link is followed, so that
// what it points to is replaced and not the link. Devices and folders are
// refused: renaming would replace them by a file.
func create(path string) (*temporary, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o666) // less what the umask takes away
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, errors.New("it is there already and is no regular file: choose another name")
	case err == nil:
		mode = info.Mode().Perm()
	}
	for {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".golops-%016x.tmp", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode|0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("temporary file in the same folder: %w", bare(err))
		}
		return &temporary{File: f, path: path}, nil
	}
}

// publish waits until the content is on disk and gives the file its name.
func (t *temporary) publish() error {
	if err := t.Sync(); err != nil {
		return bare(err)
	}
	if err := t.Close(); err != nil {
		return bare(err)
	}
	if err := os.Rename(t.Name(), t.path); err != nil {
		return bare(err)
	}
	t.published = true
	// The new name is on disk only when the folder is. Some file systems refuse
	// to sync one; the file is complete in any case.
	if dir, err := os.Open(filepath.Dir(t.path)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// discard removes the file, unless it has been published.
func (t *temporary) discard() {
	if t != nil && !t.published {
		_ = t.Close() // fails where publish has closed it already
		_ = os.Remove(t.Name())
	}
}

// atomically writes a file through write, so that path holds all of it or what
// it held before.
func atomically(path string, write func(io.Writer) error) error {
	t, err := create(path)
	if err != nil {
		return err
	}
	defer t.discard()
	b := bufio.NewWriterSize(t, 1<<16)
	if err := write(b); err != nil {
		return bare(err)
	}
	if err := b.Flush(); err != nil {
		return bare(err)
	}
	return t.publish()
}
