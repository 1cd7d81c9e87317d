package golops

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/golops/golops/array"
	"github.com/golops/golops/dist"
)

// Error says what could not be evaluated, and where the program asked for it.
type Error struct {
	At  string // file:line of the program
	Err error
}

func (e *Error) Error() string {
	if e.At == "" {
		return e.Err.Error()
	}
	return e.At + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Check panics with an *Error unless err is nil. Main and Run return it.
func Check(err error) {
	if err == nil {
		return
	}
	e, ok := err.(*Error) // not errors.As: an abort has another rank's *Error inside
	if !ok {
		e = &Error{caller(), err}
	}
	panic(e)
}

// Must returns v, or panics as Check does.
func Must[V any](v V, err error) V {
	Check(err)
	return v
}

// Try runs f and returns the *Error that an expression in it panics with. Any
// other panic is a bug and goes on. Try is for mistakes that all ranks make: where
// one rank fails alone in f, the others wait for it.
func Try(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Error:
			err = p
		case dist.LayoutError:
			err = &Error{caller(), p} // the frames that panicked are still on the stack
		case array.Error:
			err = &Error{caller(), p}
		default:
			panic(p)
		}
	}()
	if f == nil {
		return &Error{caller(), errors.New("golops: there is no program: it is nil")}
	}
	return f()
}

// fail panics with an *Error.
func fail(format string, args ...any) { Check(fmt.Errorf("golops: "+format, args...)) }

// apart panics because two operands belong to different worlds.
func apart(what string, a, b fmt.Stringer) {
	fail("%s: the operands belong to different worlds, as those of World.Alone and of all ranks do: %v and %v", what, a, b)
}

var (
	house = reflect.TypeFor[World]().PkgPath() // the path of this package and of those below it
	above = []string{"/app/", "/cmd/", "/perf/"}
)

// caller returns file:line of the innermost frame that belongs to the program, not
// to golops. Tests count as programs.
func caller() string {
	pc := make([]uintptr, 256)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for {
		f, more := frames.Next()
		if !inside(f) {
			return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return ""
		}
	}
}

// inside reports whether a frame belongs to golops or to the run time of Go.
func inside(f runtime.Frame) bool {
	if strings.HasPrefix(f.Function, "runtime.") {
		return true
	}
	rest, ours := strings.CutPrefix(f.Function, house)
	if !ours || rest == "" || rest[0] != '.' && rest[0] != '/' || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	return !slices.ContainsFunc(above, func(a string) bool { return strings.HasPrefix(rest, a) })
}
