//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// sigContinue is the signal that Open MPI's mpirun sends before SIGTERM.
const sigContinue = syscall.SIGCONT

// killGroup makes the end of cmd's context kill the processes too that it has
// started.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
