package sched

import (
	"syscall"
	"unsafe"
)

// Yield lets another thread of this machine run. It may be the very rank that
// this one waits for; runtime.Gosched only reaches goroutines that have no
// thread at the moment.
func Yield() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }

// Nap puts this thread to sleep for the shortest time there is, some 50 us.
// Waking it, the system looks for an idle core, which it does not do for
// threads that yield to each other on one.
func Nap() {
	t := syscall.Timespec{Nsec: 1}
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// Cores returns the set of cores that this process may use, a bit for each of
// the first 1024.
func Cores() (set [16]int64) {
	syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	return set
}
