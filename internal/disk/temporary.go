package disk

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

// Temporary is a file that will be called by another name once it is complete.
type Temporary struct {
	*File
	path      string
	published bool
}

// Create makes an empty file in the folder of path. A link is followed, so that
// what it points to is replaced and not the link. Devices, pipes, folders and
// links to nothing are refused: renaming would replace them by a file. The mode
// is that of the file that is replaced, or 0666, less what the umask takes away.
// Errors do not name path, here and below: the caller does.
func Create(path string) (*Temporary, error) {
	mode := fs.FileMode(0o666)
	switch info, err := os.Stat(path); {
	case err == nil && !info.Mode().IsRegular():
		return nil, errors.New("it is there already and is no regular file: choose another name")
	case err == nil:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, Bare(err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, Bare(err)
	default:
		if _, err := os.Lstat(path); err == nil {
			return nil, errors.New("it is a link to something that is not there: remove the link, or choose another name")
		}
	}
	for {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".golops-%016x.tmp", rand.Uint64()))
		f, err := OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode|0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("temporary file in the same folder: %w", Bare(err))
		}
		return &Temporary{File: f, path: path}, nil
	}
}

// Publish waits until the content is on disk and gives the file its name.
func (t *Temporary) Publish() error {
	if err := t.Sync(); err != nil {
		return Bare(err)
	}
	if err := t.Close(); err != nil {
		return Bare(err)
	}
	if err := Rename(t.Name(), t.path); err != nil {
		return Bare(err)
	}
	t.published = true
	SyncDir(filepath.Dir(t.path)) // the new name is on disk only when the folder is
	return nil
}

// Discard removes the file, unless it has been published. A nil Temporary is
// none.
func (t *Temporary) Discard() {
	if t != nil && !t.published {
		_ = t.Close() // fails where Publish has closed it already
		_ = os.Remove(t.Name())
	}
}

// Save writes a file through write, so that path holds all of it or what it
// held before.
func Save(path string, write func(io.Writer) error) error {
	t, err := Create(path)
	if err != nil {
		return err
	}
	defer t.Discard()
	b := bufio.NewWriterSize(t, 1<<16)
	if err := write(b); err != nil {
		return Bare(err)
	}
	if err := b.Flush(); err != nil {
		return Bare(err)
	}
	return t.Publish()
}

// Try returns the error that Save would have for this path before it writes, so
// that it is found before there is anything to save.
func Try(path string) error {
	t, err := Create(path)
	t.Discard()
	return err
}

// Bare takes the name of the file out of an error, for it may be that of a
// temporary one. The caller names the file.
func Bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return fmt.Errorf("%s: %w", l.Op, l.Err)
	}
	return err
}
