//go:build linux

// Package dl opens native libraries at run time and calls their functions, so
// that the program builds with CGO_ENABLED=0 and starts without them.
package dl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Lib is an open native library.
type Lib struct {
	Path   string // as given to the loader, or the file that it found
	handle uintptr
}

// Scope says who sees the symbols of a library.
type Scope int

// Local keeps symbols to the handle; Global offers them to libraries that are
// opened later, which the plugins of Open MPI need.
const (
	Local  Scope = purego.RTLD_NOW | purego.RTLD_LOCAL
	Global Scope = purego.RTLD_NOW | purego.RTLD_GLOBAL
)

// Open opens the first of names that the loader can. A name with a slash is a
// file; another is searched on the loader's path. The error says of each why not.
func Open(scope Scope, names ...string) (*Lib, error) {
	var errs []error
	for _, name := range names {
		if strings.Contains(name, "/") {
			if _, err := os.Stat(name); err != nil {
				errs = append(errs, fmt.Errorf("%s: no such file", name))
				continue
			}
		}
		h, err := purego.Dlopen(name, int(scope))
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

// Reason shortens the error of Open to what helps: why a file that exists did
// not open, or else that none of names was found.
func Reason(err error, names []string) string {
	var kept []string
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range all.Unwrap() {
			text := e.Error()
			absent := strings.HasSuffix(text, "no such file")
			for _, n := range names { // another name means that a library it needs is absent
				absent = absent || strings.HasPrefix(text, n+": cannot open shared object file")
			}
			if !absent {
				kept = append(kept, text)
			}
		}
	}
	if len(kept) > 0 {
		return strings.Join(kept, "; ")
	}
	return strings.Join(names, ", ") + " not found"
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

// Func is the address of a C function.
type Func uintptr

// Func returns the function called name, or 0 if the library lacks it.
func (l *Lib) Func(name string) Func { return Func(l.Addr(name)) }

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
		panic("dl: call of a function that the library lacks")
	}
	r, _, _ := purego.SyscallN(uintptr(f), args...)
	return int32(r)
}

// Pointer returns the address of memory for a C function to use. It makes the
// compiler put that memory on the heap, which does not move: a stack may be
// copied elsewhere between here and the call. The caller keeps it alive.
func Pointer[T any](p *T) uintptr {
	if never {
		sink = unsafe.Pointer(p)
	}
	return uintptr(unsafe.Pointer(p))
}

// never is false, which the compiler cannot know.
var (
	never bool
	//lint:ignore U1000 It is written to so that the memory escapes, and never read.
	sink unsafe.Pointer
)

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

// String copies a C string of at most len(b) bytes.
func String(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// CString copies the string at an address that C returned, "" for 0.
func CString(p uintptr) string {
	if p == 0 {
		return ""
	}
	c := *(*unsafe.Pointer)(unsafe.Pointer(&p)) // memory of C, which the collector leaves alone
	var b []byte
	for i := 0; ; i++ {
		ch := *(*byte)(unsafe.Add(c, i))
		if ch == 0 {
			return string(b)
		}
		b = append(b, ch)
	}
}
