//go:build unix

package app

import "syscall"

// sigContinue is the signal that Open MPI's mpirun sends before SIGTERM.
const sigContinue = syscall.SIGCONT
