package sched

import "syscall"

// Yield lets another thread of this machine run. It may be the very rank that
// this one waits for; runtime.Gosched only reaches goroutines that have no
// thread at the moment.
func Yield() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
