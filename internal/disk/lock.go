package disk

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Lock says that this process uses a folder.
type Lock struct {
	f    *os.File
	path string
}

// InUseError says who holds a lock.
type InUseError struct{ Holder string }

func (e *InUseError) Error() string { return "it is in use by " + e.Holder }

// Acquire locks the file path, which it makes. The lock goes with the process,
// however that ends. An *InUseError names the holder. Where the file system has
// no locks the error is errors.ErrUnsupported.
func Acquire(path string) (*Lock, error) {
	for {
		f, err := OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o666)
		if err != nil {
			return nil, err
		}
		if err := flock(f.File); err != nil {
			holder := read(f.File)
			f.Close()
			if errors.Is(err, errHeld) {
				return nil, &InUseError{holder}
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !current(f.File, path) { // its holder has just removed it
			f.Close()
			continue
		}
		host, err := os.Hostname()
		if err != nil {
			host = "this host"
		}
		l := &Lock{f.File, path}
		text := fmt.Sprintf("process %d on %s since %s", os.Getpid(), host, time.Now().Format("2006-01-02 15:04:05"))
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt([]byte(text), 0)
		}
		if err != nil {
			l.Release()
			return nil, err
		}
		return l, nil
	}
}

// Release removes the lock's file and frees the lock. A nil Lock is none.
func (l *Lock) Release() {
	if l == nil || l.f == nil {
		return
	}
	// The file of another process's lock must stay. It is safe from a Remove that
	// comes while this lock is held. Where that is not possible, it is safe because
	// the other process has it open.
	if removeOpen {
		_ = os.Remove(l.path)
	}
	_ = l.f.Close()
	if !removeOpen {
		_ = os.Remove(l.path)
	}
	l.f = nil
}

// read returns what a lock's file says.
func read(f *os.File) string {
	b := make([]byte, 200)
	n, _ := f.ReadAt(b, 0)
	if text := strings.TrimSpace(string(b[:n])); text != "" {
		return fmt.Sprintf("%q", text)
	}
	return "another process"
}

// current reports whether path still names the open file.
func current(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

var errHeld = errors.New("locked by another process")
