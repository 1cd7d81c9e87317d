package dl

import "unsafe"

// MaxArgs is the largest number of arguments that Call passes: those of a batch
// of matrix products.
const MaxArgs = 18

// frame is what the trampolines read; call_linux_amd64.s knows the offsets.
type frame struct {
	fn   uintptr
	args [MaxArgs]uintptr
	ret  uintptr // written by the one for pointers
}

// Call calls a C function whose arguments are all integers or pointers and
// returns its int result. It allocates nothing and costs some 50 ns, which is
// why it stands beside purego's SyscallN. Memory that an argument points to
// must be on the heap (see Pointer) and kept alive by the caller: nothing here
// knows it.
//
// The frame is on this goroutine's stack, which moves if C calls back into Go
// and that needs more of it. So C's side reads the frame before the call and
// never after: the result comes back in a register.
func (f Func) Call(args ...uintptr) int32 {
	fr := frame{fn: uintptr(f)}
	fr.set(args)
	return cgocall(intPC, unsafe.Pointer(&fr))
}

// CallPointer is Call for a function that returns a pointer or a 64-bit
// integer. It allocates a frame.
func (f Func) CallPointer(args ...uintptr) uintptr {
	fr := &frame{fn: uintptr(f)}
	fr.set(args)
	Pointer(fr) // on the heap, which does not move
	cgocall(pointerPC, unsafe.Pointer(fr))
	return fr.ret
}

func (fr *frame) set(args []uintptr) {
	if fr.fn == 0 {
		panic(noFunc)
	}
	if copy(fr.args[:], args) < len(args) {
		panic("dl: too many arguments")
	}
}

// cgocall runs fn(arg) on the system stack of the thread, with the scheduler
// told that this goroutine is outside Go, and returns what fn leaves in the
// result register.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// intPC and pointerPC are the addresses of the trampolines.
var intPC, pointerPC uintptr
