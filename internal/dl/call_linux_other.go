//go:build linux && !amd64

package dl

import "github.com/ebitengine/purego"

// MaxArgs is the largest number of arguments that Call passes.
const MaxArgs = 15

// Call calls a C function whose arguments are all integers or pointers and
// returns its int result. Memory that an argument points to must be on the heap
// and kept alive by the caller.
func (f Func) Call(args ...uintptr) int32 { return int32(f.CallPointer(args...)) }

// CallPointer is Call for a function that returns a pointer or a 64-bit integer.
func (f Func) CallPointer(args ...uintptr) uintptr {
	if f == 0 {
		panic(noFunc)
	}
	r, _, _ := purego.SyscallN(uintptr(f), args...)
	return r
}
