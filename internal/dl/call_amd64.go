//go:build linux

package dl

import "unsafe"

// frame is what trampoline reads and writes; call_amd64.s knows the offsets.
type frame struct {
	fn   uintptr
	args [MaxArgs]uintptr
	ret  uintptr
}

// Call calls a C function whose arguments are all integers or pointers and
// returns its integer result. It allocates nothing and costs some 50 ns, which
// is why it stands beside purego's SyscallN. Memory that an argument points to
// must be on the heap and kept alive by the caller: nothing here knows it.
func (f Func) Call(args ...uintptr) uintptr {
	if f == 0 {
		panic("dl: call of a function that the library lacks")
	}
	fr := frame{fn: uintptr(f)}
	if copy(fr.args[:], args) < len(args) {
		panic("dl: too many arguments")
	}
	cgocall(trampolinePC, unsafe.Pointer(&fr))
	return fr.ret
}

// cgocall runs fn(arg) on the system stack of the thread, with the scheduler
// told that this goroutine is outside Go. The frame stays on this goroutine's
// stack, as the frames of cgo do.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// trampolinePC is the address of the assembly function.
var trampolinePC uintptr
