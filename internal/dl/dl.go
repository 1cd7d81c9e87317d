// Package dl opens native libraries at run time and calls their functions, so
// that the program builds with CGO_ENABLED=0 and starts without them. It opens
// them on Linux only: elsewhere Open returns an error that says so.
package dl

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Lib is an open native library.
type Lib struct {
	Path   string // as given to the loader, or the file that it found
	handle uintptr
}

// Func is the address of a C function.
type Func uintptr

// noFunc is what a call of Func(0) panics with.
const noFunc = "dl: call of a function that the library lacks"

// Scope says who sees the symbols of a library.
type Scope int

// Local keeps symbols to the handle; Global offers them to libraries that are
// opened later, which the plugins of Open MPI need.
const (
	Local Scope = iota
	Global
)

// NeedsLinux returns nil on Linux. Elsewhere it returns the error that names
// what was asked for, a plural such as "GPUs", and this platform.
func NeedsLinux(what string) error { return needsLinux(what, runtime.GOOS, runtime.GOARCH) }

func needsLinux(what, goos, goarch string) error {
	if goos == "linux" {
		return nil
	}
	return fmt.Errorf("%s need Linux; this is %s/%s", what, goos, goarch)
}

// Func returns the function called name, or 0 if the library lacks it.
func (l *Lib) Func(name string) Func { return Func(l.Addr(name)) }

// Reason shortens the error of Open to what helps: why a file that exists did
// not open, or else that none of names was found. The error of NeedsLinux stays
// as it is.
func Reason(err error, names []string) string {
	all, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err.Error()
	}
	var kept []string
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
	if len(kept) > 0 {
		return strings.Join(kept, "; ")
	}
	return strings.Join(names, ", ") + " not found"
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
