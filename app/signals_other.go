//go:build !unix

package app

import "syscall"

// sigContinue is no signal that this system sends.
const sigContinue = syscall.Signal(-1)
