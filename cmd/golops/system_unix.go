//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// killGroup makes the end of cmd's context kill the processes too that it has
// started.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
