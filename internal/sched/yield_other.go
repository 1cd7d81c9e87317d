//go:build !linux

package sched

import "runtime"

// Yield lets another goroutine run: all that Go offers here.
func Yield() { runtime.Gosched() }

// Nap lets another goroutine run.
func Nap() { runtime.Gosched() }

// Cores returns the set of cores that this process may use, a bit for each.
func Cores() (set [16]int64) {
	for i := range min(runtime.NumCPU(), 64*len(set)) {
		set[i/64] |= 1 << (i % 64)
	}
	return set
}
