package driver

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// errGoexit is the error of a program that ends its goroutine instead of returning.
var errGoexit = errors.New("the program of this rank ended in runtime.Goexit, as t.Fatal, t.FailNow and t.Skip do: return an error")

// Recovered runs one rank's program and turns a panic into an error with its
// stack. If the program calls runtime.Goexit, Recovered calls abort. The caller
// cannot: Goexit ends the goroutine, and only deferred functions still run.
// They get the error from Exited.
func Recovered(abort func(error), prog func() error) (err error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		} else if !returned {
			abort(errGoexit)
		}
	}()
	err = prog()
	returned = true
	return err
}

// Exited returns the error of a program that has called runtime.Goexit.
func Exited() error { return errGoexit }
