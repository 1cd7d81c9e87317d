package dl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// Open opens the first of names that the loader can. A name with a slash is a
// file; another is searched on the loader's path. The error says of each why not.
func Open(scope Scope, names ...string) (*Lib, error) {
	mode := purego.RTLD_NOW | purego.RTLD_LOCAL
	if scope == Global {
		mode = purego.RTLD_NOW | purego.RTLD_GLOBAL
	}
	var errs []error
	for _, name := range names {
		if strings.Contains(name, "/") {
			if _, err := os.Stat(name); err != nil {
				errs = append(errs, fmt.Errorf("%s: no such file", name))
				continue
			}
		}
		h, err := dlopen(name, mode)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		l := &Lib{Path: name, handle: h}
		if strings.Contains(name, "/") {
			// Others of that base name may be loaded too.
			if p, err := filepath.EvalSymlinks(name); err == nil {
				l.Path = p
			}
		} else if p := loadedFrom(filepath.Base(name)); p != "" {
			l.Path = p
		}
		return l, nil
	}
	return nil, errors.Join(errs...)
}

// dlopen keeps its thread until it has the error: the loader has one text for each thread,
// and another thread would find none.
func dlopen(name string, mode int) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, mode)
}

// loadedFrom returns the file of the loaded library called base.
func loadedFrom(base string) string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(maps)) {
		path := line[strings.IndexByte(line, '/')+1:]
		if path = "/" + strings.TrimSpace(path); strings.HasPrefix(filepath.Base(path), base) {
			return path
		}
	}
	return ""
}

// Close runs what the library wants run at exit, and unloads it. Go's own exit
// does not do the former. Most libraries do not survive it: close only what has
// been shut down.
func (l *Lib) Close() error { return purego.Dlclose(l.handle) }

// Addr returns the address of a symbol, or 0 if the library lacks it.
func (l *Lib) Addr(name string) uintptr {
	p, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0
	}
	return p
}

// CallWide is Call for up to 32 arguments. It allocates.
func (f Func) CallWide(args ...uintptr) int32 {
	if f == 0 {
		panic(noFunc)
	}
	r, _, _ := purego.SyscallN(uintptr(f), args...)
	return int32(r)
}

// Callback returns a C function that calls f, whose arguments and result are
// integers and pointers. There is room for some two thousand, for ever.
func Callback(f any) uintptr { return purego.NewCallback(f) }

// Setenv sets a variable for C libraries too: without cgo, os.Setenv does not
// reach the environment that an already running libc reads. It leaves a value
// alone that the user has set.
func Setenv(key, value string) error {
	if _, set := os.LookupEnv(key); set {
		return nil
	}
	if err := os.Setenv(key, value); err != nil {
		return err
	}
	set, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return fmt.Errorf("dl: setenv %s: %w", key, err)
	}
	k, v := append([]byte(key), 0), append([]byte(value), 0)
	if r := Func(set).Call(Pointer(&k[0]), Pointer(&v[0]), 1); r != 0 {
		return fmt.Errorf("dl: setenv %s=%s failed", key, value)
	}
	return nil
}
