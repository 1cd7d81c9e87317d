package gpusim

import (
	"path/filepath"
	"sync"

	"github.com/golops/golops/internal/dl"
)

// Errors of the CUDA driver that tests ask for; HIP has the same numbers.
const (
	IllegalAddress = 700
	LaunchFailed   = 719
)

// lib is the library that the simulated ones share.
var lib = sync.OnceValue(func() *dl.Lib {
	dir, err := Build()
	if err != nil {
		panic(err)
	}
	l, err := dl.Open(dl.Local, filepath.Join(dir, "libgpusim.so"))
	if err != nil {
		panic(err)
	}
	return l
})

// Set changes a setting of the simulator in this process:
//
//	GPUSIM_DEVICES       how many devices there are (4)
//	GPUSIM_MEMORY        bytes of memory of each (2 GiB)
//	GPUSIM_NCCL_SHARE    1 lets two ranks of a communicator share a device
//	GPUSIM_NCCL_WINDOWS  "null" gives no windows, "fail" fails at it, "null 1" and "fail 1" on rank 1 only
//
// The environment has the same names, but a variable set by os.Setenv does not
// reach C. Settings last until Reset.
func Set(key, value string) {
	k, v := cstring(key), cstring(value)
	lib().Func("gpusim_set").Call(dl.Pointer(&k[0]), dl.Pointer(&v[0]))
}

// FailLaunch makes the next run of a kernel, or with "*" of any, fail with an
// error that every later call on that device returns, as after an illegal
// access on a real one.
func FailLaunch(kernel string, status int) {
	k := cstring(kernel)
	lib().Func("gpusim_fail_launch").Call(dl.Pointer(&k[0]), uintptr(status))
}

// Hold keeps the streams of all devices from starting on their next work, until
// the function that it returns is called: for tests of what waits. Reset lets
// them go on too.
func Hold() (release func()) {
	lib().Func("gpusim_hold").Call(1)
	return func() { lib().Func("gpusim_hold").Call(0) }
}

// Registrations returns how many pieces of memory communicators of NCCL know in
// this process. One that was destroyed with some left counts them for ever.
func Registrations() int { return int(lib().Func("gpusim_nccl_live").Call()) }

// Message says why a device failed last.
func Message() string {
	b := make([]byte, 1024)
	lib().Func("gpusim_message").Call(dl.Pointer(&b[0]), uintptr(len(b)))
	return dl.String(b)
}

// Reset forgets settings, failures asked for and those that devices have, and
// ends a Hold.
func Reset() { lib().Func("gpusim_reset").Call() }

func cstring(s string) []byte { return append([]byte(s), 0) }
