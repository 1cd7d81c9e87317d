//go:build !linux

package sched

import "runtime"

// Yield lets another goroutine run: all that Go offers here.
func Yield() { runtime.Gosched() }
