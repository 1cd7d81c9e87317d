package sched

import (
	"syscall"
	"unsafe"
)

// Yield lets another thread of this machine run. It may be the very rank that
// this one waits for; runtime.Gosched only reaches goroutines that have no
// thread at the moment.
func Yield() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }

// Cores returns the set of cores that this process may use, a bit for each of
// the first 1024.
func Cores() (set [16]int64) {
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	return set
}
